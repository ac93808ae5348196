"""Configs: one YAML file per experiment, checked in full before anything runs.

Frozen pydantic models that forbid unknown keys. Defaults live here; a file states what differs. A
mistake raises a ConfigError that names the file, the key, the given value and what is allowed.
"""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, overload

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
from dominoenv.errors import DominoError, nearest, shortened
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.baselines import policy_names

from .shipped import alternatives, command_for, find_config
from .yaml_text import MAX_CHARACTERS, MAX_DEPTH, TextError, dump_yaml, parse_yaml


class ConfigError(DominoError):
    """An invalid config file or override; the text names file, key and remedy."""


class Model(BaseModel):
    """Base class of all parts of a config."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


PositiveInt = Annotated[int, Field(ge=1, le=10**12)]
MAX_DEALS = 10**9
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


def finite_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return parameters by name, or raise ValueError for one that is infinite or not a number."""
    for name, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            raise ValueError(f"{shortened(name)} should be a finite number") from None
    return values


Parameters = Annotated[dict[str, Any], AfterValidator(finite_values)]


class BaselinePolicy(Model):
    """A policy by name."""

    kind: Literal["baseline"]
    policy: str
    parameters: Parameters = {}

    _known = field_validator("policy")(known_policy)


class CheckpointPolicy(Model):
    """A trained policy: a checkpoint, or a model that Stable-Baselines3 saved."""

    kind: Literal["checkpoint", "sb3"]
    path: str


class PythonPolicy(Model):
    """A policy of your own, `module:Class`. Its module is imported, so its code runs."""

    kind: Literal["python"]
    target: str
    parameters: Parameters = {}


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

    games: Annotated[int, Field(ge=1, le=2**20)] = 256
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


Layer = Annotated[int, Field(ge=1, le=2**14)]
"""The size of one: the weights between two such layers take 1 GB."""


class Network(Model):
    """Layer sizes of the policy network and of the separate value network."""

    hidden: Annotated[tuple[Layer, ...], Field(max_length=16)] = (256, 256)
    activation: Literal["relu", "tanh"] = "relu"


class PPO(Model):
    """Settings of sb3-contrib's MaskablePPO."""

    decisions: PositiveInt
    """Decisions of the learner over all games; rounded up to whole iterations."""
    steps: Annotated[int, Field(ge=1, le=2**20)] = 64
    """Decisions of each game in an iteration."""
    batch_size: Annotated[int, Field(ge=2, le=2**40)] = 2048
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

    deals: Annotated[int, Field(ge=2, le=MAX_DEALS)] = 1000
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
        return dump_yaml(self.resolved())


class Config(Experiment):
    """The config of a training run."""

    command = "train"

    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    """Threads of torch; the networks are small, so more of them mostly wait for each other."""
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
    data = _parse(_text(path, model.command), str(path))
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: must be keys and values, such as `name: quickstart`")
    command = command_for(data)
    if command not in (None, model.command):
        raise ConfigError(
            f"{path} is a config for `dominoenv {command}`, not for `dominoenv {model.command}`"
        )
    data.setdefault("name", path.stem)
    for override in overrides:
        _override(data, override)
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
    except (TypeError, ValueError, RecursionError):  # only for data that no text was read as
        raise ConfigError(f"{source}: must be plain data: dicts with text as keys, lists") from None


