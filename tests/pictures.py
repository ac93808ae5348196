"""The pictures of the docs: `python -m tests.pictures` draws them anew."""

from __future__ import annotations

import random
from pathlib import Path

from dominoenv import Game

IMAGES = Path(__file__).parent.parent / "docs" / "images"
# name -> the game, how many moves have been made, whose hands lie face up
PICTURES = {
    "mexican_train_table": ({"game": "mexican_train", "max_pip": 12, "seed": 5}, 90, [0]),
    "chicken_foot_table": ({"game": "chicken_foot", "max_pip": 9, "seed": 11}, 47, [0]),
}


def picture(name: str) -> str:
    """Return a picture as SVG: a table after some random moves."""
    keywords, moves, reveal = PICTURES[name]
    game, rng = Game(**keywords, players=4), random.Random(1)  # type: ignore[arg-type]
    for _ in range(moves):
        if not game.round_over:
            game.push(rng.choice(game.legal_moves()))
    return game.svg(reveal)


if __name__ == "__main__":
    for name in PICTURES:
        (IMAGES / f"{name}.svg").write_text(picture(name) + "\n", encoding="utf-8")
