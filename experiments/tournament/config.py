"""The config of a tournament: the rules, who takes part, at which tables, on how many deals."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from dominoenv import CheckpointError, Policy, Rules, make_policy
from experiments.config import (
    BaselinePolicy,
    CheckpointPolicy,
    Experiment,
    Positive,
    PositiveInt,
)
from experiments.inference import LEAST_DEALS

Label = Annotated[str, Field(pattern=r"^[^|\s]([^|\n]{0,38}[^|\s])?$")]
"""What an agent is called in tables: up to 40 characters, but no | that would end a cell."""


class NamedAgent(BaselinePolicy):
    """A policy by name, with parameters."""

    label: Label | None = None

    @property
    def title(self) -> str:
        """What the agent is called: its label, or its policy and parameters."""
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return self.label or (f"{self.policy}({settings})" if settings else self.policy)

    def identity(self) -> dict[str, Any]:
        """Return what decides how the agent plays, its luck aside."""
        return {"policy": self.policy, "parameters": self.parameters}

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises DominoError for parameters that cannot be."""
        return make_policy(self.policy, rules, seed=seed, **self.parameters)


class TrainedAgent(CheckpointPolicy):
    """A trained policy. Its best action, or one drawn by probability (`deterministic: false`)."""

    deterministic: bool = True
    label: Label | None = None

    @property
    def title(self) -> str:
        """What the agent is called: its label, or the folder of its run."""
        return self.label or Path(self.path).resolve().parent.name

    def identity(self) -> dict[str, Any]:
        """Return what decides how the agent plays, its luck aside."""
        try:
            content = Path(self.path).read_bytes()
        except OSError as error:
            raise CheckpointError(f"checkpoint {self.path}: {error.strerror}") from None
        digest = hashlib.sha256(content).hexdigest()
        return {"checkpoint": digest, "deterministic": self.deterministic}

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises CheckpointError for files and rules that do not fit."""
        import torch  # here: a tournament without networks need not wait for it

        from dominoenv.envs.trained import load_policy

        torch.set_num_threads(1)  # the cores are busy with other deals
        return load_policy(self.path, rules, self.deterministic, seed)


Agent = Annotated[NamedAgent | TrainedAgent, Field(discriminator="kind")]


class TournamentConfig(Experiment):
    """A tournament."""

    agents: Annotated[tuple[Agent, ...], Field(min_length=2)]
    """A bare name stands for {kind: baseline, policy: name}."""
    pair_deals: Annotated[int, Field(ge=0)] = 1000
    """At each table of two agents; 0: no such tables."""
    mixed_deals: Annotated[int, Field(ge=0)] = 0
    """At tables where each seat is another agent's; 0: no such tables."""
    block: PositiveInt = 100
    """Deals that are played side by side, their agents drawing from one stream of luck."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Of all intervals."""
    differences: tuple[Positive, ...] = (0.5, 1.0, 2.0)
    """Penalty points: how many deals would each of these need?"""
    power: Annotated[float, Field(gt=0.5, lt=1)] = 0.8
    """Probability with which so many deals find such a difference."""
    resamples: Annotated[int, Field(ge=100)] = 1000
    """Bootstrap samples behind the intervals of ratings."""

    @field_validator("agents", mode="before")
    @classmethod
    def _bare_names(cls, agents: Any) -> Any:
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            return agents
        named = ({"kind": "baseline", "policy": a} if isinstance(a, str) else a for a in agents)
        return tuple(named)

    @model_validator(mode="after")
    def _playable(self) -> Self:
        for key in ("pair_deals", "mixed_deals"):
            if 0 < getattr(self, key) < LEAST_DEALS:
                raise ValueError(f"{key}=1: one deal has no interval, give 0 or at least 2")
        if not self.pair_deals and not self.mixed_deals:
            raise ValueError("pair_deals and mixed_deals are both 0: nothing would be played")
        players = self.make_rules().players
        if self.mixed_deals and len(self.agents) < players:
            raise ValueError(
                f"mixed_deals={self.mixed_deals} needs an agent for each of {players} seats, but "
                f"there are {len(self.agents)}: add agents, or leave mixed_deals out"
            )
        (name, number), *_ = Counter(self.titles).most_common(1)
        if number > 1:
            raise ValueError(f"{number} agents are called {name!r}: tell them apart by a label")
        return self

    @property
    def titles(self) -> tuple[str, ...]:
        """What the agents are called, in the config's order."""
        return tuple(agent.title for agent in self.agents)
