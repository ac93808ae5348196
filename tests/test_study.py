"""Studies: configs and their grids, known answers, resuming, what they leave behind."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("choix")

from dominoenv import CheckpointError, Game, make_rules, policies
from dominoenv.batch import HELD_OUT_MATCH
from dominoenv.core.program import run_program
from dominoenv.core.round import BY_CENTRE, BY_DOUBLE, FREE
from experiments import arena
from experiments.arena import NOBODY
from experiments.config import ConfigError, check_config, load_config
from experiments.folder import LOCK
from experiments.study import Findings, StudyConfig, __main__, find
from experiments.study.output import RESULTS, write_study
from experiments.study.plots import PLOTS, pictures
from experiments.study.report import grids, markdown
from experiments.tournament import TournamentConfig
from experiments.tournament.analysis import same_values
from experiments.tournament.run import Played, play_tournaments
from experiments.tournament.schedule import blocks
from tests.test_tournament import First

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "configs"
QUICK = CONFIGS / "study_quick.yaml"
BASE: dict[str, Any] = {
    "name": "t",
    "game": "mexican_train",
    "rules": {"players": 3, "max_pip": 6, "hand_size": 4},
    "agents": ["heaviest", "lightest"],
    "pair_deals": 20,
    "same_deals": 20,
    "differences": [1],
    "cells": [{"rules": {"players": [2, 3], "blocked": ["lap", "no_play"]}}],
}


def study(**values: Any) -> StudyConfig:
    return check_config({**BASE, **values}, "test", StudyConfig)


def played(config: StudyConfig, folder: Path) -> list[Played]:
    return play_tournaments(list(config.tournaments.values()), folder, 1)


def found(config: StudyConfig, folder: Path) -> Findings:
    return find(config, played(config, folder))


# ---------------------------------------------------------------------------------------- configs


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("study*.yaml")), ids=lambda path: path.stem)
def test_every_file_loads_and_survives_a_round_trip(path: Path) -> None:
    config = load_config(path, (), StudyConfig)
    again = check_config(yaml.safe_load(config.to_yaml()), "resolved", StudyConfig)
    assert again.tournaments == config.tournaments
    assert again.to_yaml() == config.to_yaml()
    assert config.name == path.stem
    for tournament in config.tournaments.values():
        assert blocks(tournament)
        for agent in tournament.agents:
            agent.make(tournament.make_rules(), 0)


def test_lists_make_a_product_and_the_rest_is_the_base() -> None:
    cells = [{"label": "x", "rules": {"players": [2, 3], "blocked": ["lap", "no_play"]}}, {}]
    made = study(cells=cells).tournaments
    assert list(made) == [
        "x, players=2, blocked=lap",
        "x, players=2, blocked=no_play",
        "x, players=3, blocked=lap",
        "x, players=3, blocked=no_play",
        "base",
    ]
    base = {"hand_size": 4, "max_pip": 6}
    assert [one.make_rules() for one in made.values()] == [
        *(
            make_rules("mexican_train", players=players, blocked=blocked, **base)
            for players in (2, 3)
            for blocked in ("lap", "no_play")
        ),
        make_rules("mexican_train", BASE["rules"]),
    ]


def test_an_option_that_is_a_list_itself_takes_lists() -> None:
    made = study(cells=[{"rules": {"rounds": [[6, 5], [4]]}}]).tournaments
    assert [one.make_rules().rounds for one in made.values()] == [(6, 5), (4,)]


def test_another_game_has_rules_of_its_own_and_who_cannot_play_it_sits_out() -> None:
    cells = [{}, {"label": "foot", "game": "chicken_foot"}]
    agents = ["heaviest", "longest_train", "flexible"]
    pairs = [["longest_train", "heaviest"]]
    train, foot = study(agents=agents, pairs=pairs, cells=cells).tournaments.values()
    assert foot.make_rules() == make_rules("chicken_foot")
    assert train.titles == ("heaviest", "longest_train")
    assert foot.titles == ("heaviest", "flexible")
    assert (train.pair_deals, foot.pair_deals) == (20, 0)
    assert {block.agents for block in blocks(foot)} == {("heaviest",), ("flexible",)}
    assert ("heaviest", "longest_train") in {block.agents for block in blocks(train)}


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no cells": ({"cells": []}, "at least 1 item"),
    "an empty list": ({"cells": [{"rules": {"players": []}}]}, "an empty list leaves none"),
    "same names": ({"cells": [{}, {}]}, "2 cells are called 'base': tell them apart by a label"),
    "rules": ({"cells": [{"rules": {"playrs": 3}}]}, "cell 'playrs=3': option 'playrs'"),
    "value": ({"cells": [{"rules": {"players": [2, 99]}}]}, "cell 'players=99': players=99 must"),
    "key": ({"cells": [{"rulez": {}}]}, "unknown key 'cells.0.rulez'; did you mean 'rules'"),
    "game": ({"cells": [{"game": "go"}]}, "no such game; known: mexican_train, chicken_foot"),
    "pair": ({"pairs": [["heaviest", "lightst"]]}, "no agent 'lightst'; did you mean 'lightest'"),
    "itself": ({"pairs": [["heaviest", "heaviest"]]}, "'heaviest' cannot meet itself"),
    "three": ({"pairs": [["heaviest", "lightest", "heaviest"]]}, "pairs.0"),
    "deals": ({"same_deals": 1}, "same_deals=1: one deal has no interval"),
    "nothing": ({"pair_deals": 0, "same_deals": 0}, "nothing would be played"),
    "alone": ({"agents": ["random"]}, "pair_deals=20 needs at least 2 agents"),
    "nobody": (
        {"agents": ["blocker", "longest_train"], "cells": [{"game": "chicken_foot"}]},
        "cell 'base': nobody would play; which agents play chicken_foot?",
    ),
    "mixed": ({"mixed_deals": 5}, "unknown key 'mixed_deals'"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_in_one_sentence(name: str) -> None:
    values, reason = MISTAKES[name]
    with pytest.raises(ConfigError) as caught:
        study(**values)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


# ----------------------------------------------------------------------------------- known answers


def test_identical_agents_differ_by_nothing_in_each_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(policies.POLICIES, "first", First)
    twins = [{"kind": "baseline", "policy": "first", "label": label} for label in ("a", "b")]
    findings = found(study(agents=twins), tmp_path)
    assert len(findings.pairs) == 4
    for line in findings.pairs:
        assert line.row.difference.mean == line.row.difference.half == 0
        assert line.row.of_a.wins.mean == pytest.approx(1)
        assert line.row.p_corrected == 1
    by_cell = {line.cell: line.row for line in findings.same if line.row.agent == "a"}
    for line in findings.same:  # one of the twins is as good as the other
        assert line.row.penalty == by_cell[line.cell].penalty
        assert sum(place.difference.mean for place in line.row.by_order) == pytest.approx(0)


def test_a_price_on_the_blank_costs_its_price_where_it_is_held(tmp_path: Path) -> None:
    """`lightest` sheds by price, so an agent that does not look at prices is taken."""
    cells = [{"label": "free"}, {"rules": {"double_blank": 30}}]
    agents = ["random"]
    config = study(agents=agents, cells=cells, pair_deals=0, same_deals=200, against_first=True)
    free, priced = played(config, tmp_path)
    findings = find(config, [free, priced])
    change = findings.same[1].changes
    assert findings.same[0].changes == {}
    gained = priced.games.penalties - free.games.penalties
    assert set(np.unique(gained)) == {0, 30}  # the same games, but for the price
    assert change["penalty"].mean == pytest.approx(gained.mean())
    assert change["penalty"].low > 0
    assert change["turns"].mean == change["blocked"].mean == change["blocked"].half == 0


def test_a_pair_is_compared_with_the_first_cell_by_deal(tmp_path: Path) -> None:
    cells = [{"label": "one"}, {"rules": {"double_blank": 30}}]
    findings = found(study(cells=cells, against_first=True, pair_deals=40), tmp_path)
    first, second = findings.pairs
    assert first.change is None
    assert second.change is not None
    expected = second.row.difference.mean - first.row.difference.mean
    assert second.change.mean == pytest.approx(expected)
    assert all(line.change is None for line in found(study(cells=cells), tmp_path).pairs)


def test_holm_counts_all_lines_of_the_study(tmp_path: Path) -> None:
    rows = [line.row for line in found(study(), tmp_path).pairs]
    smallest = min(rows, key=lambda row: row.p)
    assert smallest.p_corrected == pytest.approx(min(1, len(rows) * smallest.p))


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("chicken_foot", {"players": 4, "rounds": [9]}),
        ("chicken_foot", {"players": 2, "max_pip": 6, "hand_size": 4, "rounds": [3]}),
        ("mexican_train", {"players": 4, "dead_double": "binds", "rounds": [9]}),
        ("mexican_train", {"players": 4, "rounds": [9]}),
    ],
)
def test_what_bound_a_blocked_table_is_what_its_moves_show(
    game: str, options: dict[str, Any]
) -> None:
    rules, number, seed = make_rules(game, options), 40, 5
    seats = np.zeros((number, rules.players), np.int64)
    games = arena.play(rules, np.arange(number), seats, [First(rules)], seed)
    blocked = games.went_out == NOBODY
    assert blocked.any()
    for deal in np.flatnonzero(blocked):
        replayed = Game(game, rules, seed=seed, match=HELD_OUT_MATCH + int(deal))
        assert games.bound[deal] == bound_by_moves(replayed), deal
    if game == "mexican_train":  # a pending double that somebody can cover blocks nobody
        binds = options.get("dead_double") == "binds"
        assert (games.bound[blocked] == BY_DOUBLE).any() == binds


def bound_by_moves(game: Game) -> int:
    """Play the legal move of the lowest id; say from the moves' texts what bound the table."""
    arms, foot, toes = 0, None, 0
    while not game.round_over:
        move = game.move_text(int(game._masks[0].argmax()))
        game.push(move)
        ends = move.partition("@")[0].split("-")
        if len(ends) < 2 or game.rules.game == "mexican_train":
            continue
        if arms < game.rules.centre_arms:
            arms += 1
        elif foot is not None:
            toes += 1
            foot = None if toes == game.rules.toes else foot
        elif ends[0] == ends[1]:
            foot, toes = ends[0], 0
    if game.rules.game == "mexican_train":
        return BY_DOUBLE if game.position()["pending"] else FREE
    return BY_DOUBLE if foot else BY_CENTRE if arms < game.rules.centre_arms else FREE


