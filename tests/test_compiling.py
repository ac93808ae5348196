"""The compile cache: kept, renewed when code or values change, done without where it cannot be.

What a kernel depends on is checked by its fingerprint. Files are checked in processes of their own,
on small kernels: one from a copy of the package, and some written for the test.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dominoenv
from dominoenv.core.compiling import DISABLED
from dominoenv.core.fingerprint import UncacheableError, fingerprint, identity
from dominoenv.games import stepping
from dominoenv.games.registry import GAMES

PACKAGE = Path(dominoenv.__file__).parent
SAYS_ONCE = "dominoenv: compiling for this machine, once (about 20 s)\n"
compiles = pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")

# ------------------------------------------------------------------ what a kernel depends on

SOURCE = '''
import enum
from collections import namedtuple
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from dominoenv.core.compiling import jit, kernel, outlined

class Colour(enum.IntEnum):
    RED = 10
    GREEN = 20

LIMIT = 30
WEIGHTS = np.array([40.0, 41.0])
PAIR = (50, np.uint64(51))
NESTED = {"step": [60], "other": {70, 71}}
Point = namedtuple("Point", "x y")

@intrinsic
def constant(_context):
    number = NESTED["step"][0] + len(NESTED["other"])
    def generate(context, builder, signature, args):
        return ir.Constant(ir.IntType(64), number)
    return types.int64(), generate

def replaced(x):
    raise NotImplementedError

@overload(replaced)
def compile_replaced(x):
    def body(x):
        return x + 80
    return body

def make(factor):
    @outlined
    def scale(x):
        return factor * x
    return scale

scale = make(90)

@jit
def helper(x, more=100):
    """What it does."""
    return x + more  # and a comment

@njit(nogil=True)
def flagged(x):
    return x in (110, 111)

@kernel
def four(x):
    """What it is."""
    a = helper(x) + scale(x) + replaced(x) + constant() + PAIR[0] + int(WEIGHTS[0]) + LIMIT
    return a + Point(1, 2).x + (Colour.RED if flagged(x) else Colour.GREEN) + 120

def unrelated():
    return 130
'''
RENEWS = [
    *("= 10", "= 20", "= 30", "40.0", "41.0", "(50", "(51", "[60]", "{70", "x + 80", "make(90)"),
    *("more=100", "111)", "+ 120"),
]


def compiled(source: str, name: str = "four") -> Any:
    """Return a kernel out of a module with that source."""
    space: dict[str, Any] = {"__name__": "some_module"}
    exec(compile(source, "some_module.py", "exec"), space)
    return space[name]


def changed(source: str, text: str) -> str:
    """Return the source with another number at the end of a text that stands there once."""
    assert source.count(text) == 1
    new = re.sub(r"\d+(?=\D*$)", lambda number: str(int(number[0]) + 7), text)
    assert new != text
    return source.replace(text, new)


def of(source: str) -> str:
    return fingerprint(compiled(source), [])


@compiles
@pytest.mark.parametrize("text", RENEWS)
def test_other_values_make_another_fingerprint(text: str) -> None:
    assert of(changed(SOURCE, text)) != of(SOURCE)
    assert identity(compiled(changed(SOURCE, text))) == identity(compiled(SOURCE))


@compiles
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x + more", "return x - more"),
        ("nogil=True", "nogil=False"),
        ("nogil=True", 'nogil=True, error_model="numpy"'),
        ("@njit(nogil=True)", '@njit("boolean(int32)")'),
        ("@njit(nogil=True)", '@njit(locals={"x": types.int32})'),
        ("@jit", "@outlined"),
        ("@kernel", "@njit"),
        ('"x y"', '"y x"'),
        ("(110, 111)", "{110, 111}"),
        ("RED = 10\n    GREEN = 20", "GREEN = 10\n    RED = 20"),
        ("@overload(replaced)", '@overload(replaced, inline="always")'),
        ("int(WEIGHTS[0])", "(-int(WEIGHTS[0]))"),
    ],
)
def test_other_code_makes_another_fingerprint(old: str, new: str) -> None:
    assert of(SOURCE.replace(old, new)) != of(SOURCE)


@compiles
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# and a comment", "# another one"),
        ("What it does", "In other words"),
        ("What it is", "In other words"),
        ("return 130", "return 137"),
        ("Point = ", "UNUSED = 3\n\n\nPoint = "),
        ("{70, 71}", "{71, 70}"),
    ],
)
def test_what_changes_no_code_leaves_the_fingerprint(old: str, new: str) -> None:
    assert old in SOURCE
    assert of(SOURCE.replace(old, new)) == of(SOURCE)


@compiles
def test_a_fingerprint_is_the_same_in_every_process(tmp_path: Path) -> None:
    """Sets of texts have another order in each."""
    source = SOURCE.replace("{70, 71}", "{'a', 'b', 'c'}")
    source = source.replace("(110, 111)", "{110, 111}")
    (tmp_path / "some_module.py").write_text(source, encoding="utf-8")
    program = (
        "from some_module import four; from dominoenv.core.fingerprint import fingerprint\n"
        "print(fingerprint(four, []))"
    )
    seen = set()
    for seed in "123":
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(PACKAGE.parent)}
        command = [sys.executable, "-c", program]
        seen.add(subprocess.check_output(command, env=environment, cwd=tmp_path))
    assert len(seen) == 1


@compiles
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"other": {70, 71}', '"other": [object(), 1]', "<object object at"),
        ("WEIGHTS = np.array([40.0, 41.0])", "WEIGHTS = np.array([40, None])", "Python objects"),
        ("class Colour(enum.IntEnum)", "class Colour", "Colour"),
        (
            "def replaced(x)",
            "from dominoenv.games.verbs import deal as replaced\ndef other(x)",
            "deal",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(old: str, new: str, says: str) -> None:
    assert old in SOURCE
    with pytest.raises(UncacheableError, match=says):
        of(SOURCE.replace(old, new))


@compiles
def test_a_verb_counts_as_the_kernel_of_the_game_at_hand() -> None:
    states = [kind.state for kind in GAMES.values()]
    prints = {fingerprint(stepping.deal_games, some) for some in (states, states[:1], states[1:])}
    assert len(prints) == 3
    assert fingerprint(stepping.deal_games, [*states[:1], np.dtype([("x", "i4")])]) in prints


@compiles
def test_closures_and_namesakes_are_told_apart() -> None:
    source = """
