"""Configs: one YAML file per experiment, checked in full before anything runs.

Frozen pydantic models that forbid unknown keys. Defaults live here; a file states what differs. A
mistake raises a ConfigError that names the file, the key, the given value and what is allowed.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, overload

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from dominoenv.core.episode import EPISODE_FIELDS, LEARNER, EpisodeOptions
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, nearest
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.baselines import policy_names

from .shipped import alternatives, command_for, find_config


class ConfigError(DominoError):
    """An invalid config file or override; the text names file, key and remedy."""


class Model(BaseModel):
    """Base class of all parts of a config."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


PositiveInt = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]


def known_policy(name: str) -> str:
    """Return the name of a baseline, or raise ValueError naming the nearest."""
    if name not in policy_names():
        raise ValueError(f"no such baseline; {nearest(name, policy_names())}")
    return name


def known_game(name: str) -> str:
    """Return the name of a game, or raise ValueError naming those that there are."""
    if name not in GAMES:
        raise ValueError(f"no such game; {nearest(name, GAMES)}")
    return name


GameName = Annotated[str, AfterValidator(known_game)]


class BaselinePolicy(Model):
    """A policy by name."""

    kind: Literal["baseline"]
    policy: str
    parameters: dict[str, Any] = {}

    _known = field_validator("policy")(known_policy)


class CheckpointPolicy(Model):
    """A trained policy: a checkpoint, or a model that Stable-Baselines3 saved."""

    kind: Literal["checkpoint", "sb3"]
    path: str


class PythonPolicy(Model):
    """A policy of your own, `module:Class`. Its module is imported, so its code runs."""

    kind: Literal["python"]
    target: str
    parameters: dict[str, Any] = {}


class Baseline(BaselinePolicy):
    """A baseline as an opponent in training."""

    weight: Positive = 1.0
    """Relative frequency with which it is drawn for a seat."""


class Checkpoint(CheckpointPolicy):
    """A trained policy as an opponent in training."""

    weight: Positive = 1.0
    deterministic: bool = False


class Python(PythonPolicy):
    """A policy of your own as an opponent in training."""

    weight: Positive = 1.0


class Snapshots(Model):
    """Snapshots of the learner from earlier in the same training."""

    kind: Literal["snapshots"]
    weight: Positive = 1.0
    """Of all snapshots together, relative to the other opponents."""
    every: PositiveInt = 10
    """Iterations between snapshots; the first is the untrained network."""
    keep: Annotated[int, Field(ge=1, le=64)] = 8
    """Maximum number; their weights are part of every checkpoint."""
    which: Literal["newest", "spaced"] = "newest"
    """Which are kept; "spaced": spread over the whole training."""
    draw: Literal["uniform", "prioritised"] = "uniform"
    """Their relative weights; "prioritised" prefers those that the learner beats least."""
    deterministic: bool = False


Opponent = Annotated[Baseline | Checkpoint | Python | Snapshots, Field(discriminator="kind")]


def episode_keys() -> dict[str, Any]:
    """Return the fields of `EpisodeOptions` as keys of a config, with a learner's defaults."""
    hints = typing.get_type_hints(EpisodeOptions)
    keys = {}
    for spec in fields(EpisodeOptions):
        limits = spec.metadata
        kind: Any = Literal[limits["choices"]] if limits["choices"] else hints[spec.name]
        bounds = {"gt": limits["above"]}
        if limits["high"] > limits["low"]:
            bounds = {"ge": limits["low"], "le": limits["high"]}
        keys[spec.name] = kind, Field(getattr(LEARNER, spec.name), **bounds)
    return keys


if TYPE_CHECKING:

    class EpisodeKeys(Model):
        """How episodes are played: a key for each field of `EpisodeOptions`."""
else:
    EpisodeKeys = create_model("EpisodeKeys", __base__=Model, **episode_keys())


class Environment(EpisodeKeys):
    """The games that are played side by side, how they are played, and the opponents."""

    games: PositiveInt = 256
    seat: int | Literal["rotate"] = "rotate"
    """The learner's seat; "rotate": another one in each episode."""
    opponents: Annotated[tuple[Opponent, ...], Field(min_length=1)]

    def episode_options(self) -> EpisodeOptions:
        """Return how episodes are played. Raises DominoError where two keys contradict."""
        options = EpisodeOptions(**{name: getattr(self, name) for name in EPISODE_FIELDS})
        options.check_engine()
        return options

    @property
    def snapshots(self) -> Snapshots | None:
        """The settings of self-play, if any."""
        return next((one for one in self.opponents if isinstance(one, Snapshots)), None)

    @field_validator("opponents")
    @classmethod
    def _one_self(cls, opponents: tuple[Opponent, ...]) -> tuple[Opponent, ...]:
        if sum(isinstance(one, Snapshots) for one in opponents) > 1:
            raise ValueError(
                "kind 'snapshots' may occur once: it stands for all snapshots together"
            )
        return opponents

    @field_validator("seat", mode="before")
    @classmethod
    def _seat(cls, seat: Any) -> Any:
        if seat != "rotate" and (isinstance(seat, bool) or not isinstance(seat, int) or seat < 0):
            raise ValueError("should be 'rotate' or a seat, 0 and up")
        return seat


