"""Baseline policies; each file is one idea. Importing this package makes their names known."""

from .blank_hunter import BlankHunter
from .blocker import Blocker
from .double_chaining import DoubleChaining
from .doubles_avoided import DoublesAvoidedPolicy
from .doubles_first import DoublesFirstPolicy
from .flexible import Flexible
from .foot_counter import FootCounter
from .lightest import LightestPolicy
from .longest_train import LongestTrain
from .opportunist import Opportunist

__all__ = [
    "BlankHunter",
    "Blocker",
    "DoubleChaining",
    "DoublesAvoidedPolicy",
    "DoublesFirstPolicy",
    "Flexible",
    "FootCounter",
    "LightestPolicy",
    "LongestTrain",
    "Opportunist",
]
