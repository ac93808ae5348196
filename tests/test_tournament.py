"""Tournaments whose answer is known, and the statistics that give it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("choix")

from dominoenv import (
    BatchedGame,
    Game,
    Policy,
    make_policy,
    make_rules,
    policies,
    policy_names,
)
from dominoenv.batch import HELD_OUT_MATCH
from dominoenv.policies import tile_weights
from experiments import arena, statistics
from experiments.config import check_config
from experiments.tournament import (
    TournamentConfig,
    analysis,
    output,
    play_block,
    rating,
    report,
    run,
    schedule,
)
from experiments.tournament.analysis import PairRow, analyse, pair_row
from experiments.tournament.run import Played
from tests import intervals

SMALL = {"players": 3, "max_pip": 6, "hand_size": 4}
SMALL_ONES = 200  # small tournaments, out of a large one
SURE = 0.9999  # of the bounds below: fixed seeds, so that they are passed once and for all


def config(**values: Any) -> TournamentConfig:
    base = {
        "name": "t",
        "game": "mexican_train",
        "rules": SMALL,
        "resamples": 100,
        "differences": [1],
    }
    return check_config({**base, **values}, "test", TournamentConfig)


def twins(number: int, policy: str = "random") -> list[dict[str, Any]]:
    return [{"kind": "baseline", "policy": policy, "label": f"{policy} {i}"} for i in range(number)]


def play(settings: TournamentConfig) -> Played:
    """Play without files and processes."""

    class Memory:
        players = settings.make_rules().players

        def read(self, block: schedule.Block) -> Any:
            return play_block(settings, block)

    return run.collect(settings, Memory())  # type: ignore[arg-type]


def rows_of(settings: TournamentConfig, table: str = schedule.PAIR) -> list[PairRow]:
    return analysis._pair_rows(settings, play(settings), table, sorted(settings.titles))


def split(played: Played, number: int) -> Iterator[Played]:
    """Make small tournaments of a large one, each of its own deals, which are independent."""
    size = (played.deal.max() + 1) // number
    for first in range(0, number * size, size):
        some = (first <= played.deal) & (played.deal < first + size)
        games = {name: values[some] for name, values in played.games.arrays().items()}
        yield replace(
            played,
            games=arena.Games(**games),
            deal=played.deal[some],
            who=played.who[some],
            table=played.table[some],
        )


class First(Policy):
    """Plays the legal action of the lowest id: no luck of its own."""

    def act(self, observations: Any, masks: Any) -> Any:
        return masks.argmax(axis=1)


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(policies.POLICIES, "first", First)


# --------------------------------------------------------------------------------- known answers


@pytest.mark.parametrize(
    ("game", "rules", "table"),
    [
        ("mexican_train", SMALL, "pair"),
        ("mexican_train", {**SMALL, "players": 2}, "mixed"),
        ("chicken_foot", {"players": 3, "max_pip": 6, "hand_size": 4}, "mixed"),
    ],
)
def test_identical_agents_straddle_zero_at_the_nominal_rate(
    game: str, rules: dict[str, Any], table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gc.collect", lambda: 0)  # statsmodels tidies up after every correction
    agents = max(3, rules["players"])
    missed, false_alarms, p_values, seat_p = 0, 0, [], []
    number = {"pair_deals": 0, "mixed_deals": 0} | {f"{table}_deals": 30 * SMALL_ONES}
    settings = config(
        game=game, rules=rules, agents=twins(agents), differences=[], block=1000, **number
    )
    for played in split(play(settings), SMALL_ONES):
        rows = analysis._pair_rows(settings, played, table, sorted(settings.titles))
        missed += not rows[0].difference.low < 0 < rows[0].difference.high
        false_alarms += any(row.p_corrected < 0.05 for row in rows)
        p_values.append(rows[0].p)
        seat_p.append(analysis.seats(played, 0.95).p)
    low, high = stats.binom.interval(SURE, SMALL_ONES, 0.05)
    assert low <= missed <= high
    assert false_alarms <= high  # of any of three comparisons, thanks to the correction
    assert stats.kstest(p_values, "uniform").pvalue > 1 - SURE
    assert stats.kstest(seat_p, "uniform").pvalue > 1 - SURE


def test_agents_without_luck_that_play_alike_differ_by_nothing(first: None) -> None:
    (row,) = rows_of(config(agents=twins(2, "first"), pair_deals=30))
    assert (row.difference.mean, row.difference.low, row.difference.high) == (0, 0, 0)
    assert (row.p, row.p_corrected, row.deviation) == (1, 1, 0)
    assert row.sample_size == {"1": 2}
    assert report.verdict(row, 0.95) == "open"
    assert row.of_a.wins.mean == pytest.approx(1)


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_a_known_difference_is_found(game: str) -> None:
    agents = ["lightest", "heaviest", "random"]
    settings = config(game=game, rules={"players": 3}, agents=agents, pair_deals=200)
    found = analyse(settings, play(settings))
    assert [row.agent for row in found.ratings] == ["heaviest", "random", "lightest"]
    for better, worse in pairwise(found.ratings):
        assert better.rating.low > worse.rating.high
        assert better.above_next.p_corrected < 0.01
    for row in found.pairs:
        assert row.difference.high < 0
        assert row.p_corrected < 1e-6
        assert report.verdict(row, 0.95) == "a"
        assert row.of_a.wins.low > 1 > row.of_b.wins.high
        assert row.of_a.penalty < row.of_b.penalty
    assert sum(row.rating.mean for row in found.ratings) == pytest.approx(0, abs=1e-6)


class Rigged(BatchedGame):
    """Whoever sits on chair 0 sheds the heaviest tile, whatever the agent wanted."""

    def step(self, actions: Any, games: Any = None) -> None:
        weights = np.where(self.masks[games], 1 + tile_weights(self.rules), 0)
        at_chair = self.to_move[games] == 0
        super().step(np.where(at_chair, weights.argmax(axis=1), actions), games)


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_a_planted_bug_that_favours_a_seat_is_caught(
    game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(game=game, rules={"players": 3}, agents=twins(2), pair_deals=300)
    sound = analysis.seats(play(settings), 0.95)
    monkeypatch.setattr(arena, "BatchedGame", Rigged)
    played = play(settings)
    rigged = analysis.seats(played, 0.95)
    assert sound.p > report.SUSPICIOUS > rigged.p
    assert rigged.by_seat[0].difference.high < 0
    assert rigged.by_seat[0].difference.mean == min(r.difference.mean for r in rigged.by_seat)
    assert "WARNING" in report.seat_verdict(rigged)
    assert "WARNING" not in report.seat_verdict(sound)
    for said in map(report.seat_verdict, (sound, rigged)):
        assert "p = " in said or "p < " in said
        assert "below 0.001 it is a warning" in said
    # and the agents are still told apart rightly, since all of them sat on that chair
    row = pair_row(settings, played, "pair", *settings.titles)
    assert row is not None
    assert abs(row.difference.mean) < 2 * row.difference.half
    # without the rotation the chair would pass for skill
    fixed = np.array([[0, 1, 1]] * 3 + [[0, 1, 0]] * 3)
    monkeypatch.setattr(schedule, "pair_lineups", lambda players: fixed)
    row = pair_row(settings, play(settings), "pair", *settings.titles)
    assert row is not None
    assert row.difference.high < 0


def test_who_begins_is_drawn_and_agents_are_made_for_the_rules_of_the_config() -> None:
    settings = config(rules={**SMALL, "rounds": [6]}, agents=["random", "heaviest"], pair_deals=60)
    played = play(settings)
    firsts = played.games.first[:: len(schedule.pair_lineups(3))]
    assert min(np.bincount(firsts, minlength=3)) > 5
    rules = settings.make_rules()
    assert settings.agents[0].make(rules, 0).rules == rules
    assert rules.with_drawn_starter() != rules
    foot = make_rules("chicken_foot")
    assert foot.with_drawn_starter() is foot


# ---------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("players", range(2, 11))
def test_pairs_take_every_seat_equally_often(players: int) -> None:
    seats = schedule.pair_lineups(players)
    assert len(np.unique(seats, axis=0)) == len(seats) == (2 if players == 2 else 2 * players)
    assert ((seats == 0).sum(axis=0) == len(seats) / 2).all()


def test_mixed_tables_seat_every_agent_alike() -> None:
    drawn = [schedule.mixed_lineups(5, 3, seed=4, deal=deal) for deal in range(600)]
    for seats in drawn:
        assert seats.shape == (3, 3)
        assert all(sorted(column) == sorted(seats[0]) for column in seats.T)
        assert len(set(seats[0])) == 3
    often = np.bincount(np.ravel(drawn), minlength=5)
    assert stats.chisquare(often / 3).pvalue > 1e-3
    neighbours = {tuple(seats[0][:2]) for seats in drawn}
    assert len(neighbours) == 20  # everybody before everybody


def test_every_table_plays_the_same_deals_and_games_hold_the_same_hands() -> None:
    settings = config(agents=["random", "heaviest", "lightest"], pair_deals=7, mixed_deals=7)
    played = play(settings)
    starts = {
        (int(deal), int(first)) for deal, first in zip(played.deal, played.games.first, strict=True)
    }
    assert len(starts) == 7
    assert len(played.deal) == 7 * (3 * 6 + 3)
    assert set(played.deal) == set(range(7))


def test_the_order_of_the_agents_changes_nothing() -> None:
    agents = ["random", "heaviest", "lightest"]
    one, other = (
        config(agents=order, pair_deals=20, mixed_deals=20) for order in (agents, agents[::-1])
    )
    assert repr(analyse(one, play(one)).pairs) == repr(analyse(other, play(other)).pairs)
    assert analyse(one, play(one)).ratings == analyse(other, play(other)).ratings


def test_blocks_are_independent_and_change_no_deal(first: None) -> None:
    few, many = (config(agents=["random", "heaviest"], pair_deals=n, block=10) for n in (20, 40))
    half = len(play(few).deal)
    assert (play(few).games.penalties == play(many).games.penalties[:half]).all()
    agents = [*twins(1, "first"), "first"]
    small, large = (config(agents=agents, pair_deals=20, block=block) for block in (3, 100))
    for name, values in play(small).games.arrays().items():
        assert (values == getattr(play(large).games, name)).all(), name


# -------------------------------------------------------------------------------------- counting


@pytest.mark.parametrize(
    "rules",
    [
        {"game": "mexican_train", "players": 3, "rounds": [9]},
        {"game": "mexican_train", "preset": "station", "players": 4, "rounds": [5]},
        {"game": "mexican_train", "players": 2, "opening": "whole_train", "rounds": [3]},
        {"game": "chicken_foot", "players": 4, "rounds": [9]},
    ],
)
def test_counts_are_those_of_a_game_played_move_by_move(rules: dict[str, Any]) -> None:
    options = dict(rules)
    made = make_rules(options.pop("game"), options)
    number, seed = 12, 5
    seats = np.zeros((number, made.players), np.int64)
    games = arena.play(made, np.arange(number), seats, [First(made)], seed)
    for deal in range(number):
        expected = counted(Game(made.game, made, seed=seed, match=HELD_OUT_MATCH + deal))
        for name, values in expected.items():
            assert list(getattr(games, name)[deal]) == list(values), (deal, name)


def counted(game: Game) -> dict[str, Any]:
    """Play the legal move of the lowest id; count what each seat does from the texts of moves."""
    players = game.rules.players
    counts = {n: [0] * players for n in ("turns", "draws", "doubles", "decisions")}
    while not game.round_over:
        seat, moves = game.to_move, game.legal_moves()
        move = game.move_text(int(game._masks[0].argmax()))
        counts["decisions"][seat] += len(moves) > 1
        counts["draws"][seat] += move == "draw"
        ends = move.partition("@")[0].split("-")
        counts["doubles"][seat] += len(ends) == 2 and ends[0] == ends[1]
        game.push(move)
        counts["turns"][seat] += game.round_over or game.to_move != seat
    return {**counts, "penalties": game.penalties}


def test_who_went_out_holds_nothing_and_blocked_rounds_have_nobody() -> None:
    rules = make_rules("chicken_foot", players=4)
    seats = np.zeros((300, 4), np.int64)
    made = make_policy("random", rules, seed=1)
    games = arena.play(rules, np.arange(300), seats, [made], seed=0)
    out = games.went_out != arena.NOBODY
    assert 30 < out.sum() < 270
    assert (games.penalties[out, games.went_out[out]] <= 0).all()  # or a bonus
    assert (games.penalties[~out] >= 0).all()
    assert games.wins.sum(axis=1) == pytest.approx(1)


# ------------------------------------------------------------------------------------ statistics


@pytest.mark.parametrize(("difference", "deviation"), [(1.0, 8.0), (2.0, 3.0), (-0.5, 2.0)])
def test_so_many_deals_find_the_difference(difference: float, deviation: float) -> None:
    power, repeats = 0.8, 4000
    needed = statistics.sample_size(difference, deviation, 0.95, power)
    rng = np.random.default_rng(7)
    values = rng.normal(difference, deviation, (repeats, needed))
    found = int((stats.ttest_1samp(values, 0, axis=1).pvalue < 0.05).sum())
    low, high = stats.binom.interval(SURE, repeats, power)
    assert low <= found <= high + 0.02 * repeats  # whole deals: a little more power than asked
    fewer = stats.ttest_1samp(values[:, : needed // 2], 0, axis=1).pvalue < 0.05
    assert fewer.sum() < 0.7 * repeats
    again = statistics.minimum_detectable_difference(deviation, needed, 0.95, power)
    assert again == pytest.approx(abs(difference), rel=0.06)
    assert statistics.sample_size(2 * difference, deviation, 0.95, power) < needed


@pytest.mark.parametrize("difference", [0.0, 5e-324, 1e-12, 1e-5, 1e12])
@pytest.mark.parametrize("confidence", [0.95, 0.9999])
def test_numbers_of_deals_that_nobody_plays_are_beyond_all_bounds(
    difference: float, confidence: float
) -> None:
    needed = statistics.sample_size(difference, 1.0, confidence, 0.8)
    if difference < 1e-4:
        assert needed == np.inf
        assert report.count(needed) == "> 10⁹"
    else:
        assert needed == 2
    assert report.count(87_000_000_000_000_000_885_537_430_831_104) == "> 10⁹"
    assert [report.count(n) for n in (2, 96.3, 1184, 10**9)] == [
        "2",
        "97",
        "1,200",
        "1,000,000,000",
    ]


@pytest.mark.parametrize("deals", [2, 3, 50])
@pytest.mark.parametrize("confidence", [0.95, 0.9999])
def test_the_smallest_difference_found_is_found_by_so_many_deals(
    deals: int, confidence: float
) -> None:
    least = statistics.minimum_detectable_difference(3.0, deals, confidence, 0.8)
    assert statistics.sample_size(1.001 * least, 3.0, confidence, 0.8) == deals
    assert statistics.sample_size(0.98 * least, 3.0, confidence, 0.8) > deals


def test_a_share_of_none_is_not_certain() -> None:
    none = statistics.share(np.zeros(20))
    assert (none.mean, none.low) == (0, 0)
    assert none.high == pytest.approx(0.161, abs=0.001)  # Wilson's interval of 0 of 20
    assert none.half == none.high


def test_degenerate_differences() -> None:
    zeros, ones = np.zeros(5), np.ones(5)
    assert (statistics.p_value(zeros), statistics.p_value(ones)) == (1, 2 * 0.5**5)
    assert statistics.minimum_detectable_difference(0.0, 5, 0.95, 0.8) == 0
    assert statistics.corrected([]) == []
    assert statistics.corrected([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_equal_columns() -> None:
    rng = np.random.default_rng(3)
    p_values = [
        statistics.p_of_equal_columns(rng.normal(0, 1, (30, 4)) + rng.normal(0, 9, (30, 1)))
        for _ in range(300)
    ]
    assert stats.kstest(p_values, "uniform").pvalue > 1e-3
    shifted = rng.normal(0, 1, (200, 4)) + np.array([0, 0, 0, 0.6])
    assert statistics.p_of_equal_columns(shifted) < 1e-4
    assert statistics.p_of_equal_columns(np.ones((9, 3))) == 1
    for columns in ([1.0, 2.0], [1.0, 2.0, 2.0]):  # the sign test: nine of nine
        assert statistics.p_of_equal_columns(np.tile(columns, (9, 1))) == 2 * 0.5**9
    pair = rng.normal(0, 1, (20, 2))
    expected = stats.ttest_rel(pair[:, 0], pair[:, 1]).pvalue
    assert statistics.p_of_equal_columns(pair) == pytest.approx(expected)


def test_intervals_hold_the_truth_of_made_up_tournaments() -> None:
    """Duplicate deals, unequal numbers of them, and groups that few deals link."""
    for kind, share in intervals.coverage(tournaments=200, resamples=150, seed=0).items():
        assert 0.92 < share < 0.98, kind


def test_leverage_is_the_share_of_the_deals_of_a_pair_in_what_is_known_of_it() -> None:
    bridge = np.zeros((6, 6))
    for first in (0, 3):
        for a in range(first, first + 3):
            for b in range(first, first + 3):
                bridge[a, b] = 50 * (a != b)
    bridge[2, 3] = bridge[3, 2] = 4
    found = rating.leverage(bridge)
    assert found[2, 3] == pytest.approx(1)
    assert found.sum() / 2 == pytest.approx(5)  # a deal for each agent but one
    everybody = rating.leverage(np.full((6, 6), 9.0) - 9 * np.eye(6))
    assert everybody[~np.eye(6, dtype=bool)] == pytest.approx(2 / 6)
    bridge[2, 3] = bridge[3, 2] = 0
    assert rating.leverage(bridge).sum() / 2 == pytest.approx(4)  # two groups


def test_all_resamples_at_once_are_fitted_as_one_by_one() -> None:
    rng = np.random.default_rng(2)
    wins = rng.gamma(0.3, 40, (50, 5, 5)) * (1 - np.eye(5))
    wins[0, 0, 1:], wins[0, 1:, 0] = 500, 1e-9  # all but never beaten
    singly = np.array([rating.fit(one) for one in wins])
    assert rating.fit_all(wins) == pytest.approx(singly, abs=0.01)


def test_few_deals_between_two_groups_make_their_difference_uncertain() -> None:
    """One deal says next to nothing; the old bootstrap gave its outcome as certain."""
    rng = np.random.default_rng(4)
    strengths = np.array([30.0, 0, -30, 30, 0, -30])
    inside = dict.fromkeys([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 200)
    widths = []
    for deals in (1, 10, 200):
        truth = intervals.Truth(strengths, 2, {**inside, (2, 3): deals}, 0, 0.0)
        (ladder,) = rating.ladders(intervals.play(truth, rng), 400, seed=0)
        place = {int(agent): at for at, agent in enumerate(ladder.agents)}
        step = ladder.difference(place[2], place[3], 0.95)
        across = step.difference
        within = ladder.difference(place[0], place[2], 0.95).difference
        widths.append(across.high - across.low)
        assert (across.low < 0 < across.high) == (step.p > 0.05)
        assert within.half < 60
    assert widths[0] > 800 > 400 > widths[1] > 150 > widths[2]


def test_an_agent_that_never_lost_is_far_above_with_an_open_end() -> None:
    deals = np.repeat(np.arange(30), 2)
    who = np.tile([[0, 1], [1, 0]], (30, 1))
    played = intervals.made(9.0 * who, deals, who, np.zeros(60, np.int64))
    best, other = rating.rate(played, 400, 0.95, seed=0)
    assert best.agent == "agent 0"
    assert best.rating is not None and best.above_next is not None and other.rating is not None
    # 30 of 30: Jeffreys' interval of the chance to win begins at 0.92
    low = stats.beta.ppf(0.025, 30.5, 0.5)
    assert best.above_next.difference.low == pytest.approx(
        rating.ELO * np.log(low / (1 - low)), abs=80
    )
    assert best.above_next.difference.high > 1500
    assert best.above_next.p_corrected < 0.05  # as its interval says
    assert best.rating.low == pytest.approx(best.above_next.difference.low / 2)


NEVER_MET = [["heaviest", "lightest"], ["random 0", "random 1"]]


def test_agents_that_never_met_have_ladders_of_their_own(tmp_path: Path) -> None:
    agents = ["heaviest", "lightest", *twins(3)]
    settings = config(agents=agents, pairs=NEVER_MET, pair_deals=20, same_deals=5)
    played = play(settings)
    found = analyse(settings, played)
    assert [row.group for row in found.ratings] == [1, 1, 2, 2, 3]
    by_agent = {row.agent: row for row in found.ratings}
    for pair in NEVER_MET:
        one, other = (by_agent[agent] for agent in pair)
        assert one.group == other.group
        assert one.rating.mean + other.rating.mean == pytest.approx(0, abs=1e-6)
    assert by_agent["heaviest"].group != by_agent["random 0"].group
    assert by_agent["random 2"].rating is None  # it met nobody
    assert sum(row.above_next is not None for row in found.ratings) == 2
    tables = {grid.title: grid for grid in report.grids(settings, found)}
    assert "Ratings" not in tables
    for number in (1, 2, 3):
        assert (
            "One of 3 groups of agents that never met"
            in tables[f"Ratings of group {number}"].caption
        )
    assert {row[:2] for row in tables["The steps of the ladder"].rows} == {
        tuple(row.agent for row in found.ratings if row.group == group) for group in (1, 2)
    }
    output.write_results(settings, found, played, tmp_path)
    kept = json.loads((tmp_path / "results.json").read_text())["ratings"]
    assert [row["group"] for row in kept] == [1, 1, 2, 2, 3]
    assert kept[-1]["rating"] is None


def test_an_agent_alone_has_no_rating_and_no_ladder(tmp_path: Path) -> None:
    settings = config(agents=["random"], pair_deals=0, same_deals=5)
    played = play(settings)
    found = analyse(settings, played)
    assert [row.rating for row in found.ratings] == [None]
    titles = [grid.title for grid in report.grids(settings, found)]
    assert "Ratings" in titles and "The steps of the ladder" not in titles
    output.write_results(settings, found, played, tmp_path)
    assert (tmp_path / "ratings.png").exists()


def test_so_many_deals_part_two_ratings() -> None:
    """With so many, a step of the measured size is found with the power asked for."""

    def step(mean: float, half: float) -> rating.Step:
        return rating.Step(statistics.Estimate(mean, mean - half, mean + half), 0.5, 0.5)

    deals, power = 400, 0.8
    needed = rating.deals_apart(step(10, 15), deals, 0.95, power)
    error = 15 / stats.norm.ppf(0.975) * np.sqrt(deals / needed)
    found = stats.norm.sf(stats.norm.ppf(0.975) - 10 / error)
    assert found == pytest.approx(power)
    assert rating.deals_apart(step(0, 1), deals, 0.95, power) == np.inf


def test_the_steps_of_the_ladder_are_differences_of_neighbours() -> None:
    settings = config(agents=["random", "heaviest", "lightest"], pair_deals=40)
    found = analyse(settings, play(settings))
    for upper, lower in pairwise(found.ratings):
        step = upper.above_next
        assert step is not None
        assert upper.rating is not None and lower.rating is not None
        gap = upper.rating.mean - lower.rating.mean
        assert step.difference.mean == pytest.approx(gap)
        assert step.difference.low < gap < step.difference.high
        assert step.p <= step.p_corrected
    assert found.ratings[-1].above_next is None
    grid = next(g for g in report.grids(settings, found) if g.title == "The steps of the ladder")
    assert [row[:2] for row in grid.rows] == [
        (upper.agent, lower.agent) for upper, lower in pairwise(found.ratings)
    ]


def test_only_the_pairs_of_interest_meet() -> None:
    agents, pairs = ["random", "heaviest", "lightest"], [["random", "heaviest"]]
    settings = config(agents=agents, pairs=pairs, pair_deals=20, same_deals=10)
    found = analyse(settings, play(settings))
    assert {(row.a, row.b) for row in found.pairs} == {("heaviest", "random")}
    assert {row.agent for row in found.same} == set(agents)
    assert all(row.deals == 10 for row in found.same)
    everybody = config(agents=agents, pair_deals=20)
    row = pair_row(everybody, play(everybody), "pair", "heaviest", "random")
    assert row == replace(found.pairs[0], p_corrected=row.p if row else 1)


def test_ties_are_half_a_win_and_seats_of_one_agent_do_not_compare() -> None:
    games = arena.Games(
        penalties=np.array([[5, 5, 9], [0, 1, 2]], np.int32),
        **{n: np.zeros((2, 3), np.int32) for n in ("turns", "draws", "doubles", "decisions")},
        first=np.zeros(2, np.int32),
        went_out=np.zeros(2, np.int32),
        bound=np.zeros(2, np.int32),
    )
    who = np.array([[0, 1, 1], [1, 1, 0]])
    played = Played(("a", "b"), games, np.array([3, 8]), who, np.zeros(2, np.int64), 1.0)
    assert rating.wins_by_deal(played).tolist() == [[[0, 1.5], [0.5, 0]], [[0, 0], [2, 0]]]
    assert games.wins.tolist() == [[0.5, 0.5, 0], [1, 0, 0]]


def test_the_tests_leave_no_policy_behind() -> None:
    assert "first" not in policy_names()
