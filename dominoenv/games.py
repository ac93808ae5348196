"""The registry of games, and the verbs that every game answers to.

A verb looks at the type of the state record and goes to that game's own kernel, when it compiles.
Everything that drives games (`batch`, `game`) is written once, in these verbs.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from dominoenv._jit import HELPER_FLAGS
from dominoenv.chicken_foot import observe as chicken_foot_observe
from dominoenv.chicken_foot import play as chicken_foot_play
from dominoenv.chicken_foot.state import STATE as CHICKEN_FOOT_STATE
from dominoenv.mexican_train import observe as mexican_train_observe
from dominoenv.mexican_train import play as mexican_train_play
from dominoenv.mexican_train.state import STATE as MEXICAN_TRAIN_STATE
from dominoenv.rules import Rules


@dataclass(frozen=True)
class GameKind:
    """The pieces of one game."""

    state: np.dtype[np.void]
    play: ModuleType
    """Kernels deal, legal, is_legal, apply, end_if_blocked, random_action, heaviest_action."""
    observe: ModuleType
    """Kernel view; layout, num_actions, action_text."""


GAMES = {
    "mexican_train": GameKind(MEXICAN_TRAIN_STATE, mexican_train_play, mexican_train_observe),
    "chicken_foot": GameKind(CHICKEN_FOOT_STATE, chicken_foot_play, chicken_foot_observe),
}
_BY_RECORD_TYPE = {numba.from_dtype(kind.state): kind for kind in GAMES.values()}


def kind_of(rules: Rules) -> GameKind:
    """Return the pieces of the game that some rules belong to."""
    return GAMES[rules.game]


def _kind(g: Any) -> GameKind:
    """Return the game of a state record (uncompiled), or of its numba type (compiling)."""
    if isinstance(g, numba.types.Record):
        return _BY_RECORD_TYPE[g]
    return next(kind for kind in GAMES.values() if kind.state == g.dtype)


def deal(g: Any, r: Any) -> None:
    """Deal round g["round"] of match g["match"]."""
    _kind(g).play.deal(g, r)


def legal(g: Any, r: Any, mask: Any) -> tuple[int, int]:
    """Write the mask of legal actions; return how many there are, and the last of them."""
    found: tuple[int, int] = _kind(g).play.legal(g, r, mask)
    return found


def is_legal(g: Any, r: Any, action: int) -> bool:
    """Return whether an action, any integer, is legal now."""
    return bool(_kind(g).play.is_legal(g, r, action))


def apply(g: Any, r: Any, action: int) -> None:
    """Carry out a legal action."""
    _kind(g).play.apply(g, r, action)


def end_if_blocked(g: Any, r: Any) -> None:
    """End the round if nobody can play any more."""
    _kind(g).play.end_if_blocked(g, r)


def random_action(g: Any, r: Any) -> int:
    """Draw one of the legal actions from the stream in g["stream"], each equally likely."""
    return int(_kind(g).play.random_action(g, r))


def heaviest_action(g: Any, r: Any) -> int:
    """Return the legal action that takes most out of the hand, equals drawn from g["stream"]."""
    return int(_kind(g).play.heaviest_action(g, r))


def view(g: Any, r: Any, seat: int, row: Any) -> int:
    """Write what a seat may know; return the length of the row."""
    return int(_kind(g).observe.view(g, r, seat, row))


def _compile_by_game(verb: Any, part: str) -> None:
    """Let compiled code that calls a verb call the function of that name of the game at hand."""

    @overload(verb, jit_options=HELPER_FLAGS, strict=False)  # type: ignore[untyped-decorator]
    def _of_game(g: Any, *others: Any) -> Any:
        return getattr(getattr(_kind(g), part), verb.__name__).py_func


for _verb in (deal, legal, is_legal, apply, end_if_blocked, random_action, heaviest_action):
    _compile_by_game(_verb, "play")
_compile_by_game(view, "observe")
