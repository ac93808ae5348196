"""Baseline policies; each file is one idea. Importing this package makes their names known."""

from agents.blank_hunter import BlankHunter
from agents.blocker import Blocker
from agents.double_chaining import DoubleChaining
from agents.doubles_avoided import DoublesAvoidedPolicy
from agents.doubles_first import DoublesFirstPolicy
from agents.flexible import Flexible
from agents.foot_counter import FootCounter
from agents.lightest import LightestPolicy
from agents.longest_train import LongestTrain
from agents.opportunist import Opportunist

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
