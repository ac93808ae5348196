"""What every state guarantees, over every table; what shuffles and deals are, in exact figures.

The bound on a round's moves is derived in docs/rules.md, "What every state guarantees". Letters: B
games, P seats, T tiles, D tiles in the boneyard after the deal.
"""

from __future__ import annotations

import random
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dominoenv import BatchedGame, Rules, make_policy, make_rules
from dominoenv.core.round import PLAYING
from tests.rule_sets import every_table, name, random_rules

SIGMAS = 4.0  # binomial standard errors that a measured share may be off; seeds are fixed
CHI_SIGMAS = 5.0  # the same for a chi-square statistic, about its mean
MATCH_LENGTH = 3  # a table's games go on into their next rounds


# ------------------------------------------------------------------------------ in every state


def members(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return (..., 192) one-hot tiles of tile sets (..., 3)."""
    return np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little")


def places(rules: Rules, states: NDArray[np.void]) -> NDArray[np.int64]:
    """Return (B, T) in how many places each tile lies; sizes are checked on the way."""
    hands, table = members(states["hands"]), members(states["table"])
    assert np.array_equal(hands.sum(2), states["hand_sizes"])
    assert np.array_equal(
        table.sum(1), states["num_played"] + 1
    )  # the round's double is not logged
    found = hands.sum(1, dtype=np.int64) + table
    pile = np.arange(states["boneyard"].shape[1]) < states["boneyard_size"][:, None]
    game, at = pile.nonzero()
    np.add.at(found, (game, states["boneyard"][game, at]), 1)
    assert not found[:, rules.tiles.size :].any()
    return found[:, : rules.tiles.size]


def special_actions(rules: Rules) -> int:
    """Return the id of the draw; pass follows it, and in Mexican Train stop."""
    if rules.game == "mexican_train":
        return (rules.players + 1) * rules.tiles.size
    return (rules.max_pip + 1) ** 2


def check_kinds(rules: Rules, masks: NDArray[np.int8]) -> None:
    """Every row has a legal action, and all of a row are of one kind."""
    draw = special_actions(rules)
    plays, draws, passes = masks[:, :draw].any(1), masks[:, draw] != 0, masks[:, draw + 1] != 0
    assert (plays.astype(int) + draws + passes == 1).all()
    if masks.shape[1] > draw + 2:
        stops = masks[:, draw + 2] != 0
        assert not (stops & ~plays).any()
        assert not stops.any() or getattr(rules, "opening", "") == "whole_train"


def check_rows(game: BatchedGame, playing: NDArray[np.int64]) -> None:
    assert (game.observations[playing] <= game.layout.high).all()


def most_moves(rules: Rules, boneyard: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return (B,) the most moves that a round can take after a deal that left D tiles."""
    laps = 2 if getattr(rules, "blocked", "lap") == "no_play" else 1
    stops = rules.players if getattr(rules, "opening", "") == "whole_train" else 0
    return laps * rules.players * rules.tiles.size + 2 * boneyard + stops


def play_rounds(rules: Rules, num_games: int, seed: int, policy: str = "random") -> float:
    """Play some rounds with all checks after each move; return the largest share of the bound."""
    game = BatchedGame(rules, num_games, seed, autoreset=False)
    chooser = make_policy(policy, rules, seed)
    bound = most_moves(rules, game.states["boneyard_size"].astype(int))
    playing = np.flatnonzero(game.states["ending"] == PLAYING)
    assert (places(rules, game.states) == 1).all()
    moves = 0
    while playing.size:
        masks = game.masks[playing]
        check_kinds(rules, masks)
        check_rows(game, playing)
        game.step(chooser.act(game.observations[playing], masks), playing)
        moves += 1
        assert (places(rules, game.states) == 1).all()
        assert moves <= bound[playing].min()
        over = game.states["ending"][playing] != PLAYING
        assert np.array_equal(over, game.episode_over[playing])
        assert not game.masks[playing[over]].any()
        playing = playing[~over]
    return moves / float(bound.max())


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_every_table(rules: Rules) -> None:
    play_rounds(rules, 12, seed=rules.players)


@pytest.mark.parametrize("policy", ["random", "heaviest"])
@pytest.mark.parametrize("start", range(4))
def test_every_option(start: int, policy: str) -> None:
    rng = random.Random(start)
    for seed in range(40):
        rules = random_rules(rng)
        if rules.game == "mexican_train" or rules.hand_size > 1:
            play_rounds(rules, 16, seed, policy)


def test_the_tightest_tables_stay_below_the_bound() -> None:
    """Nothing is left to draw, so passes are all there is; and trains that nobody may start."""
    shares = []
    for blocked in ("lap", "no_play"):
        for players, hand_size in ((2, 13), (3, 9)):
            rules = make_rules(
                "mexican_train",
                players=players,
                hand_size=hand_size,
                max_pip=6,
                blocked=blocked,
                own_train_first=True,
                dead_double="binds",
            )
            shares.append(play_rounds(rules, 500, seed=1))
    assert max(shares) > 0.1  # the bound is not idle


def test_matches_keep_their_tiles_from_round_to_round() -> None:
    for rules in (make_rules("mexican_train", preset="station"), make_rules("chicken_foot")):
        game = BatchedGame(rules, 32, seed=1, episode="match")
        chooser = make_policy("random", rules, 1)
        rounds = 0
        while rounds < 32 * MATCH_LENGTH:
            game.step(chooser.act(game.observations, game.masks))
            assert (places(rules, game.states) == 1).all()
            check_kinds(rules, game.masks)
            rounds += int(game.round_over.sum())


# --------------------------------------------------------------------------------- exact figures


def within(found: float, exact: float, trials: int) -> bool:
    return abs(found - exact) <= SIGMAS * sqrt(exact * (1 - exact) / trials)


def dealt(rules: Rules, number: int, seed: int) -> BatchedGame:
    """Deal many matches, one round each, all rounds alike often."""
    game = BatchedGame(rules, number, seed, autoreset=False, observe=False)
    game.reset(seed, matches=np.arange(number), rounds=np.arange(number) % len(rules.rounds))
    return game


def pip_tiles(rules: Rules) -> NDArray[np.bool_]:
    """Return (K, T) which tiles carry each pip."""
    low, high = rules.tiles.low, rules.tiles.high
    pips = np.arange(rules.max_pip + 1)[:, None]
    return (low == pips) | (high == pips)


def test_engine_hands_without_an_engine_tile() -> None:
    rules = make_rules("mexican_train", preset="engine", players=4)
    assert (rules.max_pip, rules.hand_size) == (9, 11)
    number = 40_000
    game = dealt(rules, number, seed=1)
    fits = pip_tiles(rules)[game.states["engine"]]  # (B, T)
    hands = members(game.states["hands"])[:, :, : rules.tiles.size] != 0
    exact = comb(45, 11) / comb(54, 11)
    assert round(exact, 4) == 0.1060
    for seat in range(4):  # hands of one deal depend on each other, those of a seat do not
        assert within((~(hands[:, seat] & fits).any(1)).mean(), exact, number)


@pytest.mark.parametrize(("players", "printed"), [(2, 0.736), (6, 0.209)])
def test_station_engines_that_nobody_is_dealt(players: int, printed: float) -> None:
    rules = make_rules("mexican_train", preset="station", players=players)
    number = 20_000
    game = dealt(rules, number, seed=2)
    left = rules.tiles.size - players * rules.hand_size
    drawn = game.states["boneyard_size"] < left
    exact = 1 - players * rules.hand_size / 91
    assert round(exact, 3) == printed
    assert within(drawn.mean(), exact, number)


@pytest.mark.parametrize(
    ("players", "printed"), [(4, 0.800), (5, 0.818), (6, 0.873), (7, 0.891), (8, 0.873)]
)
def test_the_rounds_own_double_leads(players: int, printed: float) -> None:
    rules = make_rules("chicken_foot", players=players)
    number = 20_000
    game = dealt(rules, number, seed=3)
    wanted = np.array(rules.rounds)[game.states["round"]]
    exact = players * rules.hand_size / 55
    assert round(exact, 3) == printed
    assert within((game.states["centre"] == wanted).mean(), exact, number)


# ------------------------------------------------------------------------------ shuffles, seeds


def chi_square(counts: NDArray[np.integer[Any]]) -> tuple[float, int]:
    """Return the statistic of a table of counts that should be equal, and their number."""
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum()), counts.size


