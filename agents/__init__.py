"""Baseline policies; each file is one idea. Importing this package makes their names known."""

from agents.blocker import Blocker
from agents.double_chaining import DoubleChaining
from agents.doubles_avoided import DoublesAvoidedPolicy
from agents.doubles_first import DoublesFirstPolicy
from agents.lightest import LightestPolicy
from agents.longest_train import LongestTrain
from agents.opportunist import Opportunist

__all__ = [
    "Blocker",
    "DoubleChaining",
    "DoublesAvoidedPolicy",
    "DoublesFirstPolicy",
    "LightestPolicy",
    "LongestTrain",
    "Opportunist",
]
