"""The site is built by one command: whole, without a network, with every page in its place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import dominoenv

pytest.importorskip("mkdocs", reason='mkdocs is not installed: pip install -e ".[docs]"')
pytest.importorskip("material", reason='mkdocs-material is not installed: pip install -e ".[docs]"')

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
QUESTIONS = {  # what a newcomer asks, and the heading under which the answer stands
    "how do I train on my own rules?": ("docs/training.md", "Your own rules"),
    "what is in the observation?": ("docs/observations.md", "Observations and actions"),
    "how do I add an agent?": ("docs/agents.md", "How to add an agent"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site without a way out; --strict makes a broken link or anchor an error."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        **{"cwd": ROOT, "env": os.environ | nowhere | {"NO_MKDOCS_2_WARNING": "1"}},
        **{"capture_output": True, "text": True, "check": False},
    )
    assert ended.returncode == 0, ended.stderr
    assert "WARNING" not in ended.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    names = {re.sub(r"(^|/)README\.md$", r"\1index.md", page) for page in PAGES}
    notebooks = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks
    for page in names | notebooks:
        assert (site / page).with_suffix(".html").is_file(), page


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = (
        r"<(?:script|link|img|iframe|source|object|video)\b"
        r"""[^>]*?(?:src|href|data)=["']?(?:https?:)?//[^>]*>"""
    )
    for path in site.rglob("*.html"):
        found = re.findall(loads, path.read_text(encoding="utf-8"))
        assert not found, (path, found)
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)]*""", text), path


def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    """Those to files outside of the docs too: the site holds pages alone."""
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        for link in re.findall(r'(?:href|src)="([^"#?:]+)(?:[#?][^"]*)?"', path.read_text("utf-8")):
            assert (path.parent / link).exists(), (path, link)


def test_notebooks_are_shown_with_their_outputs(site: Path) -> None:
    page = (site / "notebooks" / "tour.html").read_text(encoding="utf-8")
    assert page.count('role="img"') == 2  # the tables of both games
    assert re.search(r"\d+ rounds so far", page)
    assert 'href="notebooks/tour.html"' in (site / "notebooks.html").read_text(encoding="utf-8")


def test_the_search_knows_the_pages(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert all(word in index for word in ("double_blank", "toes_missing", "max_grad_norm"))


def nav(entries: list[object]) -> Iterator[str]:
    """Return the pages of a navigation."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            (inner,) = entry.values()
            yield from [inner] if isinstance(inner, str) else nav(inner)


def test_every_page_is_in_the_navigation_once() -> None:
    """Reports of single experiments are reached from the index of results."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    expected = [page for page in PAGES if not re.match(r"results/[^/]+/", page)]
    assert sorted(nav(config["nav"])) == expected


def links(page: Path) -> set[Path]:
    """Return the files that a page links to."""
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in targets}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_two_clicks_from_the_readme(question: str) -> None:
    name, heading = QUESTIONS[question]
    first = {page for page in links(ROOT / "README.md") if page.suffix == ".md"}
    second = {target for page in first for target in links(page)}
    assert ROOT / name in first | second
    headings = re.findall(r"^#+ (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.M)
    assert heading in headings


def test_every_page_can_be_reached_from_the_first() -> None:
    found, new = set(), {DOCS / "index.md"}
    while new:
        found |= new
        new = {t for page in new for t in links(page) if t.suffix == ".md" and DOCS in t.parents}
        new -= found
    assert {DOCS / page for page in PAGES} <= found, {DOCS / page for page in PAGES} - found


def test_citation_and_changelog_are_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dominoenv.__version__
    assert citation["license"] == "MIT"
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(dominoenv.__version__)}\]", changes, re.M)
