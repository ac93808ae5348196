"""The config of a tournament: the rules, who takes part, at which tables, on how many deals."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from dominoenv.core.rules import Rules
from dominoenv.errors import CheckpointError, nearest
from dominoenv.opponents.baselines import make_policy, policy_names
from dominoenv.policies import Policy

from ..config import (
    BaselinePolicy,
    CheckpointPolicy,
    Experiment,
    Positive,
    PositiveInt,
)
from ..statistics import MIN_DEALS

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

    def plays(self, game: str) -> bool:
        """Return whether it knows the game."""
        return self.policy in policy_names(game)

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

    def plays(self, game: str) -> bool:
        """Return whether it knows the game: its file will say, when it is read."""
        return True

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises CheckpointError for files and rules that do not fit."""
        import torch  # here: a tournament without networks need not wait for it

        from dominoenv.opponents.trained import load_policy

        torch.set_num_threads(1)  # the cores are busy with other deals
        return load_policy(self.path, rules, self.deterministic, seed)


Agent = Annotated[NamedAgent | TrainedAgent, Field(discriminator="kind")]


Deals = Annotated[int, Field(ge=0)]


class MatchConfig(Experiment):
    """What tournaments and studies share: who plays whom, on how many deals, how sure."""

    agents: Annotated[tuple[Agent, ...], Field(min_length=1)]
    """A bare name stands for {kind: baseline, policy: name}."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Which agents meet at pairs' tables; empty: each meets each."""
    pair_deals: Deals = 1000
    """At each table of two agents; 0: no such tables."""
    same_deals: Deals = 0
    """At each table where all seats are one agent's; 0: no such tables."""
    block: PositiveInt = 100
    """Deals that are played side by side, their agents drawing from one stream of luck."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Of all intervals."""
    differences: tuple[Positive, ...] = (0.5, 1.0, 2.0)
    """Penalty points: how many deals would each of these need?"""
    power: Annotated[float, Field(gt=0.5, lt=1)] = 0.8
    """Probability with which so many deals find such a difference."""

    @field_validator("agents", mode="before")
    @classmethod
    def _bare_names(cls, agents: Any) -> Any:
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            return agents
        named = ({"kind": "baseline", "policy": a} if isinstance(a, str) else a for a in agents)
        return tuple(named)

    @model_validator(mode="after")
    def _known_agents(self) -> Self:
        (name, number), *_ = Counter(self.titles).most_common(1)
        if number > 1:
            raise ValueError(f"{number} agents are called {name!r}: tell them apart by a label")
        for a, b in self.pairs:
            for title in (a, b):
                if title not in self.titles:
                    raise ValueError(f"pairs: no agent {title!r}; {nearest(title, self.titles)}")
            if a == b:
                raise ValueError(f"pairs: {a!r} cannot meet itself; same_deals has such tables")
        return self

    @model_validator(mode="after")
    def _enough_deals(self) -> Self:
        keys = [key for key in type(self).model_fields if key.endswith("_deals")]
        for key in keys:
            if 0 < getattr(self, key) < MIN_DEALS:
                raise ValueError(f"{key}=1: one deal has no interval, give 0 or at least 2")
        if not any(getattr(self, key) for key in keys):
            raise ValueError(f"{', '.join(keys)} are all 0: nothing would be played")
        if self.pair_deals and len(self.agents) < 2:
            raise ValueError(f"pair_deals={self.pair_deals} needs at least 2 agents")
        return self

    @property
    def titles(self) -> tuple[str, ...]:
        """What the agents are called, in the config's order."""
        return tuple(agent.title for agent in self.agents)


class TournamentConfig(MatchConfig):
    """A tournament."""

    command = "tournament"

    mixed_deals: Deals = 0
    """At tables where each seat is another agent's; 0: no such tables."""
    resamples: Annotated[int, Field(ge=100)] = 1000
    """Bootstrap samples behind the intervals of ratings."""

    @model_validator(mode="after")
    def _enough_agents(self) -> Self:
        players = self.make_rules().players
        if self.mixed_deals and len(self.agents) < players:
            raise ValueError(
                f"mixed_deals={self.mixed_deals} needs an agent for each of {players} seats, but "
                f"there are {len(self.agents)}: add agents, or leave mixed_deals out"
            )
        return self
