"""The rules of Mexican Train as functions of one state record `g` and one rules record `r`.

The numbers in the comments are those of `docs/rules.md`. Unchecked kernels: `apply` takes only an
action that `is_legal` allows.
"""

from __future__ import annotations

import numpy as np

from dominoenv.core.bits import ONE, bit, count, lowest, nth_tile, store_byte
from dominoenv.core.compiling import jit, outlined
from dominoenv.core.round import (
    DRAW_SPENT,
    DRAWN,
    NOBODY_CAN_PLAY,
    NOT_DRAWN,
    PLAYING,
    WENT_OUT,
    all_on_table,
    clear_round,
    clockwise,
    count_pass,
    deal_hands,
    draw_tile,
    end_round,
    holds,
    is_double,
    is_on_table,
    lay_tile,
    next_seat,
    other_pip,
    pile_up,
    proof_of_draw,
    proof_of_pass,
    put_on_table,
    somebody_holds,
)
from dominoenv.core.rules import Dead
from dominoenv.core.streams import STARTER, below, open_stream
from dominoenv.core.tiles import WORDS
from dominoenv.core.types import Mask, RulesRecord, State, Word
from dominoenv.games.mexican_train.rules import (
    DRAWN_STARTER,
    Blocked,
    DoubleFollowup,
    Draws,
    EngineTile,
    FirstTurn,
    Opening,
)

# ---------------------------------------------------------------------------------------- actions


@jit
def draw_action(r: RulesRecord) -> int:
    """Return the id of the draw; pass and stop follow it."""
    return int((r["players"] + 1) * r["tiles"])


@jit
def train_of(r: RulesRecord, seat: int, target: int) -> int:
    """Return the train that a seat calls `target`: 0 its own, 1 ... clockwise, P the Mexican."""
    return target if target == r["players"] else clockwise(r, seat, target)


@jit
def target_of(r: RulesRecord, seat: int, train: int) -> int:
    """Return what a seat calls a train; the inverse of `train_of`."""
    if train == r["players"]:
        return train
    return train - seat if train >= seat else train - seat + int(r["players"])


# ------------------------------------------------------------------------------------------- deal


@outlined
def deal(g: State, r: RulesRecord) -> None:
    """Deal round g["round"] of match g["match"]; the round may be over at once (tiny hands)."""
    clear_round(g)
    engine = int(r["rounds"][g["round"]])
    engine_tile = int(r["ids"][engine, engine])
    set_middle(g, engine)
    g["starter"] = round_starter(g, r)
    dealt = r["engine_tile"] == EngineTile.DEALT
    pile_up(g, r, -1 if dealt else engine_tile)
    deal_hands(g, r)
    if dealt:
        holder = find_engine(g, r, engine_tile)
        lay_tile(g, holder, engine_tile)
        g["to_move"] = next_seat(g, r, holder)
        if g["hand_sizes"][holder] == 0:
            end_round(g, r, WENT_OUT)
    else:
        put_on_table(g, engine_tile)
        g["to_move"] = g["starter"]
    end_if_blocked(g, r)


@jit
def set_middle(g: State, engine: int) -> None:
    """Put the engine into the middle, with no train at it."""
    g["engine"] = engine
    g["markers"] = g["owes_play"] = g["doubles"] = g["num_pending"] = 0
    g["ends"][:] = engine
    g["lengths"][:] = 0
    g["turns_taken"][:] = 0


@outlined
def round_starter(g: State, r: RulesRecord) -> int:
    """Return who starts this round: the first round's starter, then clockwise."""
    first = r["first_starter"]
    if first == DRAWN_STARTER:
        g["stream"] = open_stream(g["seed"], g["match"], STARTER)
        first = below(g, r["players"])
    return int((first + g["round"]) % r["players"])


@outlined
def find_engine(g: State, r: RulesRecord, engine_tile: int) -> int:
    """Return who holds the engine; if nobody does, seats draw in turn until it turns up."""
    for seat in range(r["players"]):
        if holds(g, seat, engine_tile):
            return seat
    seat = int(g["starter"])
    while draw_tile(g, seat) != engine_tile:
        seat = next_seat(g, r, seat)
    return seat


# ------------------------------------------------------------------------------------------ legal


@jit
def in_opening(g: State, r: RulesRecord) -> bool:
    """Return whether the seat to move is laying its opening train (house rule `opening`)."""
    return bool(r["opening"] == Opening.WHOLE_TRAIN and g["turns_taken"][g["to_move"]] == 0)


