"""What policies say of their moves agrees with what they do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    DominoError,
    Policy,
    make_policy,
    make_rules,
    policy_names,
)
from dominoenv.records.annotations import FAR_BELOW, for_people

GAMES = ("mexican_train", "chicken_foot")
PAIRS = [(game, name) for game in GAMES for name in policy_names(game)]


def decisions(game: str, number: int = 64) -> tuple[Any, Any]:
    """Return observations and masks in the middle of rounds."""
    batch = BatchedGame(make_rules(game), number, seed=3)
    policy = make_policy("random", batch.rules, seed=1)
    for _ in range(30):
        batch.step(policy.act(batch.observations, batch.masks))
    return batch.observations.copy(), batch.masks.copy()


@pytest.mark.parametrize(("game", "name"), PAIRS)
def test_the_choice_has_the_best_score(game: str, name: str) -> None:
    rows, masks = decisions(game)
    policy = make_policy(name, make_rules(game), seed=5)
    scores = policy.scores(rows, masks)
    actions = policy.act(rows, masks)
    if scores is None:
        assert policy.probabilities(rows, masks) is not None
        return
    assert scores.shape == masks.shape
    best = np.where(masks, scores, -np.inf).max(axis=1)
    assert (scores[np.arange(len(masks)), actions] == best).all()


@pytest.mark.parametrize(("game", "name"), PAIRS)
def test_saying_draws_nothing(game: str, name: str) -> None:
    """Who is asked for scores plays on as if nobody had asked."""
    rows, masks = decisions(game)
    asked, quiet = (make_policy(name, make_rules(game), seed=5) for _ in range(2))
    asked.scores(rows, masks)
    asked.probabilities(rows, masks)
    assert (asked.act(rows, masks) == quiet.act(rows, masks)).all()


def test_random_plays_with_the_probabilities_it_says() -> None:
    rows, masks = decisions("mexican_train", 8)
    policy = make_policy("random", make_rules("mexican_train"), seed=2)
    chances = policy.probabilities(rows, masks)
    assert chances is not None
    assert np.allclose(chances.sum(axis=1), 1)
    counts = np.zeros(masks.shape)
    for _ in range(4000):
        counts[np.arange(8), policy.act(rows, masks)] += 1
    # five standard errors of a share are less than 0.04
    assert np.abs(counts / 4000 - chances).max() < 0.04
    with pytest.raises(DominoError, match="row 1 allows nothing"):
        policy.probabilities(rows[:2], np.stack([masks[0], 0 * masks[0]]))


def test_who_says_nothing_says_none() -> None:
    rows, masks = decisions("chicken_foot", 2)
    policy = Policy(make_rules("chicken_foot"))
    assert policy.scores(rows, masks) is None
    assert policy.probabilities(rows, masks) is None


def test_a_network_says_its_softmax() -> None:
    trained = pytest.importorskip("dominoenv.opponents.trained", reason="needs the extra train")
    rules = make_rules("chicken_foot")
    network = trained.make_network(rules, {"hidden": [8], "activation": "relu"})
    policy = trained.TrainedPolicy(rules, network)
    rows, masks = decisions("chicken_foot")
    chances = policy.probabilities(rows, masks)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances[masks == 0] == 0).all()
    assert (chances.argmax(axis=1) == policy.act(rows, masks)).all()
    logits = policy.logits(rows)
    first, second = masks[0].nonzero()[0][[0, -1]]
    assert np.isclose(
        np.log(chances[0, first] / chances[0, second]), logits[0, first] - logits[0, second]
    )


# -------------------------------------------------------------------------------- as they are shown


def test_scores_are_shown_as_they_compare_with_the_best() -> None:
    scores = {"stop": 0.0, "9-4@2": 999_937.0, "6-4@0": 999_940.25, "3-3@0": 999_940.25}
    assert for_people({"score": scores, "probability": {"a": 0.25, "b": 0.75}}) == {
        "score": {"6-4@0": "best", "3-3@0": "best", "9-4@2": "−3.25", "stop": "far below"},
        "probability": {"b": 0.75, "a": 0.25},
    }
    assert list(for_people({"probability": {"a": 0.25, "b": 0.75}})["probability"]) == ["b", "a"]
    assert for_people({"score": {}}) == {"score": {}}


@pytest.mark.parametrize(("game", "name"), PAIRS)
def test_no_agent_shows_a_number_of_its_own_making(game: str, name: str) -> None:
    """Such as 1,000,000 for what it wants before anything else."""
    rows, masks = decisions(game)
    scores = make_policy(name, make_rules(game), seed=5).scores(rows, masks)
    for row, mask in zip([] if scores is None else scores, masks, strict=scores is not None):
        moves = {str(action): float(row[action]) for action in mask.nonzero()[0]}
        for text in map(str, for_people({"score": moves})["score"].values()):
            number = text.removeprefix("−")
            assert text in ("best", "far below") or 0 < float(number) < FAR_BELOW
