"""Chicken Foot for PettingZoo: `env`, `raw_env` and `parallel_env`.

The keyword arguments are those of `dominoenv.envs.aec.DominoAEC`, rule options among them.
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv

from dominoenv.envs.aec import DominoAEC, wrapped
from dominoenv.envs.keywords import RulesLike
from dominoenv.envs.parallel import DominoParallel
from dominoenv.envs.pettingzoo_base import Observation

__all__ = ["env", "parallel_env", "raw_env"]


def env(rules: RulesLike = None, **keywords: Any) -> AECEnv[str, Observation, int]:
    """Return the game in PettingZoo's usual wrappers: an illegal action ends the episode."""
    return wrapped("chicken_foot", rules, **keywords)


def raw_env(rules: RulesLike = None, **keywords: Any) -> DominoAEC:
    """Return the game itself; an illegal action is an IllegalActionError."""
    return DominoAEC("chicken_foot", rules, **keywords)


def parallel_env(rules: RulesLike = None, **keywords: Any) -> DominoParallel:
    """Return the game with all agents acting in every cycle."""
    return DominoParallel("chicken_foot", rules, **keywords)
