"""Playouts for search: positions played to the end of the round, without observations or masks.

Letters: n positions, k playouts of each, P seats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_choice, checked_seed, flag, positive
from dominoenv.core.compiling import kernel
from dominoenv.core.round import PLAYING
from dominoenv.core.rules import Rules
from dominoenv.core.streams import open_stream
from dominoenv.core.threads import map_slices
from dominoenv.core.types import Records, States
from dominoenv.games.state_checks import as_states, check_states
from dominoenv.games.verbs import apply, heaviest_action, random_action

ROLLOUT_POLICIES = ("random", "heaviest")
RANDOM = ROLLOUT_POLICIES.index("random")


class Playouts(NamedTuple):
    """The results of k playouts of each of n positions."""

    penalties: NDArray[np.int32]
    """(n, k, P) penalties of the round."""
    decisions: NDArray[np.int32]
    """(n, k) moves until the end of the round."""


def playouts(
    rules: Rules,
    states: NDArray[np.void],
    repeats: int = 1,
    *,
    policy: str = "random",
    seed: int | None = None,
    num_threads: int = 1,
    trusted: bool = False,
) -> Playouts:
    """Play positions to the end of their rounds, with the same policy at every seat.

    states: (n,) records, such as `BatchedGame.states`; they are not modified, and a finished round
    gives its penalties. repeats: k. policy: "random" (each legal action equally likely) or
    "heaviest" (the tile that costs most; ties at random). Playout j of position i depends on (seed,
    i, j) alone. trusted: skip the check of the records, which takes longer than the playouts; an
    invalid record may then crash the process.

    The hands are played as they are in the record. To search for a seat without cheating, play out
    the states from `BatchedGame.redeal_hidden`. Raises DominoErrors for invalid arguments.
    """
    states = as_states(rules, states)
    if not flag("trusted", trusted):
        states = states.copy()  # another thread may be playing in it
        check_states(rules, states)
    shape = len(states), positive("repeats", repeats)
    penalties = np.zeros((*shape, rules.players), np.int32)
    decisions = np.zeros(shape, np.int32)
    chosen = checked_choice("policy", policy, ROLLOUT_POLICIES)
    seeds = np.array([checked_seed(seed)], np.uint64)
    everything = states, rules.record, chosen, seeds, penalties, decisions

    def play(some: slice) -> None:
        _play_out(*everything, some.start, some.stop, np.zeros(1, states.dtype))

    map_slices(len(states), positive("num_threads", num_threads), play)
    return Playouts(penalties, decisions)


@kernel
def _play_out(
    states: States,
    rules: Records,
    policy: int,
    seed: NDArray[np.uint64],
    penalties: NDArray[np.int32],
    decisions: NDArray[np.int32],
    first: int,
    end: int,
    scratch: Records,
) -> None:
    """Play out the positions first ... end-1, each in a scratch record."""
    r, g = rules[0], scratch[0]
    for i in range(first, end):
        for j in range(decisions.shape[1]):
            scratch[0] = states[i]
            g["stream"] = open_stream(seed[0], i, j)
            number = 0
            while g["ending"] == PLAYING:
                apply(g, r, random_action(g, r) if policy == RANDOM else heaviest_action(g, r))
                number += 1
            decisions[i, j] = number
            for seat in range(r["players"]):
                penalties[i, j, seat] = g["penalties"][seat]