@jit
def is_bound(g: State, r: RulesRecord) -> bool:
    """Return whether the seat to move may only cover the oldest pending double (rule 7).

    Its own doubles of this turn bind nobody yet, and an opening train is laid regardless.
    """
    return bool(g["num_pending"] > 0 and not g["owes_play"] and not in_opening(g, r))


@jit
def open_trains(g: State, r: RulesRecord) -> int:
    """Return the trains on which the seat to move may play, as a bit mask (rules 1, 6, 7)."""
    seat = int(g["to_move"])
    own = 1 << seat
    first_turn = g["turns_taken"][seat] == 0
    if in_opening(g, r):
        return own
    if is_bound(g, r):
        return 1 << int(g["pending"][0])
    if first_turn and r["first_turn"] == FirstTurn.OWN_TRAIN:
        return own
    if r["own_train_first"] and g["lengths"][seat] == 0:
        return own
    if g["owes_play"] and r["double_followup"] == DoubleFollowup.COVER_IF_POSSIBLE:
        covers = coverable_trains(g, r, seat)
        if covers:
            return covers
    return int(own | g["markers"] | (1 << r["players"]))


@outlined
def coverable_trains(g: State, r: RulesRecord, seat: int) -> int:
    """Return the trains whose double, played in this turn, the seat can cover from its hand."""
    trains = 0
    for i in range(g["num_pending"]):
        train = int(g["pending"][i])
        for w in range(WORDS):
            if g["hands"][seat, w] & r["pip_tiles"][g["ends"][train], w]:
                trains |= 1 << train
    return trains


@jit
def playable_word(g: State, r: RulesRecord, w: int) -> Word:
    """Return word w of the tiles that the mover may play at all (`max_doubles_per_turn`)."""
    hand: Word = g["hands"][g["to_move"], w]
    if g["doubles"] >= r["max_doubles_per_turn"]:
        hand &= ~r["doubles"][w]
    return hand


@jit
def ends_of(g: State, r: RulesRecord, trains: int) -> int:
    """Return the ends of some trains as a bit mask of pips."""
    pips = 0
    for train in range(r["players"] + 1):
        if (trains >> train) & 1:
            pips |= 1 << int(g["ends"][train])
    return pips


@outlined
def can_play(g: State, r: RulesRecord, trains: int) -> bool:
    """Return whether the seat to move holds a tile for any of the trains (rule 2)."""
    left = np.uint64(trains)
    while left:
        end = int(g["ends"][lowest(left)])
        for w in range(r["words"]):
            if playable_word(g, r, w) & r["pip_tiles"][end, w]:
                return True
        left &= left - ONE
    return False


@jit
def may_draw(g: State) -> bool:
    """Return whether a seat that cannot play draws (rule 3); an empty hand always may."""
    if g["boneyard_size"] == 0:
        return False
    return bool(g["drew"] == NOT_DRAWN or g["hand_sizes"][g["to_move"]] == 0)


@jit
def may_stop(g: State, r: RulesRecord) -> bool:
    """Return whether the seat may end its opening train here."""
    return bool(in_opening(g, r) and g["lengths"][g["to_move"]] > 0 and not g["owes_play"])


@jit
def legal(g: State, r: RulesRecord, mask: Mask) -> tuple[int, int]:
    """Write the mask of legal actions; return how many there are, and one of them."""
    mask[:] = 0
    if g["ending"] != PLAYING:
        return 0, -1
    number, action = 0, -1
    trains = np.uint64(open_trains(g, r))
    while trains:
        train = lowest(trains)
        end, first = int(g["ends"][train]), play_action(g, r, train, 0)
        for w in range(r["words"]):
            fits = playable_word(g, r, w) & r["pip_tiles"][end, w]
            number += count(fits)
            while fits:
                action = first + w * 64 + lowest(fits)
                store_byte(mask, action, 1)
                fits &= fits - ONE
        trains &= trains - ONE
    if number > 0 and not may_stop(g, r):
        return number, action
    action = without_tile(g, r, number)
    store_byte(mask, action, 1)
    return number + 1, action


@jit
def without_tile(g: State, r: RulesRecord, number: int) -> int:
    """Return what the mover does that has no tile to play, or may stop (rules 3, 4)."""
    draw = draw_action(r)
    if number > 0:
        return draw + 2
    return draw if may_draw(g) else draw + 1


