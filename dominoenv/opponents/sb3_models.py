"""Models that Stable-Baselines3 saved, as policies: `model.save("model.zip")`.

`MaskablePPO.load` unpickles such a file, which runs whatever code is in it. Nothing is unpickled
here: the weights are tensors, and what else is needed stands beside the pickles as text. Needs the
extra: `pip install "dominoenv[train]"`. Letters: A actions, L entries of an observation.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces

from dominoenv.core.rules import Rules
from dominoenv.errors import CheckpointError
from dominoenv.games.registry import GAMES, kind_of, make_rules
from dominoenv.opponents.trained import ACTIVATIONS, TrainedPolicy

try:
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
except ImportError as error:
    raise ImportError(
        'dominoenv.opponents.sb3_models needs sb3_contrib: pip install "dominoenv[train]"'
    ) from error

SETTINGS, WEIGHTS = "data", "policy.pth"  # in the file
LIMIT = 1 << 30  # bytes of one of these; a file may say that it unpacks to more
ACTOR, CRITIC = "mlp_extractor.policy_net", "mlp_extractor.value_net"
# where the policies MlpPolicy of MaskablePPO, and of PPO and A2C, are defined
HOMES = ("sb3_contrib.common.maskable.policies", "stable_baselines3.common.policies")
Weights = Mapping[str, torch.Tensor]


class Shape(NamedTuple):
    """The layer sizes of a network."""

    inputs: int
    actor: list[int]
    critic: list[int]
    actions: int


def is_model(path: str | Path) -> bool:
    """Return whether a file is a model that Stable-Baselines3 saved."""
    try:
        with zipfile.ZipFile(path) as file:
            return {SETTINGS, WEIGHTS} <= set(file.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def load_model(
    path: str | Path, rules: Rules | None = None, deterministic: bool = True, seed: int = 0
) -> TrainedPolicy:
    """Return the policy of a model with an `MlpPolicy` of MaskablePPO, PPO or A2C.

    rules: by default those of the game whose defaults fit the network. Raises CheckpointError for a
    file that is damaged, holds another kind of network, or does not fit the rules.
    """
    settings, weights = _read(path)
    activation = _activation(path, settings)
    shape = _shape(path, weights)
    rules = _fitting_rules(path, shape) if rules is None else rules
    if (shape.inputs, shape.actions) != _sizes(rules):
        raise CheckpointError(
            f"{path} reads {shape.inputs} inputs and chooses from {shape.actions} actions, but "
            "{} has {} and {}: name the rules that it was trained for".format(rules, *_sizes(rules))
        )
    network = MaskableActorCriticPolicy(
        spaces.Box(0.0, 1.0, (shape.inputs,), np.float32),
        spaces.Discrete(shape.actions),
        lambda _: 0.0,  # learning rate; nothing is learned here
        net_arch={"pi": shape.actor, "vf": shape.critic},
        activation_fn=ACTIVATIONS[activation],
    )
    network.load_state_dict(weights)
    return TrainedPolicy(rules, network, seed, deterministic)


def _read(path: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Return the settings and the weights in a file."""
    try:
        with zipfile.ZipFile(path) as file:
            settings = json.loads(_entry(file, SETTINGS))
            packed = io.BytesIO(_entry(file, WEIGHTS))
        with zipfile.ZipFile(packed) as inner:
            if sum(one.file_size for one in inner.infolist()) > LIMIT:
                raise ValueError(f"{WEIGHTS} is too large")
        packed.seek(0)
        weights = torch.load(packed, map_location="cpu", weights_only=True)
    except Exception as error:  # torch and zipfile raise a dozen kinds for damaged files
        raise CheckpointError(f"{path} is damaged, or larger than {LIMIT:,} bytes") from error
    if not isinstance(settings, dict) or not isinstance(weights, dict):
        raise _foreign(path, "no settings and weights")
    return settings, weights


def _entry(file: zipfile.ZipFile, name: str) -> bytes:
    if file.getinfo(name).file_size > LIMIT:
        raise ValueError(f"{name} is too large")
    return file.read(name)


def _foreign(path: str | Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"{path} holds {what}; read are plain perceptrons, the MlpPolicy of MaskablePPO, PPO and "
        "A2C: for another one write a Policy that loads it, and name that as module:Class"
    )


def _activation(path: str | Path, settings: Mapping[str, Any]) -> str:
    """Return the activation by its name; raise CheckpointError for a policy of another kind.

    Classes are pickled in the file, but their names and modules stand beside that.
    """
    policy = settings.get("policy_class")
    home = policy.get("__module__") if isinstance(policy, dict) else policy
    if home not in HOMES:
        raise _foreign(path, f"a policy of {home}")
    options = settings.get("policy_kwargs")
    options = options if isinstance(options, dict) else {}
    extractor = str(options.get("features_extractor_class", "FlattenExtractor"))
    if "FlattenExtractor" not in extractor:
        raise _foreign(path, f"features of {extractor}")
    given = str(options.get("activation_fn", torch.nn.Tanh))
    for name, kind in ACTIVATIONS.items():
        if given == str(kind):
            return name
    raise _foreign(path, f"a network with {given}")


def _shape(path: str | Path, weights: Weights) -> Shape:
    """Return the layer sizes; raise CheckpointError unless the weights are those of two MLPs."""
    actor, critic = _widths(weights, ACTOR), _widths(weights, CRITIC)
    last = weights.get("action_net.weight")
    if not isinstance(last, torch.Tensor) or last.ndim != 2:
        raise _foreign(path, "no layer of actions")
    first = weights[f"{ACTOR}.0.weight"] if actor else last
    inputs, actions = first.shape[1], last.shape[0]
    expected = {
        **_layers(ACTOR, [inputs, *actor]),
        **_layers(CRITIC, [inputs, *critic]),
        **_layer("action_net", [inputs, *actor][-1], actions),
        **_layer("value_net", [inputs, *critic][-1], 1),
    }
    if {name: tuple(getattr(value, "shape", ())) for name, value in weights.items()} != expected:
        raise _foreign(path, "a network of other layers")
    if not all(one.dtype.is_floating_point and one.isfinite().all() for one in weights.values()):
        raise CheckpointError(f"{path} holds weights that are not finite: has training diverged?")
    return Shape(inputs, actor, critic, actions)


def _widths(weights: Weights, net: str) -> list[int]:
    """Return the width of each layer of a perceptron; between two stands an activation."""
    widths: list[int] = []
    while isinstance(layer := weights.get(f"{net}.{2 * len(widths)}.weight"), torch.Tensor):
        if layer.ndim != 2:
            break
        widths.append(layer.shape[0])
    return widths


def _layers(net: str, sizes: list[int]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a perceptron's weights by name."""
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (before, after) in enumerate(pairwise(sizes)):
        shapes |= _layer(f"{net}.{2 * number}", before, after)
    return shapes


def _layer(name: str, before: int, after: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (after, before), f"{name}.bias": (after,)}


def _fitting_rules(path: str | Path, shape: Shape) -> Rules:
    """Return the default rules of the game that a network fits, or raise CheckpointError."""
    for game in GAMES:
        rules = make_rules(game)
        if (shape.inputs, shape.actions) == _sizes(rules):
            return rules
    raise CheckpointError(
        f"{path} reads {shape.inputs} inputs and chooses from {shape.actions} actions, as under "
        "the default rules of no game: name the rules that it was trained for"
    )


def _sizes(rules: Rules) -> tuple[int, int]:
    """Return L and A."""
    observe = kind_of(rules).observe
    return observe.layout(rules).size, observe.num_actions(rules)
