"""The benchmark: the C program plays the same games, and what is measured is told."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from dominoenv import BatchedGame, DominoError, make_policy
from experiments.throughput import __main__ as program
from experiments.throughput import batches, lifetime, loops, report, yardstick
from experiments.throughput.timing import Speed, race, short
from experiments.throughput.yardstick import Yardstick, compiler, yardstick_rules

needs_compiler = pytest.mark.skipif(not compiler(), reason="no C compiler: no yardstick")


@needs_compiler
def test_plain_c_does_the_same_work() -> None:
    rules = yardstick_rules()
    plain, game = Yardstick(200, seed=3), BatchedGame(rules, 200, seed=3)
    policy = make_policy("random", rules, seed=4)
    rounds = 0
    for _ in range(400):
        for field in ("masks", "observations", "rewards"):
            assert np.array_equal(getattr(plain, field), getattr(game, field)), field
        actions = policy.act(game.observations, game.masks)
        plain.step(actions)
        game.step(actions)
        rounds += int(game.round_over.sum())
    assert rounds > 400  # dealt anew, and the same again
    actions = policy.act(game.observations, game.masks)
    actions[7] = int(game.masks[7].argmin())
    with pytest.raises(DominoError, match=r"game 7: action \d+ is illegal"):
        plain.step(actions)


def test_without_a_compiler_the_yardstick_says_what_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(yardstick.shutil, "which", lambda name: None)
    yardstick._library.cache_clear()
    with pytest.raises(DominoError, match="needs one of cc, gcc, clang"):
        Yardstick(1, seed=0)
    monkeypatch.setattr(batches, "DECISIONS", 10)
    assert yardstick_rules() in batches.TABLES.values()
    assert batches.C not in batches.race_sizes([8], 1)[8]


def test_contestants_take_turns_and_medians_are_told() -> None:
    order: list[str] = []

    def contestant(name: str, seconds: list[float]) -> tuple[float, int]:
        order.append(name)
        return seconds[order.count(name) - 1], 100

    speeds = race(
        {
            "a": lambda: contestant("a", [9.0, 1.0, 4.0, 2.0]),  # the first warms up
            "b": lambda: contestant("b", [9.0, 1.0, 1.0, 1.0]),
        },
        repeats=3,
    )
    assert order == ["a", "b"] * 4
    assert speeds["a"] == Speed(median=50.0, low=37.5, high=75.0)
    assert speeds["a"].nanoseconds == pytest.approx(2e7)
    assert [short(rate) for rate in (12.3, 4560, 999_499, 999_501, 12_345_678)] == [
        *("12", "4.56 k", "999 k", "1 M", "12.3 M")
    ]


def test_the_program_measures_every_part_and_writes_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(batches, "DECISIONS", 10)
    monkeypatch.setattr(batches, "CHOICES", 10)
    monkeypatch.setattr(batches, "WARM_UP", 2)
    monkeypatch.setattr(batches, "PLAYOUTS", 1)
    monkeypatch.setattr(loops, "DECISIONS", 20)
    monkeypatch.setattr(loops, "CLASSICS", ("no_such_game_v0",))
    monkeypatch.setattr(program, "GROWTH_DECISIONS", 300_000)
    monkeypatch.setattr(lifetime, "first_use", lambda game: 1.5)
    monkeypatch.setattr(lifetime, "later_start", lambda game, repeats: 0.5)
    monkeypatch.setattr(lifetime, "training_share", lambda: (0.25, 1000.0))
    arguments = ["throughput", "--games", "8", "16", "--repeats", "1", "--write", str(page)]
    monkeypatch.setattr("sys.argv", arguments)
    program.main()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    titles = [title for title, _ in program.SECTIONS.values()]
    assert re.findall("^### (.*)$", text, re.MULTILINE) == titles
    for name in (*batches.TABLES, "`playouts`", "opportunist", "foot_counter", "first use"):
        assert name in text
    assert "8 games" in text and "25 %" in text
    assert "classic environments are not installed" in text

    monkeypatch.setattr("sys.argv", [*arguments, "--only", "start"])
    monkeypatch.setattr(lifetime, "first_use", lambda game: 2.5)
    program.main()
    again = page.read_text(encoding="utf-8")
    assert again == text.replace("1.5 s", "2.5 s") != text  # the other tables stay


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a page of somebody else", encoding="utf-8")
    with pytest.raises(DominoError, match="must hold the lines"):
        report.write_sections(page, "text", {})
    assert page.read_text(encoding="utf-8") == "a page of somebody else"
    with pytest.raises(DominoError, match="cannot read"):
        report.write_sections(tmp_path / "missing.md", "text", {})


def test_memory_of_a_game_is_that_of_its_arrays() -> None:
    rules = yardstick_rules()
    sizes = lifetime.bytes_per_game(rules)
    game = BatchedGame(rules, 1, seed=0)
    assert sizes["mask"] == game.num_actions and sizes["observation"] == game.layout.size
    assert sizes["record"] == game.states.itemsize


def test_the_environments_share_is_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments.config import load_config

    small = load_config(
        lifetime.QUICKSTART, ["environment.games=8", "ppo.steps=8", "ppo.batch_size=32"]
    )
    monkeypatch.setattr(lifetime, "load_config", lambda path: small)
    share, rate = lifetime.training_share()
    assert 0 < share < 1 and rate > 0
