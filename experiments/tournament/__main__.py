"""Run a tournament from a config: which strategy is better, by how much, and how sure that is.

    dominoenv tournament tournament_quick
    dominoenv tournament tournament_quick --resume pair_deals=2000
    dominoenv tournament tournament_quick --out runs/six rules.players=6

The folder (runs/<name> unless --out says otherwise) holds config.yaml (resolved), results.json,
results.csv (one line per pair), report.md, three plots, games.npz (every game, for notebooks) and
units/ (the games, block by block). After an interruption, or with more deals or agents, --resume
plays what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dominoenv.core.program import run_program

from .analysis import analyse
from .command import MatchProgram
from .config import TournamentConfig
from .output import write_results
from .report import print_report
from .run import PLOTS, RESULTS, Played


def main(
    arguments: Sequence[str] | None = None, prog: str = "python -m experiments.tournament"
) -> None:
    """Play from the command line."""
    outputs = (*RESULTS, *PLOTS)
    program = MatchProgram(
        TournamentConfig, outputs, lambda config: [config], finish_tournament, __doc__
    )
    program.run(arguments, prog)


def finish_tournament(config: TournamentConfig, all_played: Sequence[Played], folder: Path) -> None:
    """Write and print the results of a tournament."""
    (played,) = all_played
    analysis = analyse(config, played)
    write_results(config, analysis, played, folder)
    print_report(config, analysis, played)


if __name__ == "__main__":
    run_program(main)
