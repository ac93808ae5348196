"""The rules of Chicken Foot as functions of one state record `g` and one rules record `r`.

The numbers in the comments are those of `docs/rules.md`. Unchecked kernels: `apply` takes only an
action that `is_legal` allows.
"""

from __future__ import annotations

import numpy as np

from dominoenv.core.bits import ONE, count, lowest, nth_tile, store_byte
from dominoenv.core.compiling import jit, outlined
from dominoenv.core.round import (
    DRAWN,
    NOBODY_CAN_PLAY,
    NOT_DRAWN,
    PLAYING,
    WENT_OUT,
    all_on_table,
    clear_round,
    count_pass,
    deal_hands,
    draw_tile,
    end_round,
    holds,
    lay_tile,
    next_seat,
    other_pip,
    pile_up,
    proof_of_draw,
    proof_of_pass,
    shuffle_boneyard,
)
from dominoenv.core.rules import Dead
from dominoenv.core.streams import below
from dominoenv.core.tiles import MAX_PIPS
from dominoenv.core.types import Mask, RulesRecord, State
from dominoenv.games.chicken_foot.state import ANY_END, CENTRE, NO_FOOT

# ---------------------------------------------------------------------------------------- actions


@jit
def draw_action(r: RulesRecord) -> int:
    """Return the id of the draw; pass follows it."""
    return int(r["pips"] * r["pips"])


# ------------------------------------------------------------------------------------------- deal


@outlined
def deal(g: State, r: RulesRecord) -> None:
    """Deal round g["round"] of match g["match"] and lead; the round may be over at once."""
    clear_round(g)
    pile_up(g, r, -1)
    deal_hands(g, r)
    pip, leader = find_lead(g, r)
    while leader < 0:
        take_back(g, r)
        shuffle_boneyard(g)
        deal_hands(g, r)
        pip, leader = find_lead(g, r)
    set_middle(g, pip)
    g["starter"] = leader
    g["to_move"] = next_seat(g, r, leader)
    lay_tile(g, leader, int(r["ids"][pip, pip]))
    if g["hand_sizes"][leader] == 0:
        go_out(g, r, leader, int(r["out_bonus"]))


@jit
def set_middle(g: State, centre: int) -> None:
    """Put the centre's double down, with nothing around it."""
    g["centre"] = centre
    g["arms"] = g["toes"] = 0
    g["foot"] = NO_FOOT
    g["ends"][:] = 0


@outlined
def find_lead(g: State, r: RulesRecord) -> tuple[int, int]:
    """Return the pip of the double that leads and who holds it; -1, -1 where no hand has any."""
    wanted = int(r["rounds"][g["round"]])
    for i in range(r["pips"]):
        pip = lead_pip(r, wanted, i)
        for seat in range(r["players"]):
            if holds(g, seat, int(r["ids"][pip, pip])):
                return pip, seat
    return -1, -1


@jit
def lead_pip(r: RulesRecord, wanted: int, i: int) -> int:
    """Return the i-th double that may lead: down from the wanted one, then up; from 1, upwards."""
    if wanted == 1:
        return (1 + i) % int(r["pips"])
    return wanted - i if i <= wanted else i


@outlined
def take_back(g: State, r: RulesRecord) -> None:
    """Take all tiles back into the boneyard, where they still lie in the order of the last deal."""
    g["hands"][:] = 0
    g["hand_sizes"][:] = 0
    g["boneyard_size"] = r["tiles"]


# ------------------------------------------------------------------------------------------ legal


@jit
def centre_missing(g: State, r: RulesRecord) -> int:
    """Return how many tiles the centre still needs before anything else opens (rule 2)."""
    return max(int(r["centre_arms"] - g["arms"]), 0)


@jit
def open_pips(g: State, r: RulesRecord) -> int:
    """Return the pips that a tile can be joined by now, as a bit mask (rules 2, 3, 5)."""
    if centre_missing(g, r) > 0:
        return 1 << int(g["centre"])
    if g["foot"] != NO_FOOT:
        return 1 << int(g["foot"])
    pips = 0
    for pip in range(MAX_PIPS):
        pips |= int(g["ends"][pip] > 0) << pip
    return pips


