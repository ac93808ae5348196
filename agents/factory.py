"""The one loop of every compiled agent: read a row, score its legal actions, pick the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.compiling import jit, kernel
from dominoenv.core.types import Mask, Masks, Numbers, Records, Rows, RulesRecord

from .features import Features, Offsets, Parameters, read

F = TypeVar("F", bound=Callable[..., Any])
Kernel: TypeAlias = Callable[..., int]
"""See `Agent.kernel`."""
ReadTable: TypeAlias = Callable[[Rows, int, RulesRecord, Offsets, Features], None]
Prepare: TypeAlias = Callable[[Features, RulesRecord, Parameters, Mask], None]
Score: TypeAlias = Callable[[Features, RulesRecord, Parameters, int, int], float]
"""(features, rules, parameters, place, what): how good one legal action is, the best highest."""


def make_kernel(
    name: str, read_table: ReadTable, score: Score, prepare: Prepare | None = None
) -> Kernel:
    """Return the kernel of an agent that plays the legal action of the highest score.

    name: the agent's, which its compiled code is kept by. read_table: `read_trains` of Mexican
    Train or `read_feet` of Chicken Foot. score: of one legal action, `place * f["stride"] + what`:
    the tile `what` on the train `place`, or the tile of two pips joined by the pip `place`; draw,
    pass and stop have places beyond. prepare: called once a decision, before the scores, with the
    row of the mask; it may note what they share in `f`. All three are made by `@jit`.
    """
    module = score.__module__
    ready = jit(_named(_nothing(), module, f"{name}_prepare")) if prepare is None else prepare

    def choose(
        rows: Rows,
        masks: Masks,
        draws: Numbers,
        actions: NDArray[np.int64],
        rules: Records,
        offsets: Records,
        parameters: Records,
        features: Records,
        scores: Numbers,
    ) -> int:
        """Write the best action of each row; see `Agent.kernel`."""
        r, f, p = rules[0], features[0], parameters[0]
        for i in range(len(rows)):
            read(rows, i, r, offsets[0], f)
            read_table(rows, i, r, offsets[0], f)
            ready(f, r, p, masks[i])
            stride = int(f["stride"])
            for action in range(len(scores)):
                if masks[i, action]:
                    scores[action] = score(f, r, p, action // stride, action % stride)
            actions[i] = pick(masks, i, scores, draws[i])
            if actions[i] < 0:
                return i
        return -1

    return kernel(_named(choose, module, name))


def _nothing() -> Prepare:
    """Return a new function that prepares nothing.

    One for each agent: numba takes records for subtypes of each other, so that a shared one might
    be compiled for another agent's parameters.
    """

    def prepare(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> None:
        return None

    return prepare


def _named(function: F, module: str, name: str) -> F:
    """Name a function that was made here after its agent.

    The compile cache names files by it, and the compiler symbols: functions of one name that
    different processes compiled could stand in for each other when a third loads both.
    """
    function.__module__, function.__name__, function.__qualname__ = module, name, name
    return function


@jit
def pick(masks: Masks, i: int, scores: Numbers, draw: float) -> int:
    """Return the legal action of the highest score; equals by floor(draw * number); -1: none."""
    number, best = 0, 0.0
    for action in range(masks.shape[1]):
        if masks[i, action]:
            if number == 0 or scores[action] > best:
                best, number = scores[action], 1
            elif scores[action] == best:
                number += 1
    place = min(int(draw * number), number - 1)  # a product may round up
    for action in range(masks.shape[1]):
        if masks[i, action] and scores[action] == best:
            if place == 0:
                return action
            place -= 1
    return -1
