"""A person at the table: what is typed, what is shown, what is saved, what is recorded."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dominoenv import (
    DominoError,
    Game,
    IllegalActionError,
    RecordError,
    Rules,
    make_rules,
    policy_names,
    read_records,
)
from dominoenv.__main__ import main
from dominoenv.console.session import PlaySession
from dominoenv.console.terminal import Terminal, chosen
from dominoenv.core.program import INVALID, OK, WRONG_USE

ROOT = Path(__file__).parent.parent
SMALL = {"max_pip": 6, "hand_size": 4, "players": 3, "rounds": [6, 5]}
FEET = {**SMALL, "centre_arms": 2}
TRAINS = make_rules("mexican_train", SMALL)
MOVE, CONFIRM, NEXT = "your move: ", "Enter plays on, undo takes it back: ", "Enter deals"


def sitting(folder: Path, rules: Rules = TRAINS, seed: int = 3, **more: Any) -> PlaySession:
    more = {"against": ["heaviest", "random"], **more}
    return PlaySession(rules, seed, record=str(folder / "match.jsonl"), **more)


class Person:
    """Types what a function of (prompt, how many prompts so far) says; keeps what was shown."""

    def __init__(self, typed: Callable[[str, int], str]) -> None:
        self.typed, self.prompts, self.lines = typed, 0, [""]

    def ask(self, prompt: str) -> str:
        self.prompts += 1
        self.lines.append(prompt)
        return self.typed(prompt, self.prompts)

    def say(self, text: str) -> None:
        self.lines += text.splitlines()

    @property
    def shown(self) -> str:
        return "\n".join(self.lines)


def first(prompt: str, number: int) -> str:
    return "1" if prompt == MOVE else ""


def play(table: PlaySession, typed: Callable[[str, int], str] = first) -> Person:
    person = Person(typed)
    Terminal(table, person.ask, person.say).play()
    return person


def script(*lines: str) -> Callable[[str, int], str]:
    """Return a person who types some lines and then leaves."""
    rest = iter(lines)
    return lambda prompt, number: next(rest, "quit")


# ------------------------------------------------------------------------------------ whole matches


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_a_match_through_the_pipes_is_recorded(game: str, tmp_path: Path) -> None:
    rules = ["max_pip=6", "hand_size=4", "rounds=[6,5]"]
    rules += ["centre_arms=2"] if game == "chicken_foot" else ["preset=engine"]
    command = [sys.executable, "-m", "dominoenv", "play", "--game", game, "--seed", "5"]
    command += ["--against", "lightest", "random", "--seat", "1", "--rules", *rules]
    command += ["--record", str(tmp_path / "m.jsonl")]
    done = subprocess.run(
        command, input="1\n\n" * 500, text=True, capture_output=True, cwd=ROOT, check=True
    )
    (record,) = read_records(tmp_path / "m.jsonl")
    assert record.players == ["random", "person", "lightest"]
    assert (record.header["seed"], record.header["game"]) == (5, game)
    assert f"Record written to {tmp_path / 'm.jsonl'}" in done.stdout
    assert "The match is over. Lowest total: " in done.stdout
    assert "\x1b" not in done.stdout  # no colours in a pipe
    assert max(map(len, done.stdout.splitlines())) <= 160  # tables 100, lists of moves longer
    assert list(tmp_path.iterdir()) == [tmp_path / "m.jsonl"]
    assert main(["verify", str(tmp_path / "m.jsonl")]) == OK


def test_agents_say_what_they_hold_of_their_moves(tmp_path: Path) -> None:
    table = sitting(tmp_path)
    play(table)
    (record,) = read_records(tmp_path / "match.jsonl")
    notes = [note for line in record.rounds for note in line["annotations"] if note]
    assert {kind for note in notes for kind in note} == {"probability", "score"}
    assert min(len(value) for note in notes for value in note.values()) > 1


@pytest.mark.parametrize("seed", range(5))
def test_only_the_own_hand_is_shown(seed: int, tmp_path: Path) -> None:
    table = sitting(tmp_path, seed=seed)
    person = play(table, script("1", "", "1", "", "1", ""))
    position = table.game.position()
    tiles = {f"{max(p)}-{min(p)}" for p in re.findall(r"\[(\d+)\|(\d+)\]", person.shown)}
    drawn = set(re.findall(r"you draw (\d+-\d+)", person.shown))  # maybe after the last table
    assert set(position["hands"][0]) <= tiles | drawn
    assert not tiles & {*position["boneyard"], *position["hands"][1], *position["hands"][2]}
    last = person.shown.rpartition("Mexican Train · ")[2]
    assert last.count("▯") == sum(map(len, position["hands"][1:]))


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_a_match_that_is_left_again_and_again_is_the_same_match(game: str, tmp_path: Path) -> None:
    """Whoever leaves and comes back loses nothing and gains nothing."""
    rules = make_rules(game, FEET if game == "chicken_foot" else SMALL)
    against = ["random", "heaviest"]
    (tmp_path / "a").mkdir()
    play(sitting(tmp_path / "a", rules, against=against))
    table = sitting(tmp_path, rules, against=against)
    for _ in range(400):
        play(table, lambda prompt, number: first(prompt, number) if number < 3 else "quit")
        if (tmp_path / "match.jsonl").exists():
            break
        table = PlaySession.from_file(tmp_path / "match.saved.json")
    assert (tmp_path / "match.jsonl").read_text() == (tmp_path / "a" / "match.jsonl").read_text()
    assert not (tmp_path / "match.saved.json").exists()


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_the_end_of_input_and_an_interrupt_save(end: Any, tmp_path: Path) -> None:
    def typed(prompt: str, number: int) -> str:
        if number == 4:
            raise end
        return first(prompt, number)

    table = sitting(tmp_path)
    person = play(table, typed)
    assert "--continue" in person.lines[-1]
    again = PlaySession.from_file(tmp_path / "match.saved.json")
    assert again.game.position() == table.game.position()
    assert again.game.annotations == table.game.annotations


# -------------------------------------------------------------------------------------------- undo


def test_undo_takes_back_the_last_move_alone(tmp_path: Path) -> None:
    table = sitting(tmp_path)
    before = table.game.position()
    person = play(table, script("1", "undo", "2", ""))
    assert table.game.moves[0] == Game.from_position(before).legal_moves()[1]
    assert person.lines.count(CONFIRM) == 2


def test_undo_is_for_this_turn_and_nothing_that_others_saw(tmp_path: Path) -> None:
    table = sitting(tmp_path)
    with pytest.raises(DominoError, match="nothing to take back"):
        table.undo()
    person = play(table, script("undo", "1", "", "undo"))
    assert person.shown.count("nothing to take back: others have moved") == 2
    assert table.game.moves.count("draw") + len(table.game.moves) > 1


def test_undo_at_any_moment_of_random_play(tmp_path: Path) -> None:
    """Each undo brings back the position before; none reaches beyond a draw or others' moves."""
    rules = make_rules("mexican_train", {**SMALL, "rounds": [6], "double_followup": "anywhere"})
    taken = refused = 0
    for seed in range(60):
        table, rng = sitting(tmp_path, rules, seed), random.Random(seed)
        trail: list[Any] = []
        while not table.game.round_over:
            if not table.is_persons_turn:
                trail = []
                list(table.let_others_move())
            elif rng.random() < 0.3:
                if trail:
                    table.undo()
                    assert table.game.position() == trail.pop()
                    taken += 1
                else:
                    with pytest.raises(DominoError):
                        table.undo()
                    refused += 1
            else:
                move, here = rng.choice(table.game.legal_moves()), table.game.position()
                table.move(move)
                trail = [] if move == "draw" else [*trail, *([here] if move != "pass" else [])]
    assert min(taken, refused) > 10


