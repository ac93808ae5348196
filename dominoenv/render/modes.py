"""The render modes of environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import checked_choice
from dominoenv.core.rules import Rules
from dominoenv.render.pixels import render_pixels
from dominoenv.render.svg import render_svg
from dominoenv.render.text import render_text
from dominoenv.render.view import Reveal, check_reveal
from dominoenv.render.window import FPS, Screen

# Text; an array of pixels; a window, or text on the standard output; an SVG picture.
RENDER_MODES = ("ansi", "rgb_array", "human", "svg")
RENDER_FPS = FPS

Picture: TypeAlias = str | NDArray[np.uint8]


def warn_of_no_mode() -> None:
    """Warn that no render mode was set, as Gymnasium's environments do."""
    gymnasium.logger.warn("render() was called, but no render_mode was chosen")


class Renderer:
    """Draws the positions of an environment in its render mode.

    mode: one of RENDER_MODES, or None for no pictures. reveal: the hands that lie face up: "all", a
    list of seats, or None. Raises DominoError for invalid modes and seats.
    """

    def __init__(
        self,
        rules: Rules,
        mode: str | None,
        reveal: Reveal = None,
        modes: tuple[str, ...] = RENDER_MODES,
    ) -> None:
        if mode is not None:
            checked_choice("render_mode", mode, modes)
        check_reveal(rules, reveal)
        self.mode, self.reveal = mode, reveal
        self._screen = Screen(rules.game.replace("_", " ").title())

    def draw(self, position: Mapping[str, Any], reveal: Reveal = None) -> Picture | None:
        """Return a picture of a position; in mode "human" show it and return None.

        reveal: the default if the environment has no `reveal`. Warns if there is no mode.
        """
        reveal = reveal if self.reveal is None else self.reveal
        if self.mode is None:
            warn_of_no_mode()
        elif self.mode == "human":
            self._screen.show(position, reveal)
        elif self.mode == "rgb_array":
            return render_pixels(position, reveal)
        else:
            return (render_svg if self.mode == "svg" else render_text)(position, reveal)
        return None

    def close(self) -> None:
        """Close the window, if there is one. May be called at any time."""
        self._screen.close()
