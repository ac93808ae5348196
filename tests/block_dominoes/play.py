"""The rules of Block dominoes as functions of one state record `g` and one rules record `r`.

Unchecked kernels: `apply` takes only an action that `is_legal` allows.
"""

from __future__ import annotations

from dominoenv.core.bits import ONE, lowest, store_byte
from dominoenv.core.compiling import jit, outlined
from dominoenv.core.round import (
    DRAWN,
    NOBODY_CAN_PLAY,
    NOT_DRAWN,
    PLAYING,
    WENT_OUT,
    clear_round,
    deal_hands,
    draw_tile,
    end_round,
    holds,
    lay_tile,
    next_seat,
    other_pip,
    pile_up,
    proof_of_pass,
)
from dominoenv.core.streams import below
from dominoenv.core.types import Mask, RulesRecord, State
from tests.block_dominoes.rules import Draws
from tests.block_dominoes.state import LEAD, LEFT, NO_END, RIGHT

# ---------------------------------------------------------------------------------------- actions


@jit
def lead_action(r: RulesRecord) -> int:
    """Return the id of leading tile 0; those of the other tiles follow it."""
    return int(r["pips"] * r["pips"])


@jit
def draw_action(r: RulesRecord) -> int:
    """Return the id of the draw; pass follows it."""
    return int(lead_action(r) + r["tiles"])


# ------------------------------------------------------------------------------------------- deal


@outlined
def deal(g: State, r: RulesRecord) -> None:
    """Deal round g["round"] of match g["match"]."""
    clear_round(g)
    pile_up(g, r, -1)
    deal_hands(g, r)
    g["ends"][:] = NO_END
    g["starter"] = g["round"] % r["players"]
    g["to_move"] = g["starter"]


# ------------------------------------------------------------------------------------------ legal


@jit
def is_lead(g: State) -> bool:
    """Return whether nothing has been played yet."""
    return bool(g["num_played"] == 0)


@jit
def open_pips(g: State) -> int:
    """Return the pips at the ends of the line as a bit mask; none before the lead."""
    return 0 if is_lead(g) else (1 << int(g["ends"][LEFT])) | (1 << int(g["ends"][RIGHT]))


@jit
def first_way(g: State, r: RulesRecord, tile: int) -> int:
    """Return the action that plays a tile, by its low pip if it fits there; -1 if there is none."""
    if is_lead(g):
        return lead_action(r) + tile
    low, high, pips = int(r["low"][tile]), int(r["high"][tile]), open_pips(g)
    if (pips >> low) & 1:
        return low * int(r["pips"]) + high
    return high * int(r["pips"]) + low if (pips >> high) & 1 else -1


@jit
def second_way(g: State, r: RulesRecord, tile: int) -> int:
    """Return the action that plays by its high pip a tile that fits by both; -1 if none does."""
    low, high, pips = int(r["low"][tile]), int(r["high"][tile]), open_pips(g)
    if low != high and (pips >> low) & 1 and (pips >> high) & 1:
        return high * int(r["pips"]) + low
    return -1


@jit
def without_tile(g: State, r: RulesRecord) -> int:
    """Return what the mover does that has no tile to play."""
    draws = r["draws"] == Draws.DRAW and g["boneyard_size"] > 0
    return draw_action(r) if draws else draw_action(r) + 1


@jit
def legal(g: State, r: RulesRecord, mask: Mask) -> tuple[int, int]:
    """Write the mask of legal actions; return how many there are, and one of them."""
    mask[:] = 0
    if g["ending"] != PLAYING:
        return 0, -1
    number, action, seat = 0, -1, int(g["to_move"])
    for w in range(r["words"]):
        hand = g["hands"][seat, w]
        while hand:
            tile = w * 64 + lowest(hand)
            for way in (first_way(g, r, tile), second_way(g, r, tile)):
                if way >= 0:
                    store_byte(mask, way, 1)
                    number, action = number + 1, way
            hand &= hand - ONE
    if number == 0:
        number, action = 1, without_tile(g, r)
        store_byte(mask, action, 1)
    return number, action