@outlined
def is_legal(g: State, r: RulesRecord, action: int) -> bool:
    """Return whether an action, any integer, is legal now."""
    draw = draw_action(r)
    if g["ending"] != PLAYING or action < 0 or action > draw + 2:
        return False
    trains = open_trains(g, r)
    if action < draw:
        target, tile = action // r["tiles"], action % r["tiles"]
        train = train_of(r, int(g["to_move"]), target)
        word = tile >> 6
        fits = playable_word(g, r, word) & r["pip_tiles"][g["ends"][train], word]
        return bool((trains >> train) & 1) and bool(fits & bit(tile))
    if can_play(g, r, trains):
        return action == draw + 2 and may_stop(g, r)
    return bool(action == without_tile(g, r, 0))


# ---------------------------------------------------------------------------------------- choices


@jit
def random_action(g: State, r: RulesRecord) -> int:
    """Draw one of the legal actions from the stream in g["stream"], each equally likely."""
    trains = open_trains(g, r)
    number = count_plays(g, r, trains)
    if number == 0:
        return without_tile(g, r, 0)
    n = below(g, number + int(may_stop(g, r)))
    return nth_play(g, r, trains, n) if n < number else without_tile(g, r, number)


@jit
def count_plays(g: State, r: RulesRecord, trains: int) -> int:
    """Return in how many ways the mover can play a tile onto one of the trains."""
    number, left = 0, np.uint64(trains)
    while left:
        end = int(g["ends"][lowest(left)])
        for w in range(r["words"]):
            number += count(playable_word(g, r, w) & r["pip_tiles"][end, w])
        left &= left - ONE
    return number


@jit
def nth_play(g: State, r: RulesRecord, trains: int, n: int) -> int:
    """Return the n-th (from 0) of the actions that `count_plays` counts."""
    left = np.uint64(trains)
    while True:
        train = lowest(left)
        for w in range(r["words"]):
            fits = playable_word(g, r, w) & r["pip_tiles"][g["ends"][train], w]
            number = count(fits)
            if n < number:
                return play_action(g, r, train, w * 64 + nth_tile(fits, n))
            n -= number
        left &= left - ONE


@jit
def play_action(g: State, r: RulesRecord, train: int, tile: int) -> int:
    """Return the id of playing a tile onto a train, as the seat to move calls it."""
    return target_of(r, int(g["to_move"]), train) * int(r["tiles"]) + tile


@jit
def heaviest_action(g: State, r: RulesRecord) -> int:
    """Return the legal action that takes most out of the hand, equals drawn from g["stream"]."""
    most, number, action = -1, 0, -1
    if may_stop(g, r):
        most, number, action = 0, 1, draw_action(r) + 2
    left = np.uint64(open_trains(g, r))
    while left:
        train = lowest(left)
        for w in range(r["words"]):
            fits = playable_word(g, r, w) & r["pip_tiles"][g["ends"][train], w]
            while fits:
                tile = w * 64 + lowest(fits)
                cost = int(r["cost"][tile])
                if cost >= most:
                    number = number + 1 if cost == most else 1
                    if number == 1 or below(g, number) == 0:
                        most, action = cost, play_action(g, r, train, tile)
                fits &= fits - ONE
        left &= left - ONE
    return action if action >= 0 else without_tile(g, r, 0)


# ------------------------------------------------------------------------------------------ apply


@outlined
def apply(g: State, r: RulesRecord, action: int) -> None:
    """Carry out a legal action."""
    draw = draw_action(r)
    if action < draw:
        target, tile = action // r["tiles"], action % r["tiles"]
        play(g, r, tile, train_of(r, int(g["to_move"]), target))
    elif action == draw:
        draw_for_play(g, r)
    elif action == draw + 1:
        pass_turn(g, r)
    else:
        end_turn(g, r)
    end_if_blocked(g, r)


