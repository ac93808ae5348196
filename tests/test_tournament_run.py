"""Tournaments as programs: configs, processes, folders, resuming, what they leave behind."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from joblib import parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend

pytest.importorskip("choix")

from dominoenv import CheckpointError, DominoError, make_rules
from dominoenv.core.program import run_program
from experiments.config import ConfigError, check_config, load_config
from experiments.folder import LOCK
from experiments.tournament import TournamentConfig, __main__, analyse, play_tournament, run
from experiments.tournament.report import grids, markdown
from experiments.tournament.schedule import blocks
from experiments.tournament.store import FOLDER, Store

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "configs"
QUICK = CONFIGS / "tournament_quick.yaml"
SMALL = ["rules={players: 3, max_pip: 6, hand_size: 4}", "resamples=100", "differences=[1]"]
TINY = [*SMALL, "pair_deals=12", "mixed_deals=8", "block=5"]
TINY_UNITS = 3 * 3 + 2


def tiny(*overrides: str) -> TournamentConfig:
    return load_config(QUICK, [*TINY, *overrides], TournamentConfig)


def same_games(one: run.Played, other: run.Played) -> bool:
    pairs = zip(one.games.arrays().values(), other.games.arrays().values(), strict=True)
    same = all(np.array_equal(a, b) for a, b in pairs)
    return same and np.array_equal(one.who, other.who) and np.array_equal(one.deal, other.deal)


def files(folder: Path) -> dict[str, float]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "units").iterdir()}


# ---------------------------------------------------------------------------------------- configs


@pytest.mark.parametrize(
    "path", sorted(CONFIGS.glob("tournament*.yaml")), ids=lambda path: path.stem
)
def test_every_file_loads_and_survives_a_round_trip(path: Path) -> None:
    config = load_config(path, (), TournamentConfig)
    again = check_config(yaml.safe_load(config.to_yaml()), "resolved", TournamentConfig)
    assert again.make_rules() == config.make_rules()
    assert again.to_yaml() == config.to_yaml()
    assert config.name == path.stem
    for agent in config.agents:
        agent.make(config.make_rules(), 0)


MISTAKES = {
    "agents=[random]": "needs at least 2 agents",
    "agents=random": "agents='random'",
    "agents=[random, heavyest]": "did you mean 'heaviest'",
    "agents=[random, random]": "2 agents are called 'random': tell them apart by a label",
    "agents=[random, {policy: heaviest}]": "'agents.1.kind' is missing",
    "agents=[random, {kind: baseline, policy: heaviest, lable: x}]": "did you mean 'label'",
    "agents=[random, {kind: baseline, policy: heaviest, label: 'a|b'}]": "agents.1.label='a|b'",
    "agents=[random, {kind: model}]": "allowed: 'baseline', 'checkpoint'",
    "pair_deals=1": "one deal has no interval",
    "pair_deals=-1": "greater than or equal to 0",
    "pair_deals=0": "nothing would be played",
    "mixed_deals=1": "one deal has no interval",
    "same_deals=1": "one deal has no interval",
    "pairs=[[random, heavy]]": "pairs: no agent 'heavy'; did you mean 'heaviest'?",
    "pairs=[[random, random]]": "'random' cannot meet itself",
    "par_deals=3": "unknown key 'par_deals'; did you mean 'pair_deals'",
    "confidence=95": "less than 1",
    "differences=[0]": "greater than 0",
    "rules.player=3": "rules: option 'player' of mexican_train: did you mean 'players'?",
}


@pytest.mark.parametrize("override", MISTAKES)
def test_a_mistake_is_named_in_one_sentence(override: str) -> None:
    overrides = ["mixed_deals=0", override]
    with pytest.raises(ConfigError) as caught:
        load_config(QUICK, overrides, TournamentConfig)
    assert MISTAKES[override] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mixed_tables_need_enough_agents() -> None:
    with pytest.raises(ConfigError, match="needs an agent for each of 4 seats, but there are 3"):
        tiny("rules.players=4")


def test_titles() -> None:
    agents = (
        "agents=[heaviest, {kind: baseline, policy: random, label: dice}, "
        "{kind: baseline, policy: random, parameters: {sides: 6}}, "
        "{kind: checkpoint, path: runs/quickstart/checkpoint.pt}]"
    )
    assert tiny(agents).titles == ("heaviest", "dice", "random(sides=6)", "quickstart")


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("{kind: baseline, policy: random, parameters: {sides: 6}}", "unexpected keyword"),
        ("{kind: checkpoint, path: nowhere.pt}", "does not exist"),
    ],
)
def test_agents_that_cannot_be_are_refused_before_anything_is_played(
    agent: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(DominoError, match=reason):
        play_tournament(tiny("mixed_deals=0", f"agents=[random, {agent}]"), tmp_path, 1)
    assert not list(tmp_path.rglob("*.block"))


def test_trained_agents_play_and_are_known_by_their_weights(tmp_path: Path) -> None:
    trained = pytest.importorskip("dominoenv.opponents.trained")
    path = tmp_path / "nets" / "checkpoint.pt"
    agents = f"agents=[random, heaviest, {{kind: checkpoint, path: {path}}}]"
    config = tiny(agents)
    network = {"hidden": [8], "activation": "tanh"}

    def save(rules: Any) -> None:
        weights = trained.make_network(rules, network).state_dict()
        trained.save_checkpoint(path, rules, network, weights)

    save(config.make_rules())
    played = play_tournament(config, tmp_path, 1)
    assert "nets" in played.agents
    before = files(tmp_path)
    save(config.make_rules())  # other weights at the same place
    play_tournament(config, tmp_path, 1)
    with_it = [block for block in blocks(config) if "nets" in block.agents]
    assert len(files(tmp_path)) == len(before) + len(with_it)
    save(make_rules("chicken_foot"))
    with pytest.raises(CheckpointError, match="was trained for Chicken Foot"):
        play_tournament(config, tmp_path, 1)


def test_a_file_that_changes_while_its_agent_plays_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = pytest.importorskip("dominoenv.opponents.trained")
    path = tmp_path / "nets" / "checkpoint.pt"
    config = tiny("mixed_deals=0", f"agents=[random, {{kind: checkpoint, path: {path}}}]")
    rules, network = config.make_rules(), {"hidden": [8], "activation": "tanh"}

    def save() -> None:
        trained.save_checkpoint(
            path, rules, network, trained.make_network(rules, network).state_dict()
        )

    play_block = run.play_block

    def replaced_meanwhile(*arguments: Any) -> Any:
        save()
        return play_block(*arguments)

    save()
    with monkeypatch.context() as patch:
        patch.setattr(run, "play_block", replaced_meanwhile)
        with pytest.raises(CheckpointError, match="the file of agent nets was replaced while it"):
            play_tournament(config, tmp_path, 1)
    assert not list(tmp_path.rglob("*.block"))
    play_tournament(config, tmp_path, 1)


# ---------------------------------------------------------------------------- processes, resuming


def test_the_number_of_processes_and_the_order_of_blocks_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny()
    alone = play_tournament(config, tmp_path / "one", 1)
    assert same_games(alone, play_tournament(config, tmp_path / "two", 2))
    shuffled = [run.Task(0, block) for block in reversed(blocks(config))]
    finished = run._all_played
    monkeypatch.setattr(run, "_all_played", lambda c, _, jobs: finished(c, shuffled, jobs))
    assert same_games(alone, play_tournament(config, tmp_path / "back", 1))
    assert analyse(config, alone).pairs[0].deals == 12


def test_a_folder_is_gone_on_with_and_grows(tmp_path: Path) -> None:
    config = tiny()
    whole = play_tournament(config, tmp_path, 1)
    before = files(tmp_path)
    assert len(before) == TINY_UNITS
    assert same_games(whole, play_tournament(config, tmp_path, 1))
    assert files(tmp_path) == before  # nothing was played again
    more = play_tournament(tiny("pair_deals=15"), tmp_path, 1)
    assert len(files(tmp_path)) == TINY_UNITS + 3  # the last, short block of each pair
    assert len(more.deal) == 3 * 15 * 6 + 8 * 3
    other = play_tournament(tiny("seed=2"), tmp_path, 1)
    assert not same_games(whole, other)
    assert before.items() <= files(tmp_path).items()


@pytest.mark.parametrize("damage", ["half", "empty", "foreign", "flipped"])
def test_a_damaged_file_is_played_again(damage: str, tmp_path: Path) -> None:
    config = tiny()
    whole = play_tournament(config, tmp_path, 1)
    victim = Store(config, tmp_path).path(blocks(config)[4])
    content = victim.read_bytes()
    middle = len(content) // 3
    flipped = content[:middle] + bytes(255 - byte for byte in content[middle : middle + 40])
    texts = {
        "half": content[: len(content) // 2],
        "empty": b"",
        "foreign": b"PK\3\4 no",
        "flipped": flipped + content[middle + 40 :],
    }
    victim.write_bytes(texts[damage])
    (tmp_path / "units" / ".half.1.tmp").write_bytes(content[:100])
    assert same_games(whole, play_tournament(config, tmp_path, 1))
    assert same_games(whole, run.collect(config, Store(config, tmp_path)))


def test_a_killed_tournament_goes_on_in_a_new_process(tmp_path: Path) -> None:
    overrides = [*SMALL, "pair_deals=120", "mixed_deals=0", "block=4"]
    command = [sys.executable, "-m", "experiments.tournament", str(QUICK), *overrides]
    out = tmp_path / "killed"
    process = subprocess.Popen(
        [*command, "--out", str(out), "--jobs", "1"], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    config = load_config(QUICK, overrides, TournamentConfig)
    while process.poll() is None and len(list(out.glob("units/*.block"))) < 5:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {name for name in files(out) if name.endswith(".block")}
    assert 5 <= len(kept) < len(blocks(config))
    assert not (out / "results.json").exists()
    times = {name: time for name, time in files(out).items() if name in kept}
    subprocess.run([*command, "--out", str(out), "--resume", "--jobs", "1"], cwd=ROOT, check=True)
    assert times.items() <= files(out).items()
    straight = play_tournament(config, tmp_path / "straight", 1)
    assert same_games(straight, run.collect(config, Store(config, out)))
    results = json.loads((out / "results.json").read_text())
    assert results["games"] == 3 * 120 * 6


def test_other_code_plays_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tiny("mixed_deals=0")
    play_tournament(config, tmp_path, 1)
    monkeypatch.setattr("experiments.tournament.store.program", lambda: "0+changed")
    play_tournament(config, tmp_path, 1)
    assert len(files(tmp_path)) == 2 * len(blocks(config))


# ----------------------------------------------------------------------------------- command line


def command_line(monkeypatch: pytest.MonkeyPatch, *words: object) -> None:
    monkeypatch.setattr(sys, "argv", ["tournament", *map(str, words)])
    __main__.main()


def test_what_a_tournament_leaves_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line(monkeypatch, QUICK, *TINY, "--out", tmp_path, "--jobs", 1)
    screen = capsys.readouterr().out
    for words in ("Ratings", "Pairs", "Mixed tables", "How many deals", "Seats", "heaviest"):
        assert words in screen
    assert {path.name for path in tmp_path.iterdir()} == {*run.RESULTS, *run.PLOTS, FOLDER, LOCK}
    for name in run.PLOTS:
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    results = json.loads((tmp_path / "results.json").read_text())
    config = tiny()
    assert check_config(results["config"], "json", TournamentConfig).to_yaml() == config.to_yaml()
    assert load_config(tmp_path / "config.yaml", (), TournamentConfig).to_yaml() == config.to_yaml()
    assert results["seed"] == 1
    assert {"dominoenv", "numpy", "numba", "choix"} <= set(results["versions"])
    assert results["games"] == 12 * 6 * 3 + 8 * 3
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["table"], row["a"], row["b"]) for row in rows] == [
        (row["table"], row["a"], row["b"]) for row in results["pairs"]
    ]
    assert len(rows) == 6
    assert float(rows[0]["difference.mean"]) == results["pairs"][0]["difference"]["mean"]
    with np.load(tmp_path / "games.npz") as kept:
        assert kept["penalties"].shape == kept["who"].shape == (results["games"], 3)
        assert list(kept["agents"]) == ["heaviest", "lightest", "random"]
    report = (tmp_path / "report.md").read_text()
    assert all(f"]({name})" in report for name in run.PLOTS)


def test_the_report_says_what_the_analysis_found(tmp_path: Path) -> None:
    config = tiny("pair_deals=100", "block=100")
    played = play_tournament(config, tmp_path, 1)
    found = analyse(config, played)
    text = markdown(config, found, played, {"dominoenv": "1"})
    best, row = found.ratings[0], found.pairs[0]
    assert best.agent == "heaviest"
    assert f"| {best.agent} | {best.rating.mean:+.0f} |" in text
    assert f"| {row.a} | {row.b} | {row.difference.mean:+.2f} ± {row.difference.half:.2f} |" in text
    for grid in grids(config, found):
        assert all(len(cells) == len(grid.headings) for cells in grid.rows)
        assert grid.title in text
    assert config.to_yaml() in text


def test_a_taken_folder_is_not_overwritten_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [QUICK, *TINY, "mixed_deals=0", "--out", tmp_path, "--jobs", 1]
    with pytest.raises(CheckpointError, match="holds no tournament to resume"):
        command_line(monkeypatch, *words, "--resume")
    command_line(monkeypatch, *words)
    with pytest.raises(CheckpointError, match="already holds a tournament: continue with --resume"):
        command_line(monkeypatch, *words)
    (tmp_path / "mine.txt").write_text("keep")
    before = files(tmp_path)
    command_line(monkeypatch, *words, "--overwrite", "seed=9")
    assert not files(tmp_path).keys() & before.keys()
    assert (tmp_path / "mine.txt").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nowhere.yaml"], "does not exist"),
        ([QUICK, "agents.0=rndom", "--out", "x"], "did you mean 'random'"),
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


@pytest.mark.parametrize("jobs", ["0", "many"])
def test_jobs_must_be_a_number(
    jobs: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command_line(monkeypatch, QUICK, "--jobs", jobs)
    said = f"argument --jobs: '{jobs}' must be a number of processes"
    assert said in capsys.readouterr().err


class ListsOnly(ThreadingBackend):
    """A backend that cannot return a generator, as Ray's and joblib's own `multiprocessing`."""

    supports_return_generator = False


def test_a_backend_that_returns_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are kept a few at a time there, so an interruption does not lose all of them."""
    register_parallel_backend("lists-only", ListsOnly)
    config = tiny()
    usual = play_tournament(config, tmp_path / "usual", jobs=1)
    monkeypatch.setattr(run, "LIST_SIZE", 2)
    with parallel_config("lists-only", n_jobs=2):
        assert same_games(play_tournament(config, tmp_path / "lists"), usual)
    assert files(tmp_path / "usual").keys() == files(tmp_path / "lists").keys()
    began = []

    def fail_at_last(*arguments: Any) -> Any:
        began.append(arguments)
        if len(began) > 8:
            raise KeyboardInterrupt
        return play_block(*arguments)

    play_block = run.play_block
    monkeypatch.setattr(run, "play_block", fail_at_last)
    with parallel_config("lists-only", n_jobs=2), pytest.raises(KeyboardInterrupt):
        play_tournament(config, tmp_path / "broken")
    kept = len(files(tmp_path / "broken"))
    assert 4 <= kept < TINY_UNITS
    monkeypatch.setattr(run, "play_block", play_block)
    assert same_games(play_tournament(config, tmp_path / "broken", jobs=1), usual)
