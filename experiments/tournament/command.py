"""The command line shared by tournaments and studies: a config, a folder, resuming."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ..cli import add_config, check_config_named, make_parser
from ..config import load_config
from ..folder import RunFolder, explained
from .config import MatchConfig, TournamentConfig
from .run import Played, check_agents, play_tournaments
from .store import FOLDER as UNITS

RUNS = Path("runs")
ALL_CORES = -1
C = TypeVar("C", bound=MatchConfig)


@dataclass(frozen=True)
class MatchProgram(Generic[C]):
    """A program that runs one kind of config in a folder."""

    model: type[C]
    outputs: Sequence[str]
    """Names of the files that it writes."""
    tournaments: Callable[[C], Sequence[TournamentConfig]]
    """Returns the tournaments to play."""
    finish: Callable[[C, Sequence[Played], Path], None]
    """Writes and prints the results."""
    doc: str | None

    def run(self, arguments: Sequence[str] | None, prog: str) -> None:
        """Read the command line and do the work in its folder."""
        what = self.model.command
        parser = make_parser(prog, self.doc)
        add_config(parser, what, "play what is missing in the folder")
        parser.add_argument("--jobs", type=_jobs, default=ALL_CORES, help="processes (all cores)")
        options = parser.parse_intermixed_args(arguments)
        path = check_config_named(prog, options.config, what)
        config = load_config(path, options.overrides, self.model)
        folder = options.out or RUNS / config.name
        place = RunFolder(folder, what, self.outputs, (UNITS,))
        with explained(folder):
            place.check(options.resume, options.overwrite)
            tournaments = self.tournaments(config)
            check_agents(tournaments)
            with place.opened(config, options.resume, options.overwrite):
                played = play_tournaments(tournaments, folder, options.jobs)
                self.finish(config, played, folder)
        print(f"results are in {folder}")


def _jobs(text: str) -> int:
    """Return a number of processes; below 0: all cores but some, as joblib has it."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number == 0:
        raise ArgumentTypeError(f"{text!r} must be a number of processes, or -1 for all cores")
    return number
