"""The yardstick: Mexican Train in plain C (`mexican_train.c`), built and driven as a batch."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError
from dominoenv.games.registry import kind_of, make_rules

SOURCE = Path(__file__).with_name("mexican_train.c")
COMPILERS = ("cc", "gcc", "clang")
COMPILER_FLAGS = (
    "-O3",
    "-march=native",
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
)

Pointer, Number = ctypes.c_void_p, ctypes.c_int64


def compiler() -> str | None:
    """Return the path of a C compiler, or None where there is none."""
    return next(filter(None, map(shutil.which, COMPILERS)), None)


@cache
def _library() -> Any:
    """Build the program and load it. Raises DominoError if that fails."""
    found = compiler()
    if found is None:
        raise DominoError(f"the C yardstick needs one of {', '.join(COMPILERS)}")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "yardstick.so"
        built = subprocess.run(
            [found, *COMPILER_FLAGS, "-o", str(target), str(SOURCE)], capture_output=True, text=True
        )
        if built.returncode:
            raise DominoError(f"{found} cannot build {SOURCE.name}: {built.stderr}")
        library = ctypes.CDLL(str(target))
    library.make_games.restype = Pointer
    library.make_games.argtypes = [Number, ctypes.c_uint64, Pointer, Pointer]
    library.step_games.restype = Number
    library.step_games.argtypes = [Pointer, Number, Pointer, Pointer, Pointer, Pointer]
    library.free_games.argtypes = [Pointer]
    library.bytes_per_game.restype = Number
    return library


def yardstick_rules() -> Rules:
    """Return the rules that are built into the program."""
    return make_rules("mexican_train", preset="engine", players=4, max_pip=12)


class Yardstick:
    """B games in C, with the part of `BatchedGame` that a loop of random play needs.

    The same deals as `BatchedGame(yardstick_rules(), B, seed)`; one-round episodes, autoreset.
    """

    def __init__(self, num_games: int, seed: int) -> None:
        """Build the program, once a process, and deal. Raises DominoError without a compiler."""
        rules = yardstick_rules()
        self.num_games = num_games
        observe = kind_of(rules).observe
        self.masks = np.zeros((num_games, observe.num_actions(rules)), np.int8)
        self.observations = np.zeros((num_games, observe.layout(rules).size), np.uint8)
        self.rewards = np.zeros((num_games, rules.players), np.float32)
        self._library = _library()
        self._out = self.masks.ctypes.data, self.observations.ctypes.data, self.rewards.ctypes.data
        self._games = self._library.make_games(num_games, seed, *self._out[:2])
        if not self._games:
            raise MemoryError("the C yardstick got no memory")

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play one action in each game. Raises DominoError for an illegal action."""
        chosen = actions.ctypes.data
        place = self._library.step_games(self._games, self.num_games, chosen, *self._out)
        if place >= 0:
            raise DominoError(f"game {place}: action {actions[place]} is illegal")

    def __del__(self) -> None:
        """Free the memory of the games."""
        if getattr(self, "_games", None):
            self._library.free_games(self._games)
