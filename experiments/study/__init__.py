"""Studies: the same comparison under many rules.

    python -m experiments.study configs/study_planning.yaml

Each cell of the grid is a tournament; see `docs/tournaments.md`.
"""

from experiments.study.analysis import Findings, find
from experiments.study.config import StudyConfig
from experiments.study.output import write_study

__all__ = ["Findings", "StudyConfig", "find", "write_study"]
