"""A pygame window that shows pictures; `render_mode="human"` calls `Screen.show`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.error import DependencyNotInstalled

from dominoenv.core.output import encodable
from dominoenv.render.pixels import render_pixels
from dominoenv.render.text import render_text, wants_colour
from dominoenv.render.view import Reveal

FPS = 4  # maximum pictures per second
UNSEEN = ("dummy", "offscreen", "evdev")  # SDL drivers without a visible window


class Screen:
    """Shows positions in a window, or prints them as text where no window can be opened."""

    def __init__(self, title: str, width: int = 1200) -> None:
        self._title, self._width = title, width
        self._surface: Any = None
        self._is_text = False

    def __getstate__(self) -> dict[str, Any]:
        """Drop the window: copies and saved environments open their own."""
        return {**self.__dict__, "_surface": None}

    def show(self, position: Mapping[str, Any], reveal: Reveal = None) -> None:
        """Show a position; the first call opens the window, or warns why it cannot."""
        if self._surface is None and not self._is_text:
            self._open()
        if self._is_text:
            text = render_text(position, reveal, wants_colour(sys.stdout))
            print(encodable(text, sys.stdout), flush=True)
        else:
            self._paint(position, reveal)

    def _open(self) -> None:
        try:
            self._surface = _window(self._title, self._width)
        except DependencyNotInstalled as reason:
            self._is_text = True
            gymnasium.logger.warn(f"no window: {reason}; the table is printed as text instead")

    def _paint(self, position: Mapping[str, Any], reveal: Reveal) -> None:
        import pygame

        pixels = render_pixels(position, reveal, self._width)
        picture = pygame.surfarray.make_surface(pixels.swapaxes(0, 1))
        self._surface.blit(pygame.transform.smoothscale(picture, self._surface.get_size()), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        pygame.time.wait(1000 // FPS)

    def close(self) -> None:
        """Close the window, if there is one. May be called at any time."""
        if self._surface is not None:
            import pygame

            pygame.display.quit()
            self._surface = None


def _window(title: str, width: int) -> Any:
    """Open a window. Raises DependencyNotInstalled with the reason if that fails."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import PIL  # noqa: F401  # draws what the window shows
        import pygame
    except ImportError:
        raise DependencyNotInstalled('it needs pip install "dominoenv[render]"') from None
    try:
        pygame.display.init()
        if pygame.display.get_driver() in UNSEEN and "SDL_VIDEODRIVER" not in os.environ:
            pygame.display.quit()
            raise DependencyNotInstalled("there is no display here")
        pygame.display.set_caption(title)
        return pygame.display.set_mode((width, width * 2 // 3))
    except pygame.error as error:
        raise DependencyNotInstalled(f"the display cannot be opened ({error})") from None