class Network(Model):
    """Layer sizes of the policy network and of the separate value network."""

    hidden: tuple[PositiveInt, ...] = (256, 256)
    activation: Literal["relu", "tanh"] = "relu"


class PPO(Model):
    """Settings of sb3-contrib's MaskablePPO."""

    decisions: PositiveInt
    """Decisions of the learner over all games; rounded up to whole iterations."""
    steps: PositiveInt = 64
    """Decisions of each game in an iteration."""
    batch_size: Annotated[int, Field(ge=2)] = 2048
    epochs: PositiveInt = 4
    learning_rate: Positive = 1e-3
    final_learning_rate: Annotated[float, Field(ge=0)] = 0.0
    """Reached linearly at the end of training."""
    gamma: Share = 1.0
    gae_lambda: Share = 0.95
    clip: Positive = 0.2
    entropy: Annotated[float, Field(ge=0)] = 0.01
    value_weight: Annotated[float, Field(ge=0)] = 0.5
    max_grad_norm: Positive = 0.5
    target_kl: Positive | None = None


class CheckpointConfig(Model):
    """How often a checkpoint is written, and how many are kept."""

    every: PositiveInt = 10
    """Iterations."""
    keep: PositiveInt = 3


class Evaluation(Model):
    """The final comparison, on held-out deals."""

    deals: Annotated[int, Field(ge=2)] = 1000
    opponents: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "heaviest", "lightest")

    @field_validator("opponents")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(known_policy(name) for name in names)


class Experiment(Model):
    """Base class of the configs of all experiments."""

    command: ClassVar[str]
    """The program that it is for."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    """Name of its folder, runs/<name>."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    game: GameName
    rules: dict[str, Any] = {}
    """A preset and options that differ from it."""

    @model_validator(mode="after")
    def _rules_exist(self) -> Self:
        try:
            self.make_rules()
        except DominoError as error:
            raise ValueError(f"rules: {error}") from None
        return self

    def make_rules(self) -> Rules:
        """Return the rules object."""
        return make_rules(self.game, self.rules)

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain data, all defaults filled in and the rules resolved."""
        return {**self.model_dump(mode="json"), "rules": self.make_rules().to_dict()}

    def to_yaml(self) -> str:
        """Return the resolved config as text that reads back as the same config."""
        return str(yaml.safe_dump(self.resolved(), sort_keys=False))


class Config(Experiment):
    """The config of a training run."""

    command = "train"

    threads: PositiveInt = 2
    """Threads of torch."""
    environment: Environment
    network: Network = Network()
    ppo: PPO
    checkpoints: CheckpointConfig = CheckpointConfig()
    evaluation: Evaluation = Evaluation()

    @model_validator(mode="after")
    def _playable(self) -> Config:
        rules = self.make_rules()
        players = rules.players
        try:
            self.environment.episode_options().round_in(rules.rounds)
        except DominoError as error:
            raise ValueError(f"environment: {error}") from None
        seat = self.environment.seat
        if seat != "rotate" and seat >= players:
            raise ValueError(f"environment.seat={seat} must be a seat 0 ... {players - 1}")
        decisions = self.environment.games * self.ppo.steps
        if decisions % min(self.ppo.batch_size, decisions) == 1 or decisions == 1:
            raise ValueError(  # SB3 would divide by its standard deviation
                f"ppo.batch_size={self.ppo.batch_size} leaves a batch of one of the {decisions} "
                "decisions of an iteration (environment.games times ppo.steps): change one of them"
            )
        return self


# ---------------------------------------------------------------------------------------- reading

E = TypeVar("E", bound=Experiment)


class Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]  # if PyYAML has no stubs
    """YAML in which 1e-4 is a number and a duplicate key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping; duplicate keys are an error."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} must be a name", key_node.start_mark
                )
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return dict(super().construct_mapping(node, deep))


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d[\d_]*)(\.\d*)?[eE][-+]?\d+$"),
    list("-+0123456789"),
)


