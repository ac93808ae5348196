"""Studies: the same comparison under many rules.

    dominoenv study study_planning

Each cell of the grid is a tournament; see `docs/tournaments.md`.
"""

from .analysis import Findings, find
from .config import StudyConfig
from .output import write_study

__all__ = ["Findings", "StudyConfig", "find", "write_study"]