@outlined
def play(g: State, r: RulesRecord, tile: int, train: int) -> None:
    """Put a tile onto a train, and see whether the turn goes on (rules 5, 6, 9)."""
    seat = int(g["to_move"])
    put_on_train(g, r, tile, train)
    lay_tile(g, seat, tile)
    g["passes"] = g["owes_play"] = 0
    if train == seat:
        g["markers"] &= ~(1 << seat)
    if g["drew"] == DRAWN:
        g["drew"] = NOT_DRAWN if r["draws"] == Draws.PER_PLAY else DRAW_SPENT
    double = is_double(r, tile)
    empty_hand = g["hand_sizes"][seat] == 0
    if empty_hand and (not double or r["go_out_on_double"] or g["boneyard_size"] == 0):
        end_round(g, r, WENT_OUT)
        return
    g["doubles"] += 1 if double else 0
    if double and (empty_hand or r["double_followup"] != DoubleFollowup.NONE):
        g["owes_play"] = 1
    if in_opening(g, r):
        if not empty_hand and not can_play(g, r, 1 << seat):
            end_turn(g, r)  # nothing more fits: no draw, no marker
    elif not g["owes_play"]:
        end_turn(g, r)


@jit
def put_on_train(g: State, r: RulesRecord, tile: int, train: int) -> None:
    """Turn the tile's fitting pip inwards; a double uncovers a new duty, any tile covers an old."""
    at = g["num_played"]
    g["played"][at] = tile
    g["onto"][at] = train
    g["num_played"] = at + 1
    clear_pending(g, train)
    g["ends"][train] = other_pip(r, tile, int(g["ends"][train]))
    g["lengths"][train] += 1
    if is_double(r, tile):
        g["pending"][g["num_pending"]] = train
        g["num_pending"] += 1


@jit
def clear_pending(g: State, train: int) -> None:
    """Take a train off the pending list, if it is there; the order of the others stays."""
    kept = 0
    for i in range(g["num_pending"]):
        if g["pending"][i] != train:
            g["pending"][kept] = g["pending"][i]
            kept += 1
    g["num_pending"] = kept


@outlined
def draw_for_play(g: State, r: RulesRecord) -> None:
    """Draw one tile (rule 3)."""
    seat = int(g["to_move"])
    proof_of_draw(g, seat, provably_missing(g, r))
    draw_tile(g, seat)
    g["drew"] = DRAWN


@outlined
def pass_turn(g: State, r: RulesRecord) -> None:
    """Give up the turn: the own train is marked (rule 4)."""
    seat = int(g["to_move"])
    proof_of_pass(g, seat, provably_missing(g, r))
    g["markers"] |= 1 << seat
    count_pass(g)
    end_turn(g, r)


@outlined
def provably_missing(g: State, r: RulesRecord) -> int:
    """Return the pips that a mover who cannot play proves to lack, as a bit mask."""
    pips = ends_of(g, r, open_trains(g, r))
    if g["doubles"] >= r["max_doubles_per_turn"]:  # it may hold a double that it must not play
        for pip in range(r["pips"]):
            if not is_on_table(g, int(r["ids"][pip, pip])):
                pips &= ~(1 << pip)
    return pips


@outlined
def end_turn(g: State, r: RulesRecord) -> None:
    """Hand the turn on; doubles that nobody can ever cover stop binding (rule 8)."""
    seat = int(g["to_move"])
    g["turns_taken"][seat] += 1
    g["drew"] = NOT_DRAWN
    g["owes_play"] = g["doubles"] = 0
    if r["dead_double"] == Dead.RELEASED:
        release_dead_doubles(g, r)
    g["to_move"] = next_seat(g, r, seat)


@outlined
def release_dead_doubles(g: State, r: RulesRecord) -> None:
    """Drop every pending double whose pip lies on the table completely."""
    for i in range(g["num_pending"] - 1, -1, -1):
        train = int(g["pending"][i])
        if all_on_table(g, r, int(g["ends"][train])):
            clear_pending(g, train)


@outlined
def end_if_blocked(g: State, r: RulesRecord) -> None:
    """End the round if it is blocked (rule 10); asked after the deal and after every action."""
    if g["ending"] != PLAYING or g["boneyard_size"] > 0:
        return
    if r["blocked"] == Blocked.LAP:
        blocked = g["passes"] >= r["players"]
    elif g["passes"] >= 2 * r["players"]:
        blocked = True  # the first lap has opened every train: some house rule forbids their use
    else:
        blocked = not somebody_holds(g, r, ends_of(g, r, trains_left(g, r)))
    if blocked:
        end_round(g, r, NOBODY_CAN_PLAY)


@jit
def trains_left(g: State, r: RulesRecord) -> int:
    """Return the trains that somebody may still go on with: the oldest pending double, or all."""
    if is_bound(g, r):
        return 1 << int(g["pending"][0])
    return int((2 << r["players"]) - 1)
