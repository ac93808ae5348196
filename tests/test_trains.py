"""The longest train: against a plain search of all trains, and within its budget."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dominoenv import DominoError, PositionError, longest_train
from dominoenv.core.tiles import MAX_PIPS, domino_set
from dominoenv.search.longest_train import BUDGET

Tile = tuple[int, int]
COUNTED = {"tiles": lambda tiles, pips: (tiles, pips), "pips": lambda tiles, pips: (pips, tiles)}


def every_train(hand: list[Tile], start: int) -> Any:
    """Yield (tiles, pips) of every train that a hand can lay, the empty one included."""
    yield 0, 0
    for i, (a, b) in enumerate(hand):
        for inner, outer in {(a, b), (b, a)}:
            if inner == start:
                for tiles, pips in every_train(hand[:i] + hand[i + 1 :], outer):
                    yield tiles + 1, pips + a + b


def assert_is_a_train(found: Any, hand: list[Tile], start: int) -> None:
    """Assert that a train is laid of the hand's tiles, each once, and is described rightly."""
    tiles = [tuple(map(int, text.split("-"))) for text in found.tiles]
    assert len(set(tiles)) == len(tiles)
    assert set(tiles) <= {(max(tile), min(tile)) for tile in hand}
    end = start
    for high, low in tiles:
        assert end in (high, low)
        end = high + low - end
    assert found.end == end
    assert found.pips == sum(map(sum, tiles))


def hands(max_pip: int, size: int) -> st.SearchStrategy[list[Tile]]:
    pips = st.integers(0, max_pip)
    tiles = st.tuples(pips, pips).map(lambda tile: (min(tile), max(tile)))
    return st.lists(tiles, max_size=size, unique=True)


@pytest.mark.parametrize("objective", ["tiles", "pips"])
@settings(deadline=None)  # the first call compiles
@given(hand=st.one_of(hands(3, 10), hands(6, 9), hands(12, 12)), start=st.integers(0, 6))
def test_against_all_trains(objective: str, hand: list[Tile], start: int) -> None:
    found = longest_train(hand, start, objective)
    assert_is_a_train(found, hand, start)
    assert found.proven
    best = max(COUNTED[objective](*train) for train in every_train(hand, start))
    assert COUNTED[objective](len(found.tiles), found.pips) == best


@pytest.mark.parametrize("max_pip", [2, 4, 6])
def test_whole_sets_of_even_degree_are_laid_in_one_train(max_pip: int) -> None:
    """Every pip has an even number of tiles then, doubles aside: an Euler circuit exists."""
    hand = list(itertools.combinations_with_replacement(range(max_pip + 1), 2))
    found = longest_train(hand, 1)
    assert (len(found.tiles), found.end, found.proven) == (len(hand), 1, True)


@pytest.mark.parametrize("max_pip", [3, 5])
def test_whole_sets_of_odd_degree_leave_an_euler_remainder(max_pip: int) -> None:
    """Of N + 1 odd pips two are the ends; each two others leave a tile between them."""
    hand = list(itertools.combinations_with_replacement(range(max_pip + 1), 2))
    found = longest_train(hand, 0)
    assert (len(found.tiles), found.proven) == (len(hand) - (max_pip - 1) // 2, True)


def test_what_the_objectives_prefer() -> None:
    hand = ["9-0", "1-0", "2-1", "9-8"]
    assert longest_train(hand, 0) == (("9-0", "9-8"), 26, 8, True)  # of two long ones the heavier
    assert longest_train([*hand, "3-2"], 0).tiles == ("1-0", "2-1", "3-2")
    assert longest_train([*hand, "3-2"], 0, "pips").tiles == ("9-0", "9-8")


def test_doubles_are_laid_where_their_pip_is_reached() -> None:
    assert longest_train(["5-5", "5-2", "2-2", "0-0", "7-7"], 5).tiles == ("5-5", "5-2", "2-2")
    assert longest_train(["0-0"], 0, "pips") == (("0-0",), 0, 0, True)


def test_nothing_fits() -> None:
    assert longest_train([], 3) == ((), 0, 3, True)
    assert longest_train([(1, 2)], 3) == ((), 0, 3, True)


def test_either_way_of_writing_a_hand() -> None:
    texts = ["9-4", "4-4", "4-1"]
    pairs = [(4, 9), (4, 4), (1, 4)]
    arrays = [np.array(pair) for pair in pairs]
    numbers = [tuple(array) for array in arrays]
    assert longest_train(texts, 9) == longest_train(pairs, 9) == longest_train(iter(numbers), 9)


@pytest.mark.parametrize("objective", ["tiles", "pips"])
def test_hands_of_16_are_solved_within_a_tenth_of_the_budget(objective: str) -> None:
    """The budget bounds the worst hand; these need far less of it."""
    rng = np.random.default_rng(16)
    tiles = domino_set(12)
    for _ in range(300):
        ids = rng.choice(tiles.size, 16, replace=False)
        hand = [(int(tiles.low[t]), int(tiles.high[t])) for t in ids]
        start = int(rng.integers(13))
        found = longest_train(hand, start, objective, budget=BUDGET // 10)
        assert_is_a_train(found, hand, start)
        assert found.proven


def test_the_budget_bounds_the_worst_hand() -> None:
    """No proof within the budget: the best train so far, and it says so."""
    whole = domino_set(MAX_PIPS - 1)
    hand = [(int(a), int(b)) for a, b in zip(whole.low, whole.high, strict=True)]
    hand = [tile for tile in hand if tile[0] != tile[1] - 1]  # parity and bridges disagree
    small = longest_train(hand, 0, budget=1)
    assert_is_a_train(small, hand, 0)
    assert (len(small.tiles), small.proven) == (3, False)  # a tile and the doubles of its pips
    large = longest_train(hand, 0, budget=1_000)
    assert_is_a_train(large, hand, 0)
    assert len(large.tiles) > len(hand) // 2


def test_more_budget_is_never_worse() -> None:
    rng = np.random.default_rng(3)
    tiles = domino_set(9)
    ids = rng.choice(tiles.size, 25, replace=False)
    hand = [tiles.text(t) for t in ids]
    lengths = [len(longest_train(hand, 4, budget=budget).tiles) for budget in (1, 10, 100, 10_000)]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["9-4", "4-9"], 4), PositionError, "'4-9' stands twice"),
        ((["5-5", (5, 5)], 4), PositionError, r"\(5, 5\) stands twice"),
        ((["19-4"], 4), PositionError, "no tile"),
        (([(1, 2, 3)], 4), PositionError, "no tile"),
        (([(1.0, 2)], 4), PositionError, "no tile"),
        (([(-1, 2)], 4), PositionError, "no tile"),
        (("9-4", 4), PositionError, "no tile"),
        ((["9-4"], 19), PositionError, r"start=19 must be a pip, 0 \.\.\. 18"),
        ((["9-4"], True), PositionError, "start=True"),
        ((["9-4"], 4, "tile"), DominoError, "did you mean 'tiles'"),
        ((["9-4"], 4, ["tiles"]), DominoError, "objective"),
        ((["9-4"], 4, "tiles", 0), DominoError, "budget=0"),
        ((["9-4"], 4, "tiles", 1.5), DominoError, "budget=1.5"),
    ],
)
def test_what_it_refuses(arguments: Any, error: type[DominoError], message: str) -> None:
    with pytest.raises(error, match=message):
        longest_train(*arguments)


def test_a_huge_budget_is_no_overflow() -> None:
    assert longest_train(["5-4"], 5, budget=1 << 80).proven
