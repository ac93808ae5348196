"""Random play brings the figures that two independent implementations agreed on."""

from __future__ import annotations

import pytest

from experiments.figures import PUBLISHED, Published, measure

ROUNDS = 12_000
PENALTY_SPREAD, BLOCKED_SPREAD = 0.4, 1.0  # how far the published values themselves may be off
SIGMAS = 3.5


@pytest.mark.parametrize(
    "cell", PUBLISHED, ids=lambda cell: f"{cell.label}-{cell.options['players']}-{cell.policy}"
)
def test_published_figures(cell: Published) -> None:
    found = measure(cell, ROUNDS, seed=2)
    assert found.penalty == pytest.approx(
        cell.penalty, abs=PENALTY_SPREAD + SIGMAS * found.penalty_error
    )
    assert found.blocked == pytest.approx(
        cell.blocked, abs=BLOCKED_SPREAD + SIGMAS * found.blocked_error
    )
