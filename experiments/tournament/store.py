"""The played blocks of a tournament, one file each, named by their content.

A file's name is a digest of everything that its games depend on: the rules, the seed, the deals,
the agents (the weights of a trained one) and the program. So an interrupted run, or one with more
deals or agents, plays only what is missing. Games of other agents or another program are never
counted. A file that is damaged, or holds other games than those of the block, is not counted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

import numpy as np

from dominoenv.core.arguments import finite
from dominoenv.core.companions import LIBRARY, companion_folder
from dominoenv.core.container import DAMAGED, FileKind, read_container, write_container
from dominoenv.core.version import __version__
from dominoenv.errors import CheckpointError

from ..arena import Games
from .config import TournamentConfig
from .schedule import Block, num_games

BLOCK = FileKind("tournament block", version=3, limit=1 << 30, compressed=True, named=True)
FOLDER = "units"
TEXT_SIZE = 10_000  # bytes of a file beside its arrays, at most


class Store:
    """The folder of a tournament's blocks."""

    def __init__(self, config: TournamentConfig, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.players = config.make_rules().players
        self._agents = {agent.title: agent for agent in config.agents}
        self._identities = {title: agent.identity() for title, agent in self._agents.items()}
        rules = config.make_rules()
        self._common = [BLOCK.version, program(), rules.game, rules.to_dict(), config.seed]

    def path(self, block: Block) -> Path:
        """Return the path of a block's file."""
        who = {title: self._identities[title] for title in block.agents}
        text = json.dumps([*self._common, asdict(block), who], sort_keys=True, default=str)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.block"

    def write(self, block: Block, games: Games, seconds: float) -> None:
        """Write the games of a block, and the seconds that they took one core.

        Raises CheckpointError if an agent is no longer the one that it was: a training that goes on
        may have replaced its file.
        """
        for title in block.agents:
            if self._agents[title].identity() != self._identities[title]:
                raise CheckpointError(
                    f"the file of agent {title} was replaced while it played: run this again with "
                    "--resume, on a copy of the file if a training still writes it"
                )
        games.check(num_games(block, self.players), self.players)
        write_container(self.path(block), BLOCK, {"seconds": seconds, **games.arrays()})

    def read(self, block: Block) -> tuple[Games, float] | None:
        """Return the games of a block and the seconds they took; None without a valid file."""
        number = num_games(block, self.players)
        arrays = number * self.players * len(fields(Games)) * np.dtype(np.int32).itemsize
        try:
            content = read_container(self.path(block), BLOCK, TEXT_SIZE + arrays)
            seconds = finite("seconds", content.pop("seconds"))
            games = Games(**content)
            games.check(number, self.players)
        except (*DAMAGED, AttributeError):
            return None  # it is played again
        return (games, seconds) if seconds >= 0 else None


@cache
def program() -> str:
    """Return the version of the library with a digest of its source and that of the agents."""
    digest = hashlib.sha256()
    for folder, path in _sources():
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"


def _sources() -> Iterator[tuple[Path, Path]]:
    """Yield each file with the folder that it is named from, the same in a clone and a wheel."""
    companions = [companion_folder(name) for name in ("agents", "experiments")]
    for path in sorted(LIBRARY.rglob("*.py")):
        if not set(path.parents) & {*companions}:
            yield LIBRARY, path
    if folder := companions[0]:
        for path in sorted(folder.rglob("*.py")):
            yield folder, path
