"""Policies: who plays a seat. One small protocol, batch first, and the two that are always at hand.

A policy sees observations and masks, never a state: it cannot know more than its seat may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.compiling import kernel
from dominoenv.core.layout import Layout
from dominoenv.core.rules import Rules
from dominoenv.core.types import Actions as Actions  # these four: for those who write policies
from dominoenv.core.types import Draws, Weights
from dominoenv.core.types import Masks as Masks
from dominoenv.core.types import Numbers as Numbers
from dominoenv.core.types import Observations as Observations
from dominoenv.errors import DominoError
from dominoenv.games.registry import kind_of


class Policy:
    """Plays a seat under some rules. Subclasses write `act`.

    rules: what is being played; seed: of the policy's own generator `rng`. `layout` says where
    things stand in an observation, `layout.raw` brings either form of it to bits and counts.

    Environments play with a `copy` each, whose generator they seed: what they play depends on
    their own seeds, not on who else has the policy, in whatever threads. One object that several
    threads ask is safe too, but its random choices come from one generator, in the order of the
    calls. So what `act` writes belongs into local variables, and chance comes out of `rng`; a
    policy that keeps arrays to write into gives a copy its own in `__copy__`.
    """

    name: ClassVar[str] = ""
    games: ClassVar[tuple[str, ...]] = ()
    """The games that it can play; empty: all of them."""

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        self.rules = rules
        self.layout: Layout = kind_of(rules).observe.layout(rules)
        self.num_actions: int = kind_of(rules).observe.num_actions(rules)
        self.rng = np.random.default_rng(seed)

    def copy(self, seed: int | Sequence[int] = 0) -> Self:
        """Return a policy that shares everything, weights for example, but has its own `rng`."""
        other = copy(self)
        other.rng = np.random.default_rng(seed)
        return other

    @classmethod
    def plays(cls, game: str) -> bool:
        """Return whether it can play a game."""
        return not cls.games or game in cls.games

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions; no row of the masks is empty."""
        raise NotImplementedError

    def probabilities(self, observations: Observations, masks: Masks) -> Numbers | None:
        """Return (n, A) how likely each action is to be chosen; None from those that don't say."""
        return None

    def scores(self, observations: Observations, masks: Masks) -> Numbers | None:
        """Return (n, A) how good each legal action is held to be, the best highest; or None."""
        return None


P = TypeVar("P", bound=type[Policy])
POLICIES: dict[str, type[Policy]] = {}
"""What has been registered, by name; `opponents.baselines` adds the baselines when needed."""


def register_policy(name: str) -> Callable[[P], P]:
    """Make a policy class known by a name, as a class decorator."""

    def register(policy: P) -> P:
        policy.name = name
        POLICIES[name] = policy
        return policy

    return register


def tile_weights(rules: Rules) -> NDArray[np.int32]:
    """Return (A,) what each action takes out of a hand: the tile's cost; 0 for draw and pass."""
    tiles = kind_of(rules).observe.action_tiles(rules)
    return np.where(tiles < 0, 0, rules.record[0]["cost"][tiles]).astype(np.int32)


@kernel
def _pick_uniform(masks: Masks, draws: Draws, actions: Actions) -> int:
    """Pick the legal action at the place floor(draw * number) of each row.

    Returns -1, or the first row that has none.
    """
    for i in range(masks.shape[0]):
        number = 0
        for action in range(masks.shape[1]):
            number += 1 if masks[i, action] else 0
        if number == 0:
            return i
        place = min(int(draws[i] * number), number - 1)  # a product may round up
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if place == 0:
                    actions[i] = action
                    break
                place -= 1
    return -1


@kernel
def _pick_heaviest(masks: Masks, weights: Weights, draws: Draws, actions: Actions) -> int:
    """Pick the legal action of most weight in each row; equals by floor(draw * number).

    Returns -1, or the first row that has none.
    """
    for i in range(masks.shape[0]):
        best, number = 0, 0
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if number == 0 or weights[action] > best:
                    best, number = weights[action], 1
                elif weights[action] == best:
                    number += 1
        if number == 0:
            return i
        place = min(int(draws[i] * number), number - 1)  # a product may round up
        for action in range(masks.shape[1]):
            if masks[i, action] and weights[action] == best:
                if place == 0:
                    actions[i] = action
                    break
                place -= 1
    return -1


def as_int8(masks: Masks, num_actions: int) -> NDArray[np.int8]:
    """Return masks in the one form that the kernels are compiled for, or raise DominoError."""
    shape = getattr(masks, "shape", None)
    is_mask = shape is not None and len(shape) == 2 and masks.dtype.kind in "buif"
    if not is_mask or shape[1] != num_actions:  # type: ignore[index]
        what = type(masks).__name__ if shape is None else f"array of {masks.dtype}, shape {shape}"
        raise DominoError(f"masks must be numbers of shape (n, {num_actions}), not {what}")
    flags = masks if masks.dtype == np.int8 else masks != 0  # a larger number may not fit
    return np.ascontiguousarray(flags, np.int8)


def refuse_empty(row: int) -> None:
    """Raise DominoError for a row without a legal action; -1: there is none."""
    if row >= 0:
        raise DominoError(f"masks: row {row} allows nothing; every row needs a legal action")


@register_policy("random")
class RandomPolicy(Policy):
    """Plays any legal (tile, place) with equal probability."""

    def probabilities(self, observations: Observations, masks: Masks) -> Numbers:
        """Return (n, A) how likely each action is to be chosen."""
        legal = as_int8(masks, self.num_actions) != 0
        refuse_empty(-1 if legal.any(axis=1).all() else int(legal.any(axis=1).argmin()))
        chances: Numbers = legal / legal.sum(axis=1, keepdims=True)
        return chances

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        masks = as_int8(masks, self.num_actions)
        actions = np.zeros(len(masks), np.int64)
        refuse_empty(_pick_uniform(masks, self.rng.random(len(masks)), actions))
        return actions


@register_policy("heaviest")
class HeaviestPolicy(Policy):
    """Plays the legal tile that would cost most if it stayed in the hand; ties at random."""

    sign: ClassVar[int] = 1

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        super().__init__(rules, seed)
        self._weights = self.sign * tile_weights(rules)

    def scores(self, observations: Observations, masks: Masks) -> Numbers:
        """Return (n, A) the weight of each action's tile, in penalty points."""
        return np.tile(self._weights.astype(np.float64), (len(masks), 1))

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        masks = as_int8(masks, self.num_actions)
        actions = np.zeros(len(masks), np.int64)
        draws = self.rng.random(len(masks))
        refuse_empty(_pick_heaviest(masks, self._weights, draws, actions))
        return actions
