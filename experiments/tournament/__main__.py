"""Run a tournament from a config: which strategy is better, by how much, and how sure that is.

    python -m experiments.tournament configs/tournament_quick.yaml
    python -m experiments.tournament configs/tournament_quick.yaml --resume pair_deals=2000
    python -m experiments.tournament configs/tournament_quick.yaml --out runs/six rules.players=6

The folder (runs/<name> unless --out says otherwise) holds config.yaml (resolved), results.json,
results.csv (one line per pair), report.md, three plots, games.npz (every game, for notebooks) and
units/ (the games, block by block). After an interruption, or with more deals or agents, --resume
plays what is missing.
"""

from __future__ import annotations

from pathlib import Path

from experiments.cli import run_program
from experiments.tournament.analysis import analyse
from experiments.tournament.command import run_command
from experiments.tournament.config import TournamentConfig
from experiments.tournament.output import write_results
from experiments.tournament.report import print_report
from experiments.tournament.run import PLOTS, RESULTS, play_tournament


def main() -> None:
    """Play from the command line."""
    run_command("tournament", __doc__, TournamentConfig, (*RESULTS, *PLOTS), hold)


def hold(config: TournamentConfig, folder: Path, jobs: int) -> None:
    """Run a tournament in a folder; write and print the results."""
    played = play_tournament(config, folder, jobs)
    analysis = analyse(config, played)
    write_results(config, analysis, played, folder)
    print_report(config, analysis, played)


if __name__ == "__main__":
    run_program(main)
