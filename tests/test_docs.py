"""Every Python snippet in the README and the docs runs; every file and target they name exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pettingzoo
import pytest

from dominoenv import BatchedGame
from tests.pictures import IMAGES, PICTURES, picture

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
OPTIONAL = ("torch", "torchrl", "stable_baselines3", "sb3_contrib")
PIXELS = re.compile(r"\.pixels\(|rgb_array")  # need Pillow
SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}:{i}")
    for page in PAGES
    for i, code in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    )
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippet_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OPTIONAL:
        if re.search(rf"^(import|from) {name}\b", code, re.M) and find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if PIXELS.search(code) and find_spec("PIL") is None:
        pytest.skip("Pillow is not installed")
    if "pettingzoo.make" in code and not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry (1.27 is the first)")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "__snippet__"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z]+)", page.read_text("utf-8")))
        assert named <= targets, page


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_show_what_the_code_draws(name: str) -> None:
    """Words, tiles and colours; where they lie may differ in the last digit elsewhere."""
    kept = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    found, wanted = (
        re.findall(r">([^<]+)<|(#[0-9a-z-]+)", text) for text in (kept, picture(name) + "\n")
    )
    assert found == wanted


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_observation_tables_are_those_of_the_code(game: str) -> None:
    table = BatchedGame(game, 1, 0).layout.table()
    assert table in (ROOT / "docs" / "observations.md").read_text(encoding="utf-8")
