"""Play a tournament by a config, and say which strategy is better, by how much, how surely.

    python -m experiments.tournament configs/tournament_quick.yaml
    python -m experiments.tournament configs/tournament_quick.yaml --resume pair_deals=2000
    python -m experiments.tournament configs/tournament_quick.yaml --out runs/six rules.players=6

The folder (runs/<name> unless --out says otherwise) holds config.yaml (resolved), results.json,
results.csv (one line a pair), report.md, three plots, games.npz (every game, for notebooks) and
units/ (what was played, block by block). After a kill, or with more deals or agents, --resume plays
what is missing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.cli import run_program
from experiments.config import load_config
from experiments.tournament.analysis import analyse
from experiments.tournament.config import TournamentConfig
from experiments.tournament.output import write_results
from experiments.tournament.report import print_report
from experiments.tournament.run import play_tournament, prepare_folder

RUNS = Path("runs")
ALL_CORES = -1


def main() -> None:
    """Play from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tournament", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("config", type=Path)
    parser.add_argument("overrides", nargs="*", metavar="a.b=value", help="values that differ")
    parser.add_argument("--out", type=Path, help="folder of the tournament")
    parser.add_argument("--jobs", type=_jobs, default=ALL_CORES, help="processes; one a core")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help="play what the folder does not hold yet")
    how.add_argument("--overwrite", action="store_true", help="replace a tournament in the folder")
    options = parser.parse_intermixed_args()
    config = load_config(options.config, options.overrides, TournamentConfig)
    folder = options.out or RUNS / config.name
    prepare_folder(config, folder, options.resume, options.overwrite)
    try:
        played = play_tournament(config, folder, options.jobs)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; go on with --resume (it is in {folder})") from None
    analysis = analyse(config, played)
    write_results(config, analysis, played, folder)
    print_report(config, analysis, played)
    print(f"results are in {folder}")


def _jobs(text: str) -> int:
    number = int(text)
    if number == 0:
        raise ValueError
    return number


if __name__ == "__main__":
    run_program(main)