from dominoenv.core.compiling import jit, kernel
def make(number):
    @kernel
    def four(x):
        return number + x
    return four
def using(helper):
    @kernel
    def four(x):
        return helper(x)
    return four
class A:
    @kernel
    def four(x):
        return 1
class B:
    @kernel
    def four(x):
        return 2
@jit
def one(x):
    return x
@jit
def two(x):
    return x
kernels = [make(1), make(2), using(one), using(two), A.four, B.four]
"""
    old = [identity(kernel) for kernel in compiled(source, "kernels")]
    new = [
        identity(kernel) for kernel in compiled(source.replace("return x", "return -x"), "kernels")
    ]
    assert len(set(old)) == len(old)
    assert new == old


# ------------------------------------------------------------------------------------------ files

GAMES_USED = ("mexican_train", "chicken_foot")
# Prints cache hits, cache misses.
PROGRAM = """
import os, sys, threading
import dominoenv, numpy as np
from dominoenv.games import stepping
from dominoenv.games.registry import GAMES

def call(game):
    states = np.zeros(3, GAMES[game].state)
    stepping.end_blocked_games(states, dominoenv.make_rules(game).record)

def report(kernel=stepping.end_blocked_games):
    stats = kernel.stats
    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
CALL = "call(sys.argv[1]); report()"
# A child forked while a thread compiles, and one afterwards, call that kernel and another one.
FORKS = """
import time
from dominoenv.core import cache
thread = threading.Thread(target=call, args=["mexican_train"])
thread.start()
while not cache._said:  # until it is in the compiler
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
    """Return the two numbers that a program prints, such as hits and misses, and its stderr."""
    output, said = process.communicate()
    assert process.returncode == 0, said
    first, second = map(int, output.split())
    return (first, second), said


def run(folder: Path, game: str = "chicken_foot", **variables: str) -> tuple[int, int]:
    return result(start(folder, CALL, game, **variables))[0]


def cached(folder: Path, name: str = "end_blocked_games") -> list[Path]:
    return sorted(folder.rglob(f"*{name}*.nbc"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("core/round.py", '["penalties"][seat] = cost', '["penalties"][seat] = cost + 1'),
        (
            "core/round.py",
            "PLAYING, WENT_OUT, NOBODY_CAN_PLAY = range(3)",
            "PLAYING, WENT_OUT, NOBODY_CAN_PLAY = 0, 1, 3",
        ),
        ("games/mexican_train/rules.py", "LAP = 0\n    NO_PLAY = 1", "LAP = 1\n    NO_PLAY = 0"),
        ("core/compiling.py", '{"nogil": True, "error_model": "numpy"}', '{"nogil": True}'),
    ],
    ids=["helper", "constant", "enum", "flags"],
)
def test_an_edit_in_the_library_renews_the_files(
    package: Path, file: str, old: str, new: str
) -> None:
    assert [run(package, game) for game in GAMES_USED] == [(0, 1), (0, 1)]
    before = cached(package)
    with (package / "dominoenv" / "game.py").open("a", encoding="utf-8") as adapter:
        adapter.write("# no kernel depends on this file\n")
    edit(package / "dominoenv" / "core" / "round.py", "End the round: every", "End it: every")
    assert [run(package, game) for game in GAMES_USED] == [(1, 0), (1, 0)]
    edit(package / "dominoenv" / file, old, new)
    both = "mexican_train" not in file
    assert [run(package, game) for game in GAMES_USED] == [(0, 1), (0, 1) if both else (1, 0)]
    after = cached(package)
    assert len(after) == 2  # what is of no use any more is gone
    assert len(set(after) - set(before)) == (2 if both else 1)


def test_first_use_says_that_it_compiles_and_later_starts_say_nothing(package: Path) -> None:
    first = result(start(package, "call('chicken_foot'), call('mexican_train'), report()"))
    assert first == ((0, 2), SAYS_ONCE)
    assert result(start(package, CALL, "chicken_foot")) == ((1, 0), "")
    assert result(start(package, CALL, "mexican_train")) == ((1, 0), "")
    assert run(package, NUMBA_BOUNDSCHECK="1") == (0, 1)  # other code, and the first one stays
    assert run(package) == (1, 0)


def test_processes_that_start_at_once_share_an_empty_cache(package: Path) -> None:
    """Of two games: numba's own index may then name the other one's data."""
    processes = [start(package, CALL, game) for game in GAMES_USED * 2]
    for process in processes:
        (hits, misses), _ = result(process)
        assert hits + misses == 1
    assert len(cached(package)) == 2  # nothing half-written is left
    assert not list(package.rglob("*.tmp"))
    for game in GAMES_USED:
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


@pytest.mark.skipif(os.name != "posix", reason="files have owners on POSIX")
def test_code_that_others_could_have_written_is_not_run(package: Path) -> None:
    assert run(package) == (0, 1)
    (path,) = cached(package)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.chmod(0o660)
    assert [run(package), run(package)] == [(0, 1), (1, 0)]
    assert path.stat().st_mode & 0o777 == 0o600
    path.parent.chmod(0o770)
    counts, said = result(start(package, CALL, "chicken_foot"))
    assert counts == (0, 1) and "is open to other users: remove it" in said


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


def test_threads_that_call_a_kernel_at_once_compile_it_once(package: Path) -> None:
    program = """
