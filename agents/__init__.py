"""Baseline policies; each file is one idea. Importing this package makes their names known."""

from agents.doubles_avoided import DoublesAvoidedPolicy
from agents.doubles_first import DoublesFirstPolicy
from agents.lightest import LightestPolicy
from agents.longest_train import LongestTrain

__all__ = ["DoublesAvoidedPolicy", "DoublesFirstPolicy", "LightestPolicy", "LongestTrain"]
