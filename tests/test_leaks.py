"""Nothing leaks: what a seat cannot see changes neither observation, nor mask, nor any choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominoenv import BatchedGame, Rules, make_policy, make_rules, policy_names
from dominoenv.core.tiles import add_tiles, tiles_of

TABLES = [
    make_rules("mexican_train", preset="engine", players=4),
    make_rules("mexican_train", preset="station", players=6),
    make_rules("mexican_train", preset="tournament", players=3, max_pip=6),
    make_rules("mexican_train", preset="engine", players=3, opening="whole_train"),
    make_rules("chicken_foot", players=4),
    make_rules("chicken_foot", players=5, max_pip=6, dead_foot="released"),
]
each_table = pytest.mark.parametrize("rules", TABLES, ids=lambda r: f"{r.game}-{r.players}")


def permute_hidden(rules: Rules, g: Any, seat: int, rng: np.random.Generator) -> None:
    """Deal the tiles that a seat cannot see anew: the others' hands and the boneyard."""
    others = [other for other in range(rules.players) if other != seat]
    left = int(g["boneyard_size"])
    hidden = [tile for other in others for tile in tiles_of(g["hands"][other])]
    hidden += g["boneyard"][:left].tolist()
    rng.shuffle(hidden)
    for other in others:
        g["hands"][other] = 0
        size = int(g["hand_sizes"][other])
        add_tiles(g["hands"][other], hidden[:size])
        del hidden[:size]
    g["boneyard"][:left] = hidden


@each_table
def test_hidden_tiles_change_nothing_that_a_seat_gets(rules: Rules) -> None:
    rng = np.random.default_rng(8)
    episode = "match" if rules.players == 4 else "round"
    game = BatchedGame(rules, 32, seed=5, episode=episode)
    chooser = make_policy("random", rules, seed=1)
    other = game.copy()
    for decision in range(150):
        seats = game.to_move.copy()
        other.load(game.states)
        for i in range(game.num_games):
            permute_hidden(rules, other.states[i], int(seats[i]), rng)
        assert not np.array_equal(other.states["hands"], game.states["hands"])
        other.refresh()
        assert np.array_equal(other.observations, game.observations)
        assert np.array_equal(other.masks, game.masks)
        for policy in policy_names(rules.game):
            ours, theirs = (make_policy(policy, rules, seed=decision) for _ in range(2))
            assert np.array_equal(
                ours.act(game.observations, game.masks),
                theirs.act(other.observations, other.masks),
            )
        game.step(chooser.act(game.observations, game.masks))


@each_table
def test_hidden_tiles_change_no_waiting_seats_view(rules: Rules) -> None:
    rng = np.random.default_rng(9)
    game = BatchedGame(rules, 16, seed=6)
    chooser = make_policy("random", rules, seed=1)
    other = game.copy()
    for decision in range(80):
        seat = decision % rules.players
        before = game.observe(seat)
        other.load(game.states)
        for i in range(game.num_games):
            permute_hidden(rules, other.states[i], seat, rng)
        assert np.array_equal(other.observe(seat), before)
        game.step(chooser.act(game.observations, game.masks))


@each_table
def test_proofs_are_true(rules: Rules) -> None:
    """What everybody knows that a seat lacks, its hand lacks, once a draw has been answered."""
    game = BatchedGame(rules, 64, seed=7)
    chooser = make_policy("random", rules, seed=2)
    proofs = 0
    tiles = rules.tiles
    for _ in range(150):
        for g in game.states:
            for seat in range(rules.players):
                if g["drew"] and seat == g["to_move"]:
                    continue  # the drawn tile may fit; it is played next
                hand = tiles_of(g["hands"][seat])
                for pip in range(rules.max_pip + 1):
                    if g["voids"][seat] >> pip & 1:
                        proofs += 1
                        assert pip not in tiles.low[hand]
                        assert pip not in tiles.high[hand]
        game.step(chooser.act(game.observations, game.masks))
    assert proofs > 1000
