"""A slow, obvious twin of the engine: both games by docs/rules.md, on lists, sets and tuples.

Nothing here imports `dominoenv`, so that agreement between the two means something.
"""

from __future__ import annotations

from .chicken_foot import ChickenFoot
from .deal import deal_round
from .mexican_train import MexicanTrain
from .rules import resolve

__all__ = ["ChickenFoot", "MexicanTrain", "deal_round", "resolve"]
