"""The engine against the plain reference, move by move, over every table and every option."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dominoenv import Rules
from tests.compare import compare_rounds
from tests.rule_sets import every_table, name
from tests.soak import play_chunk


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_every_preset_set_and_seat_count(rules: Rules) -> None:
    rounds = random.Random(name(rules)).sample(range(len(rules.rounds)), 2)
    compare_rounds(rules, seed=5, matches=[0, 1], rounds=rounds)


@pytest.mark.parametrize("chunk", range(6))
def test_every_option(chunk: int) -> None:
    """The beginning of what `make soak` does for as long as asked."""
    met: Counter[str] = play_chunk(seed=0, chunk=chunk)
    for common in ("an unfillable foot", "blocked by a lap", "out"):
        assert met[common], met
