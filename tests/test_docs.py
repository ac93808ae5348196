"""Every Python snippet in the README and the docs runs; every file and target they name exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pettingzoo
import pytest

from dominoenv import BatchedGame, Rules, make_rules
from dominoenv.__main__ import COMMANDS
from dominoenv.core.episode import episode_table
from dominoenv.games.registry import kind_of
from experiments.shipped import TELLING, shipped_names
from tests.pictures import IMAGES, PICTURES, picture

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
OPTIONAL = ("torch", "torchrl", "stable_baselines3", "sb3_contrib", "supersuit")
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
    (tmp_path / "configs").symlink_to(ROOT / "configs")  # what snippets read; they write elsewhere
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


def test_the_table_of_episode_options_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "interfaces.md").read_text(encoding="utf-8")
    assert f"\n\n{episode_table()}\n" in page


@pytest.mark.parametrize("players", [2, 4, 7])
def test_action_ids_are_those_of_the_page(players: int) -> None:
    page = (ROOT / "docs" / "observations.md").read_text(encoding="utf-8")
    formulas = re.findall(r"^\|[^|`]*\| `(.*?)` \| (the tile|draw|pass|stop)", page, re.M)
    assert len(formulas) == 7
    trains, feet = formulas[:4], formulas[4:]
    rules = make_rules("mexican_train", players=players, max_pip=12, opening="whole_train")
    size, viewer = rules.tiles.size, 1
    for target in range(players + 1):
        place = "M" if target == players else (viewer + target) % players
        for tile in range(size):
            at = {"P": players, "T": size, "target": target, "tile": tile}
            check_actions(rules, viewer, trains, at, f"{rules.tiles.text(tile)}@{place}")
    rules = make_rules("chicken_foot", players=players, max_pip=12, hand_size=5)
    for pip in range(13):
        for other in range(13):
            at = {"K": 13, "pip": pip, "other": other}
            text = f"{max(pip, other)}-{min(pip, other)}@{pip}"
            check_actions(rules, viewer, feet, at, text)


def check_actions(
    rules: Rules, viewer: int, formulas: list[tuple[str, str]], at: dict[str, int], play: str
) -> None:
    """Check that the formulas give the ids of a play and of the other moves."""
    observe = kind_of(rules).observe
    ids = [eval(formula, {}, at) for formula, _ in formulas]
    expected = [play if move == "the tile" else move for _, move in formulas]
    assert [observe.action_text(rules, viewer, i) for i in ids] == expected
    assert max(ids) == observe.num_actions(rules) - 1


def test_every_config_and_notebook_is_described() -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    patterns = re.findall(r"`(configs/[^`\s]+)`", page)
    configs = [path.relative_to(ROOT) for path in (ROOT / "configs").glob("*.yaml")]
    assert not [path for path in configs if not any(path.match(p) for p in patterns)]
    assert not [p for p in patterns if not list(ROOT.glob(p))]
    listed = re.findall(
        r"notebooks/(\w+\.ipynb)", (ROOT / "docs" / "notebooks.md").read_text("utf-8")
    )
    assert sorted(listed) == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_every_program_is_described() -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    files = [*(ROOT / "experiments").glob("*.py"), *(ROOT / "experiments").glob("*/__main__.py")]
    for path in files:
        if "__main__" in path.name or "run_program(main)" in path.read_text(encoding="utf-8"):
            program = path.parent.name if path.name == "__main__.py" else path.stem
            command = f"dominoenv {program}" if program in COMMANDS else f"experiments.{program}"
            assert command in page, program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for command, rest in re.findall(r"(?:^|`)dominoenv ([a-z]+)(.*?)(?:`|$)", text, re.M):
        assert command in COMMANDS, command
        config = rest.split()[0] if rest.split() else "CONFIG"
        if command in TELLING and config != "CONFIG" and not config.endswith(".yaml"):
            assert config in shipped_names(command), rest