threads = [threading.Thread(target=call, args=["chicken_foot"]) for _ in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads], report()
"""
    assert result(start(package, program))[0] == (0, 1)
    assert result(start(package, program))[0] == (1, 0)


def test_a_numba_with_other_internals_is_used_without_a_cache(package: Path) -> None:
    hide = "import numba.core.caching as c; del c._Cache, c.CompileResultCacheImpl"
    (package / "sitecustomize.py").write_text(hide, encoding="utf-8")
    program = "call('chicken_foot'); print(0, 0)"
    assert result(start(package, program))[0] == (0, 0)
    assert not cached(package)


# ------------------------------------------------------------------ kernels outside of the library

OWN = """
from dominoenv.core.compiling import jit, kernel, outlined
from mine.deep.helper import twice

@kernel
def four_times(number):
    return twice(twice(number))

def helper(factor):
    @outlined
    def work(number):
        total = 0
        for i in range(number):
            while total > 1000 and total % 3:
                total //= 2
            total += (i * factor) % (number + 7)
        return total
    return work

def make(factor):
    work = helper(factor)
    @kernel
    def use(number):
        return work(number) + work(number // 2) + work(number + 3)
    return use

class Mine:
    number = 1

MINE = Mine()
"""
OWN_HELPER = """
from dominoenv.core.compiling import jit

@jit
def twice(number):
    return 2 * number
"""
USE = """
from mine.kernels import make
kernels = [make(int(factor)) for factor in sys.argv[1:]]
found = [kernel(100) for kernel in kernels]
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels), hash(tuple(found)))
"""


@pytest.fixture
def own(package: Path) -> Path:
    """Return the folder of a copy of the package, and beside it a package with kernels."""
    deep = package / "mine" / "deep"
    deep.mkdir(parents=True)
    for folder in (deep.parent, deep):
        (folder / "__init__.py").touch()
    (deep.parent / "kernels.py").write_text(OWN, encoding="utf-8")
    (deep / "helper.py").write_text(OWN_HELPER, encoding="utf-8")
    return package


def test_an_edit_of_a_helper_outside_the_library_renews_the_files(own: Path) -> None:
    program = "from mine.kernels import four_times\nfour_times(3)\nreport(four_times)"
    assert result(start(own, program))[0] == (0, 1)
    edit(own / "mine" / "kernels.py", "number = 1", "number = 2")
    assert result(start(own, program))[0] == (1, 0)
    edit(own / "mine" / "deep" / "helper.py", "2 *", "3 *")
    assert result(start(own, program))[0] == (0, 1)
    assert len(cached(own, "four_times")) == 1


def test_closures_keep_their_own_files_and_code(own: Path) -> None:
    """Compiled in processes of their own and loaded together: they share every name."""
    uses = {factors: result(start(own, USE, *factors.split()))[0] for factors in ("1", "2")}
    assert [hits for hits, _ in uses.values()] == [0, 0]
    together = [result(start(own, USE, *factors))[0] for factors in ("12", "21", "12")]
    assert [hits for hits, _ in together] == [2, 2, 2]
    for cache in ("", "elsewhere"):
        variables = {"NUMBA_CACHE_DIR": str(own / cache)} if cache else {}
        assert result(start(own, USE, "1", "2", **variables))[0][1] == together[0][1]
    edit(own / "mine" / "kernels.py", "number + 7", "number + 8")
    for factors, hits in (("1", 0), ("2", 0), ("1", 1), ("2", 1)):
        assert result(start(own, USE, factors))[0][0] == hits
    assert len(cached(own / "mine", "use")) == 2


# What the kernels of one module return: each its own, whoever was compiled before under its name.
ALIKE = """
import os, types
from collections import namedtuple
import numpy as np
from dominoenv.core.compiling import kernel, outlined

