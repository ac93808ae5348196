"""A sample of the suite once with numba's bounds checks on, and once with nothing compiled at all.

Kernels are unchecked: compiled as usual, an index outside of an array reads or writes garbage in
silence. In both modes here it is an IndexError. Uncompiled kernels also show that the sources mean
the same to Python as to numba.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = ("cases", "differential", "guarantees", "abuse")
MODES = {
    "bounds checks": {"NUMBA_BOUNDSCHECK": "1", "NUMBA_DISABLE_JIT": "0"},
    "no compiler": {"NUMBA_DISABLE_JIT": "1"},
}
# The tables of these seat counts: from the smallest set, and where indices are largest.
TABLES = {"bounds checks": "d6-2 or d6-5 or d18-10", "no compiler": "d6-2 or d6-5"}
CONTROL = """
from dominoenv import BatchedGame
game = BatchedGame("chicken_foot", 1, seed=0)
game.states["to_move"] = 2000  # unchecked, as the documentation says
try:
    game.refresh()
except IndexError:
    print("told")
"""


def run(arguments: list[str], mode: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a mode; flags are not part of numba's cache key, so the cache is its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment = {**kept, **MODES[mode], "NUMBA_CACHE_DIR": str(cache), "ABUSE_SECONDS": "5"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.parametrize("mode", MODES)
def test_sample(mode: str, tmp_path: Path) -> None:
    files = [f"tests/test_{name}.py" for name in FILES]
    chosen = f"test_case or test_abuse or {TABLES[mode]}"
    pytest_run = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files, "-k", chosen]
    sample = run(pytest_run, mode, tmp_path)
    assert sample.returncode == 0, sample.stdout[-5000:]
    control = run(["-W", "error", "-c", CONTROL], mode, tmp_path)
    assert control.stdout == "told\n", "the mode does not check indices"
