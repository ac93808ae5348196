"""Kernels that step many games at once, of any kind: begin, step, observe.

`settings` is one record, how a `BatchedGame` plays episodes; `outcomes` has one record a game, the
results of the last step. Letters: B games, P seats, L entries of an observation, A actions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.bits import CACHE_LINE, prefetch
from dominoenv.core.compiling import inlined, kernel, outlined
from dominoenv.core.episode import DRAWN_ROUND, Episode, EpisodeOptions, Forced, Reward
from dominoenv.core.round import PLAYING, SEATS
from dominoenv.core.rules import Rules
from dominoenv.core.streams import EPISODE, below, open_stream
from dominoenv.core.tiles import MAX_TILES
from dominoenv.core.types import (
    Indices,
    Mask,
    Masks,
    Outcome,
    Outcomes,
    Records,
    RewardRow,
    Rewards,
    Row,
    Rows,
    RulesRecord,
    Settings,
    State,
    States,
)
from dominoenv.games.verbs import apply, deal, end_if_blocked, is_legal, legal, view

CHECK, MOVE, CHECK_AND_MOVE, BEGIN = 1, 2, 3, 4  # what `advance_games` does
PREFETCH_DISTANCE = 4  # games: how early a record is prefetched
HOT_LINES = 8  # cache lines of a record that steps use all the time

SETTINGS = np.dtype(
    [
        ("episode", np.int32),
        ("round", np.int32),  # index of the round that one-round episodes play, or DRAWN_ROUND
        ("reward", np.int32),
        ("reward_scale", np.float32),  # reward per penalty point
        ("forced", np.int32),
        ("autoreset", np.int32),  # 1: an episode that ended is followed by the next one at once
        ("observe", np.int32),  # 1: write observations
        ("stride", np.int64),  # number of matches from one episode of a game to its next
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("round_over", np.bool_),  # a round ended in the last step
        ("episode_over", np.bool_),  # an episode ended in the last step
        ("penalties", np.int32, (SEATS,)),  # of the round that ended last
        ("scores", np.int32, (SEATS,)),  # totals at the end of that round
        ("winners", np.int8, (SEATS,)),  # 1: of the winners of the episode that ended last
        ("ending", np.int32),  # how the round that ended last did
    ],
    align=True,
)


def settings_record(
    options: EpisodeOptions, rules: Rules, stride: int, *, autoreset: bool, observe: bool
) -> NDArray[np.void]:
    """Return (1,) SETTINGS of some options. Raises RulesError where `double` is no round's."""
    record = np.zeros(1, SETTINGS)
    for name in ("episode", "reward", "forced"):
        record[name] = options.code(name)
    record["round"], record["stride"] = options.round_in(rules.rounds), stride
    record["reward_scale"] = options.reward_scale
    record["autoreset"], record["observe"] = autoreset, observe
    return record


@outlined
def begin_episode(g: State, r: RulesRecord, s: Settings, round_index: int) -> None:
    """Deal the first round of match g["match"], or for one-round episodes the round wanted."""
    g["scores"][:] = 0
    g["round"] = 0
    if s["episode"] == Episode.ROUND:
        if round_index == DRAWN_ROUND:
            g["stream"] = open_stream(g["seed"], g["match"], EPISODE)
            round_index = below(g, r["num_rounds"])
        g["round"] = round_index
    deal(g, r)


@outlined
def pay_rewards(
    g: State, r: RulesRecord, s: Settings, out: Outcome, paid: RewardRow, last: bool
) -> None:
    """Pay every seat for the round that has ended; `last`: the episode ends with it."""
    players = int(r["players"])
    total = 0
    for seat in range(players):
        total += int(g["penalties"][seat])
        out["penalties"][seat] = g["penalties"][seat]
        out["scores"][seat] = g["scores"][seat]
    out["round_over"] = True
    out["ending"] = g["ending"]
    for seat in range(players):
        own = int(g["penalties"][seat])
        if s["reward"] == Reward.ZERO_SUM:
            others = (total - own) / (players - 1)
            paid[seat] += s["reward_scale"] * np.float32(others - own)
        elif s["reward"] == Reward.PENALTY:
            paid[seat] -= s["reward_scale"] * np.float32(own)
    if last:
        declare_winners(g, r, s, out, paid)


@outlined
def declare_winners(g: State, r: RulesRecord, s: Settings, out: Outcome, paid: RewardRow) -> None:
    """Name the winners of the episode, the lowest totals; they share the reward of a win."""
    players = int(r["players"])
    out["episode_over"] = True
    lowest = g["scores"][0]
    for seat in range(1, players):
        lowest = min(lowest, g["scores"][seat])
    winners = 0
    for seat in range(players):
        out["winners"][seat] = g["scores"][seat] == lowest
        winners += 1 if g["scores"][seat] == lowest else 0
    if s["reward"] == Reward.WIN:
        for seat in range(players):
            if out["winners"][seat]:
                paid[seat] += np.float32(1.0 / winners)


