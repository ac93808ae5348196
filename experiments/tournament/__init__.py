"""Tournaments: which strategy is better, by how much, and how sure that is.

    dominoenv tournament tournament_quick

From Python: `play_tournament`, `analyse`, `write_results`. Docs: `docs/tournaments.md`.
"""

from .analysis import Analysis, analyse
from .config import TournamentConfig
from .output import write_results
from .run import Played, play_block, play_tournament

__all__ = [
    "Analysis",
    "Played",
    "TournamentConfig",
    "analyse",
    "play_block",
    "play_tournament",
    "write_results",
]