@jit
def tile_of(r: RulesRecord, action: int) -> int:
    """Return the tile that an action below the draw plays."""
    lead = lead_action(r)
    return (
        action - lead if action >= lead else int(r["ids"][action // r["pips"], action % r["pips"]])
    )


@outlined
def is_legal(g: State, r: RulesRecord, action: int) -> bool:
    """Return whether an action, any integer, is legal now."""
    if g["ending"] != PLAYING or action < 0 or action > draw_action(r) + 1:
        return False
    if action < draw_action(r):
        tile = tile_of(r, action)
        fits = action == first_way(g, r, tile) or action == second_way(g, r, tile)
        return bool(fits and holds(g, int(g["to_move"]), tile))
    return bool(action == without_tile(g, r) and nth_play(g, r, 0) < 0)


# ---------------------------------------------------------------------------------------- choices


@outlined
def nth_play(g: State, r: RulesRecord, n: int) -> int:
    """Return the n-th (from 0) of the ways to play a tile; -1 if there are not so many."""
    seat = int(g["to_move"])
    for w in range(r["words"]):
        hand = g["hands"][seat, w]
        while hand:
            tile = w * 64 + lowest(hand)
            for way in (first_way(g, r, tile), second_way(g, r, tile)):
                if way >= 0:
                    if n == 0:
                        return way
                    n -= 1
            hand &= hand - ONE
    return -1


@outlined
def random_action(g: State, r: RulesRecord) -> int:
    """Draw one of the legal actions from the stream in g["stream"], each equally likely."""
    number = 0
    while nth_play(g, r, number) >= 0:
        number += 1
    return nth_play(g, r, below(g, number)) if number > 0 else without_tile(g, r)


@outlined
def heaviest_action(g: State, r: RulesRecord) -> int:
    """Return the legal action that takes most out of the hand, equals drawn from g["stream"]."""
    most, number, chosen, n = -1, 0, -1, 0
    action = nth_play(g, r, 0)
    while action >= 0:
        cost = int(r["cost"][tile_of(r, action)])
        if cost >= most:
            number = number + 1 if cost == most else 1
            if number == 1 or below(g, number) == 0:
                most, chosen = cost, action
        n += 1
        action = nth_play(g, r, n)
    return chosen if chosen >= 0 else without_tile(g, r)


# ------------------------------------------------------------------------------------------ apply


@outlined
def apply(g: State, r: RulesRecord, action: int) -> None:
    """Carry out a legal action."""
    if action < draw_action(r):
        play(g, r, action)
    else:
        seat = int(g["to_move"])
        proof_of_pass(g, seat, open_pips(g))  # a second draw proves as much as a pass after one
        if action == draw_action(r):
            draw_tile(g, seat)
            g["drew"] = DRAWN
        else:
            g["passes"] += 1
            end_turn(g, r)
    end_if_blocked(g, r)


@outlined
def play(g: State, r: RulesRecord, action: int) -> None:
    """Lead a tile, or join it to the line: to the right end where it fits both."""
    seat, tile = int(g["to_move"]), tile_of(r, action)
    if is_lead(g):
        side = LEAD
        g["ends"][LEFT], g["ends"][RIGHT] = r["low"][tile], r["high"][tile]
    else:
        pip = action // int(r["pips"])
        side = RIGHT if g["ends"][RIGHT] == pip else LEFT
        g["ends"][side] = other_pip(r, tile, pip)
    at = g["num_played"]
    g["played"][at], g["side"][at] = tile, side
    g["num_played"] = at + 1
    g["passes"] = 0
    lay_tile(g, seat, tile)
    if g["hand_sizes"][seat] == 0:
        end_round(g, r, WENT_OUT)
    else:
        end_turn(g, r)


@jit
def end_turn(g: State, r: RulesRecord) -> None:
    """Hand the turn on."""
    g["drew"] = NOT_DRAWN
    g["to_move"] = next_seat(g, r, int(g["to_move"]))


@jit
def end_if_blocked(g: State, r: RulesRecord) -> None:
    """End the round if everybody has passed in a row."""
    if g["ending"] == PLAYING and g["passes"] >= r["players"]:
        end_round(g, r, NOBODY_CAN_PLAY)