def is_uniform(statistic: float, freedom: int) -> bool:
    """Whether a chi-square statistic is near its mean: neither too rough nor too smooth."""
    return abs(statistic - freedom) <= CHI_SIGMAS * sqrt(2 * freedom)


def orders(rules: Rules, number: int, seed: int) -> NDArray[np.int16]:
    """Return (B, T') the tiles in the order in which they were dealt and will be drawn.

    What was dealt still lies above the boneyard's top, where the draws left it.
    """
    game = dealt(rules, number, seed)
    size = rules.dealt_tiles
    return np.asarray(game.states["boneyard"][:, :size][:, ::-1])


@pytest.mark.parametrize("options", [{"max_pip": 6}, {"engine_tile": "dealt"}])
def test_each_tile_is_at_each_place_alike_often(options: dict[str, Any]) -> None:
    rules = make_rules("mexican_train", players=2, rounds=[6], **options)
    number, size = 50_000, rules.tiles.size
    order = orders(rules, number, seed=4)
    width = order.shape[1]
    counts = np.zeros((width, size), np.int64)
    for place in range(width):
        counts[place] = np.bincount(order[:, place], minlength=size)
    counts = counts[:, counts.any(0)]  # an engine that was set aside lies nowhere
    assert counts.shape == (width, width)
    statistic, _ = chi_square(counts)
    # rows and columns add up to the same: (T' - 1) squared degrees of freedom
    assert is_uniform(statistic, (width - 1) ** 2)


