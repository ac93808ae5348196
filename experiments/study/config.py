"""The config of a study: base settings, and the cells of a grid that differ from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from math import prod
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from dominoenv.errors import DominoError, shortened
from dominoenv.games.registry import make_rules

from ..config import GameName, Model
from ..tournament.config import Agent, Label, MatchConfig, TournamentConfig

MAX_CELLS = 500
"""Of a study: each is a tournament of its own."""


class Cell(Model):
    """One cell, or several: an option with a list makes one cell per value."""

    label: Label | None = None
    """Its name; options with several values are added."""
    game: GameName | None = None
    """If it is not the study's game, the study's rules do not apply."""
    rules: dict[str, Any] = Field(default={})
    """Differences from the study's rules; `rounds`, a list itself, takes a list of lists."""

    @property
    def number(self) -> int:
        """How many cells it stands for."""
        return prod(len(value) for value in self.rules.values() if isinstance(value, list))

    def each(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the label and the options of every cell."""
        several = [key for key, value in self.rules.items() if isinstance(value, list)]
        for values in product(*(self.rules[key] for key in several)):
            options = {**self.rules, **dict(zip(several, values, strict=True))}
            named = several if several or self.label else options
            words = [*([self.label] if self.label else []), *(f"{k}={options[k]}" for k in named)]
            yield ", ".join(words) or "base", options


class StudyConfig(MatchConfig):
    """The config of a study. Agents that do not play a cell's game are left out of it."""

    command = "study"

    cells: Annotated[tuple[Cell, ...], Field(min_length=1)]
    against_first: bool = False
    """Whether each cell is compared with the first one, deal by deal."""

    @model_validator(mode="after")
    def _cells_exist(self) -> Self:
        if sum(cell.number for cell in self.cells) > MAX_CELLS:
            raise ValueError(
                f"cells: the lists of options make more than {MAX_CELLS} cells: give shorter "
                "lists, or split the study"
            )
        labels = Counter(label for cell in self.cells for label, _ in cell.each())
        if not labels:
            raise ValueError("cells: an option with an empty list leaves none")
        (label, number), *_ = labels.most_common(1)
        if number > 1:
            raise ValueError(
                f"{number} cells are called {shortened(label)}: tell them apart by a label"
            )
        self.tournaments  # noqa: B018  raises errors of the cells
        return self

    @cached_property
    def tournaments(self) -> dict[str, TournamentConfig]:
        """The tournament of each cell, by its label."""
        games = {cell.game or self.game for cell in self.cells}
        players = {game: tuple(one for one in self.agents if one.plays(game)) for game in games}
        return {
            label: self._tournament(label, game, options, players[game])
            for cell in self.cells
            for game in (cell.game or self.game,)
            for label, options in cell.each()
        }

    def _tournament(
        self, label: str, game: str, options: dict[str, Any], agents: tuple[Agent, ...]
    ) -> TournamentConfig:
        rules = {**self.rules, **options} if game == self.game else options
        try:
            make_rules(game, rules)
        except DominoError as error:
            raise ValueError(f"cell {shortened(label)}: {error}") from None
        titles = {agent.title for agent in agents}
        pairs = tuple(pair for pair in self.pairs if titles.issuperset(pair))
        nobody_meets = len(agents) < 2 or (self.pairs and not pairs)
        own = {"pairs": pairs, "pair_deals": 0 if nobody_meets else self.pair_deals}
        if not agents or not (own["pair_deals"] or self.same_deals):
            raise ValueError(
                f"cell {shortened(label)}: nobody would play; which agents play {game}?"
            )
        shared = {name: getattr(self, name) for name in MatchConfig.model_fields}
        return TournamentConfig(**{**shared, **own, "game": game, "rules": rules, "agents": agents})

    def resolved(self) -> dict[str, Any]:
        """Return the config as plain data; rules stay as given, because cells complete them."""
        return self.model_dump(mode="json")
