"""What every test needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gymnasium.error import DependencyNotInstalled

from dominoenv.games.registry import GAMES, register_game
from dominoenv.render import window
from tests import block_dominoes


@pytest.fixture(autouse=True)
def no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test open a window: `render_mode="human"` falls back on text everywhere alike."""

    def none(*_: Any) -> None:
        raise DependencyNotInstalled("tests open none")

    monkeypatch.setattr(window, "_window", none)


@pytest.fixture
def registered_block_dominoes() -> Iterator[None]:
    """Make the game that only the tests know known during a test; others iterate over all games."""
    register_game(block_dominoes.GAME)
    yield
    del GAMES[block_dominoes.GAME.name]