def _text(path: Path, command: str) -> str:
    """Return the text of a file, or as much as shows that it is too long."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_CHARACTERS + 1)
    except FileNotFoundError:
        known = nearest(str(path), alternatives(path, command))
        raise ConfigError(f"config {str(path)!r} does not exist; {known}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"config {str(path)!r} cannot be read: {reason}") from None


def _parse(text: str, source: str) -> Any:
    try:
        return parse_yaml(text)
    except TextError as error:
        raise ConfigError(f"{source}{error}") from None


def _override(data: dict[str, Any], override: str) -> None:
    """Apply one `a.b=value` to the data; numbers in the path are indices of lists."""
    key, equals, text = override.partition("=")
    *parents, last = names = key.split(".")
    source = f"override {shortened(override, 120)}"
    if not equals or "" in names:
        raise ConfigError(f"{source} must look like ppo.learning_rate=1e-4")
    if len(names) > MAX_DEPTH:
        raise ConfigError(f"{source}: no key lies deeper than {MAX_DEPTH}")
    node: Any = data
    for name in parents:
        node = node.setdefault(name, {}) if isinstance(node, dict) else _item(node, name, source)
    value = _parse(text, source)
    if isinstance(node, dict):
        node[last] = value
    else:
        _item(node, last, source)
        node[int(last)] = value


def _item(node: Any, name: str, source: str) -> Any:
    if not isinstance(node, list):
        raise ConfigError(f"{source}: key {shortened(name)} is below a plain value")
    if name not in map(str, range(len(node))):
        raise ConfigError(
            f"{source}: {shortened(name)} must be an index 0 ... {len(node) - 1} of the list"
            if node
            else f"{source}: {shortened(name)}: the list is empty; give it as a whole"
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


# How pydantic begins a message, where ours begins with the key and what it was given.
SUBJECT = r"^(Value error, |Input |Tuple |List |String |Dictionary )"


def _sentence(mistake: Any, model: type[BaseModel]) -> str:
    place = _without_tags(mistake["loc"])
    path = ".".join(map(str, place))
    kind, given = mistake["type"], mistake["input"]
    if kind == "extra_forbidden":
        return f"unknown key {shortened(path)}; {_known_keys(model, mistake['loc'])}"
    if kind == "missing":
        return f"key {path!r} is missing"
    if kind == "union_tag_not_found":
        return f"key {path + '.kind'!r} is missing; allowed: {_tags(mistake)}"
    if kind == "union_tag_invalid":
        tag = mistake["ctx"]["tag"]
        return f"{path}.kind={shortened(tag)} is not known; allowed: {_tags(mistake)}"
    if kind == "json_invalid":  # by half of a surrogate pair, as in a file's name
        return "some text in it is not Unicode"
    message = re.sub(SUBJECT, "", mistake["msg"])
    if kind == "string_type" and isinstance(given, bool | int | float):
        message += "; quotes make it text"
    return f"{path}={shortened(given)}: {message}" if path else message


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


def _known_keys(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """Return what may have been meant by an unknown key: one elsewhere, or one of its place."""
    *place, name = loc
    keys = list(dict.fromkeys(key for one in _models_at(model, place) for key in one.model_fields))
    hint, elsewhere = nearest(name, keys), [path for path in _paths(model) if path[-1] == name]
    if hint.startswith("known") and elsewhere:
        hint = nearest(".".join(elsewhere[0]), map(".".join, elsewhere))
    return hint if hint.startswith("known") else f"{hint} allowed: {', '.join(keys)}"


def _models_at(model: type[BaseModel], place: Sequence[int | str]) -> list[type[BaseModel]]:
    """Return the models that may stand at a place; where a union's branch is named, that one."""
    models = [model]
    for name in place:
        if isinstance(name, str):
            branch = [one for one in models if _kind(one) == name]
            fields = [one.model_fields[name] for one in models if name in one.model_fields]
            models = branch or [inner for one in fields for inner in _models_in(one.annotation)]
    return models


def _kind(model: type[BaseModel]) -> str | None:
    """Return the tag by which a union knows a model, if it has one."""
    field = model.model_fields.get("kind")
    return typing.get_args(field.annotation)[0] if field else None


def _paths(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key that no list stands above."""
    for name, field in model.model_fields.items():
        yield (name,)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            for path in _paths(field.annotation):
                yield (name, *path)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in an annotation, inside tuples and unions too."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in typing.get_args(annotation) for model in _models_in(part)]
