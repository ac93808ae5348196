"""The command line shared by tournaments and studies: a config, a folder, resuming."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ..cli import add_config, check_config_named, make_parser
from ..config import load_config
from .config import MatchConfig
from .run import prepare_folder

RUNS = Path("runs")
ALL_CORES = -1
C = TypeVar("C", bound=MatchConfig)


@dataclass(frozen=True)
class MatchProgram(Generic[C]):
    """A program that runs one kind of config in a folder."""

    model: type[C]
    outputs: Sequence[str]
    """Names of the files that it writes."""
    work: Callable[[C, Path, int], None]
    """A function of the config, the folder and the number of processes."""
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
        prepare_folder(config, folder, options.resume, options.overwrite, what, self.outputs)
        try:
            self.work(config, folder, options.jobs)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; continue with --resume ({folder})") from None
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