def test_causes_of_blocked_rounds_add_up(tmp_path: Path) -> None:
    cells = [{"label": "foot", "game": "chicken_foot", "rules": {"players": 4}}]
    config = study(cells=cells, pair_deals=0, same_deals=60)
    (one,) = played(config, tmp_path)
    for agent in one.agents:
        values = same_values(one, agent)
        causes = values["by_double"] + values["by_centre"] + values["free"]
        assert (causes == values["blocked"]).all()
        assert 0 < values["by_double"].mean() < 1
    row = find(config, [one]).same[0].row
    assert row.blocked.mean == pytest.approx((one.games.went_out[:60] == NOBODY).mean())


# ------------------------------------------------------------------------- resuming, what is left


def files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}


def test_a_study_is_gone_on_with_and_grows(tmp_path: Path) -> None:
    config = study()
    whole = found(config, tmp_path)
    before = files(tmp_path)
    assert len(before) == 4 * (1 + 2)
    assert found(config, tmp_path) == whole
    assert files(tmp_path) == before  # nothing was played again
    more = study(cells=[*BASE["cells"], {"label": "more"}])
    assert found(more, tmp_path).pairs[0].row.difference == whole.pairs[0].row.difference
    assert before.items() <= files(tmp_path).items()
    # the further cell has the rules of one that was there, so its games are there as well
    assert len(files(tmp_path)) == len(before)
    next(iter((tmp_path / "units").iterdir())).unlink()
    assert found(config, tmp_path) == whole


