"""Trained policies and their checkpoint files.

A checkpoint is a sealed file of arrays, numbers and texts (`dominoenv.core.container`). Reading one
runs no code, and builds no network before its weights are there. Needs the extra: `pip install
"dominoenv[train]"`. Letters: A actions, L entries of an observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from dominoenv.core.container import DAMAGED, FileKind, read_container, write_container
from dominoenv.core.rules import Rules
from dominoenv.errors import CheckpointError, DominoError
from dominoenv.games.registry import as_rules, kind_of
from dominoenv.opponents.snapshot import Snapshot, check_layout, layout_version
from dominoenv.policies import Actions, Masks, Numbers, Observations, Policy

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import FlattenExtractor
except ImportError as error:
    raise ImportError(
        'dominoenv.opponents.trained needs torch and sb3_contrib: pip install "dominoenv[train]"'
    ) from error

CHECKPOINT = FileKind("checkpoint", version=2, limit=1 << 31)
MAX_LAYERS = 100
TORCH_FILE = b"PK\x03\x04"  # how it begins; version 1 of a checkpoint was one
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


def network_options(network: Mapping[str, Any]) -> dict[str, Any]:
    """Return SB3's `policy_kwargs` for a network with `hidden` layer sizes and an `activation`."""
    return {
        "net_arch": list(network["hidden"]),
        "activation_fn": ACTIVATIONS[network["activation"]],
    }


class TrainedPolicy(Policy):
    """Plays with an SB3 policy network.

    deterministic: play the most probable legal action; otherwise sample with the policy's `rng`.
    """

    name = "trained"

    def __init__(
        self,
        rules: Rules,
        network: MaskableActorCriticPolicy,
        seed: int = 0,
        deterministic: bool = True,
    ) -> None:
        super().__init__(rules, seed)
        self.network = network
        self.deterministic = deterministic

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        logits = self.logits(observations)
        if not self.deterministic:  # Gumbel-max: samples from the softmax
            logits = logits + self.rng.gumbel(size=logits.shape)
        actions: Actions = np.where(masks, logits, -np.inf).argmax(axis=1)
        return actions

    def probabilities(self, observations: Observations, masks: Masks) -> Numbers:
        """Return (n, A) probabilities of the legal actions, also for a deterministic policy."""
        logits = np.where(masks, self.logits(observations), -np.inf).astype(np.float64)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: Numbers = weights / weights.sum(axis=1, keepdims=True)
        return chances

    @torch.no_grad()
    def logits(self, observations: Observations) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return (n, A) unmasked logits."""
        rows = observations
        if rows.dtype == np.uint8:
            rows = self.layout.scaled(rows)
        network = self.network
        network.set_training_mode(False)
        features = network.pi_features_extractor(torch.as_tensor(rows, device=network.device))
        latent = network.mlp_extractor.forward_actor(features)
        logits: np.ndarray[Any, np.dtype[np.float32]] = network.action_net(latent).cpu().numpy()
        return logits


def take_snapshot(
    rules: Rules,
    network: MaskableActorCriticPolicy,
    taken_at: int = 0,
    deterministic: bool = False,
) -> Snapshot:
    """Return a frozen copy of a network; later training does not change it.

    taken_at, deterministic: as in `Snapshot`. Raises DominoError unless the network is a perceptron
    with an activation of `Snapshot` and finite weights.
    """
    linear, between = _perceptron(network)
    kinds = {type(layer) for layer in between}
    names = [name for name, kind in ACTIVATIONS.items() if kinds <= {kind}]
    is_flat = isinstance(network.pi_features_extractor, FlattenExtractor)
    if not is_flat or not names or len(between) != len(linear) - 1:
        raise DominoError(
            "snapshots need a plain perceptron with relu or tanh; for another network, write a "
            "Policy and add that to the pool"
        )
    layers = [(_as_numpy(one.weight).T, _as_numpy(one.bias)) for one in linear]
    return Snapshot(rules, layers, names[0], taken_at=taken_at, deterministic=deterministic)


def _as_numpy(tensor: torch.Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    values: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().cpu().numpy()
    return values


def _perceptron(
    network: MaskableActorCriticPolicy,
) -> tuple[list[torch.nn.Linear], list[torch.nn.Module]]:
    """Return the linear layers that lead to the logits, and the other modules between them."""
    layers = [*network.mlp_extractor.policy_net, network.action_net]
    linear = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
    return linear, [layer for layer in layers if not isinstance(layer, torch.nn.Linear)]


# -------------------------------------------------------------------------------------------- files


def save_checkpoint(
    path: str | Path,
    rules: Rules,
    network: Mapping[str, Any],
    weights: Mapping[str, torch.Tensor],
    **more: Any,
) -> None:
    """Write a checkpoint file atomically.

    network: `hidden` and `activation`; weights: the policy's state_dict; more: arrays, numbers,
    texts, and dicts or lists of them, such as the state of a training run. Raises CheckpointError
    for weights that are not finite.
    """
    content = {
        "rules": {"game": rules.game, **rules.to_dict()},
        "layout": layout_version(rules),
        "network": dict(network),
        "weights": {name: _as_numpy(weight) for name, weight in weights.items()},
        **more,
    }
    write_container(Path(path), CHECKPOINT, content)


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """Return what `save_checkpoint` wrote; weights and other arrays are numpy's.

    Raises CheckpointError for a file that is missing, damaged or something else, and for one whose
    network reads another layout of observations.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder; name the checkpoint.pt in it" if path.is_dir() else "does not exist"
        raise CheckpointError(f"checkpoint {str(path)!r} {what}")
    try:
        content = read_container(path, CHECKPOINT)
    except CheckpointError as error:
        if _begins_as(path, TORCH_FILE):
            raise CheckpointError(
                f"{path} is damaged, or not a checkpoint of this dominoenv: torch wrote it, or "
                "dominoenv 0.1.0; train again, or use the program that wrote it"
            ) from error
        raise
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} is damaged, or not a checkpoint of dominoenv")
    check_layout(f"{path}", _rules_of(path, content), content.get("layout"))
    return content


