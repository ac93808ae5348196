"""Training against snapshots of the learner."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="training needs the extra: dominoenv[train]")

import torch

from dominoenv import BatchedGame, DominoError, make_rules
from dominoenv.envs.sb3 import DominoVecEnv
from dominoenv.opponents.snapshot import Snapshot
from dominoenv.opponents.trained import TrainedPolicy, make_network, read_checkpoint, take_snapshot
from experiments import ppo, train
from experiments.config import Config, ConfigError, load_config

CONFIG = Path(__file__).resolve().parent.parent / "configs" / "mexican_train_selfplay.yaml"
TINY = [
    "threads=1",
    "environment.games=16",
    "ppo.steps=8",
    "ppo.batch_size=64",
    "ppo.decisions=640",  # five iterations
    "network.hidden=[16]",
    "checkpoints.every=1",
    "environment.opponents.2.every=2",
    "environment.opponents.2.keep=2",
]


RULES = make_rules("chicken_foot", players=3, max_pip=6)


def tiny(*overrides: str) -> Config:
    return load_config(CONFIG, [*TINY, *overrides])


@pytest.mark.parametrize("hidden", [[], [6], [6, 5]])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_snapshot_is_what_the_network_was(hidden: list[int], activation: str) -> None:
    network = make_network(RULES, {"hidden": hidden, "activation": activation})
    taken = take_snapshot(RULES, network, 7, deterministic=True)
    assert taken.taken_at == 7
    game = BatchedGame(RULES, 50, 1)
    rows = game.layout.scaled(game.observations)
    live = TrainedPolicy(RULES, network)
    assert taken.logits(rows) == pytest.approx(live.logits(rows), abs=1e-5)
    assert np.array_equal(taken.act(rows, game.masks), live.act(rows, game.masks))
    before = taken.logits(rows)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1.0)
    assert not np.allclose(before, live.logits(rows))
    assert np.array_equal(before, taken.logits(rows))


def test_other_networks_are_refused() -> None:
    odd = make_network(RULES, {"hidden": [4, 4], "activation": "relu"})
    odd.mlp_extractor.policy_net[1] = torch.nn.Tanh()
    diverged = make_network(RULES, {"hidden": [4], "activation": "relu"})
    with torch.no_grad():
        diverged.action_net.bias[0] = float("nan")
    gelu = make_network(RULES, {"hidden": [4], "activation": "relu"})
    gelu.mlp_extractor.policy_net[1] = torch.nn.GELU()
    for network, reason in ((odd, "plain perceptron"), (gelu, "plain"), (diverged, "diverged")):
        with pytest.raises(DominoError, match=reason):
            take_snapshot(RULES, network)


def test_the_first_snapshot_is_the_untrained_learner() -> None:
    config = tiny()
    state = torch.get_rng_state()
    env = ppo.make_env(config)
    assert torch.equal(state, torch.get_rng_state())
    model = ppo.make_model(config, env)
    first = env.pool["snapshot-0"].policy
    assert isinstance(first, Snapshot)
    expected = take_snapshot(env.rules, model.policy)
    for (weights, biases), (others, more) in zip(first.layers, expected.layers, strict=True):
        assert np.array_equal(weights, others) and np.array_equal(biases, more)


def test_training_takes_snapshots_and_reports_on_the_pool(tmp_path: Path) -> None:
    model = train.train(tiny(), tmp_path)
    env = model.get_env()
    assert isinstance(env, DominoVecEnv)
    assert [member.name for member in env.pool.members] == [
        "random",
        "heaviest",
        "snapshot-0",
        "snapshot-512",
    ]
    rows = train.read_progress(tmp_path / "progress.csv")
    assert [row["pool"] for row in rows] == [3, 3, 4, 4, 4]
    played = {kind: [row[f"beaten_{kind}"] for row in rows] for kind in env.pool.totals}
    assert set(played) == {"random", "heaviest", "snapshot"}
    for shares in played.values():
        known = np.array(shares)[np.isfinite(shares)]
        assert known.size >= 4 and ((known >= 0) & (known <= 1)).all()
    saved = read_checkpoint(tmp_path / "checkpoint.pt")["training"]["env"]
    seated = len(np.unique(saved["lineup"]))
    assert 2 * 4 <= sum(name.startswith("member") for name in saved) <= 2 * 2 * (seated + 2)


def test_the_learner_may_play_none_but_itself(tmp_path: Path) -> None:
    alone = "environment.opponents=[{kind: snapshots, every: 1, keep: 3, deterministic: true}]"
    config = load_config(CONFIG, [*TINY[:-2], alone])
    pool = train.train(config, tmp_path).get_env().pool
    assert [member.name for member in pool.members] == [f"snapshot-{n}" for n in (256, 384, 512)]
    assert list(pool.totals) == ["snapshot"]
    assert all(member.policy.deterministic for member in pool.members)


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("environment.opponents.2.evry=3", "did you mean 'every'?"),
        ("environment.opponents.2.keep=0", "greater than or equal to 1"),
        ("environment.opponents.2.keep=65", "less than or equal to 64"),
        ("environment.opponents.2.which=latest", "should be 'newest' or 'spaced'"),
        ("environment.opponents.2.draw=best", "should be 'uniform' or 'prioritised'"),
        ("environment.opponents.2.weight=0", "greater than 0"),
        ("environment.opponents.0={kind: snapshots}", "may occur once"),
        (
            "environment.opponents.2.kind=self",
            "allowed: 'baseline', 'checkpoint', 'sb3', 'python', 'snapshots'",
        ),
    ],
)
def test_a_mistake_in_a_config_is_named(override: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(CONFIG, [override])
    assert reason in str(caught.value)