def make(k):
    @kernel
    def f(x): return x + k
    return f

def outer(a):
    def middle(b):
        @outlined
        def helper(x): return x * a + b
        @kernel
        def f(x): return helper(x)
        return f
    return middle

def by_default(k):
    @kernel
    def f(x, more=k): return x + more
    return f

def recursive(k):
    @outlined
    def count(n):
        if n <= 0:
            return k
        return 1 + count(n - 1)
    @kernel
    def f(x): return count(x)
    return f

class A:
    @staticmethod
    @kernel
    def f(x): return x + 100
    class B:
        @staticmethod
        @kernel
        def f(x): return x + 200

Pair = namedtuple("Pair", "low high")
def of_value(value):
    @kernel
    def f(x): return x + value[0] + value[1]
    return f

FROM_OUTSIDE = int(os.environ["OUTSIDE"])
@kernel
def outside(x): return x + FROM_OUTSIDE

CHANGED = 1
@kernel
def late(x): return x + CHANGED
CHANGED = 2

def cell(number, file):
    space = {"__name__": "__main__", "kernel": kernel}
    exec(compile(f"@kernel\\ndef f(x): return x + {number}", file, "exec"), space)
    return space["f"]

kernels = [make(1), make(2), outer(1)(3), outer(1)(4), outer(2)(3), by_default(5), by_default(6)]
kernels += [recursive(7), recursive(8), A.f, A.B.f]
kernels += [kernel(lambda x: x + 9), kernel(lambda x: x - 9)]
kernels += [of_value(value) for value in ((1, 2), (3, 4), Pair(5, 6))]
kernels += [of_value(value) for value in (np.array([7, 8]), np.array([9, 10.5]))]
kernels += [outside, late]
kernels += [cell(1, "/no/ipykernel_1/1.py"), cell(2, "/no/ipykernel_1/1.py"), cell(3, "<stdin>")]
print([float(f(1000)) for f in kernels])
late_float = late(0.5)
CHANGED = 4
late(np.int32(1)), print(late_float, late(1000), late(np.float32(1)))
"""


def test_functions_of_one_name_never_get_each_others_code(own: Path) -> None:
    (own / "mine" / "alike.py").write_text(ALIKE, encoding="utf-8")
    for folder in ("one", "two"):  # and modules of one name
        (own / folder).mkdir()
        code = f"from dominoenv.core.compiling import kernel\n@kernel\ndef f(x): return '{folder}'"
        (own / folder / "alike.py").write_text(code, encoding="utf-8")
    added = [1, 2, 3, 4, 1003, 5, 6, 7, 8, 100, 200, 9, -9, 3, 7, 11, 15, 19.5]
    for outside in ("20", "30", "20"):
        expected = [1000.0 + more for more in (*added, int(outside), 2, 1, 2, 3)]
        process = start(own, "import mine.alike", OUTSIDE=outside)
        output, said = process.communicate()
        assert process.returncode == 0, said
        first, second = output.splitlines()
        assert first == str(expected)
        assert second == "2.5 1002 5.0"  # each signature has the value of its first call
    for folder in ("one", "two", "one"):
        program = f"sys.path.insert(0, {folder!r}); import alike; print(alike.f(1), 0)"
        variables = {"NUMBA_CACHE_DIR": str(own / "cache")}
        process = start(own, program, **variables)
        assert process.communicate()[0] == f"{folder} 0\n"


def test_a_value_that_changes_while_it_is_compiled_is_not_kept(own: Path) -> None:
    (own / "mine" / "turning.py").write_text(TURNING, encoding="utf-8")
    program = "from mine import turning; print(turning.f(0), 0)"
    assert result(start(own, program, TURNS="yes"))[0] == (1, 0)  # and it is 2 afterwards
    assert result(start(own, program, BEGINS="2"))[0] == (2, 0)


TURNING = """
import os
from numba.extending import overload
from dominoenv.core.compiling import kernel

