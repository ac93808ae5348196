"""What lies on a table, in the terms that every drawing understands.

A game describes its table once, from a position: as trains out of the middle, or as a tree of
joined tiles. Drawings and the replay page know these two forms and no game.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Link: TypeAlias = tuple[int, int]  # a tile's pips: the inner half is the one that joins

MIDDLE = -1  # of `Tree.joined` and `Tree.missing`: the tile in the middle


@dataclass(frozen=True)
class TrainView:
    """A line of tiles from the middle outwards."""

    name: str  # the place that moves name: "2", "M"
    label: tuple[str, ...]  # what stands beside it, line by line
    links: tuple[Link, ...]
    end: int  # the pip that fits next
    seat: int | None = None  # whose it is; None: nobody's, so that all may play on it
    is_marked: bool = False
    pending: int = 0  # place among the doubles to be covered, from 1; 0: its end is none of them
    is_mover: bool = False

    @property
    def is_open(self) -> bool:
        """Whether others than its owner may play on it."""
        return self.is_marked or self.seat is None


@dataclass
class Tree:
    """Joined tiles, each an entry numbered in the order of play."""

    links: list[Link] = field(default_factory=list)  # of each entry
    joined: dict[int, list[int]] = field(default_factory=dict)  # entry or MIDDLE -> its entries
    open: dict[int, int] = field(default_factory=dict)  # entry -> its open pip
    closed: dict[int, int] = field(default_factory=dict)  # entry -> a pip that will open later
    waiting: int | None = None  # the entry that must be completed before anything else
    missing: dict[int, int] = field(default_factory=dict)  # entry or MIDDLE -> tiles it waits for

    def chain(self, entry: int) -> list[int]:
        """Return the entries from one to the next double, or to the end."""
        chain = [entry]
        while not self.is_double(chain[-1]) and chain[-1] in self.joined:
            chain.append(self.joined[chain[-1]][0])
        return chain

    def is_double(self, entry: int) -> bool:
        """Return whether an entry is a double."""
        inner, outer = self.links[entry]
        return inner == outer

    def ends(self) -> dict[int, int]:
        """Return how many open ends there are of each pip."""
        counts: dict[int, int] = {}
        for pip in sorted(self.open.values()):
            counts[pip] = counts.get(pip, 0) + 1
        return counts

    @property
    def is_locked(self) -> bool:
        """Whether the middle or an entry must be completed before the open ends count."""
        return bool(self.missing)


@dataclass(frozen=True)
class Board:
    """A table: the tile in the middle, and what grows out of it."""

    middle: Link | None  # its left and its right half; None: nothing lies there yet
    trains: tuple[TrainView, ...] = ()
    tree: Tree | None = None  # None: the table consists of trains
    owes: str = ""  # what the seat to move still owes in its turn, in words; "" for nothing
    duty: str = ""  # what binds the seat to move, in words; "" where nothing does

    def waiting_tiles(self) -> list[str]:
        """Return the tiles that must be covered or completed, high pip first."""
        links = [train.links[-1] for train in self.trains if train.pending]
        if self.tree is not None and self.tree.waiting is not None:
            links.append(self.tree.links[self.tree.waiting])
        return [f"{max(link)}-{min(link)}" for link in links]
