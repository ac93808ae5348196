"""Every Python snippet in the README and the docs runs; every file and target they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dominoenv import BatchedGame

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
SNIPPETS = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}:{i}")
    for page in PAGES
    for i, code in enumerate(
        re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
    )
]


@pytest.mark.parametrize("code", SNIPPETS)
def test_snippet_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_observation_tables_are_those_of_the_code(game: str) -> None:
    table = BatchedGame(game, 1, 0).layout.table()
    assert table in (ROOT / "docs" / "observations.md").read_text(encoding="utf-8")
