"""Run a tournament on all cores, in a folder, resumable."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Never

import joblib
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dominoenv.errors import CheckpointError

from ..arena import Games, play
from ..folder import CONFIG, locked
from .config import TournamentConfig
from .schedule import TABLES, Block, blocks, lineups
from .store import Store

RESULTS = (CONFIG, "results.json", "results.csv", "games.npz", "report.md")
LIST_SIZE = 4  # blocks for each process, where the backend returns lists
PLOTS = ("ratings.png", "pairs.png", "penalties.png")  # of a tournament
WATCH_INTERVAL = 0.5  # seconds between a worker's looks at its program


@dataclass(frozen=True)
class Played:
    """All games of a tournament. Letters: G games, P seats, n agents."""

    agents: tuple[str, ...]
    """Titles, in alphabetical order."""
    games: Games
    deal: NDArray[np.int64]  # (G,)
    who: NDArray[np.int64]  # (G, P) index of the agent at each seat
    table: NDArray[np.int64]  # (G,) kind of table, an index into TABLES
    seconds: float
    """Seconds of one core, over all blocks."""

    @property
    def speed(self) -> float:
        """Decisions a second on one core."""
        return float(self.games.decisions.sum()) / max(self.seconds, 1e-9)


def play_block(config: TournamentConfig, block: Block) -> tuple[Games, float]:
    """Play one block; return its games and the seconds it took."""
    began = time.perf_counter()
    rules = config.make_rules()
    by_title = {agent.title: agent for agent in config.agents}
    policies = [
        by_title[title].make(rules, block.agent_seed(config.seed, title)) for title in block.agents
    ]
    deals, seats = lineups(block, rules.players, config.seed)
    # The starter is drawn, so the rules treat all seats alike: one that does better is a bug.
    # Line-ups rotate through all seats, so who begins a single round does not matter.
    games = play(rules.with_drawn_starter(), deals, seats, policies, config.seed)
    return games, time.perf_counter() - began


def play_tournament(config: TournamentConfig, folder: Path, jobs: int | None = None) -> Played:
    """Play what the folder does not hold yet; return all games.

    jobs: processes, -1 for one per core, None to follow `joblib.parallel_config`, for example with
    a backend for clusters. Raises DominoError for invalid agents before anything is played.
    """
    (played,) = play_tournaments([config], folder, jobs)
    return played


def check_agents(configs: Sequence[TournamentConfig]) -> None:
    """Make all agents once. Raises DominoError for those that cannot play."""
    for config in configs:
        for agent in config.agents:
            agent.make(config.make_rules(), seed=0)


def play_tournaments(
    configs: Sequence[TournamentConfig], folder: Path, jobs: int | None = None
) -> list[Played]:
    """Play several tournaments in one folder; see `play_tournament`."""
    check_agents(configs)
    with locked(folder):
        stores = [Store(config, folder) for config in configs]
        _play_missing(configs, stores, jobs)
        return [collect(config, store) for config, store in zip(configs, stores, strict=True)]


def _play_missing(
    configs: Sequence[TournamentConfig], stores: Sequence[Store], jobs: int | None
) -> None:
    """Play all blocks that are not in the stores."""
    wanted = [
        Task(number, block) for number, config in enumerate(configs) for block in blocks(config)
    ]
    missing = [task for task in wanted if stores[task.config].read(task.block) is None]
    with (
        _bar(len(wanted), len(wanted) - len(missing)) as bar,
        closing(_all_played(configs, missing, jobs)) as finished,
    ):
        decisions, began = 0, time.perf_counter()
        for task, games, seconds in finished:
            stores[task.config].write(task.block, games, seconds)
            decisions += int(games.decisions.sum())
            speed = decisions / (time.perf_counter() - began)
            bar.set_postfix_str(f"{speed:,.0f} decisions/s", refresh=False)
            bar.update()


@dataclass(frozen=True)
class Task:
    """A block of one of several tournaments."""

    config: int
    block: Block


def _all_played(
    configs: Sequence[TournamentConfig], missing: Sequence[Task], jobs: int | None
) -> Generator[tuple[Task, Games, float]]:
    """Play blocks in any order; yield each as soon as it is finished."""
    if not missing:
        return
    calls = [joblib.delayed(_named)(configs[task.config], task, os.getpid()) for task in missing]
    with closing(_results(calls, jobs)) as finished:
        yield from finished


def _results(calls: Sequence[Any], jobs: int | None) -> Generator[tuple[Task, Games, float]]:
    """Carry out calls in any order; yield each result as soon as the backend hands it out."""
    try:
        pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    except ValueError:  # a backend that only returns whole lists, such as Ray's
        size = LIST_SIZE * joblib.effective_n_jobs(jobs)
        for first in range(0, len(calls), size):  # what is finished is not lost with the rest
            yield from joblib.Parallel(n_jobs=jobs)(calls[first : first + size])
    else:
        with closing(pool(calls)) as finished:
            yield from finished


def _named(config: TournamentConfig, task: Task, program: int) -> tuple[Task, Games, float]:
    parent = parent_process()
    if parent is not None and parent.pid == program:
        _end_with(program)
    return task, *play_block(config, task.block)


@cache
def _end_with(program: int) -> None:
    """Let this worker process end when its program does, also when that is killed.

    Ctrl-C reaches both; what happens then is the program's to decide.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == program:
            time.sleep(WATCH_INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _bar(total: int, done: int) -> tqdm[Never]:
    watched = sys.stderr.isatty()
    return tqdm(
        total=total,
        initial=done,
        unit=" blocks",
        dynamic_ncols=watched,
        mininterval=0.5 if watched else 15,  # fewer lines in a log file
    )


def collect(config: TournamentConfig, store: Store) -> Played:
    """Return the games of all blocks, in schedule order. Raises CheckpointError for gaps."""
    titles = tuple(sorted(config.titles))
    place = {title: number for number, title in enumerate(titles)}
    games, deals, who, tables, total = [], [], [], [], 0.0
    for block in blocks(config):
        found = store.read(block)
        if found is None:
            raise CheckpointError(
                f"{store.path(block)} is missing: run the tournament with --resume"
            )
        deal, seats = lineups(block, store.players, config.seed)
        games.append(found[0])
        deals.append(deal)
        who.append(np.array([place[title] for title in block.agents])[seats])
        tables.append(np.full(len(deal), TABLES.index(block.table)))
        total += found[1]
    return Played(
        titles,
        Games.join(games),
        np.concatenate(deals),
        np.concatenate(who),
        np.concatenate(tables),
        total,
    )
