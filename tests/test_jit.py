"""The compile cache: kept, renewed when sources change, done without where it cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dominoenv import drive
from dominoenv._jit import DISABLED, _stamp

PACKAGE = Path(drive.__file__).parent
PROGRAM = """
import dominoenv, numpy as np
from dominoenv import drive
from dominoenv.games import GAMES
states = np.zeros(0, GAMES["chicken_foot"].state)
drive.end_blocked_games(states, dominoenv.make_rules("chicken_foot").record)
stats = drive.end_blocked_games.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_kernels_are_cached_under_our_stamp() -> None:
    assert drive.step_games._cache._cache_file._source_stamp == _stamp(drive.__file__)
    assert _stamp(drive.__file__) == _stamp(str(PACKAGE / "policies.py"))
    assert _stamp(drive.__file__) != _stamp(str(PACKAGE / "envs" / "learner.py"))


def run(folder: Path, program: str = PROGRAM) -> tuple[int, int]:
    """Return cache hits and misses of a small kernel of a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "0"}
    environment.pop("NUMBA_CACHE_DIR", None)
    output = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    hits, misses = map(int, output.split())
    return hits, misses


def test_an_edit_of_a_helper_renews_the_cache(tmp_path: Path) -> None:
    copy = tmp_path / "dominoenv"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert run(tmp_path) == (0, 1)
    assert run(tmp_path) == (1, 0)
    with (copy / "game.py").open("a", encoding="utf-8") as skin:
        skin.write("# no kernel depends on this file\n")
    assert run(tmp_path) == (1, 0)
    with (copy / "round.py").open("a", encoding="utf-8") as helper:
        helper.write("# numba alone would not notice\n")
    assert run(tmp_path) == (0, 1)


KERNEL = """
from dominoenv._jit import kernel
from mine.deep.helper import twice

@kernel
def four_times(number):
    return twice(twice(number))
"""
HELPER = """
from dominoenv._jit import jit

@jit
def twice(number):
    return 2 * number
"""
OUTSIDE = """
from mine.kernels import four_times
four_times(3)
stats = four_times.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_an_edit_of_a_helper_outside_the_library_renews_the_cache(tmp_path: Path) -> None:
    (tmp_path / "dominoenv").symlink_to(PACKAGE)
    deep = tmp_path / "mine" / "deep"
    deep.mkdir(parents=True)
    for folder in (deep.parent, deep):
        (folder / "__init__.py").touch()
    (deep.parent / "kernels.py").write_text(KERNEL, encoding="utf-8")
    (deep / "helper.py").write_text(HELPER, encoding="utf-8")
    (tmp_path / "beside.py").touch()
    assert run(tmp_path, OUTSIDE) == (0, 1)
    (tmp_path / "beside.py").write_text("# of no package of the kernel's\n", encoding="utf-8")
    assert run(tmp_path, OUTSIDE) == (1, 0)
    (deep / "helper.py").write_text(HELPER.replace("2 *", "3 *"), encoding="utf-8")
    assert run(tmp_path, OUTSIDE) == (0, 1)
