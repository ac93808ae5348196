"""The schedule of a tournament: tables, line-ups, and blocks of deals.

All tables play the same deals (common random numbers). At a pair's table one seat has the one agent
and the others have the other, and the other way round; at mixed tables each seat has a different
agent. Every line-up rotates through all seats, so on every deal each agent plays each hand equally
often. A table of one agent has the same agent at all seats and shows how rounds go.
Letters: n agents, P seats, K line-ups of a deal, G games.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .config import TournamentConfig

PAIR, MIXED, SAME = TABLES = ("pair", "mixed", "same")


@dataclass(frozen=True)
class Block:
    """Consecutive deals at one table, played together and kept in one file."""

    table: str
    """PAIR, MIXED or SAME."""
    agents: tuple[str, ...]
    """Titles in alphabetical order: the order in the config does not matter."""
    first: int
    deals: int

    def agent_seed(self, seed: int, agent: str) -> int:
        """Return the seed of an agent's own random choices in this block."""
        text = json.dumps([seed, self.table, self.agents, self.first, agent])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def blocks(config: TournamentConfig) -> list[Block]:
    """Return all blocks."""
    titles = sorted(config.titles)
    pairs = sorted({tuple(sorted(pair)) for pair in config.pairs}) or combinations(titles, 2)
    seated: list[tuple[str, Sequence[str], int]] = [
        *((PAIR, pair, config.pair_deals) for pair in pairs),
        (MIXED, titles, config.mixed_deals),
        *((SAME, (title,), config.same_deals) for title in titles),
    ]
    return [block for table, who, deals in seated for block in _blocks(config, table, who, deals)]


def _blocks(
    config: TournamentConfig, table: str, agents: Sequence[str], deals: int
) -> Sequence[Block]:
    return [
        Block(table, tuple(agents), first, min(config.block, deals - first))
        for first in range(0, deals, config.block)
    ]


def num_games(block: Block, players: int) -> int:
    """Return how many games `lineups` has."""
    of_each = {PAIR: len(pair_lineups(players)), MIXED: players, SAME: 1}
    return block.deals * of_each[block.table]


def lineups(block: Block, players: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (G,) the deal of each game and (G, P) the index in `unit.agents` at each seat."""
    deals = np.arange(block.first, block.first + block.deals)
    if block.table == PAIR:
        of_each = np.tile(pair_lineups(players), (len(deals), 1, 1))
    elif block.table == SAME:
        of_each = np.zeros((len(deals), 1, players), np.int64)
    else:
        of_each = np.stack(
            [mixed_lineups(len(block.agents), players, seed, int(deal)) for deal in deals]
        )
    return np.repeat(deals, of_each.shape[1]), of_each.reshape(-1, players)


def pair_lineups(players: int) -> NDArray[np.int64]:
    """Return (K, P): agent 0 alone among agents 1 at each seat, then agent 1 among agents 0.

    K is 2 P; with two seats both halves are the same, and K is 2.
    """
    alone = 1 - np.eye(players, dtype=np.int64)
    return alone if players == 2 else np.concatenate([alone, 1 - alone])


def mixed_lineups(agents: int, players: int, seed: int, deal: int) -> NDArray[np.int64]:
    """Return (P, P): P of n agents in random order for a deal, rotated through all seats."""
    drawn = np.random.default_rng([seed, deal]).permutation(agents)[:players]
    return np.stack([np.roll(drawn, turn) for turn in range(players)])
