"""Stop runs anywhere, resume them, and compare what they leave with an uninterrupted run.

A program counts what it does: the files that it opens, renames or makes in its folder, and the
steps of its games. At a number drawn from a seed it is killed, told to end, or finds the disk full.
So the places are the same on every machine, however busy it is.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import multiprocessing
import os
import random
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch._dynamo  # noqa: F401  # torch's optimizers import it, which takes seconds
from tqdm import tqdm

from dominoenv.batch import BatchedGame
from dominoenv.core.container import read_container
from dominoenv.core.program import exit_status
from experiments import (
    curve,  # noqa: F401  # with all else that programs import late, it is imported once
    ppo,  # noqa: F401
    train,
)
from experiments.study import __main__ as study
from experiments.tournament import __main__ as tournament
from experiments.tournament.store import BLOCK

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
RULES = "rules={preset: engine, players: 3, max_pip: 6}"
AGENTS = ["agents=[heaviest, random]", "differences=[1]", "block=4"]


@dataclass(frozen=True)
class Program:
    """A program with a small config."""

    main: Callable[..., object]
    arguments: list[str]
    volatile: dict[str, Callable[[Path], Any]] = field(default_factory=dict)
    """What counts of the files, by the end of their names, that hold times."""


def without_speed(path: Path) -> Any:
    rows = csv.DictReader(io.StringIO(path.read_text("utf-8")))
    return [{**row, "decisions_per_second": None} for row in rows]


def without_core_seconds(path: Path) -> Any:
    return {**json.loads(path.read_bytes()), "speed": None}


def without_rate(path: Path) -> Any:
    return re.sub(rb"[\d,]+ a second", b"", path.read_bytes())


def games(path: Path) -> Any:
    content = read_container(path, BLOCK)
    del content["seconds"]
    return {name: array.tolist() for name, array in content.items()}


PROGRAMS = {
    "train": Program(
        train.main,
        [
            str(CONFIGS / "quickstart.yaml"),
            RULES,
            "threads=1",
            "environment.games=4",
            "ppo.steps=8",
            "ppo.batch_size=16",
            "ppo.decisions=320",
            "network.hidden=[8]",
            "checkpoints.every=2",
            "evaluation={deals: 4, opponents: [random]}",
        ],
        {"progress.csv": without_speed},
    ),
    "tournament": Program(
        tournament.main,
        [
            str(CONFIGS / "tournament_quick.yaml"),
            RULES,
            *AGENTS,
            "pair_deals=32",
            "mixed_deals=0",
            "resamples=100",
            "--jobs=1",
        ],
        {"results.json": without_core_seconds, ".block": games, "report.md": without_rate},
    ),
    "study": Program(
        study.main,
        [
            str(CONFIGS / "study_quick.yaml"),
            "rules={max_pip: 6}",
            *AGENTS,
            "cells=[{rules: {players: [2, 3]}}]",
            "pair_deals=16",
            "same_deals=0",
            "--jobs=1",
        ],
        {".block": games},
    ),
}
FULL = 0  # not a signal: from now on the disk is full
STOPS = {
    "killed": signal.Signals(getattr(signal, "SIGKILL", signal.SIGTERM)),
    "terminated": signal.SIGTERM,
    "interrupted": signal.SIGINT,
    "full": FULL,
}


# ------------------------------------------------------------------------------- in the process


def is_within(path: object, folder: Path) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        return False  # a file that is open already
    return folder in (Path(os.fsdecode(path)), *Path(os.fsdecode(path)).parents)


def run_until(name: str, out: Path, how: Sequence[str], stop: str, at: int, said: Path) -> None:
    """Run a program, stopped at its event number `at`; 0: never. Writes how many events it had."""
    events = 0

    def hook(event: str, details: tuple[object, ...]) -> None:
        nonlocal events
        is_file = event in ("open", "os.rename", "os.mkdir") and is_within(details[0], out)
        if not is_file and event != "tests.step":
            return
        events += 1
        writes = event != "open" or (isinstance(details[2], int) and details[2] & 3)
        if at and STOPS[stop] == FULL and events >= at and is_file and writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if events == at and STOPS[stop] != FULL:
            os.kill(os.getpid(), STOPS[stop])

    step = BatchedGame.step

    def counted(self: BatchedGame, *arguments: Any, **options: Any) -> None:
        sys.audit("tests.step", "")
        step(self, *arguments, **options)

    tqdm.set_lock(threading.RLock())  # its own is of processes, and a kill would leave that behind
    with said.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    BatchedGame.step = counted  # type: ignore[method-assign]
    sys.addaudithook(hook)
    program = PROGRAMS[name]
    status = exit_status(lambda: program.main([*program.arguments, "--out", str(out), *how]))  # type: ignore[arg-type,return-value]
    if not at:
        said.with_suffix(".events").write_text(str(events))
    sys.stdout.flush()
    os._exit(status)


# ---------------------------------------------------------------------------------- from outside


def context() -> Any:
    """Return how processes are started: forked from one that has imported everything."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forkserver = multiprocessing.get_context("forkserver")
    forkserver.set_forkserver_preload([__name__])
    return forkserver