@outlined
def can_play(g: State, r: RulesRecord, pips: int) -> bool:
    """Return whether the seat to move holds a tile with one of the pips (rule 4)."""
    seat, left = int(g["to_move"]), np.uint64(pips)
    while left:
        pip = lowest(left)
        for w in range(r["words"]):
            if g["hands"][seat, w] & r["pip_tiles"][pip, w]:
                return True
        left &= left - ONE
    return False


@jit
def may_draw(g: State) -> bool:
    """Return whether a seat that cannot play draws (rule 4)."""
    return bool(g["boneyard_size"] > 0 and g["drew"] == NOT_DRAWN)


@jit
def legal(g: State, r: RulesRecord, mask: Mask) -> tuple[int, int]:
    """Write the mask of legal actions; return how many there are, and one of them."""
    mask[:] = 0
    if g["ending"] != PLAYING:
        return 0, -1
    seat, pips = int(g["to_move"]), open_pips(g, r)
    number, action = 0, -1
    for w in range(r["words"]):
        hand = g["hands"][seat, w]
        while hand:
            tile = w * 64 + lowest(hand)
            low, high = int(r["low"][tile]), int(r["high"][tile])
            if (pips >> low) & 1:
                action = low * int(r["pips"]) + high
                store_byte(mask, action, 1)
                number += 1
            if (pips >> high) & 1 and low != high:
                action = high * int(r["pips"]) + low
                store_byte(mask, action, 1)
                number += 1
            hand &= hand - ONE
    if number == 0:
        action, number = without_tile(g, r), 1
        store_byte(mask, action, 1)
    return number, action


@jit
def without_tile(g: State, r: RulesRecord) -> int:
    """Return what the mover does that has no tile to play (rule 4)."""
    draw = draw_action(r)
    return draw if may_draw(g) else draw + 1


@outlined
def is_legal(g: State, r: RulesRecord, action: int) -> bool:
    """Return whether an action, any integer, is legal now."""
    draw = draw_action(r)
    if g["ending"] != PLAYING or action < 0 or action > draw + 1:
        return False
    pips = open_pips(g, r)
    if action < draw:
        pip, other = action // r["pips"], action % r["pips"]
        tile = int(r["ids"][pip, other])
        return bool((pips >> pip) & 1) and holds(g, int(g["to_move"]), tile)
    if can_play(g, r, pips):
        return False
    return bool(action == without_tile(g, r))


# ---------------------------------------------------------------------------------------- choices


@jit
def random_action(g: State, r: RulesRecord) -> int:
    """Draw one of the legal actions from the stream in g["stream"], each equally likely."""
    pips = open_pips(g, r)
    number = count_plays(g, r, pips)
    return nth_play(g, r, pips, below(g, number)) if number > 0 else without_tile(g, r)


@jit
def count_plays(g: State, r: RulesRecord, pips: int) -> int:
    """Return in how many ways the mover can join a tile by one of the pips."""
    number, seat, left = 0, int(g["to_move"]), np.uint64(pips)
    while left:
        pip = lowest(left)
        for w in range(r["words"]):
            number += count(g["hands"][seat, w] & r["pip_tiles"][pip, w])
        left &= left - ONE
    return number


@jit
def nth_play(g: State, r: RulesRecord, pips: int, n: int) -> int:
    """Return the n-th (from 0) of the actions that `count_plays` counts."""
    seat, left = int(g["to_move"]), np.uint64(pips)
    while True:
        pip = lowest(left)
        for w in range(r["words"]):
            fits = g["hands"][seat, w] & r["pip_tiles"][pip, w]
            number = count(fits)
            if n < number:
                return play_action(r, pip, w * 64 + nth_tile(fits, n))
            n -= number
        left &= left - ONE


@jit
def play_action(r: RulesRecord, pip: int, tile: int) -> int:
    """Return the id of joining a tile by one of its pips."""
    return pip * int(r["pips"]) + other_pip(r, tile, pip)


@jit
def heaviest_action(g: State, r: RulesRecord) -> int:
    """Return the legal action that takes most out of the hand, equals drawn from g["stream"]."""
    most, number, action = -1, 0, -1
    seat, left = int(g["to_move"]), np.uint64(open_pips(g, r))
    while left:
        pip = lowest(left)
        for w in range(r["words"]):
            fits = g["hands"][seat, w] & r["pip_tiles"][pip, w]
            while fits:
                tile = w * 64 + lowest(fits)
                cost = int(r["cost"][tile])
                if cost >= most:
                    number = number + 1 if cost == most else 1
                    if number == 1 or below(g, number) == 0:
                        most, action = cost, play_action(r, pip, tile)
                fits &= fits - ONE
        left &= left - ONE
    return action if action >= 0 else without_tile(g, r)


