"""What every test needs."""

from __future__ import annotations

from typing import Any

import pytest
from gymnasium.error import DependencyNotInstalled

from dominoenv.render import window


@pytest.fixture(autouse=True)
def no_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test open a window: `render_mode="human"` falls back on text everywhere alike."""

    def none(*_: Any) -> None:
        raise DependencyNotInstalled("tests open none")

    monkeypatch.setattr(window, "_window", none)