def _begins_as(path: Path, begin: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(begin)) == begin
    except OSError:
        return False


def _rules_of(path: str | Path, content: Mapping[str, Any]) -> Rules:
    """Return the rules that a checkpoint was trained for, or raise CheckpointError."""
    try:
        return as_rules(content["rules"])
    except DAMAGED as error:
        raise _misfit(path, error) from error


def _misfit(path: str | Path, error: Exception) -> CheckpointError:
    reason = (str(error) or type(error).__name__).splitlines()[0]
    return CheckpointError(f"{path} does not fit this version of dominoenv: {reason}")


def load_policy(
    path: str | Path, rules: Rules | None = None, deterministic: bool = True, seed: int = 0
) -> TrainedPolicy:
    """Return the policy of a checkpoint.

    rules: the rules to play; by default those that it was trained for. Raises CheckpointError for a
    file that is missing, damaged or no checkpoint, and if it was trained for other rules.
    """
    content = read_checkpoint(path)
    trained_for = _rules_of(path, content)
    if rules is not None and rules != trained_for:
        raise CheckpointError(f"{path} was trained for {trained_for}, not for {rules}")
    try:
        weights = as_weights(trained_for, content["network"], content["weights"])
        network = make_network(trained_for, content["network"])
        network.load_state_dict(weights)
    except (*DAMAGED, RuntimeError) as error:
        raise _misfit(path, error) from error
    return TrainedPolicy(trained_for, network, seed, deterministic)


def as_weights(
    rules: Rules, network: Mapping[str, Any], arrays: Mapping[str, Any]
) -> dict[str, torch.Tensor]:
    """Return the weights of a checkpoint as tensors.

    Raises DominoError unless the layers of a network with such options are among them, in full: so
    what is built afterwards is no larger than the file.
    """
    hidden = network["hidden"]
    if not isinstance(hidden, list) or len(hidden) > MAX_LAYERS:
        raise DominoError(f"network.hidden must be a list of at most {MAX_LAYERS} layer sizes")
    if not isinstance(arrays, Mapping) or not all(map(_is_float32, arrays.values())):
        raise DominoError("the weights must be arrays of float32 by name")
    sizes = [kind_of(rules).observe.layout(rules).size, *hidden]
    for name in ("policy_net", "value_net"):
        for number, (before, after) in enumerate(pairwise(sizes)):
            key = f"mlp_extractor.{name}.{2 * number}.weight"  # an activation after each layer
            if arrays[key].shape != (after, before):
                raise DominoError(
                    f"{key} has the shape {arrays[key].shape} in place of {(after, before)}"
                )
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _is_float32(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float32


def make_network(rules: Rules, network: Mapping[str, Any]) -> MaskableActorCriticPolicy:
    """Return an SB3 policy network for some rules, with random weights."""
    observe = kind_of(rules).observe
    return MaskableActorCriticPolicy(
        spaces.Box(0.0, 1.0, (observe.layout(rules).size,), np.float32),
        spaces.Discrete(observe.num_actions(rules)),
        lambda _: 0.0,  # learning rate; nothing is learned here
        **network_options(network),
    )
