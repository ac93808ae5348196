"""The config of a tournament: rules, agents, tables and numbers of deals."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from dominoenv.core.files import read_bounded
from dominoenv.core.rules import Rules
from dominoenv.errors import CheckpointError, nearest, shortened
from dominoenv.opponents.baselines import make_policy, policy_names
from dominoenv.opponents.references import load_file, make_from, plays, source_of
from dominoenv.policies import Policy

from ..config import (
    MAX_DEALS,
    BaselinePolicy,
    CheckpointPolicy,
    Experiment,
    Positive,
    PythonPolicy,
)
from ..statistics import MIN_DEALS

MAX_BYTES = 1 << 32  # of a checkpoint

Label = Annotated[str, Field(pattern=r"^[^|\s]([^|\n]{0,38}[^|\s])?$")]
"""The name of an agent in tables: up to 40 characters, without |, which ends a cell."""


class NamedAgent(BaselinePolicy):
    """A policy by name, with parameters."""

    label: Label | None = None

    @property
    def title(self) -> str:
        """The agent's name: its label, or its policy and parameters."""
        return self.label or _titled(self.policy, self.parameters)

    def identity(self) -> dict[str, Any]:
        """Return what determines how the agent plays, apart from its random choices."""
        return {"policy": self.policy, "parameters": self.parameters}

    def plays(self, game: str) -> bool:
        """Return whether it plays the game."""
        return self.policy in policy_names(game)

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises DominoError for invalid parameters."""
        return make_policy(self.policy, rules, seed=seed, **self.parameters)


class TrainedAgent(CheckpointPolicy):
    """A trained policy, deterministic or sampling (`deterministic: false`)."""

    deterministic: bool = True
    label: Label | None = None

    @property
    def title(self) -> str:
        """The agent's name: its label, or the folder of its run, or the name of its model."""
        path = Path(self.path)
        return self.label or (path.stem if self.kind == "sb3" else path.resolve().parent.name)

    def identity(self) -> dict[str, Any]:
        """Return what determines how the agent plays, apart from its random choices."""
        try:
            content = read_bounded(Path(self.path), MAX_BYTES)
        except OSError as error:
            raise CheckpointError(f"checkpoint {self.path}: {error.strerror}") from None
        digest = hashlib.sha256(content).hexdigest()
        return {"checkpoint": digest, "deterministic": self.deterministic}

    def plays(self, game: str) -> bool:
        """Return True: the game is checked when the file is read."""
        return True

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises CheckpointError for files and rules that do not fit."""
        import torch  # here: a tournament without networks should not wait for it

        torch.set_num_threads(1)  # the other cores play other deals
        return load_file(self.path, rules, self.deterministic, seed)


class PythonAgent(PythonPolicy):
    """A policy of your own, with parameters."""

    label: Label | None = None

    @property
    def title(self) -> str:
        """The agent's name: its label, or its class and parameters."""
        return self.label or _titled(self.target.rpartition(":")[2], self.parameters)

    def identity(self) -> dict[str, Any]:
        """Return what determines how the agent plays, apart from its random choices."""
        source = hashlib.sha256(source_of(self.target)).hexdigest()
        return {"target": self.target, "parameters": self.parameters, "source": source}

    def plays(self, game: str) -> bool:
        """Return whether it plays the game."""
        return plays(self.target, game)

    def make(self, rules: Rules, seed: int) -> Policy:
        """Return the agent. Raises DominoErrors for a class that is none."""
        return make_from(self.target, rules, seed, **self.parameters)


def _titled(name: str, parameters: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}({settings})" if settings else name


Agent = Annotated[NamedAgent | TrainedAgent | PythonAgent, Field(discriminator="kind")]


Deals = Annotated[int, Field(ge=0, le=MAX_DEALS)]


class MatchConfig(Experiment):
    """Shared by tournaments and studies: agents, pairs, numbers of deals, confidence."""

    agents: Annotated[tuple[Agent, ...], Field(min_length=1, max_length=100)]
    """A bare name stands for {kind: baseline, policy: name}."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Which pairs are played; empty: all of them."""
    pair_deals: Deals = 1000
    """Deals for each pair of agents; 0: no pairs."""
    same_deals: Deals = 0
    """Deals for each agent against copies of itself; 0: none."""
    block: Annotated[int, Field(ge=1, le=10**6)] = 100
    """Deals played side by side; an agent has one random stream in all of them."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    """Confidence level of all intervals."""
    differences: tuple[Positive, ...] = (0.5, 1.0, 2.0)
    """Differences in penalty points for which the number of deals is reported."""
    power: Annotated[float, Field(gt=0.5, lt=1)] = 0.8
    """Probability of finding a true difference of that size."""

    @field_validator("agents", mode="before")
    @classmethod
    def _bare_names(cls, agents: Any) -> Any:
        if not isinstance(agents, Sequence) or isinstance(agents, str):
            return agents
        named = ({"kind": "baseline", "policy": a} if isinstance(a, str) else a for a in agents)
        return tuple(named)

    @model_validator(mode="after")
    def _known_agents(self) -> Self:
        titles = Counter(self.titles)
        (name, number), *_ = titles.most_common(1)
        if number > 1:
            raise ValueError(
                f"{number} agents are called {shortened(name)}: tell them apart by a label"
            )
        for a, b in self.pairs:
            for title in (a, b):
                if title not in titles:
                    raise ValueError(
                        f"pairs: no agent {shortened(title)}; {nearest(title, titles)}"
                    )
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
        """The names of the agents, in the config's order."""
        return tuple(agent.title for agent in self.agents)


class TournamentConfig(MatchConfig):
    """The config of a tournament."""

    command = "tournament"

    mixed_deals: Deals = 0
    """Deals at tables with a different agent at each seat; 0: none."""
    resamples: Annotated[int, Field(ge=100, le=10**6)] = 1000
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
