"""Double-chaining: keep doubles until several can be laid in one turn, with a cover in hand.

Each double earns one more play, so two doubles and a cover are three tiles gone at once, and the
double left uncovered binds the seats that follow. So a single double waits, ends are made that fit
doubles in the hand, and a chain begins when enough doubles fit and the last can be covered. When
somebody is nearly out, doubles go at once. Source: rule 6 of `docs/rules.md`, by which doubles
chain, and "be open to playing it at any time it is playable" of a double in a train, which this
agent puts to the test, in https://www.mexicantrainfun.com/mexican-train-domino-strategy/.
`doubles_avoided` is the opposite.
"""

from __future__ import annotations

from dataclasses import dataclass

from dominoenv.core.compiling import jit
from dominoenv.core.types import Mask, RulesRecord
from dominoenv.policies import register_policy

from .agent import Agent, parameter
from .factory import make_kernel
from .features import Features, Parameters, read_trains

CHAIN, HOLD = 1_000.0, -1_000.0  # beyond any weight in pips


@jit
def chain_ready(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> bool:
    """Return whether enough doubles fit now, one of them with a cover in the hand."""
    doubles, covers = 0, 0
    for pip in range(r["pips"]):
        for target in range(r["players"] + 1):
            if mask[target * r["tiles"] + r["ids"][pip, pip]]:
                doubles += 1
                covers += f["hand_pips"][pip] > 1
                break
    return doubles >= p["chain"] and covers > 0


@jit
def score(f: Features, r: RulesRecord, p: Parameters, target: int, tile: int) -> float:
    """Return how good it is to play a tile on a train."""
    if target > r["players"]:
        return 0.0  # draw, pass, stop
    low, high = int(r["low"][tile]), int(r["high"][tile])
    if low == high:
        if not f["note"]:
            return HOLD - low
        return CHAIN + low - (100.0 if f["hand_pips"][low] > 1 else 0.0)  # the coverable one last
    outer = low + high - int(f["ends"][target])
    return low + high + (p["prepare"] if f["held"][outer, outer] else 0.0)


@jit
def note_chain(f: Features, r: RulesRecord, p: Parameters, mask: Mask) -> None:
    """Note whether doubles go now."""
    is_late = f["owes_play"] or f["least_other"] <= p["endgame"]
    f["note"] = is_late or chain_ready(f, r, p, mask)


@register_policy("double_chaining")
@dataclass(eq=False, kw_only=True)
class DoubleChaining(Agent):
    """Saves doubles, and plays them when they chain."""

    games = ("mexican_train",)
    chain: int = parameter(
        2, "doubles that must fit at the same time before the first is played", low=1, high=100
    )
    prepare: float = parameter(3.0, "pips that an end is worth that a double in the hand fits")
    endgame: int = parameter(
        6, "doubles are no longer kept when somebody has so few tiles left", low=0, high=100
    )
    kernel = staticmethod(make_kernel("double_chaining", read_trains, score, note_chain))
