"""`Snapshot`: a frozen copy of a policy network.

A perceptron in plain numpy: a few matrix products for each batch, no framework, no shared weights.
`dominoenv.opponents.trained.take_snapshot` copies an SB3 network; with another framework, pass the
weights. Letters: n decisions, L entries of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_choice
from dominoenv.core.rules import Rules
from dominoenv.errors import CheckpointError, DominoError, shortened
from dominoenv.games.registry import kind_of
from dominoenv.policies import Actions, Masks, Observations, Policy

Floats: TypeAlias = NDArray[np.float32]
ACTIVATIONS = ("relu", "tanh")


class Snapshot(Policy):
    """Plays with its own perceptron.

    - layers: (weights (inputs, outputs), biases (outputs,)) each, from L inputs to A logits.
    - activation: "relu" or "tanh", between the layers.
    - taken_at: when it was taken, in the training's own unit; `SelfPlay` sorts by it.
    - deterministic: play the most probable legal action; otherwise sample with the policy's `rng`.

    Raises DominoError for layers that do not fit each other or the rules, or are not finite.
    """

    name = "snapshot"

    def __init__(
        self,
        rules: Rules,
        layers: Sequence[tuple[Any, Any]],
        activation: str = "relu",
        *,
        taken_at: int = 0,
        deterministic: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(rules, seed)
        checked_choice("activation", activation, ACTIVATIONS)
        sizes = (self.layout.size, self.num_actions)
        self.layers = _checked_layers(layers, *sizes)
        self.activation, self.taken_at = activation, int(taken_at)
        self.deterministic = bool(deterministic)

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return one legal action for each of n decisions."""
        legal = masks != 0
        logits = self.logits(observations)
        chances = np.full(logits.shape, -np.inf, np.float32)
        chances[legal] = logits[legal]
        if not self.deterministic:  # Gumbel-max: samples from the softmax
            chances[legal] += self.rng.gumbel(size=int(legal.sum()))
        actions: Actions = chances.argmax(axis=1)
        return actions

    def logits(self, observations: Observations) -> Floats:
        """Return (n, A) unmasked logits."""
        is_raw = observations.dtype == np.uint8
        rows: Floats = self.layout.scaled(observations) if is_raw else observations
        *hidden, (weights, biases) = self.layers
        for inner_weights, inner_biases in hidden:
            rows = rows @ inner_weights
            rows += inner_biases
            rows = self._activate(rows)
        return rows @ weights + biases

    def _activate(self, rows: Floats) -> Floats:
        activated: Floats = np.tanh(rows) if self.activation == "tanh" else np.maximum(rows, 0)
        return activated

    # --------------------------------------------------------------------------------------- state

    def get_state(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Return JSON values, and the arrays by name; see `from_state`."""
        settings = {
            "activation": self.activation,
            "taken_at": self.taken_at,
            "deterministic": self.deterministic,
            "layout": self.layout.version,
        }
        arrays: dict[str, Floats] = {}
        for number, (weights, biases) in enumerate(self.layers):
            arrays |= {f"weights {number}": weights, f"biases {number}": biases}
        return settings, arrays

    @classmethod
    def from_state(
        cls, rules: Rules, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Snapshot:
        """Return the snapshot that `get_state` described. Raises CheckpointError."""
        try:
            options = dict(settings)
            check_layout("a saved snapshot", rules, options.pop("layout", None))
            numbers = range(len(arrays) // 2)
            layers = [(arrays[f"weights {i}"], arrays[f"biases {i}"]) for i in numbers]
            return cls(rules, layers, **options)
        except CheckpointError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CheckpointError(f"a saved snapshot cannot be restored: {error}") from error


def layout_version(rules: Rules) -> int:
    """Return the version of the layout of observations under some rules."""
    return kind_of(rules).observe.layout(rules).version


def check_layout(what: str, rules: Rules, version: object) -> None:
    """Raise CheckpointError if a saved network reads another layout; None: version 1."""
    saved, own = 1 if version is None else version, layout_version(rules)
    if not isinstance(saved, int) or saved != own:
        raise CheckpointError(
            f"{what} reads layout version {shortened(saved)} of {rules.game} observations, this "
            f"dominoenv writes version {own}: train anew, or use the one that it was trained with"
        )


def _checked_layers(
    layers: Sequence[tuple[Any, Any]], inputs: int, outputs: int
) -> list[tuple[Floats, Floats]]:
    """Return copies as float32, or raise DominoError."""
    try:
        made = [(_as_floats(w), _as_floats(b)) for w, b in layers]
    except (TypeError, ValueError):
        raise DominoError("layers must be (weights, biases) pairs of arrays of numbers") from None
    widths = [inputs, *(biases.size for _, biases in made)]
    fitting = all(
        weights.shape == (before, after) and biases.shape == (after,)
        for (weights, biases), before, after in zip(made, widths, widths[1:], strict=False)
    )
    if not made or not fitting or widths[-1] != outputs:
        shapes = [(weights.shape, biases.shape) for weights, biases in made]
        raise DominoError(
            f"layers of shapes {shapes} must lead from {inputs} inputs to {outputs} outputs, with "
            "weights (inputs, outputs) and biases (outputs,) each"
        )
    if not all(np.isfinite(array).all() for layer in made for array in layer):
        raise DominoError("a snapshot needs finite weights: has the training diverged?")
    return made


def _as_floats(values: Any) -> Floats:
    """Return a copy as float32. Raises ValueError for texts and for complex numbers."""
    array = np.array(values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{array.dtype} in place of numbers")
    with np.errstate(over="ignore"):  # it is infinite then, and refused
        return array.astype(np.float32, order="C")