NUMBER = int(os.environ.get("BEGINS", 1))

def turn(x):
    raise NotImplementedError

@overload(turn)
def compile_turn(x):
    return lambda x: x

@kernel
def f(x):
    return turn(x) + NUMBER

from dominoenv.core.cache import KernelCache
saved = KernelCache.save_overload
def save(self, *arguments):
    global NUMBER
    if "TURNS" in os.environ:  # as another thread may do it
        NUMBER = 2
    saved(self, *arguments)
KernelCache.save_overload = save
"""


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("exec('@kernel\\ndef f(x): return x + 1'); print(f(1), 0)", "f is in no file"),
        ("print(odd(1), 0)", "odd: it uses <mine.odd.Thing object"),
        ("print(call(add, 1), 0)", "call: an argument is a Dispatcher"),
    ],
)
def test_what_cannot_be_kept_is_compiled_at_every_start(own: Path, program: str, says: str) -> None:
    (own / "mine" / "odd.py").write_text(ODD, encoding="utf-8")
    for _ in range(2):
        counts, said = result(start(own, f"from mine.odd import *\n{program}"))
        assert counts == (2, 0)
        assert said.startswith(f"dominoenv: compiling at every start: {says}")
        assert said.count("\n") == 1
    assert not list((own / "mine").rglob("*.nbc"))


ODD = """
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from dominoenv.core.compiling import kernel

class Thing:
    number = 1

THING = Thing()

@intrinsic
def constant(_context):
    def generate(context, builder, signature, args):
        return ir.Constant(ir.IntType(64), THING.number)
    return types.int64(), generate

@kernel
def odd(x):
    return x + constant()

@njit
def add(x):
    return x + 1

@kernel
def call(function, x):
    return function(x)
"""
