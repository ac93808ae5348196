"""Doubles avoided: no double is played until nothing else is legal; otherwise heaviest first.

The opposite of `doubles_first`, to measure what doubles are worth. In Chicken Foot it is ruinous:
the doubles stay in the hand, and the feet are laid for others to go out on.
"""

from __future__ import annotations

from dominoenv.policies import register_policy

from .doubles_first import DoublesFirstPolicy


@register_policy("doubles_avoided")
class DoublesAvoidedPolicy(DoublesFirstPolicy):
    """Plays the heaviest tile that is no double; a double where nothing else is legal."""

    preference = -1
