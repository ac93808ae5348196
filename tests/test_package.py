"""What is shipped, and which way the imports run."""

from __future__ import annotations

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dominoenv.core.compiling import SKINS

ROOT = Path(__file__).parent.parent
# Each layer of the library may import what stands in the ones before it, and its own.
LAYERS = [
    {"errors", "files"},
    {"_cache"},
    {"tiles", "_jit", "crew"},
    {"rules", "bits", "streams"},
    {"round", "layout", "audit", "trains"},
    {"observe"},
    {"mexican_train", "chicken_foot"},
    {"games"},
    {"drive", "checks"},
    {"positions"},
    {"determinize", "records"},
    {"advice", "deals"},
    {"batch", "policies"},
    {"render"},
    {"game", "playouts"},
    {"recorder", "verify"},
    {"envs", "replay"},
    {"sitting"},
    {"terminal"},
    {"mexican_train_v0", "chicken_foot_v0", "__main__"},
]


def imports(path: Path) -> set[str]:
    """Return every module that a file imports, relative ones left out."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def library_files() -> list[Path]:
    return sorted((ROOT / "dominoenv").rglob("*.py"))


@pytest.mark.parametrize("path", library_files(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_imports_run_downward(path: Path) -> None:
    own = path.relative_to(ROOT / "dominoenv").parts[0].removesuffix(".py")
    found = imports(path)
    assert not {name for name in found if name.split(".")[0] in ("agents", "experiments", "tests")}
    if own == "__init__":
        return
    level = next(i for i, layer in enumerate(LAYERS) if own in layer)
    allowed = set().union(*LAYERS[:level]) | {own}
    known = set().union(*LAYERS)
    used = {name.split(".")[1] for name in found if name.startswith("dominoenv.")}
    beyond = (used & known) - allowed
    if own in ("batch", "positions", "policies", "render", "mexican_train", "chicken_foot"):
        beyond -= LAYERS[level]  # siblings that need each other's helpers; no cycle: imports work
    assert not beyond


def test_the_two_games_are_twins() -> None:
    names = [
        sorted(path.name for path in (ROOT / "dominoenv" / game).glob("*.py"))
        for game in ("mexican_train", "chicken_foot")
    ]
    assert names[0] == names[1] == ["__init__.py", "observe.py", "play.py", "state.py"]


def test_no_kernel_depends_on_a_skin() -> None:
    """The compile cache is not renewed when a skin changes, so helpers may not stand there."""
    skins = {name.removesuffix(".py") for name in SKINS} - {"__init__"}
    for path in library_files():
        found = imports(path)
        if path.relative_to(ROOT / "dominoenv").parts[0] in SKINS:
            assert "dominoenv.core.compiling.jit" not in found, path
        elif "dominoenv.core.compiling.jit" in found or "dominoenv.core.compiling.kernel" in found:
            assert not {f"dominoenv.{skin}" for skin in skins} & found, path


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