# ------------------------------------------------------------------------------------------ apply


@outlined
def apply(g: State, r: RulesRecord, action: int) -> None:
    """Carry out a legal action."""
    draw = draw_action(r)
    if action < draw:
        play(g, r, action // int(r["pips"]), action % int(r["pips"]), ANY_END)
    elif action == draw:
        draw_for_play(g, r)
    else:
        pass_turn(g, r)
    end_if_blocked(g, r)


@outlined
def play(g: State, r: RulesRecord, pip: int, other: int, joined: int) -> None:
    """Join a tile by `pip`; its other pip opens, and a double opens a foot (rules 2, 3, 5)."""
    seat, tile = int(g["to_move"]), int(r["ids"][pip, other])
    at_centre = centre_missing(g, r) > 0
    log_play(g, tile, pip, CENTRE if at_centre else joined)
    lay_tile(g, seat, tile)
    g["passes"] = 0
    foot_was_open = g["foot"] != NO_FOOT
    if at_centre:
        g["arms"] += 1
        g["ends"][other] += 1
    elif foot_was_open:
        add_toe(g, r, other)
    else:
        g["ends"][pip] -= 1
        if pip == other:
            g["foot"], g["toes"] = pip, 0
        else:
            g["ends"][other] += 1
    makes_foot = not at_centre and pip == other
    if (
        r["dead_foot"] == Dead.RELEASED
        and g["foot"] != NO_FOOT
        and all_on_table(g, r, int(g["foot"]))
    ):
        close_foot(g)
    if g["hand_sizes"][seat] == 0:
        bonus = r["foot_out_bonus"] if foot_was_open or makes_foot else r["out_bonus"]
        go_out(g, r, seat, int(bonus))
    else:
        end_turn(g, r)


@jit
def log_play(g: State, tile: int, pip: int, joined: int) -> None:
    """Note what was played, by which pip and where."""
    at = g["num_played"]
    g["played"][at] = tile
    g["attach"][at] = pip
    g["joined"][at] = joined
    g["num_played"] = at + 1


@jit
def add_toe(g: State, r: RulesRecord, other: int) -> None:
    """Add a toe to the open foot; the last one completes it."""
    g["toe_pips"][g["toes"]] = other
    g["toes"] += 1
    if g["toes"] == r["toes"]:
        close_foot(g)


@jit
def close_foot(g: State) -> None:
    """Turn the foot's toes into open ends; the table is free again."""
    for i in range(g["toes"]):
        g["ends"][g["toe_pips"][i]] += 1
    g["foot"], g["toes"] = NO_FOOT, 0


@jit
def go_out(g: State, r: RulesRecord, seat: int, bonus: int) -> None:
    """End the round for the seat that has laid its last tile (rules 6, 7)."""
    end_round(g, r, WENT_OUT)
    g["penalties"][seat] += bonus
    g["scores"][seat] += bonus


@outlined
def draw_for_play(g: State, r: RulesRecord) -> None:
    """Draw one tile (rule 4)."""
    seat = int(g["to_move"])
    proof_of_draw(g, seat, open_pips(g, r))
    draw_tile(g, seat)
    g["drew"] = DRAWN


@outlined
def pass_turn(g: State, r: RulesRecord) -> None:
    """Give up the turn (rule 4)."""
    proof_of_pass(g, int(g["to_move"]), open_pips(g, r))
    count_pass(g)
    end_turn(g, r)


@jit
def end_turn(g: State, r: RulesRecord) -> None:
    """Hand the turn on."""
    g["drew"] = NOT_DRAWN
    g["to_move"] = next_seat(g, r, int(g["to_move"]))


@jit
def end_if_blocked(g: State, r: RulesRecord) -> None:
    """End the round if it is blocked (rule 6); asked after every action."""
    if g["ending"] == PLAYING and g["passes"] >= r["players"]:
        end_round(g, r, NOBODY_CAN_PLAY)
