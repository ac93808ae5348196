"""Rules and states as callers give them: they come back checked, in their one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import as_array
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RulesError
from dominoenv.games.registry import kind_of, make_rules


def as_rules(rules: Rules | Mapping[str, Any] | str) -> Rules:
    """Return a rules object from one, from a game's name, or from a dict with a `game`."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return make_rules(rules)
    if not isinstance(rules, Mapping) or "game" not in rules:
        raise RulesError("rules must be a rules object, a game's name, or a dict with a 'game'")
    options = dict(rules)
    return make_rules(options.pop("game"), options)


def as_states(rules: Rules, states: object, number: int | None = None) -> NDArray[np.void]:
    """Return records of the rules' game (n,), or raise DominoError for what is none."""
    records = as_array("states", states)
    shape = (records.size if number is None else number,)
    if records.shape != shape or records.dtype != kind_of(rules).state:
        raise DominoError(
            f"states must be {'' if number is None else f'{number} '}records of {rules.game}, not "
            f"an array of shape {records.shape} with fields {records.dtype.names}"
        )
    return records
