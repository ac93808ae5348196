"""Configs: every file in the repository loads; every mistake is named."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from dominoenv import DominoError, EpisodeOptions
from dominoenv.core.episode import EPISODE_FIELDS, LEARNER
from experiments.config import Config, ConfigError, _models_in, check_config, load_config

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
QUICKSTART = CONFIGS / "quickstart.yaml"
CONTESTS = {*CONFIGS.glob("tournament*.yaml"), *CONFIGS.glob("study*.yaml")}  # have own tests
TRAININGS = sorted(set(CONFIGS.glob("*.yaml")) - CONTESTS)

MISTAKES = {
    "ppo.learning_rte=1": "unknown key 'ppo.learning_rte'; did you mean 'learning_rate'",
    "ppo.learning_rate=abc": "ppo.learning_rate='abc': should be a valid number",
    "ppo.epochs=2.5": "ppo.epochs=2.5: should be a valid integer",
    "ppo.epochs=true": "ppo.epochs=True: should be a valid integer",
    "ppo.epochs=0": "greater than or equal to 1",
    "ppo.clip=.nan": "should be a finite number",
    "ppo=3": "ppo=3: should be an object",
    "ppo.decisions.x=3": "is below a plain value",
    "seed=-1": "seed=-1",
    "sed=1": "unknown key 'sed'; did you mean 'seed'? allowed: name, seed, game",
    "game=dominoes": "no such game; known: mexican_train, chicken_foot",
    "network.activation=rely": "should be 'relu' or 'tanh'",
    "network.hidden=[1,a]": "network.hidden.1='a'",
    "environment.seat=abc": "should be 'rotate' or a seat",
    "environment.seat=9": "must be a seat 0 ... 3",
    "environment.reward=zerosum": "should be 'zero_sum', 'penalty' or 'win'",
    "environment.reward_scale=0": "environment.reward_scale=0: should be greater than 0",
    "environment.double=10": "environment: double=10 is not in rounds=[9, 8,",
    "environment.double=40": "should be less than or equal to 18",
    "environment.illegal=terminate": "environment: illegal='terminate' is for PettingZoo's `env`",
    "environment.forcd=auto": "did you mean 'forced'",
    "environment.opponents=[]": "at least 1 item",
    "environment.opponents=[{policy: random}]": "'environment.opponents.0.kind' is missing",
    "environment.opponents.0.kind=model": "'checkpoint', 'sb3', 'python', 'snapshots'",
    "environment.opponents.0.policy=heavyest": "did you mean 'heaviest'",
    "environment.opponents.0.wieght=1": "did you mean 'weight'?",
    "environment.opponents.7.weight=1": "must be an index 0 ...",
    "evaluation.opponents=[rnd]": "did you mean 'random'?",
    "ppo.batch_size=127": "leaves a batch of one of the 16384 decisions",
    "rules.player=3": "rules: option 'player' of mexican_train: did you mean 'players'?",
    "rules.players=99": "rules: players=99 must lie in 2 ... 10",
    "ppo": "must look like",
    "seed=[1": "not YAML",
}


@pytest.mark.parametrize("path", TRAININGS, ids=lambda path: path.stem)
def test_every_file_loads_and_survives_a_round_trip(path: Path) -> None:
    config = load_config(path)
    again = check_config(yaml.safe_load(config.to_yaml()), "resolved")
    assert again.make_rules() == config.make_rules()
    assert again.to_yaml() == config.to_yaml()
    assert config.name == path.stem


@pytest.mark.parametrize("override", MISTAKES)
def test_a_mistake_is_named_in_one_sentence(override: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(QUICKSTART, [override])
    text = str(caught.value)
    assert MISTAKES[override] in text
    assert "\n" not in text
    assert "quickstart.yaml" in text or override in text


def test_overrides_are_read_as_yaml() -> None:
    config = load_config(
        QUICKSTART,
        ["ppo.learning_rate=1e-4", "network.hidden=[8, 8]", "environment.opponents.0.weight=2"],
    )
    assert config.ppo.learning_rate == 1e-4
    assert config.network.hidden == (8, 8)
    assert config.environment.opponents[0].weight == 2


def test_every_key_of_an_episode_reaches_the_games() -> None:
    options = EpisodeOptions(
        double=3, reward="penalty", reward_scale=0.5, illegal="penalty", illegal_reward=-2
    )
    keys = {name: getattr(options, name) for name in EPISODE_FIELDS}
    config = load_config(QUICKSTART, [f"environment.{key}={keys[key]}" for key in keys])
    assert config.environment.episode_options() == options
    again = check_config(yaml.safe_load(config.to_yaml()), "resolved")
    assert again.environment == config.environment
    assert load_config(QUICKSTART).environment.episode_options() == LEARNER


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"here: key 'ppo.decisions' is missing"):
        check_config(
            {"name": "x", "game": "chicken_foot", "environment": OTHERS, "ppo": {}}, "here"
        )


OTHERS = {"opponents": [{"kind": "baseline", "policy": "random"}]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("seed: 1\nseed: 2\n", "line 2: not YAML: key 'seed' is given twice"),
        ("- 1\n", "must be keys and values"),
        ("1: 2\n", "key 1 must be a name"),
        ("", "must be keys and values"),
        ("a: [\n", "not YAML"),
    ],
)
def test_files_that_are_no_configs(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml") as caught:
        load_config(path)
    assert reason in str(caught.value)


def test_a_missing_file_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"does not exist; did you mean '.*quickstart\.yaml'"):
        load_config(CONFIGS / "quikstart.yaml")


def test_configs_are_frozen_and_errors_are_domino_errors() -> None:
    config = load_config(QUICKSTART)
    with pytest.raises(ValueError, match="frozen"):
        config.seed = 3  # type: ignore[misc]
    assert issubclass(ConfigError, DominoError)
    assert isinstance(config, Config)


def keys_of(model: type[BaseModel]) -> Iterator[str]:
    """Return the names of all keys of a model and the models in it."""
    for name, field in model.model_fields.items():
        yield name
        for inner in _models_in(field.annotation):
            yield from keys_of(inner)


def test_every_key_is_documented() -> None:
    docs = CONFIGS.parent / "docs"
    pages = (docs / "training.md", docs / "interfaces.md")
    page = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    keys = set(keys_of(Config))
    assert {"every", "deterministic", "max_grad_norm"} <= keys
    assert keys <= named, keys - named
