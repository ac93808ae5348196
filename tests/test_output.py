"""What programs print: in any encoding, at any width, and nothing that a terminal would obey."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from dominoenv import Game, Record, make_rules, mexican_train_v0, write_record
from dominoenv.__main__ import COMMANDS, main
from dominoenv.core.output import MAX_LABEL, SIMILAR, encodable, label, printable, printable_lines
from dominoenv.core.program import INVALID, OK, WRONG_USE, exit_status, report
from dominoenv.errors import DominoError
from dominoenv.render.text import render_text

ROOT = Path(__file__).parent.parent
NARROW_CODES = ("ascii", "cp1252")
SMALL = {"players": 3, "max_pip": 6, "hand_size": 3, "rounds": [6]}
EVIL = "\x1b[31mred\x07\x9b2J\r\nnew line\u202e<script>\u2028\ud800é"


class Streams:
    """Standard streams with an encoding, as redirected output has them on some systems."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, encoding: str, typed: bytes = b"") -> None:
        self._encoding = encoding
        for name, content in (("stdin", typed), ("stdout", b""), ("stderr", b"")):
            stream = io.TextIOWrapper(io.BytesIO(content), encoding, "strict", write_through=True)
            setattr(self, f"_{name}", stream)
            monkeypatch.setattr(sys, name, stream)

    def _text(self, name: str) -> str:
        raw: bytes = getattr(self, f"_{name}").buffer.getvalue()
        return raw.decode(self._encoding)

    @property
    def out(self) -> str:
        return self._text("stdout")

    @property
    def err(self) -> str:
        return self._text("stderr")


# --------------------------------------------------------------------------------- every subcommand

TINY_TRAINING = ["environment.games=16", "ppo.steps=8", "ppo.batch_size=64", "ppo.decisions=128"]
TINY_TRAINING += ["threads=1", "network.hidden=[8]", "checkpoints.every=1", "evaluation.deals=4"]
TINY_TABLES = ["rules={players: 3, max_pip: 6, hand_size: 4}", "resamples=100"]
TINY_TOURNAMENT = [*TINY_TABLES, "differences=[1]", "pair_deals=6", "mixed_deals=6", "block=6"]
TINY_STUDY = ["cells=[{rules: {players: [2], max_pip: 6}}]", "pair_deals=6", "same_deals=6"]
TINY_PLAY = [
    "--rules",
    "max_pip=6",
    "hand_size=3",
    "rounds=[6]",
    "--seed",
    "4",
    "--hints",
    "random",
]


def run(*arguments: str) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def _torch_as_it_was() -> Iterator[None]:
    """Training sets the number of threads and seeds the generators of the whole process."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads(), torch.get_rng_state(), np.random.get_state()
    yield
    torch.set_num_threads(before[0])
    torch.set_rng_state(before[1])
    np.random.set_state(before[2])


@pytest.mark.usefixtures("_torch_as_it_was")
@pytest.mark.parametrize("encoding", NARROW_CODES)
def test_every_command_prints_in_any_encoding(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And in a terminal of any width."""
    pytest.importorskip("sb3_contrib")
    pytest.importorskip("choix")
    from experiments import figures

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "PUBLISHED", figures.PUBLISHED[-2:])
    monkeypatch.setenv("COLUMNS", {"ascii": "20", "cp1252": "1000"}[encoding])
    streams = Streams(monkeypatch, encoding, b"hint\n\xff\xc3\xa9\n" + b"1\n\n" * 300)
    ran = {
        "play": run("play", *TINY_PLAY, "--record", "m.jsonl"),
        "verify": run("verify", "m.jsonl"),
        "replay": run("replay", "m.jsonl", "--html", "m.html"),
        "train": run("train", "quickstart", *TINY_TRAINING, "--out", "run"),
        "evaluate": run("evaluate", "run/checkpoint.pt", "--deals", "2"),
        "tournament": run("tournament", "tournament_quick", *TINY_TOURNAMENT, "--jobs", "1"),
        "study": run("study", "study_quick", *TINY_STUDY, "--jobs", "1"),
        "figures": run("figures", "--rounds", "2"),
    }
    assert ran == dict.fromkeys(COMMANDS, OK), streams.err
    assert "Traceback" not in streams.err
    assert ("±" in streams.out) == (encoding == "cp1252")


@pytest.mark.parametrize("encoding", NARROW_CODES)
def test_a_process_of_its_own_prints_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dominoenv", "play", *TINY_PLAY, "--game", "chicken_foot"]
    done = subprocess.run(
        [*command, "--rules", "centre_arms=2", "--record", str(tmp_path / "m.jsonl")],
        input="hint\n" + "1\n\n" * 300,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "COLUMNS": "40"},
        encoding=encoding,
    )
    assert (done.returncode, done.stderr) == (OK, "")
    assert "Record written to" in done.stdout
    assert ("x" if encoding == "ascii" else "×") in done.stdout


