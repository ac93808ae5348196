"""The life of a run: stopped anywhere and resumed, alone in its folder, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib")

from dominoenv import CheckpointError, DominoError
from dominoenv.core.files import SUFFIX, write_atomically
from dominoenv.core.program import exit_status
from experiments.config import ConfigError
from experiments.folder import LOCK, explained, locked
from experiments.tournament.run import WATCH_INTERVAL
from tests import kills

Uninterrupted = Callable[[str], tuple[dict[str, Any], int]]
ROOT = Path(__file__).resolve().parent.parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Uninterrupted:
    """Return what a program leaves that nobody stops, and how many events it has."""
    return cache(lambda name: kills.uninterrupted(name, tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize("name", kills.PROGRAMS)
def test_a_run_that_is_stopped_again_and_again_ends_in_the_same_files(
    name: str, tmp_path: Path, uninterrupted: Uninterrupted
) -> None:
    expected, events = uninterrupted(name)
    found = kills.stopped_and_resumed(name, tmp_path / "run", events, seed=1, stops=[*kills.STOPS])
    assert kills.differences(expected, found) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of one megabyte, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    yield folder
    if mounted:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_training_with_a_sentence_and_loses_nothing(
    small_disk: Path, tmp_path: Path, uninterrupted: Uninterrupted
) -> None:
    expected, _ = uninterrupted("train")
    out, rest = small_disk / "run", small_disk / "rest"
    for room in (2_000, 120_000):  # bytes; nothing but the lock has place, or a few checkpoints
        if os.path.ismount(small_disk):
            disk = os.statvfs(small_disk)
            rest.write_bytes(bytes(disk.f_bavail * disk.f_frsize - room))
            status, said = kills.run("train", out, said=tmp_path / "said")
        else:
            status, said = kills.run("train", out, "full", at=room // 1000)
        kills.check_ending(f"{room} bytes", "full", status, said)
        assert not list(out.rglob("*.tmp"))
        rest.unlink(missing_ok=True)
    status, said = kills.run("train", out, said=tmp_path / "said")
    assert status == 0, said
    assert kills.differences(expected, kills.left_behind("train", out)) == []


# ------------------------------------------------------------------------------------- one a folder


@pytest.mark.parametrize("name", kills.PROGRAMS)
def test_a_second_program_in_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with locked(out):
        (out / "config.yaml").write_text("kept")
        for how in (["--resume"], ["--overwrite"]):
            status, said = kills.run(name, out, how=how)
            if name != "train" or how == ["--overwrite"]:
                assert status == 2
                assert f"error: {out} is in use by another program: wait" in said
        assert {path.name for path in out.iterdir()} == {"config.yaml", LOCK}
        assert (out / "config.yaml").read_text() == "kept"


def test_a_lock_is_of_one_thread_and_may_be_taken_again_there(tmp_path: Path) -> None:
    def enter() -> None:
        with locked(tmp_path):
            pass

    with ThreadPoolExecutor(1) as other:
        with locked(tmp_path), locked(tmp_path), pytest.raises(CheckpointError, match="in use by"):
            other.submit(enter).result()
        other.submit(enter).result()


def test_what_killed_programs_left_half_written_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    kills.run("tournament", out, "killed", at=200)
    half = f".{'0' * 16}{SUFFIX}"
    ours = [out / half, out / "units" / half]
    others = [out / f"mine.json{half}", out / ".results.json.tmp", out / "units" / ".mine.tmp"]
    for path in (*ours, *others):
        path.write_bytes(b"half")
    status, said = kills.run("tournament", out)
    assert status == 0, said
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)


# ------------------------------------------------------------------------- starts that do not work

STARTS = {
    "opponent's file": ("train", "environment.opponents=[{kind: checkpoint, path: no.pt}]"),
    "opponent's parameter": (
        "train",
        "environment.opponents=[{kind: baseline, policy: random, parameters: {sides: 6}}]",
    ),
    "opponent at the end": ("train", "evaluation.opponents=[flexible]"),
    "agent's file": ("tournament", "agents=[random, {kind: checkpoint, path: no.pt}]"),
    "agent's parameter": (
        "study",
        "agents=[random, {kind: baseline, policy: heaviest, parameters: {sides: 6}}]",
    ),
}


@pytest.mark.parametrize("start", STARTS)
def test_a_start_that_fails_changes_nothing(
    start: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, wrong = STARTS[start]
    program, out = kills.PROGRAMS[name], tmp_path / "new" / "run"
    arguments = [*program.arguments, wrong, "--out", str(out)]
    assert exit_status(lambda: program.main(arguments)) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.parent.exists()
    write_atomically(out / "config.yaml", b"kept")
    assert exit_status(lambda: program.main([*arguments, "--overwrite"])) == 2
    assert [path.name for path in out.iterdir()] == ["config.yaml"]


# ------------------------------------------------------------------------------------------ signals


def alive(group: int) -> list[int]:
    """Return the processes of a group, but for joblib's watcher, which ends after the last one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group, *_ = path.read_text().rpartition(")")[2].split()
            command = (path.parent / "cmdline").read_bytes()
        except OSError:  # it has just ended
            continue
        if int(its_group) == group and state not in "ZX" and b"resource_tracker" not in command:
            found.append(int(path.parent.name))
    return found


@POSIX
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("stop", ["SIGTERM", "group", "SIGKILL"])
def test_a_stopped_tournament_leaves_no_process_behind(stop: str, tmp_path: Path) -> None:
    arguments = [*kills.PROGRAMS["tournament"].arguments[:-1], "pair_deals=4000", "--jobs=2"]
    command = [sys.executable, "-m", "experiments.tournament", *arguments, "--out", str(tmp_path)]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while process.poll() is None and len(list(tmp_path.glob("units/[!.]*"))) < 5:
        time.sleep(0.02)
    assert len(alive(process.pid)) >= 3  # the program and its two workers
    if stop == "group":  # Ctrl-C in a terminal, where all get it
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(getattr(signal, stop))
    _, said = process.communicate()
    assert "Traceback" not in said
    for _ in range(40):  # a worker needs moments to end
        if alive(process.pid):
            time.sleep(WATCH_INTERVAL)
    assert not alive(process.pid)
    if stop == "SIGKILL":
        return
    assert said.splitlines()[-1] == f"stopped; continue with --resume ({tmp_path})"
    assert process.returncode == 128 + getattr(signal, "SIGINT" if stop == "group" else stop)


@POSIX
def test_a_worker_ends_when_its_program_is_killed() -> None:
    worker = (
        "import os, time; from experiments.tournament.run import _end_with; "
        "_end_with(os.getppid()); print('on', flush=True); time.sleep(1e6)"
    )
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {worker!r}])"
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    process.kill()
    process.communicate()  # until the worker, which has the output open too, ends


@POSIX
def test_signals_are_as_before_and_an_ignored_one_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        seen = []

        def program() -> None:
            seen.extend([signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)])
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)

        assert exit_status(program) == 128 + signal.SIGTERM
        assert seen[0] is signal.SIG_IGN
        assert seen[1] is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_errors_of_the_system_are_sentences_that_say_how_to_continue() -> None:
    sentence = r"stopped: Input/output error \(a\.pt\); when that is mended, .*--resume \(x\)"
    with pytest.raises(DominoError, match=sentence), explained(Path("x")):
        raise OSError(5, "Input/output error", "a.pt")
    with pytest.raises(BrokenPipeError), explained(Path("x")):
        raise BrokenPipeError
    wrong = Path(os.devnull) / "x"
    with pytest.raises(ConfigError, match=r"cannot write to .*x: "), locked(wrong):
        pass
