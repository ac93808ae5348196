"""Determinisation: the tiles that a seat cannot see, dealt anew.

The new deal depends on what the seat may know and on a random generator, never on the true deal. A
deal is possible if every hand keeps its size and holds no tile with a pip of its `voids`. All
possible deals are equally likely, as in a fair deal given sizes and voids. A tile that was just
drawn may be anything, because the voids describe the hand before the draw. Other inferences from
the play are not used, such as which doubles nobody could lead, or that a seat in the middle of its
opening train still has a tile for it.

Method: seats without voids take what the others leave, so only the *bound* seats matter. Counting
the possible deals tile by tile, over the places left in the bound hands, allows drawing one exactly
uniformly. If that table would be too large (many bound seats with large hands), a possible deal is
found by augmenting paths and then mixed: groups of bound hands are dealt anew with the free tiles,
exactly, many times. The result is always a possible deal, and nearly uniform.

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

FREE = -1  # holder of a tile that no bound seat holds
EXACT_COUNTS = 1_000_000  # largest table of an exact deal: 8 MB, about 10 ms
GROUP_CELLS = 1_500  # largest table of a group that is dealt anew while mixing
SWEEPS = 8  # times that every bound hand is dealt anew while mixing; 2 to 4 are enough

Holders = Sequence[tuple[int, ...]]  # (T,) which bound seats may hold each tile


# ------------------------------------------------------------------------------------------ states


def redeal(
    rules: Rules, states: NDArray[np.void], seats: NDArray[np.int64], rng: np.random.Generator
) -> None:
    """Deal anew, in place, what seat seats[i] cannot see of the record states[i].

    Future deals are hidden too: every record gets a new seed, one that keeps the order in which
    seats start rounds. The hands of a finished round lie open and are kept.

    Raises DominoError if `rng` is not a generator, PositionError if `voids` allows no deal.
    """
    if not isinstance(rng, np.random.Generator):
        raise DominoError(f"rng={rng!r} must be a numpy Generator, such as default_rng(0)")
    for g, seat in zip(states, seats.tolist(), strict=True):
        if g["ending"] == PLAYING:  # stays playing: being blocked depends on all hands together
            redeal_tiles(rules, g, seat, rng)
    states["stream"] = 0  # it would reveal the true deal; every deal opens its own
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
        raise PositionError(f"voids: no deal of what seat {viewer} cannot see agrees with them")
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
    """Return how many tiles of a hand its `voids` bind: all but one that was just drawn."""
    if not g["voids"][seat]:
        return 0
    return int(g["hand_sizes"][seat]) - int(g["drew"] == DRAWN and g["to_move"] == seat)


@lru_cache(maxsize=8)
def pip_masks(max_pip: int) -> tuple[int, ...]:
    """Return the pips of each tile of a set as a bit mask."""
    pips = range(max_pip + 1)
    return tuple(1 << low | 1 << high for low in pips for high in pips[low:])


def holders(max_pip: int, tiles: Sequence[int], voids: Sequence[int]) -> Holders:
    """Return for each tile the seats that may hold it; voids: a bit mask of pips per seat."""
    pips = pip_masks(max_pip)
    return [
        tuple(h for h, missing in enumerate(voids) if not missing & pips[tile]) for tile in tiles
    ]


def renew_seeds(rules: Rules, states: NDArray[np.void], rng: np.random.Generator) -> None:
    """Give every record a new seed; the starters of rounds are public and stay the same."""
    drawn = rules.starter_is_drawn
    wanting = np.arange(len(states))
    while len(wanting):
        trial = states[wanting]
        trial["seed"] = rng.integers(1 << 63, size=len(wanting))
        if drawn:  # dealing shows who starts
            stepping.deal_games(trial, rules.record)
        fits = trial["starter"] == states["starter"][wanting]
        states["seed"][wanting[fits]] = trial["seed"][fits]
        wanting = wanting[~fits]


# ------------------------------------------------------------------------------------------- deals


def deal_bound(may_hold: Holders, room: list[int], rng: np.random.Generator) -> list[int] | None:
    """Return who holds each tile, one of the H bound seats or FREE; None if no deal is possible.

    room: (H,) number of tiles that each bound seat gets.
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

    Table t counts the ways in which the first t tiles can fill each bound hand with so many tiles,
    the others being free. Counts stay below 10^T and are sums of positive numbers, so floats do not
    lose precision by cancellation.
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
    """Return one of the possible deals, all equally likely; None if there is none."""
    tables = count_deals(may_hold, room)
    steps = [prod(n + 1 for n in room[h + 1 :]) for h in range(len(room))]
    missing = room.copy()  # tiles that each hand still gets
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
                dealt[t] = h  # the last one, if rounding leaves a little
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
        """Give seat h one more tile: a free one, or one whose holder finds another."""
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
    """Deal random groups of bound hands anew, with the free tiles, several times.

    Each group is dealt exactly, given the other hands, so the uniform distribution is invariant.
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
    """Deal the hands of some bound seats and the free tiles anew, in place and uniformly."""
    place = {h: i for i, h in enumerate(group)}
    tiles = [t for t, holder in enumerate(dealt) if holder == FREE or holder in place]
    within = [tuple(place[h] for h in may_hold[t] if h in place) for t in tiles]
    anew = draw_deal(within, [room[h] for h in group], rng)
    assert anew is not None  # the present deal is possible
    for t, holder in zip(tiles, anew, strict=True):
        dealt[t] = FREE if holder == FREE else group[holder]