@overload
def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config: ...
@overload
def load_config(path: str | Path, overrides: Sequence[str], model: type[E]) -> E: ...
def load_config(
    path: str | Path, overrides: Sequence[str] = (), model: type[Experiment] = Config
) -> Experiment:
    """Read the config of a kind of experiment, by default of a training run.

    path: of a YAML file, or the name of a shipped config; overrides: such as
    `ppo.learning_rate=1e-4`. Raises ConfigError.
    """
    path = find_config(Path(path))
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        known = nearest(str(path), alternatives(path, model.command))
        raise ConfigError(f"config {path} does not exist; {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"config {path} cannot be read: {error}") from None
    data = _parse(text, str(path))
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must be keys and values, such as `name: quickstart`")
    command = command_for(data)
    if command not in (None, model.command):
        raise ConfigError(
            f"{path} is a config for `dominoenv {command}`, not for `dominoenv {model.command}`"
        )
    data.setdefault("name", path.stem)
    for override in overrides:
        _override(data, override, path)
    return check_config(data, str(path), model)


@overload
def check_config(data: Mapping[str, Any], source: str) -> Config: ...
@overload
def check_config(data: Mapping[str, Any], source: str, model: type[E]) -> E: ...
def check_config(
    data: Mapping[str, Any], source: str, model: type[Experiment] = Config
) -> Experiment:
    """Return the config of parsed data, or raise ConfigError."""
    try:  # by way of JSON: strict types, but lists for tuples
        return model.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as error:
        raise ConfigError(_explain(error, source, model)) from None


def _parse(text: str, source: str) -> Any:
    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{source}{place}: not YAML: {problem}") from None


def _override(data: dict[str, Any], override: str, path: Path) -> None:
    """Apply one `a.b=value` to the data; numbers in the path are indices of lists."""
    key, equals, text = override.partition("=")
    if not equals or not key or "" in key.split("."):
        raise ConfigError(f"override {override!r} must look like ppo.learning_rate=1e-4")
    node: Any = data
    *parents, last = key.split(".")
    for name in parents:
        node = node.setdefault(name, {}) if isinstance(node, dict) else _item(node, name, override)
    value = _parse(text, f"override {override!r}")
    if isinstance(node, dict):
        node[last] = value
    else:
        _item(node, last, override)
        node[int(last)] = value


def _item(node: Any, name: str, override: str) -> Any:
    if not isinstance(node, list):
        raise ConfigError(f"override {override!r}: key {name!r} is below a plain value")
    if not name.isdigit() or int(name) >= len(node):
        raise ConfigError(
            f"override {override!r}: {name!r} must be an index 0 ... {len(node) - 1} of the list"
        )
    return node[int(name)]


# ------------------------------------------------------------------------------------- explaining


AGENT_KINDS = (
    "baseline",
    "checkpoint",
    "sb3",
    "python",
    "snapshots",
)  # of agents: branches of unions


def _explain(error: ValidationError, source: str, model: type[BaseModel]) -> str:
    """Return one sentence about the first mistake, and the number of all mistakes."""
    first, *others = error.errors()
    more = f" (mistakes in all: {len(others) + 1})" if others else ""
    return f"{source}: {_sentence(first, model)}{more}"


def _sentence(mistake: Any, model: type[BaseModel]) -> str:
    place = _without_tags(mistake["loc"])
    path = ".".join(map(str, place))
    kind, given = mistake["type"], mistake["input"]
    if kind == "extra_forbidden":
        keys = _keys_at(model, place[:-1], given)
        hint = nearest(place[-1], keys)
        allowed = "" if hint.startswith("known") else f" allowed: {', '.join(keys)}"
        return f"unknown key {path!r}; {hint}{allowed}"
    if kind == "missing":
        return f"key {path!r} is missing"
    if kind == "union_tag_not_found":
        return f"key {path + '.kind'!r} is missing; allowed: {_tags(mistake)}"
    if kind == "union_tag_invalid":
        tag = mistake["ctx"]["tag"]
        return f"{path}.kind={tag!r} is not known; allowed: {_tags(mistake)}"
    message = mistake["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{path}={given!r}: {message}" if path else message


def _tags(mistake: Any) -> str:
    """Return the kinds that a discriminated union knows."""
    return str(mistake["ctx"].get("expected_tags", ", ".join(map(repr, AGENT_KINDS))))


def _without_tags(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Remove the branch of a union that pydantic inserts into a path: `opponents.0.baseline`."""
    kept: list[int | str] = []
    for at, name in enumerate(loc):
        in_list = at > 0 and isinstance(loc[at - 1], int)
        branch = (in_list and name in AGENT_KINDS) or name in ("int", "constrained-int")
        if not branch and not str(name).startswith("literal["):
            kept.append(name)
    return tuple(kept)


def _keys_at(model: type[BaseModel], place: tuple[int | str, ...], given: Any) -> list[str]:
    """Return the keys that are allowed at a place of the config."""
    models = [model]
    for name in place:
        if isinstance(name, str):
            fields = [m.model_fields[name] for m in models if name in m.model_fields]
            models = [inner for field in fields for inner in _models_in(field.annotation)]
    return list(dict.fromkeys(key for m in models for key in m.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in an annotation, inside tuples and unions too."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in typing.get_args(annotation) for model in _models_in(part)]