def test_pairs_of_neighbours_are_alike_often() -> None:
    """A shuffle may place each tile evenly and still keep neighbours together."""
    rules = make_rules("mexican_train", players=2, max_pip=6, engine_tile="dealt", rounds=[6])
    number, size = 60_000, rules.tiles.size
    order = orders(rules, number, seed=5).astype(np.int64)
    for first, second in ((0, 1), (9, 10), (0, size - 1), (3, 20)):
        pairs = np.bincount(order[:, first] * size + order[:, second], minlength=size * size)
        counts = pairs.reshape(size, size)
        assert not counts.diagonal().any()
        statistic, cells = chi_square(counts[~np.eye(size, dtype=bool)])
        assert is_uniform(statistic, cells - 1)


def test_what_is_drawn_from_the_seed_is_uniform() -> None:
    rules = make_rules("mexican_train", players=5, first_starter="seed")
    game = BatchedGame(rules, 50_000, 6, observe=False)
    for drawn, number in (
        (game.states["round"], len(rules.rounds)),
        ((game.states["starter"] - game.states["round"]) % rules.players, rules.players),
    ):
        statistic, cells = chi_square(np.bincount(drawn, minlength=number))
        assert cells == number
        assert abs(statistic - (cells - 1)) <= CHI_SIGMAS * sqrt(2 * (cells - 1))


def deals(rules: Rules, seed: Any, matches: Any, rounds: Any) -> NDArray[np.int16]:
    number = len(matches)
    game = BatchedGame(rules, number, 0, autoreset=False, observe=False)
    game.reset(seed, matches=matches, rounds=rounds)
    return game.states["boneyard"].copy()


DEALT_FROM_ALL = [make_rules("mexican_train", preset="station"), make_rules("chicken_foot")]


@pytest.mark.parametrize("rules", DEALT_FROM_ALL, ids=name)
def test_seeds_matches_and_rounds_give_different_deals(rules: Rules) -> None:
    number = 2000
    some, zeros = np.arange(number), np.zeros(number, int)
    near_two = [2**64 - 1 - seed for seed in range(number // 2)] + list(range(number // 2))
    rounds = np.arange(len(rules.rounds))
    each_round = [deals(rules, 7, rounds * 0 + match, rounds) for match in range(1, 101)]
    everything = np.concatenate(
        [
            deals(rules, 7, some + 10**6, zeros),
            deals(rules, 8, some + 10**6, zeros),
            deals(rules, near_two, zeros, zeros),
            *each_round,
        ]
    )
    seen = np.unique(everything, axis=0)
    assert len(seen) == len(everything)


def test_neighbouring_deals_are_as_different_as_any() -> None:
    """Deals of neighbouring seeds, matches and rounds agree at as few places as chance wants."""
    rules = make_rules("mexican_train", players=2, engine_tile="dealt")
    number, size = 4000, rules.tiles.size
    some, zeros = np.arange(number), np.zeros(number, int)
    base = deals(rules, list(range(number)), zeros, zeros)[:, :size]
    others = {
        "seeds": deals(rules, list(range(1, number + 1)), zeros, zeros),
        "matches": deals(rules, list(range(number)), zeros + 1, zeros),
        "rounds": deals(rules, list(range(number)), zeros, zeros + 1),
        "seed for match": deals(rules, 0, some, zeros),
    }
    for what, other in others.items():
        alike = base[1:] == other[1:, :size]  # the first of them is the same deal in one case
        # matching places of two random orders: mean 1, variance 1
        error = abs(alike.sum(1).mean() - 1) * sqrt(number - 1)
        assert error <= SIGMAS, what
