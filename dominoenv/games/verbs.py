"""The verbs that every game answers to, for compiled and for plain code.

A verb looks at the type of the state record and goes to that game's own kernel, when it compiles.
What drives games (`stepping`, `playouts`) is written once, in these verbs, and pays nothing for
the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from dominoenv.core.compiling import HELPER_FLAGS
from dominoenv.core.types import Mask, Row, RulesRecord, State
from dominoenv.games.protocol import GameKind
from dominoenv.games.registry import GAMES


def _kind(g: Any) -> GameKind:
    """Return the game of a state record (uncompiled), or of its numba type (compiling)."""
    if isinstance(g, numba.types.Record):
        return next(kind for kind in GAMES.values() if numba.from_dtype(kind.state) == g)
    return next(kind for kind in GAMES.values() if kind.state == g.dtype)


def deal(g: State, r: RulesRecord) -> None:
    """Deal round g["round"] of match g["match"]."""
    _kind(g).play.deal(g, r)


def legal(g: State, r: RulesRecord, mask: Mask) -> tuple[int, int]:
    """Write the mask of legal actions; return how many there are, and the last of them."""
    return _kind(g).play.legal(g, r, mask)


def is_legal(g: State, r: RulesRecord, action: int) -> bool:
    """Return whether an action, any integer, is legal now."""
    return bool(_kind(g).play.is_legal(g, r, action))


def apply(g: State, r: RulesRecord, action: int) -> None:
    """Carry out a legal action."""
    _kind(g).play.apply(g, r, action)


def end_if_blocked(g: State, r: RulesRecord) -> None:
    """End the round if nobody can play any more."""
    _kind(g).play.end_if_blocked(g, r)


def random_action(g: State, r: RulesRecord) -> int:
    """Draw one of the legal actions from the stream in g["stream"], each equally likely."""
    return int(_kind(g).play.random_action(g, r))


def heaviest_action(g: State, r: RulesRecord) -> int:
    """Return the legal action that takes most out of the hand, equals drawn from g["stream"]."""
    return int(_kind(g).play.heaviest_action(g, r))


def view(g: State, r: RulesRecord, seat: int, row: Row) -> int:
    """Write what a seat may know; return the length of the row."""
    return int(_kind(g).observe.view(g, r, seat, row))


def _compile_by_game(verb: Callable[..., Any], module: str) -> None:
    """Let compiled code that calls a verb call the function of that name of the game at hand."""

    def kernel_of(kind: GameKind) -> Any:
        return getattr(getattr(kind, module), verb.__name__)

    @overload(verb, jit_options=HELPER_FLAGS, strict=False)  # type: ignore[untyped-decorator]
    def _of_game(g: Any, *others: Any) -> Any:
        return kernel_of(_kind(g)).py_func

    def kernels() -> dict[np.dtype[np.void], Any]:
        return {kind.state: kernel_of(kind) for kind in GAMES.values()}

    verb.by_record = kernels, HELPER_FLAGS  # type: ignore[attr-defined]  # for the compile cache


for _verb in (deal, legal, is_legal, apply, end_if_blocked, random_action, heaviest_action):
    _compile_by_game(_verb, "play")
_compile_by_game(view, "observe")
