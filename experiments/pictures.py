"""Draw the pictures of docs/rules.md, one for each special situation.

    python -m experiments.pictures

Reads docs/images/rules/positions.json, which has a position and moves for each picture, and writes
an SVG of that name beside it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dominoenv.core.program import run_program
from dominoenv.game import Game

FOLDER = Path(__file__).parent.parent / "docs" / "images" / "rules"


def situations() -> dict[str, dict[str, Any]]:
    """Return the situations by the names of their pictures: `position`, and `moves` if any."""
    found: dict[str, dict[str, Any]] = json.loads((FOLDER / "positions.json").read_text("utf-8"))
    return found


def shown(situation: Mapping[str, Any]) -> Game:
    """Return the game at the moment that a picture shows.

    Raises PositionError or RulesError for an invalid position, IllegalActionError for an illegal
    move.
    """
    game = Game.from_position(situation["position"])
    for move in situation.get("moves", ()):
        game.push(move)
    return game


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the file name and the SVG of every picture; all hands lie face up."""
    for name, situation in situations().items():
        yield f"{name}.svg", shown(situation).svg("all") + "\n"


def main() -> None:
    """Write all pictures from the command line."""
    argparse.ArgumentParser(
        prog="python -m experiments.pictures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    for name, drawn in pictures():
        (FOLDER / name).write_text(drawn, encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    run_program(main)
