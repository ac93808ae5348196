"""Run the same comparison under many rules, from a config: a grid of tournaments.

    dominoenv study study_planning
    dominoenv study study_planning --resume pair_deals=5000

The folder (runs/<name> unless --out says otherwise) holds config.yaml, results.json, pairs.csv,
same.csv, report.md, pictures, and units/ (the games, block by block). After an interruption, or
with more deals, agents or cells, --resume plays what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dominoenv.core.program import run_program

from ..tournament.command import MatchProgram
from ..tournament.run import Played
from .analysis import find
from .config import StudyConfig
from .output import RESULTS, write_study
from .plots import PLOTS
from .report import print_report


def main(arguments: Sequence[str] | None = None, prog: str = "python -m experiments.study") -> None:
    """Play from the command line."""
    program = MatchProgram(
        StudyConfig,
        (*RESULTS, *PLOTS),
        lambda config: [*config.tournaments.values()],
        finish_study,
        __doc__,
    )
    program.run(arguments, prog)


def finish_study(config: StudyConfig, played: Sequence[Played], folder: Path) -> None:
    """Write and print the results of a study."""
    findings = find(config, played)
    write_study(config, findings, folder)
    print_report(config, findings)


if __name__ == "__main__":
    run_program(main)