@inlined
def finish_rounds(g: State, r: RulesRecord, s: Settings, out: Outcome, paid: RewardRow) -> None:
    """Pay a round that has ended and deal on, until somebody is to move or the episode is over.

    An episode that ends before anybody decided anything (tiny hands) is passed over unpaid.
    """
    while g["ending"] != PLAYING:
        last = s["episode"] == Episode.ROUND or g["round"] + 1 == r["num_rounds"]
        if not out["episode_over"]:
            pay_rewards(g, r, s, out, paid, last)
        if not last:
            g["round"] += 1
            deal(g, r)
        elif s["autoreset"]:
            g["match"] += s["stride"]
            begin_episode(g, r, s, int(s["round"]))
        else:
            return


@inlined
def advance_to_decision(
    g: State, r: RulesRecord, s: Settings, out: Outcome, paid: RewardRow, mask: Mask
) -> None:
    """Bring a game to the next decision, or to the end of its episode, and write its mask."""
    while True:
        finish_rounds(g, r, s, out, paid)
        number, last = legal(g, r, mask)
        if number != 1 or s["forced"] == Forced.EXPLICIT:
            return
        apply(g, r, last)


@inlined
def show(g: State, r: RulesRecord, s: Settings, row: Row) -> None:
    """Write the observation of the seat to move, if observations are wanted."""
    if s["observe"]:
        view(g, r, int(g["to_move"]), row)


@inlined
def clear_outcome(out: Outcome, paid: RewardRow) -> None:
    """Clear the rewards and flags of the previous step; penalties and winners stay readable."""
    paid[:] = 0
    if out["round_over"]:
        out["round_over"] = out["episode_over"] = False


@inlined
def prefetch_record(g: State) -> None:
    """Bring the part of a record that a step needs on its way into the cache."""
    for line in range(HOT_LINES):
        prefetch(g, CACHE_LINE * line)


@inlined
def prefetch_piles(g: State) -> None:
    """Do the same for the ends of the piles, once the record has come that says where they are."""
    prefetch(g["boneyard"], int(g["boneyard_size"]) - 1)
    prefetch(g["played"], int(g["num_played"]))
    prefetch(g["played"], MAX_TILES + int(g["num_played"]))  # what is noted beside each of `played`


@kernel
def deal_games(states: States, rules: Records) -> None:
    """Deal the round that stands in each record; scores stay."""
    for i in range(len(states)):
        deal(states[i], rules[0])


@kernel
def end_blocked_games(states: States, rules: Records) -> None:
    """End blocked rounds after records were edited by the caller."""
    for i in range(len(states)):
        end_if_blocked(states[i], rules[0])


@kernel
def advance_games(
    states: States,
    rules: Records,
    settings: Records,
    games: Indices,
    numbers: Indices,
    masks: Masks,
    observations: Rows,
    rewards: Rewards,
    outcomes: Outcomes,
    work: int,
) -> int:
    """Bring some games to their next decision. `work` says from where, and what `numbers` are.

    CHECK, MOVE, CHECK_AND_MOVE: one action for each game. BEGIN: the round index of the episode
    that each game begins; seed and match stand in the records. One kernel does it all, because each
    one takes seconds to compile.

    Returns -1, or the place in `games` of the first illegal action; the games are left unchanged.
    """
    r, s = rules[0], settings[0]
    size = len(games)
    for k in range(size if work & CHECK else 0):
        prefetch_record(states[games[min(k + PREFETCH_DISTANCE, size - 1)]])
        if not is_legal(states[games[k]], r, numbers[k]):
            return k
    for k in range(0 if work == CHECK else size):
        i = games[k]
        g, out = states[i], outcomes[i]
        ahead = games[min(k + PREFETCH_DISTANCE, size - 1)]
        prefetch_record(states[ahead])
        prefetch(outcomes[ahead], 0)
        prefetch_piles(states[games[min(k + PREFETCH_DISTANCE // 2, size - 1)]])
        clear_outcome(out, rewards[i])
        if work == BEGIN:
            begin_episode(g, r, s, numbers[k])
        else:
            apply(g, r, numbers[k])
        advance_to_decision(g, r, s, out, rewards[i], masks[i])
        if work == BEGIN:  # an episode that was over as it was dealt is nobody's outcome
            clear_outcome(out, rewards[i])
        show(g, r, s, observations[i])
    return -1


@kernel
def show_games(
    states: States,
    rules: Records,
    settings: Records,
    games: Indices,
    masks: Masks,
    observations: Rows,
) -> None:
    """Write masks and observations of some games from their records."""
    r, s = rules[0], settings[0]
    for k in range(len(games)):
        i = games[k]
        legal(states[i], r, masks[i])
        show(states[i], r, s, observations[i])


@kernel
def observe_games(
    states: States, rules: Records, games: Indices, seats: Indices, rows: Rows
) -> None:
    """Write what seat seats[k] of game games[k] may know into rows[k]."""
    r = rules[0]
    for k in range(len(games)):
        view(states[games[k]], r, seats[k], rows[k])
