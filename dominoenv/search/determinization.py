"""Determinisation: the tiles that a seat cannot see, dealt anew as they might lie.

A sample from the information set of a seat: it depends on what the seat may know and on a random
generator, not on the true hands. A deal is possible if every hand has its size and none of the pips
in its `voids`, those that everybody knows it to lack. Each possible deal is equally likely: those
are the odds of a fair deal, given sizes and `voids`. A tile just drawn is a place of its own that
may hold anything, because `voids` is about the hand before. Whatever else follows from the play is
not used, such as which doubles nobody could lead, or that a seat in the middle of its opening train
still has a tile for it.

Method: seats without `voids` take what the others leave, so only the *bound* seats matter.
Counting the possible deals tile by tile over the room left in the bound hands lets one be drawn
exactly uniformly. Where that table would be large (many bound seats with large hands), a possible
deal is found by augmenting paths and mixed instead: groups of bound hands, together with the free
tiles, are dealt anew exactly, again and again. Every deal that comes out is possible, but those are
uniform only nearly.

Letters: T the hidden tiles, H the bound seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.round import DRAWN, PLAYING
from dominoenv.core.rules import Rules
from dominoenv.core.tiles import add_tiles, tiles_of
from dominoenv.core.types import State
from dominoenv.errors import DominoError, PositionError
from dominoenv.games import stepping

FREE = -1  # the holder of a tile that no bound seat holds
EXACT_COUNTS = 1_000_000  # most counts in the table of an exact deal: 8 MB, about 10 ms
GROUP_CELLS = 1_500  # most combinations of rooms in a group that is dealt anew while mixing
SWEEPS = 8  # times that every bound hand is dealt anew while mixing; odds settle after 2 to 4

Holders = Sequence[tuple[int, ...]]  # (T,) which bound seats may hold each tile


# ------------------------------------------------------------------------------------------ states


def redeal(
    rules: Rules, states: NDArray[np.void], seats: NDArray[np.int64], rng: np.random.Generator
) -> None:
    """Deal anew, in place, what seat seats[i] cannot see of the record states[i].

    The deals to come are hidden too: every record gets a new seed, one that keeps the order in
    which seats start rounds. When a round is over its hands lie open, and stay.

    Raises DominoError if `rng` is no generator, PositionError if `voids` allows no deal at all.
    """
    if not isinstance(rng, np.random.Generator):
        raise DominoError(f"rng={rng!r} must be a numpy Generator, such as default_rng(0)")
    for g, seat in zip(states, seats.tolist(), strict=True):
        if g["ending"] == PLAYING:  # and still is: being blocked depends on all hands together
            redeal_tiles(rules, g, seat, rng)
    states["stream"] = 0  # it would tell the true deal; every deal opens its own
    renew_seeds(rules, states, rng)


def redeal_tiles(rules: Rules, g: State, viewer: int, rng: np.random.Generator) -> None:
    """Deal the other hands and the boneyard anew; tiles out of play stay out of play."""
    left = int(g["boneyard_size"])
    others = [seat for seat in range(rules.players) if seat != viewer]
    held = tiles_of(np.bitwise_or.reduce(g["hands"][others]))
    hidden = sorted([*held, *g["boneyard"][:left].tolist()])  # the same whoever holds what
    bound = {seat: room for seat in others if (room := bound_tiles(g, seat)) > 0}
    may_hold = holders(rules.max_pip, hidden, [int(g["voids"][seat]) for seat in bound])
    dealt = deal_bound(may_hold, list(bound.values()), rng)
    if dealt is None:
        raise PositionError(f"voids: no deal of the tiles that seat {viewer} cannot see agrees")
    rest = [hidden[t] for t in rng.permutation(len(hidden)).tolist() if dealt[t] == FREE]
    g["hands"][others] = 0
    for h, seat in enumerate(bound):
        add_tiles(g["hands"][seat], [tile for t, tile in enumerate(hidden) if dealt[t] == h])
    for seat in others:
        missing = int(g["hand_sizes"][seat]) - bound.get(seat, 0)
        add_tiles(g["hands"][seat], rest[:missing])
        del rest[:missing]
    g["boneyard"][:left] = rest
    g["boneyard"][left:] = 0  # the tiles that were drawn from it, in their order


def bound_tiles(g: State, seat: int) -> int:
    """Return how many tiles of a hand its `voids` binds: all, but for one that was just drawn."""
    if not g["voids"][seat]:
        return 0
    return int(g["hand_sizes"][seat]) - int(g["drew"] == DRAWN and g["to_move"] == seat)


@lru_cache(maxsize=8)
def pips_of(max_pip: int) -> tuple[int, ...]:
    """Return the pips of each tile of a set as a bit mask."""
    pips = range(max_pip + 1)
    return tuple(1 << low | 1 << high for low in pips for high in pips[low:])


def holders(max_pip: int, tiles: Sequence[int], voids: Sequence[int]) -> Holders:
    """Return for each tile which seats may hold it, by place in `voids`, a bit mask for each."""
    pips = pips_of(max_pip)
    return [
        tuple(h for h, missing in enumerate(voids) if not missing & pips[tile]) for tile in tiles
    ]


def renew_seeds(rules: Rules, states: NDArray[np.void], rng: np.random.Generator) -> None:
    """Give every record a seed from `rng`; who starts the match's rounds, seats know already."""
    drawn = rules.starter_is_drawn
    wanting = np.arange(len(states))
    while len(wanting):
        trial = states[wanting]
        trial["seed"] = rng.integers(1 << 63, size=len(wanting))
        if drawn:  # dealing tells who starts
            stepping.deal_games(trial, rules.record)
        fits = trial["starter"] == states["starter"][wanting]
        states["seed"][wanting[fits]] = trial["seed"][fits]
        wanting = wanting[~fits]


