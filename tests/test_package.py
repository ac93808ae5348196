"""What is shipped, and which way the imports run."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dominoenv.games.registry import GAMES
from tests import structure

ROOT = Path(__file__).parent.parent


def library_files() -> list[Path]:
    return sorted((ROOT / "dominoenv").rglob("*.py"))


def test_no_room_imports_what_imports_it() -> None:
    """There is no ring of imports, lazy ones included, so every room has a level."""
    assert structure.ring(structure.arrows()) == []


def test_the_library_stands_below_its_programs() -> None:
    graph = structure.arrows()
    users = {room for room, others in graph.items() if {"agents", "experiments"} & others}
    assert users <= {"console", "experiments"}


def test_the_house_is_in_order() -> None:
    """The counts that `docs/architecture.md` prints do not grow unnoticed."""
    now = structure.counts()
    assert now["branches"] == 0, structure.branches()
    assert (now["rooms"], now["levels"]) <= (20, 9)
    assert now["arrows"] <= 86
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


def test_wheel_holds_the_library_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"dominoenv"}
    assert "dominoenv/py.typed" in names
    page = {path.name for path in (ROOT / "dominoenv" / "replay").iterdir() if path.is_file()}
    assert {"page.html", "style.css", "app.js"} <= page
    assert {f"dominoenv/replay/{name}" for name in page} <= set(names)
    sources = {path.relative_to(ROOT).as_posix() for path in library_files()}
    assert {name for name in names if name.endswith(".py")} == sources
    metadata = zipfile.ZipFile(wheel).read(next(n for n in names if n.endswith("METADATA")))
    core = [
        line.split(":")[1].split(">")[0].strip()
        for line in metadata.decode().splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert sorted(core) == ["gymnasium", "numba", "numpy", "pettingzoo"]