def command_line(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["study", *map(str, words)])
    __main__.main()


def test_what_a_study_leaves_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [QUICK, "pair_deals=8", "same_deals=8", "against_first=true", "--jobs", 1]
    command_line(monkeypatch, *words, "--out", tmp_path)
    screen = capsys.readouterr().out
    titles = ("Pairs", "How many deals settle it", "Against the first cell", "Who begins")
    for title in (*titles, "Tables of one agent", "How rounds are blocked", "players=6"):
        assert title in screen
    assert {path.name for path in tmp_path.iterdir()} == {*RESULTS, *PLOTS, "units", LOCK}
    for name in PLOTS:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    results = json.loads((tmp_path / "results.json").read_text())
    config = load_config(tmp_path / "config.yaml", (), StudyConfig)
    assert check_config(results["config"], "json", StudyConfig) == config
    with (tmp_path / "pairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["cell"] for row in rows] == ["players=2", "players=4", "players=6"]
    assert float(rows[0]["row.difference.mean"]) == results["pairs"][0]["row"]["difference"]["mean"]
    with pytest.raises(CheckpointError, match="already holds a study: continue with --resume"):
        command_line(monkeypatch, *words, "--out", tmp_path)
    before = files(tmp_path)
    command_line(monkeypatch, *words, "--out", tmp_path, "--resume")
    assert files(tmp_path) == before


def test_the_report_says_what_was_found(tmp_path: Path) -> None:
    config = study(against_first=True)
    findings = found(config, tmp_path)
    text = markdown(config, findings, ["pairs.png"], {"dominoenv": "1"})
    line, same = findings.pairs[1], findings.same[2]
    difference = line.row.difference
    assert (
        f"| {line.cell} | heaviest | lightest | {difference.mean:+.2f} ± {difference.half:.2f} |"
        in text
    )
    assert f"| {same.cell} | {same.row.agent} | 20 | {same.row.penalty.mean:.2f} ±" in text
    assert "![pairs](pairs.png)" in text
    assert config.to_yaml() in text
    for grid in grids(config, findings):
        assert grid.title in text
        assert all(len(cells) == len(grid.headings) for cells in grid.rows)
    for tournament in config.tournaments.values():
        assert str(tournament.make_rules()) in text


def test_only_what_there_is_is_shown(tmp_path: Path) -> None:
    only_same = study(pair_deals=0)
    findings = found(only_same, tmp_path)
    assert [grid.title for grid in grids(only_same, findings)] == [
        "Tables of one agent",
        "How rounds are blocked",
        "Who begins",
    ]
    drawn = {name for name, panels in pictures(findings) if any(p.says_something for p in panels)}
    assert drawn == {"tables.png", "order.png"}
    write_study(only_same, findings, tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == drawn
    assert all(f"]({name})" in (tmp_path / "report.md").read_text() for name in drawn)
    only_pairs = study(same_deals=0)
    assert [grid.title for grid in grids(only_pairs, found(only_pairs, tmp_path))] == [
        "Pairs",
        "How many deals settle it",
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nowhere.yaml"], "does not exist"),
        ([QUICK, "cells.0.rules.players=[2, 99]"], "cell 'players=99'"),
        ([QUICK, "--out", os.devnull], "cannot write to"),
    ],
)
def test_errors_are_one_sentence(
    words: list[object],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        run_program(lambda: command_line(monkeypatch, *words))
    text = capsys.readouterr().err
    assert caught.value.code == 2
    assert reason in text
    assert text.count("\n") == 1


# ----------------------------------------------------------------------------- what is in the docs


@pytest.mark.parametrize(
    "report", sorted((ROOT / "docs" / "results").glob("*/report.md")), ids=lambda p: p.parent.name
)
def test_a_kept_report_is_that_of_the_config_of_its_name(report: Path) -> None:
    path = CONFIGS / f"{report.parent.name}.yaml"
    model = StudyConfig if path.stem.startswith("study") else TournamentConfig
    config = load_config(path, (), model)
    text = report.read_text(encoding="utf-8")
    assert f"```yaml\n{config.to_yaml()}```" in text
    program = "study" if model is StudyConfig else "tournament"
    index = (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    assert f"`python -m experiments.{program} configs/{path.name}`" in index
    for picture in re.findall(r"\]\(([a-z]+\.png)\)", text):
        assert (report.parent / picture).stat().st_size < 200_000


def test_every_study_and_ladder_has_its_report() -> None:
    names = {path.stem for kind in ("tournament", "study") for path in CONFIGS.glob(f"{kind}_*")}
    kept = {path.parent.name for path in (ROOT / "docs" / "results").glob("*/report.md")}
    assert names - {"study_quick", "tournament_quick"} == kept