# ------------------------------------------------------------------------------- plain text, always


def test_a_text_from_outside_is_one_line_that_no_terminal_obeys() -> None:
    shown = printable(EVIL)
    assert shown == (r"\x1b[31mred\x07\x9b2J\r\nnew line\u202e<script>\u2028\ud800é")
    assert printable_lines("one\ntwo\t\x1b") == "one\ntwo\\t\\x1b"
    assert printable("Zoë plays 9-4 → ▯ 五") == "Zoë plays 9-4 → ▯ 五"


@pytest.mark.parametrize("name", ["", "Zoë", "x" * 60, "x" * 61, "\n" * 60, "\x1b" * 100_000, EVIL])
def test_names_are_shown_short_and_printable(name: str) -> None:
    assert label(name).isprintable()
    assert len(label(name)) <= MAX_LABEL
    assert label(name) == name or not name.isprintable() or len(name) > MAX_LABEL


def test_what_an_encoding_lacks_is_written_in_similar_letters() -> None:
    def shown(text: str, encoding: str) -> str:
        return text.encode(encoding, SIMILAR).decode(encoding)

    assert shown("┏─┓│▯▸ a − b ± 1 × 2² … Zoë ½ 五 \ud800", "ascii") == (
        r"+-+|#> a - b +- 1 x 22 ... Zoe 1/2 \u4e94 \ud800"
    )
    assert shown("┏─ ± × … ë ½ 五", "cp1252") == r"+- ± × … ë ½ \u4e94"
    assert shown("┏─ ± \ud800", "utf-8") == r"┏─ ± \ud800"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", SIMILAR)


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_drawings_keep_their_columns_in_ascii(game: str) -> None:
    match = Game(game, players=3, seed=5)
    for _ in range(25):
        match.push(match.legal_moves()[0])
    drawn = render_text(match.position(), "all")
    plain = drawn.encode("ascii", SIMILAR).decode("ascii")
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in drawn.splitlines()]


def test_the_table_of_an_environment_is_shown_in_any_encoding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The streams are those of somebody else's program, as it has set them up."""
    monkeypatch.setattr("dominoenv.render.window._window", _no_window)
    streams = Streams(monkeypatch, "ascii")
    env = mexican_train_v0.env(render_mode="human")
    with pytest.warns(UserWarning, match="no window"):
        env.reset(seed=1)
    assert "double-9" in streams.out and "#" in streams.out
    assert sys.stdout.errors == "strict"
    assert encodable("▯", None) == "▯"


def _no_window(title: str, width: int) -> None:
    raise DependencyNotInstalled("there is no display here")


def test_errors_are_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise DominoError(EVIL)

    streams = Streams(monkeypatch, "ascii")
    assert exit_status(fail) == WRONG_USE
    report(EVIL)
    assert "\x1b" not in streams.err and "\r" not in streams.err and "\x07" not in streams.err
    assert r"\x1b[31mred" in streams.err and r"\u202e" in streams.err


def test_closed_streams_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.TextIOWrapper(io.BytesIO(), "ascii")
    closed.close()
    for stream in (closed, io.StringIO()):
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "stdout", stream)
        assert exit_status(lambda: OK) == OK


def test_streams_closed_from_the_start_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def talk() -> int:
        with pytest.raises(EOFError):
            input("said to nobody")
        print(EVIL)
        return OK

    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert exit_status(talk) == OK
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()


class Full(io.StringIO):
    """A stream to a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = Streams(monkeypatch, "utf-8")
    monkeypatch.setattr("dominoenv.core.program._discard_output", lambda: None)
    monkeypatch.setattr(sys, "stdout", Full())
    assert exit_status(lambda: print("much")) == WRONG_USE
    assert streams.err == "error: cannot write: No space left on device\n"


@pytest.mark.parametrize("name", ["evil\x1b[2J.jsonl", "two\nlines.jsonl", "\u202elnosj.jsonl"])
def test_names_of_files_are_shown_as_plain_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    streams = Streams(monkeypatch, "utf-8")
    write_record(path, played(["a", EVIL[:-2], "c"]))
    assert run("verify", path) == OK
    assert run("replay", path, "--html", tmp_path / f"{name}.html") == OK
    path.write_text(path.read_text("utf-8").replace('"result"', '"\x7f\u202e"'), "utf-8")
    assert run("verify", path) == INVALID
    for text in (streams.out, streams.err):
        assert all(line.isprintable() for line in text.splitlines())
    assert len(streams.out.splitlines()) == 2
    assert printable(name) in streams.out


def played(names: list[str]) -> Record:
    game = Game("mexican_train", make_rules("mexican_train", SMALL), seed=2)
    while not game.round_over:
        game.push(game.legal_moves()[0])
    return game.record(names)
