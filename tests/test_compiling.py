"""The compile cache: kept, renewed when sources change, done without where it cannot be.

A small kernel stands for all: it is compiled in processes of their own, from a copy of the package.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dominoenv.core.cache import read_sealed, write_sealed
from dominoenv.core.compiling import DISABLED, _stamp
from dominoenv.games import stepping

PACKAGE = Path(stepping.__file__).parent
GAMES = ("mexican_train", "chicken_foot")
SAYS_ONCE = "dominoenv: compiling for this machine, once (about 20 s)\n"
# Prints cache hits, cache misses.
PROGRAM = """
import os, sys, threading
import dominoenv, numpy as np
from dominoenv.games import stepping
from dominoenv.games.registry import GAMES

def call(game):
    states = np.zeros(3, GAMES[game].state)
    stepping.end_blocked_games(states, dominoenv.make_rules(game).record)

def report():
    stats = stepping.end_blocked_games.stats
    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
CALL = "call(sys.argv[1]); report()"
# A child forked while a thread compiles, and one afterwards, call that kernel and another one.
FORKS = """
import time
from dominoenv.core import cache
thread = threading.Thread(target=call, args=["mexican_train"])
thread.start()
while not _cache._said:  # until it is in the compiler
    time.sleep(0.001)
for _ in range(2):
    child = os.fork()
    if not child:
        call("mexican_train"), call("chicken_foot")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
report()
"""
# The folder is there when the kernels are declared, and cannot be written to any more afterwards.
LOSES_ITS_FOLDER = """
import shutil
folder = os.environ["NUMBA_CACHE_DIR"]
shutil.rmtree(folder)
open(folder, "w").close()
call("chicken_foot"), call("mexican_train"), report()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return the folder of a copy of the package without a cache."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "dominoenv", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def start(folder: Path, program: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "0"}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + program, *arguments],
        env={**environment, **variables},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> tuple[tuple[int, int], str]:
    """Return cache hits and misses, and what was said on stderr."""
    output, said = process.communicate()
    assert process.returncode == 0, said
    hits, misses = map(int, output.split())
    return (hits, misses), said


def run(folder: Path, game: str = "chicken_foot", **variables: str) -> tuple[int, int]:
    return result(start(folder, CALL, game, **variables))[0]


def cached(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*end_blocked_games*"))


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_kernels_are_cached_under_our_stamp() -> None:
    assert stepping.advance_games._cache._stamp == _stamp(stepping.__file__)
    assert _stamp(stepping.__file__) == _stamp(str(PACKAGE / "policies.py"))
    assert _stamp(stepping.__file__) != _stamp(str(PACKAGE / "envs" / "learner.py"))


def test_an_edit_of_a_helper_renews_the_cache(package: Path) -> None:
    assert run(package) == (0, 1)
    assert run(package) == (1, 0)
    (first,) = cached(package)
    with (package / "dominoenv" / "game.py").open("a", encoding="utf-8") as skin:
        skin.write("# no kernel depends on this file\n")
    assert run(package) == (1, 0)
    with (package / "dominoenv" / "round.py").open("a", encoding="utf-8") as helper:
        helper.write("# numba alone would not notice\n")
    assert run(package) == (0, 1)
    (second,) = cached(package)  # what nobody needs any more is gone
    assert first != second


def test_first_use_says_that_it_compiles_and_later_starts_say_nothing(package: Path) -> None:
    first = result(start(package, "call('chicken_foot'), call('mexican_train'), report()"))
    assert first == ((0, 2), SAYS_ONCE)
    assert result(start(package, CALL, "chicken_foot")) == ((1, 0), "")
    assert result(start(package, CALL, "mexican_train")) == ((1, 0), "")


def test_processes_that_start_at_once_share_an_empty_cache(package: Path) -> None:
    """Of two games: numba's own index may then name the other one's data."""
    processes = [start(package, CALL, game) for game in GAMES * 2]
    for process in processes:
        (hits, misses), _ = result(process)
        assert hits + misses == 1
    assert len(cached(package)) == 2  # nothing half-written is left
    for game in GAMES:
        assert run(package, game) == (1, 0)


def test_a_damaged_file_is_compiled_anew(package: Path) -> None:
    both = "call('chicken_foot'), call('mexican_train'), report()"
    result(start(package, both))
    one, other = cached(package)
    one.write_bytes(one.read_bytes()[:-100])  # cut short
    other.write_bytes(one.read_bytes())  # another's
    assert result(start(package, both)) == ((0, 2), SAYS_ONCE)
    assert result(start(package, both)) == ((2, 0), "")
    for path in (one, other):
        path.unlink()
        path.mkdir()
    counts, said = result(start(package, CALL, "chicken_foot"))
    assert counts == (0, 1) and "could not be kept" in said


def test_a_read_only_install_works(package: Path) -> None:
    """No folder can be made where a file is, not even by root."""
    blocked = package / "file"
    blocked.touch()
    for folder in (package / "dominoenv").rglob("*"):
        if folder.is_dir():
            (folder / "__pycache__").touch()
    (package / "dominoenv" / "__pycache__").touch()
    nowhere = str(blocked / "below")
    homes = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "LOCALAPPDATA": nowhere}
    for variables in (homes, {**homes, "NUMBA_CACHE_DIR": nowhere}):
        counts, said = result(start(package, CALL, "chicken_foot", **variables))
        assert counts == (0, 1)
        assert said.count("\n") == 1 and "no folder is writable" in said
    elsewhere = str(package / "cache")
    for counts in ((0, 1), (1, 0)):  # and a folder that is named is used
        assert run(package, **homes, NUMBA_CACHE_DIR=elsewhere) == counts


def test_a_folder_that_is_lost_after_the_start_is_no_error(package: Path) -> None:
    folder = package / "cache"
    folder.mkdir()
    counts, said = result(start(package, LOSES_ITS_FOLDER, NUMBA_CACHE_DIR=str(folder)))
    assert counts == (0, 2)
    assert said.startswith(SAYS_ONCE) and "could not be kept" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_a_thread_compiles_does_not_hang(package: Path) -> None:
    assert result(start(package, FORKS))[0] == (0, 1)


def test_files_are_whole_and_their_own(tmp_path: Path) -> None:
    path, other = tmp_path / "folder" / "a", tmp_path / "folder" / "b"
    assert read_sealed(path) is None
    for contents in (b"contents", b"", b"contents"):
        write_sealed(path, contents)
        assert read_sealed(path) == contents
    whole = path.read_bytes()
    for i in range(len(whole)):
        path.write_bytes(whole[:i])
        assert read_sealed(path) is None
        path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
        assert read_sealed(path) is None
    other.write_bytes(whole)  # under another's name
    assert read_sealed(other) is None
    other.unlink()
    other.mkdir()
    for unwritable in (other, path / "below"):
        assert read_sealed(unwritable) is None
        with pytest.raises(OSError, match="folder"):
            write_sealed(unwritable, b"contents")
    assert sorted(found.name for found in other.parent.iterdir()) == ["a", "b"]


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_a_numba_with_other_internals_is_used_without_a_cache(package: Path) -> None:
    hide = "import numba.core.caching as c; del c._Cache, c.CompileResultCacheImpl"
    (package / "sitecustomize.py").write_text(hide, encoding="utf-8")
    program = "call('chicken_foot'); print(0, 0)"
    assert result(start(package, program))[0] == (0, 0)
    assert not cached(package)


KERNEL = """
from dominoenv.core.compiling import kernel
from mine.deep.helper import twice

@kernel
def four_times(number):
    return twice(twice(number))
"""
HELPER = """
from dominoenv.core.compiling import jit

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


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_an_edit_of_a_helper_outside_the_library_renews_the_cache(package: Path) -> None:
    deep = package / "mine" / "deep"
    deep.mkdir(parents=True)
    for folder in (deep.parent, deep):
        (folder / "__init__.py").touch()
    (deep.parent / "kernels.py").write_text(KERNEL, encoding="utf-8")
    (deep / "helper.py").write_text(HELPER, encoding="utf-8")
    (package / "beside.py").touch()
    assert result(start(package, OUTSIDE))[0] == (0, 1)
    (package / "beside.py").write_text("# of no package of the kernel's\n", encoding="utf-8")
    assert result(start(package, OUTSIDE))[0] == (1, 0)
    (deep / "helper.py").write_text(HELPER.replace("2 *", "3 *"), encoding="utf-8")
    assert result(start(package, OUTSIDE))[0] == (0, 1)