# ------------------------------------------------------------------------------------------- deals


def deal_bound(may_hold: Holders, room: list[int], rng: np.random.Generator) -> list[int] | None:
    """Return who holds each tile, one of the H bound seats or FREE; None if no deal is possible.

    room: (H,) the number of tiles that each bound seat gets.
    """
    if counts_needed(may_hold, room) <= EXACT_COUNTS:
        return draw_deal(may_hold, room, rng)
    found = find_deal(may_hold, room, rng)
    if found is not None:
        mix_deal(found, may_hold, room, rng)
    return found


def counts_needed(may_hold: Holders, room: list[int]) -> int:
    """Return the size of the table that an exact deal needs."""
    return prod(n + 1 for n in room) * (1 + sum(map(bool, may_hold)))


def count_deals(may_hold: Holders, room: list[int]) -> list[NDArray[np.float64]]:
    """Return tables t = 0 ... T of shape (room[0]+1, ..., room[H-1]+1).

    Table t tells in how many ways the first t tiles can put so many tiles into each bound hand, the
    others free. The counts stay below 10^T; all are sums of positive numbers, so nothing cancels.
    """
    ways = np.zeros([n + 1 for n in room])
    ways.flat[0] = 1
    every = slice(None)
    with_tile = [(every,) * h + (slice(1, None),) for h in range(len(room))]
    without = [(every,) * h + (slice(None, -1),) for h in range(len(room))]
    tables = [ways]
    for seats in may_hold:
        if seats:
            more = ways.copy()
            for h in seats:
                more[with_tile[h]] += ways[without[h]]
            ways = more
        tables.append(ways)
    return tables


def draw_deal(may_hold: Holders, room: list[int], rng: np.random.Generator) -> list[int] | None:
    """Return one of all possible deals, each equally likely; None if there is none."""
    tables = count_deals(may_hold, room)
    steps = [prod(n + 1 for n in room[h + 1 :]) for h in range(len(room))]
    missing = room.copy()  # what each hand still gets from the tiles before
    at = tables[0].size - 1  # its place in the tables
    if tables[-1].item(at) == 0:
        return None
    dealt = [FREE] * len(may_hold)
    chances = rng.random(len(may_hold)).tolist()
    for t in range(len(may_hold) - 1, -1, -1):
        before = tables[t]
        chance = chances[t] * tables[t + 1].item(at) - before.item(at)
        if chance < 0:
            continue
        for h in may_hold[t]:
            ways = before.item(at - steps[h]) if missing[h] else 0.0
            if ways > 0:
                dealt[t] = h  # stays if rounding leaves a little chance after the last one
                chance -= ways
                if chance < 0:
                    break
        if dealt[t] != FREE:
            missing[dealt[t]] -= 1
            at -= steps[dealt[t]]
    return dealt


# -------------------------------------------------------------------------------- very many counts


def find_deal(may_hold: Holders, room: list[int], rng: np.random.Generator) -> list[int] | None:
    """Return any possible deal, found by augmenting paths; None if there is none."""
    dealt = [FREE] * len(may_hold)
    tiles: list[list[int]] = [[] for _ in room]  # those that each seat may hold, in random order
    for t in rng.permutation(len(may_hold)).tolist():
        for h in may_hold[t]:
            tiles[h].append(t)

    def take(h: int, asked: set[int]) -> bool:
        """Get seat h one more tile: a free one, or one whose holder gets another for it."""
        asked.add(h)
        for t in tiles[h]:
            if dealt[t] == FREE:
                dealt[t] = h
                return True
        for t in tiles[h]:
            if dealt[t] not in asked and take(dealt[t], asked):
                dealt[t] = h
                return True
        return False

    possible = all(take(h, set()) for h, n in enumerate(room) for _ in range(n))
    return dealt if possible else None


def mix_deal(
    dealt: list[int], may_hold: Holders, room: list[int], rng: np.random.Generator
) -> None:
    """Deal random groups of bound hands anew, with the free tiles, until little is left as it was.

    Each group is dealt exactly, given the other hands, so uniform deals stay uniform.
    """
    for _ in range(SWEEPS):
        group: list[int] = []
        for h in rng.permutation(len(room)).tolist():
            wider = [*group, h]
            if len(wider) > 2 and prod(room[seat] + 1 for seat in wider) > GROUP_CELLS:
                deal_group(dealt, may_hold, room, group, rng)
                wider = [h]
            group = wider
        deal_group(dealt, may_hold, room, group, rng)


def deal_group(
    dealt: list[int],
    may_hold: Holders,
    room: list[int],
    group: list[int],
    rng: np.random.Generator,
) -> None:
    """Deal the hands of some bound seats and the free tiles anew, in place, exactly uniformly."""
    place = {h: i for i, h in enumerate(group)}
    tiles = [t for t, holder in enumerate(dealt) if holder == FREE or holder in place]
    within = [tuple(place[h] for h in may_hold[t] if h in place) for t in tiles]
    anew = draw_deal(within, [room[h] for h in group], rng)
    assert anew is not None  # the deal that there is
    for t, holder in zip(tiles, anew, strict=True):
        dealt[t] = FREE if holder == FREE else group[holder]
