"""The table of Chicken Foot, followed tile by tile: which entry offers what, and how it looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dominoenv.core.board import Board, Tree
from dominoenv.core.rules import Rules
from dominoenv.errors import PositionError
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.chicken_foot.state import ANY_END, CENTRE, NO_FOOT


class FootTable:
    """A Chicken Foot table followed tile by tile: which entry offers which open pip."""

    def __init__(self, rules: Rules, centre: int) -> None:
        assert isinstance(rules, ChickenFootRules)
        self.rules = rules
        self.centre = centre
        self.arms = 0
        self.open: dict[int, int] = {}  # entry -> its open pip
        self.foot: int | None = None  # entry of the double that is waiting for toes
        self.foot_pip = NO_FOOT
        self.toes: dict[int, int] = {}  # entry -> its outer pip
        self._tiles = {int(rules.tiles.ids[centre, centre])}
        self._entries = 0

    @property
    def centre_missing(self) -> int:
        """Tiles that must join the centre before anything else."""
        return max(self.rules.centre_arms - self.arms, 0)

    def pip_of(self, entry: int) -> int:
        """Return the pip that an entry (or CENTRE) offers. Raises PositionError if it has none."""
        if self.centre_missing:
            if entry == CENTRE:
                return self.centre
            raise PositionError(
                f"only the centre takes tiles until it has {self.rules.centre_arms}"
            )
        if self.foot is not None and entry != self.foot:
            raise PositionError(f"only the open foot, entry {self.foot}, takes tiles")
        if entry == CENTRE:
            raise PositionError(f"the centre takes {self.rules.centre_arms} tiles and no more")
        if entry == self.foot:
            return self.foot_pip
        if entry not in self.open:
            raise PositionError(f"entry {entry} has no open end")
        return self.open[entry]

    def join(self, tile: int, pip: int, entry: int) -> int:
        """Join a tile by `pip` to an entry, or to the oldest that fits; return the entry."""
        if entry == ANY_END:
            entry = self.foot if self.foot is not None else self._oldest(pip)
        outer = int(self.rules.tiles.low[tile] + self.rules.tiles.high[tile]) - pip
        here = self._entries
        self._entries += 1
        self._tiles.add(tile)
        if entry == CENTRE:
            self.arms += 1
            self.open[here] = outer
        elif entry == self.foot:
            self.toes[here] = outer
            if len(self.toes) == self.rules.toes:
                self._close_foot()
        else:
            del self.open[entry]
            if outer == pip:
                self.foot, self.foot_pip = here, pip
            else:
                self.open[here] = outer
        if self.foot is not None and self.rules.dead_foot == "released" and self._is_dead():
            self._close_foot()
        return entry

    def _oldest(self, pip: int) -> int:
        return min(entry for entry, open_pip in self.open.items() if open_pip == pip)

    def _is_dead(self) -> bool:
        return self._tiles.issuperset(self.rules.tiles.pip_tiles(self.foot_pip))

    def _close_foot(self) -> None:
        self.open.update(self.toes)
        self.foot, self.foot_pip, self.toes = None, NO_FOOT, {}


def board(rules: ChickenFootRules, position: Mapping[str, Any]) -> Board:
    """Return what lies on the table of a position, as drawings take it."""
    table, tree, tiles = FootTable(rules, position["centre"]), Tree(), rules.tiles
    for i, (text, *where) in enumerate(position["table"]):
        entry = where[0] if where else CENTRE
        pip, tile = table.pip_of(entry), tiles.parse(text)
        table.join(tile, pip, entry)
        tree.links.append((pip, int(tiles.low[tile] + tiles.high[tile]) - pip))
        tree.joined.setdefault(entry, []).append(i)
    tree.open, tree.closed, tree.waiting = table.open, table.toes, table.foot
    if table.centre_missing:
        tree.missing[CENTRE] = table.centre_missing
    if table.foot is not None:
        tree.missing[table.foot] = rules.toes - len(table.toes)
    return Board((table.centre, table.centre), tree=tree, duty=_duty(table))


def _duty(table: FootTable) -> str:
    if arms := table.centre_missing:
        places = f"{arms} {'arm' if arms == 1 else 'arms'}"
        return f"the centre comes first, {places} to go, by {table.centre}"
    if table.foot is None:
        return ""
    toes = table.rules.toes - len(table.toes)
    return f"the open foot needs {toes} {'toe' if toes == 1 else 'toes'}, by {table.foot_pip}"


def place_text(rules: Rules, place: str, names: Mapping[int, str]) -> str:
    """Return where a move goes, in words: after the name of a tile."""
    return f"to a {place}"
