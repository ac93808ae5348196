"""Run the same comparison under many rules, from a config: a grid of tournaments.

    python -m experiments.study configs/study_planning.yaml
    python -m experiments.study configs/study_planning.yaml --resume pair_deals=5000

The folder (runs/<name> unless --out says otherwise) holds config.yaml, results.json, pairs.csv,
same.csv, report.md, pictures, and units/ (the games, block by block). After an interruption, or
with more deals, agents or cells, --resume plays what is missing.
"""

from __future__ import annotations

from pathlib import Path

from experiments.cli import run_program
from experiments.study.analysis import find
from experiments.study.config import StudyConfig
from experiments.study.output import RESULTS, write_study
from experiments.study.plots import PLOTS
from experiments.study.report import print_report
from experiments.tournament.command import run_command
from experiments.tournament.run import play_tournaments


def main() -> None:
    """Play from the command line."""
    run_command("study", __doc__, StudyConfig, (*RESULTS, *PLOTS), hold)


def hold(config: StudyConfig, folder: Path, jobs: int) -> None:
    """Run a study in a folder; write and print the results."""
    played = play_tournaments(list(config.tournaments.values()), folder, jobs)
    findings = find(config, played)
    write_study(config, findings, folder)
    print_report(config, findings)


if __name__ == "__main__":
    run_program(main)
