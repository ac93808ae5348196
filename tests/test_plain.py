"""Labels and names are plain text in terminals, Markdown, plots and data, whatever they contain."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("choix")

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.cells import cell_len

from dominoenv import make_rules
from experiments import curve, drawing, evaluate, plain
from experiments.grid import Grid, print_grids
from experiments.study import StudyConfig
from experiments.study.analysis import find
from experiments.study.output import write_study
from experiments.study.report import print_report as print_study
from experiments.tournament import analyse
from experiments.tournament.output import write_results
from experiments.tournament.report import grids, markdown, print_report
from experiments.tournament.run import play_tournaments
from tests.test_tournament import config, play

LABELS = (
    r"cost $\foo$",
    "$x_1$ and $y$",
    "[red]alarm[/red] [/] \\",
    "a|b | c",
    "``a` *b* _c_ __d__ ~~e~~",
    "<b>bold</b> <!-- x --> &amp; &lt;",
    "![x](y) [z](w) {: .c} # ^",
    "_hidden",
    ":smile: https://example.org",
    "日本語 😀 é",
    "1. one",
    "- two",
)
ODD = ("two\nlines", "\x1b[31mred\x07", "right\u202eleft", "tab\tnul\0", "\ud800")


def shown(label: str) -> str:
    return plain.visible(label)


# ------------------------------------------------------------------------------------ one by one


@pytest.mark.parametrize("text", ODD)
def test_control_characters_are_named(text: str) -> None:
    assert shown(text).isprintable()
    assert "\\" in shown(text)
    assert shown("no\u00a0break\u3000wide") == "no break wide"


@pytest.mark.parametrize("label", [*LABELS, *ODD])
def test_markdown_shows_a_label_as_it_is(label: str) -> None:
    library = pytest.importorskip("markdown")
    table = Grid("T", (label, "n"), ((label, "1"), ("x", "2")), "").markdown()
    extensions = ["tables", "attr_list", "md_in_html", "sane_lists"]
    made = library.markdown(table, extensions=extensions)
    assert made.count("<tr>") == 3
    assert made.count("<td") == 4
    for tag in ("th", "td"):
        cell, *_ = re.findall(f"<{tag}>(.*)</{tag}>", made)
        assert "<" not in cell
        assert html.unescape(cell) == shown(label).strip()
    title = library.markdown(f"# Tournament {plain.markdown(label)}", extensions=extensions)
    assert html.unescape(title) == f"<h1>Tournament {shown(label).strip()}</h1>"


def test_ordinary_names_stay_readable_in_markdown() -> None:
    for name in ("longest_train", "players=4, blocked=lap", "-1.20 ± 0.30", "< 0.0001", "x: y"):
        assert plain.markdown(name) == name


@pytest.mark.parametrize("text", ["a", "```\nend", "````` x"])
def test_a_block_of_code_ends_where_it_should(text: str) -> None:
    block = plain.code_block(text, "yaml").splitlines()
    fence = block[-1]
    assert block[0] == f"{fence}yaml"
    assert set(fence) == {"`"}
    assert fence not in text


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_terminal_tables_are_aligned_and_whole(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    labels = [*LABELS, *(shown(label) for label in ODD)]
    rows = tuple((label.replace(" ", "-"), f"{n}.25 ± 0.50") for n, label in enumerate(labels))
    print_grids([Grid("T", ("label", "figure"), rows, "caption")], "closing [b] \x1b")
    screen = capsys.readouterr().out
    assert "\x1b" not in screen
    lines = [line for line in screen.splitlines() if "±" in line]
    assert len(lines) == len(labels)
    assert len({cell_len(line) for line in lines}) == 1
    for line, (label, figure) in zip(lines, rows, strict=True):
        assert line.startswith(label)
        assert line.endswith(figure)
    assert "closing [b] \\x1b" in screen


# ------------------------------------------------------------------------------- whole reports


def labelled(labels: tuple[str, ...]) -> list[dict[str, Any]]:
    policies = ("heaviest", "random", "lightest")
    return [
        {"kind": "baseline", "policy": policies[n % 3], "label": label}
        for n, label in enumerate(labels)
    ]


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[Text]:
    """Collect the texts of every plot that is saved."""
    found: list[Text] = []
    drawn = Figure.savefig

    def savefig(figure: Figure, *args: Any, **options: Any) -> None:
        drawn(figure, *args, **options)
        found.extend(figure.findobj(Text))

    monkeypatch.setattr(Figure, "savefig", savefig)
    return found


def assert_drawn(texts: list[Text], label: str) -> None:
    having = [text for text in texts if drawing.short(label) in text.get_text()]
    assert having, label
    assert not any(text.get_parse_math() for text in having)


def test_a_tournament_shows_every_label_as_it_is(
    tmp_path: Path, texts: list[Text], capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tuple(sorted(label for label in LABELS if "|" not in label))
    sizes = [0.5, 0.5000001, 1, 1.0]  # headings that differ, each once
    settings = config(
        agents=labelled(labels), pair_deals=0, mixed_deals=60, same_deals=2, differences=sizes
    )
    played = play(settings)
    found = analyse(settings, played)
    before = mpl.rcParams["text.parse_math"]
    write_results(settings, found, played, tmp_path)
    assert mpl.rcParams["text.parse_math"] is before
    print_report(settings, found, played)
    screen = capsys.readouterr().out
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    kept = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert {row["agent"] for row in kept["ratings"]} == set(labels)
    for label in labels:
        assert_drawn(texts, label)
        assert f"| {plain.markdown(label)} |" in report
        assert label.split()[0] in screen
    with (tmp_path / "results.csv").open(encoding="utf-8") as file:
        assert {row["a"] for row in csv.DictReader(file)} <= set(labels)
    headings = [grid.headings for grid in grids(settings, found)]
    assert all(len(set(names)) == len(names) for names in headings)


def test_names_that_no_config_accepts_are_safe_too(tmp_path: Path, texts: list[Text]) -> None:
    """Titles of agents without a label come from files and parameters."""
    settings = config(agents=["heaviest", "random", "lightest"], pair_deals=2)
    played = replace(play(settings), agents=("a|b", ODD[0], ODD[-1]))
    settings = settings.model_copy(
        update={
            "agents": tuple(
                agent.model_copy(update={"label": name})
                for agent, name in zip(settings.agents, played.agents, strict=True)
            )
        }
    )
    found = analyse(settings, played)
    write_results(settings, found, played, tmp_path)
    text = markdown(settings, found, played, {})
    tables = [line for line in text.splitlines() if line.startswith("|")]
    sizes = {len(grid.headings) + 1 for grid in grids(settings, found)}
    assert {line.count("|") for line in tables} <= sizes
    for name in played.agents:
        assert_drawn(texts, name)


def test_a_study_shows_every_label_as_it_is(
    tmp_path: Path, texts: list[Text], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, *cells = (label for label in LABELS if "|" not in label)
    data = {
        "name": "t",
        "game": "mexican_train",
        "rules": {"players": 3, "max_pip": 6, "hand_size": 4},
        "agents": labelled((one, other)),
        "pair_deals": 2,
        "same_deals": 2,
        "against_first": True,
        "cells": [{"label": label, "rules": {"double_blank": n}} for n, label in enumerate(cells)],
    }
    settings = StudyConfig(**data)
    found = find(settings, play_tournaments(list(settings.tournaments.values()), tmp_path, 1))
    write_study(settings, found, tmp_path)
    print_study(settings, found)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    screen = capsys.readouterr().out
    for cell in settings.tournaments:
        assert_drawn(texts, cell) if len(cell) < drawing.LONGEST else None
        assert f"| {plain.markdown(cell)} |" in report
        assert shown(cell).split()[0] in screen
    assert f"{one}: penalty" in " ".join(screen.split())


@pytest.mark.parametrize("label", LABELS)
def test_an_evaluation_shows_its_label_as_it_is(
    label: str, tmp_path: Path, texts: list[Text], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = evaluate_rows(label)
    evaluate.print_table(rows, make_rules("mexican_train", players=2))
    assert label.split()[0] in capsys.readouterr().out
    progress = [{"decisions": 1.0, "penalty": 2.0, "others": 3.0}]
    curve.draw_learning_curve(progress, rows, tmp_path / "curve.png", label)
    assert_drawn(texts, label)


def evaluate_rows(label: str) -> list[evaluate.Comparison]:
    one = evaluate.Comparison(
        agent=label,
        opponent="random",
        difference=-1.0,
        low=-2.0,
        high=0.5,
        p=0.2,
        p_corrected=0.4,
        penalty=3.0,
        others=4.0,
        wins=0.5,
        fair=0.5,
        deals=10,
        games=20,
    )
    return [one, replace(one, agent="heaviest")]


# --------------------------------------------------------------------------------- 80 columns


def test_reports_of_baselines_fit_eighty_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    settings = config(agents=["heaviest", "random", "lightest"], pair_deals=20, same_deals=20)
    played = play(settings)
    found = analyse(settings, played)
    print_report(settings, found, played)
    evaluate.print_table(evaluate_rows("heaviest"), settings.make_rules())
    screen = capsys.readouterr().out
    assert max(map(cell_len, io.StringIO(screen).read().splitlines())) <= 80