# ------------------------------------------------------------------------------------ what is typed


def test_moves_are_typed_in_many_ways() -> None:
    legal = ["4-1@0", "9-4@0", "9-4@M", "9-9@2"]
    assert chosen("3", legal) == "9-4@M"
    assert chosen("9-4@0", legal) == "9-4@0"
    assert chosen("4-9@m", legal) == "9-4@M"
    assert chosen("1-4", legal) == "4-1@0"
    assert chosen("9-9", legal) == "9-9@2"
    for line in ("9-4", "0", "5", "²", "", "@", "draw", "9-4@", "9-4@7"):
        assert chosen(line, legal) not in legal
    assert chosen("stop", ["9-4@0", "stop"]) == "stop"


def test_what_is_no_move_changes_nothing(tmp_path: Path) -> None:
    table = sitting(tmp_path)
    before = table.game.position()
    person = play(table, script("9-9@9", "99", "help", "table", "nonsense", "", "\ud800"))
    assert table.game.position() == before
    assert person.shown.count("is illegal; legal are") == 4
    assert "take your last move back" in person.shown
    assert person.lines.count(MOVE) == 8
    with pytest.raises(IllegalActionError):
        table.move("pass")


@pytest.mark.parametrize("hints", ["heaviest", "random"])
def test_a_hint_is_a_legal_move_and_costs_nothing(hints: str, tmp_path: Path) -> None:
    table = sitting(tmp_path, hints=hints)
    before = copy.deepcopy(table.game.position())
    person = play(table, script("hint", "hint"))
    said = [line for line in person.lines if line.startswith(f"  {hints} plays ")]
    assert len(said) == 2
    assert said[0] == said[1]
    move = said[0].split("plays ")[1].split(" ")[0]
    assert move in table.game.legal_moves()
    assert ("score" if hints == "heaviest" else "probability") in said[0]
    assert table.game.position() == before


