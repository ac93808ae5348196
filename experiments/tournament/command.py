"""The command line shared by tournaments and studies: a config, a folder, resuming."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from experiments.config import load_config
from experiments.tournament.config import MatchConfig
from experiments.tournament.run import prepare_folder

RUNS = Path("runs")
ALL_CORES = -1
C = TypeVar("C", bound=MatchConfig)


def run_command(
    what: str,
    doc: str | None,
    model: type[C],
    outputs: Sequence[str],
    work: Callable[[C, Path, int], None],
) -> None:
    """Read the command line of `python -m experiments.<what>`, and do the work in its folder.

    outputs: names of the files that the work writes; work: a function of the config, the folder and
    the number of processes.
    """
    options = _parser(what, doc).parse_intermixed_args()
    config = load_config(options.config, options.overrides, model)
    folder = options.out or RUNS / config.name
    prepare_folder(config, folder, options.resume, options.overwrite, what, outputs)
    try:
        work(config, folder, options.jobs)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; continue with --resume (it is in {folder})") from None
    print(f"results are in {folder}")


def _parser(what: str, doc: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{what}", description=doc)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("config", type=Path)
    parser.add_argument("overrides", nargs="*", metavar="a.b=value", help="values that differ")
    parser.add_argument("--out", type=Path, help=f"folder of the {what}")
    parser.add_argument(
        "--jobs", type=_jobs, default=ALL_CORES, help="processes; default: one per core"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="play what is missing in the folder")
    how.add_argument("--overwrite", action="store_true", help=f"replace a {what} in the folder")
    return parser


def _jobs(text: str) -> int:
    number = int(text)
    if number == 0:
        raise ValueError
    return number