def run(
    name: str,
    out: Path,
    stop: str = "killed",
    at: int = 0,
    how: Sequence[str] = (),
    said: Path | None = None,
) -> tuple[int, str]:
    """Start a program, or continue it; return its exit status and what it printed."""
    said = said or out.parent / f"{out.name}.said"
    if not how and (out / "config.yaml").exists():
        how = ["--resume"]
    process = context().Process(target=run_until, args=(name, out, how, stop, at, said))
    process.start()
    process.join()
    return process.exitcode, said.read_text(errors="replace")


def left_behind(name: str, out: Path) -> dict[str, Any]:
    """Return the files of a finished run and what is in them, apart from times."""
    volatile = PROGRAMS[name].volatile
    found = {}
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        if path.parent.name != "tensorboard":  # a file for each start
            ends = (volatile[end] for end in volatile if path.name.endswith(end))
            reader = next(ends, Path.read_bytes)
            found[str(path.relative_to(out))] = reader(path)
    return found


def uninterrupted(name: str, folder: Path) -> tuple[dict[str, Any], int]:
    """Return what a program leaves that nobody stops, and how many events it has."""
    out = folder / name
    status, said = run(name, out)
    assert status == 0, said
    return left_behind(name, out), int((folder / f"{name}.events").read_text())


def stopped_and_resumed(
    name: str, out: Path, events: int, seed: int, stops: Sequence[str]
) -> dict[str, Any]:
    """Stop a program again and again, each time elsewhere; return what it leaves in the end."""
    rng = random.Random(f"{name} {seed}")
    for stop in stops:
        at = rng.randint(1, events // len(stops))
        status, said = run(name, out, stop, at)
        if status != 0:  # it had ended before
            check_ending(f"{name}, seed {seed}: {stop} at {at}", stop, status, said)
    status, said = run(name, out)
    assert status == 0, f"{name}, seed {seed}: {said}"
    return left_behind(name, out)


def check_ending(where: str, stop: str, status: int, said: str) -> None:
    """Check that a program ended as it should, with one sentence and no traceback."""
    signalled = STOPS[stop]
    assert "Traceback" not in said, f"{where}: {said}"
    if stop == "killed":
        assert status == -signalled, f"{where}: {status} {said}"
    elif stop == "full":
        assert status == 2 and "No space left on device" in said, f"{where}: {status} {said}"
    else:
        assert status == 128 + signalled and "stopped" in said, f"{where}: {status} {said}"


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of files that only one run has, or that differ."""
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def soak(stops: int, seed: int) -> list[str]:
    """Stop each program so often, four times a run; return what differs, if anything does."""
    found = []
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            expected, events = uninterrupted(name, Path(folder))
            for number in range(seed, seed + -(-stops // 4)):
                kinds = random.Random(number).choices([*STOPS], k=4)
                left = stopped_and_resumed(name, Path(folder) / f"{number}", events, number, kinds)
                found += [f"{name}, seed {number}: {file}" for file in differences(expected, left)]
    return found