def test_hints_do_not_change_what_agents_do(tmp_path: Path) -> None:
    def asking(prompt: str, number: int) -> str:
        return "hint" if number % 2 and prompt == MOVE else first(prompt, number)

    for folder, typed in (("a", first), ("b", asking)):
        (tmp_path / folder).mkdir()
        play(sitting(tmp_path / folder, hints="random"), typed)
    records = [(tmp_path / folder / "match.jsonl").read_text() for folder in "ab"]
    assert records[0] == records[1]


# --------------------------------------------------------------------------------------- bad input


def run(*arguments: str) -> int:
    return main(["play", *arguments])


WRONG = {
    "agent": (["--against", "heavyest"], "did you mean 'heaviest'"),
    "hints": (["--hints", "nobody"], "policy 'nobody'"),
    "crowd": (["--rules", "players=2", "--against", "random", "random"], "2 opponents for the 1"),
    "rule": (["--rules", "player=2"], "did you mean 'players'"),
    "rule text": (["--rules", "players"], "--rules 'players': options are written name=value"),
    "rule twice": (["--rules", "max_pip=6", "--rules", "max_pip=9"], "gives 'max_pip' twice"),
    "rule brackets": (["--rules", "max_pip=" + "[" * 100_000], "must be a whole number"),
    "rule number": (["--rules", "max_pip=" + "9" * 5_000], "must be a whole number"),
    "rule value": (["--rules", "players=x"], "players='x' must be a whole number"),
    "seat": (["--seat", "2"], "seat=2 must lie in 0 ... 1"),
    "seed": (["--seed", "-1"], "seed=-1 must lie in"),
    "checkpoint": (["--against", "nowhere.pt"], "nowhere.pt"),
    "other game": (
        ["--game", "chicken_foot", "--against", "longest_train"],
        "does not play chicken_foot",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_command_is_told(
    wrong: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = WRONG[wrong]
    assert run(*arguments) == WRONG_USE
    found = capsys.readouterr()
    assert message in found.err
    assert found.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_record_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.jsonl").write_text("precious")
    assert run("--record", str(tmp_path / "m.jsonl")) == WRONG_USE
    assert "exists; name another one" in capsys.readouterr().err
    assert (tmp_path / "m.jsonl").read_text() == "precious"


def saved(folder: Path) -> dict[str, Any]:
    play(sitting(folder), script("1", "", "1", ""))
    content: dict[str, Any] = json.loads((folder / "match.saved.json").read_text("utf-8"))
    return content


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "type": (lambda s: s.update(type="match"), "not a session that"),
    "format": (lambda s: s.update(format=2), "format=2; known is 1"),
    "key": (lambda s: s.update(more=1), "key 'more'"),
    "no key": (lambda s: s.pop("rounds"), "key 'rounds'"),
    "game": (lambda s: s.update(game=[]), "game="),
    "rules": (lambda s: s.update(rules={"player": 3}), "did you mean 'players'"),
    "rules list": (lambda s: s.update(rules=[3]), "rules"),
    "seed": (lambda s: s.update(seed=4), "illegal"),
    "seed text": (lambda s: s.update(seed="4"), "seed="),
    "seat": (lambda s: s.update(seat=9), "seat=9"),
    "against": (lambda s: s.update(against=3), "must be names"),
    "nobody": (lambda s: s.update(against=[]), "0 opponents"),
    "stranger": (lambda s: s.update(against=["nobody"]), "policy 'nobody'"),
    "hints": (lambda s: s.update(hints=None), "must be names"),
    "record": (lambda s: s.update(record=1), "must be names"),
    "rounds": (lambda s: s.update(rounds=[]), "rounds="),
    "round": (lambda s: s.update(rounds=[1]), "must be an object of moves"),
    "moves": (lambda s: s["rounds"][0].update(moves=3), "must be lists"),
    "move": (lambda s: s["rounds"][0]["moves"].append("9-9@9"), "annotations for"),
    "illegal": (lambda s: s["rounds"][0]["moves"].__setitem__(0, "pass"), "illegal"),
    "two rounds": (lambda s: s["rounds"].append({"moves": [], "annotations": []}), "not over yet"),
    "annotation": (
        lambda s: s["rounds"][0]["annotations"].__setitem__(0, {"score": {"x": 1}}),
        "not legal",
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_sitting_is_told(
    edit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = saved(tmp_path)
    change, message = EDITS[edit]
    change(content)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match=re.escape(message)) as caught:
        PlaySession.from_file(path)
    assert str(caught.value).startswith(str(path))
    assert run("--continue", str(path)) == INVALID
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("junk", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"null"])
def test_junk_is_no_sitting(junk: bytes, tmp_path: Path) -> None:
    (tmp_path / "junk.json").write_bytes(junk)
    with pytest.raises(RecordError, match="not a session"):
        PlaySession.from_file(tmp_path / "junk.json")
    with pytest.raises(RecordError, match="cannot read"):
        PlaySession.from_file(tmp_path / "nowhere.json")
    assert run("--continue", str(tmp_path / "nowhere.json")) == WRONG_USE


# ------------------------------------------------------------------------------------------ agents


def test_the_repositorys_agents_are_known() -> None:
    program = "import dominoenv; print(*dominoenv.policy_names())"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {"opportunist", "foot_counter"} <= set(found.stdout.split())


def test_an_agents_package_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("raise SystemExit('imported')")
    program = (
        f"import sys; sys.path.insert(1, {str(ROOT)!r}); "
        "import dominoenv; print(*dominoenv.policy_names())"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert {"heaviest", "opportunist"} <= set(found.stdout.split())


@pytest.mark.parametrize("name", ["heaviest", "random"])
def test_one_agent_can_sit_at_several_seats(name: str, tmp_path: Path) -> None:
    assert name in policy_names()
    table = sitting(tmp_path, make_rules("mexican_train", {**SMALL, "players": 5}), against=[name])
    assert table.names == ["person", *[name] * 4]
