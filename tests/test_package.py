"""What is shipped, and which way the imports run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dominoenv.games.registry import GAMES
from tests import structure

ROOT = Path(__file__).parent.parent


def test_no_room_imports_what_imports_it() -> None:
    """There is no ring of imports, lazy ones included, so every room has a level."""
    assert structure.ring(structure.arrows()) == []


def test_the_library_stands_below_its_programs() -> None:
    graph = structure.arrows()
    users = {room for room, others in graph.items() if {"agents", "experiments"} & others}
    assert users <= {"__main__", "experiments", "opponents"}


def test_the_house_is_in_order() -> None:
    """The counts that `docs/architecture.md` prints do not grow unnoticed."""
    now = structure.counts()
    assert now["branches"] == 0, structure.branches()
    assert now["rooms"] <= 19
    assert now["levels"] <= 9
    assert now["arrows"] <= 84
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    written = page.split(structure.BEGIN)[1].split(structure.END)[0].strip()
    assert written == structure.table(), (
        "run: python -m tests.structure --write docs/architecture.md"
    )


def test_the_games_are_twins() -> None:
    folders = [ROOT / "dominoenv" / "games" / game for game in GAMES]
    names = [sorted(path.name for path in folder.glob("*.py")) for folder in folders]
    assert names[0] == names[1]
    assert set(names[0]) == {"__init__.py", *(f"{name}.py" for name in OF_A_GAME)}


OF_A_GAME = ("rules", "state", "play", "observe", "position", "deal", "table")


HEAVY = ["torch", "stable_baselines3", "dominoenv.envs", "pydantic", "PIL", "pygame"]


@pytest.mark.parametrize("heavy", HEAVY)
def test_importing_the_library_is_light(heavy: str) -> None:
    program = f"import dominoenv, sys; sys.exit({heavy!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


# ------------------------------------------------------------------------- what a change touches

CODE = ("dominoenv", "agents", "experiments")


def changes() -> dict[str, tuple[set[str], set[str], str]]:
    """Return by change: source files, files beside them, and the example, from the page."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page.split("<!-- touches:begin -->")[1].split("<!-- touches:end -->")[0].strip()
    found = {}
    for row in rows.splitlines()[2:]:
        change, sources, beside, example = (cell.strip() for cell in row.strip("|").split("|"))
        found[change] = (named(sources, CODE), named(beside, ("",)), example.strip("`"))
    return found


def named(cell: str, folders: tuple[str, ...]) -> set[str]:
    return {path for path in re.findall(r"`([^`]+)`", cell) if path.startswith(folders)}


def mentions(path: Path, word: str) -> bool:
    return re.search(rf"\b{word}\b", path.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("change", changes())
def test_a_change_touches_what_the_page_says(change: str) -> None:
    sources, beside, example = changes()[change]
    assert beside
    touched = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    assert {
        path.relative_to(ROOT).as_posix() for path in touched if mentions(path, example)
    } == sources
    for path in beside:
        assert mentions(ROOT / path, example), path
