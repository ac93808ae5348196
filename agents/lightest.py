"""Lightest tile first: the opposite of what anybody should do, as a floor for sanity checks."""

from __future__ import annotations

from dominoenv.policies import HeaviestPolicy, register_policy


@register_policy("lightest")
class LightestPolicy(HeaviestPolicy):
    """Plays the legal tile that would cost least if it stayed in the hand; ties at random."""

    sign = -1
