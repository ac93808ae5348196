"""Tournaments: which strategy is better, by how much, and how sure that is.

    python -m experiments.tournament configs/tournament_quick.yaml

From Python: `play_tournament`, `analyse`, `write_results`. Docs: `docs/tournaments.md`.
"""

from experiments.tournament.analysis import Analysis, analyse
from experiments.tournament.config import TournamentConfig
from experiments.tournament.output import write_results
from experiments.tournament.run import Played, play_block, play_tournament

__all__ = [
    "Analysis",
    "Played",
    "TournamentConfig",
    "analyse",
    "play_block",
    "play_tournament",
    "write_results",
]
