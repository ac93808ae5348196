"""The wheel: what it holds, and that it works alone, in an environment with nothing else of ours.

The environments hold the wheel and links to what it requires, taken from the environment of the
tests: no network is needed, and what is used without being required is missed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from dominoenv import policy_names, read_records
from dominoenv.core.program import WRONG_USE
from dominoenv.games.registry import GAMES
from experiments.shipped import shipped_names

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
COMMANDS = ["train", "evaluate", "tournament", "study", "figures", "play", "replay", "verify"]
CARRIED = {"agents": "*.py", "experiments": "*.py", "configs": "*.yaml"}
FOR_A_CLONE = {"experiments/notebooks.py", "experiments/pictures.py"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the wheel from the clone, and from the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "-o"]
    for name, options in {"clone": ["--wheel"], "sdist": []}.items():
        command = [*build, str(folder / name), *options, str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)
    return {name: next((folder / name).glob("*.whl")) for name in ("clone", "sdist")}


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


# ------------------------------------------------------------------------------------ what it holds


def files_of(folder: str, pattern: str) -> set[str]:
    paths = (ROOT / folder).rglob(pattern)
    return {path.relative_to(ROOT).as_posix() for path in paths} - FOR_A_CLONE


def test_it_holds_library_baselines_programs_and_configs(wheels: dict[str, Path]) -> None:
    names = {name for name in content(wheels["clone"]) if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == {"dominoenv"}
    carried = {
        f"dominoenv/{name}"
        for folder, pattern in CARRIED.items()
        for name in files_of(folder, pattern)
    }
    own = files_of("dominoenv", "*.py")
    assert {name for name in names if name.endswith((".py", ".yaml"))} == own | carried
    page = {"page.html", "style.css", "app.js"}
    assert {"dominoenv/py.typed", *(f"dominoenv/replay/{name}" for name in page)} <= names
    assert "dominoenv/experiments/throughput/mexican_train.c" in names


def test_the_source_distribution_builds_the_same_wheel(wheels: dict[str, Path]) -> None:
    assert content(wheels["sdist"]) == content(wheels["clone"])


def requirements(extra: str) -> list[str]:
    """Return the names that an extra of the project requires; "": the library alone."""
    extras = PROJECT["optional-dependencies"]
    return [Requirement(text).name for text in extras.get(extra, PROJECT["dependencies"])]


def test_the_library_requires_little(wheels: dict[str, Path]) -> None:
    metadata = next(
        text for name, text in content(wheels["clone"]).items() if name.endswith("/METADATA")
    ).decode()
    core = [
        Requirement(line).name
        for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.M)
        if "extra ==" not in line
    ]
    assert sorted(core) == ["gymnasium", "numba", "numpy", "pettingzoo"]
    assert "Project-URL: Documentation, " in metadata
    assert "Author: The dominoenv developers" in metadata


def test_every_extra_that_a_message_names_exists() -> None:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("notebooks/*.ipynb")]
    files += [
        path
        for folder in ("dominoenv", "agents", "experiments")
        for path in (ROOT / folder).rglob("*.py")
    ]
    named = {
        extra
        for path in files
        for extras in re.findall(r"(?:dominoenv|\.)\[([a-z,]+)\]", path.read_text("utf-8"))
        for extra in extras.split(",")
    }
    assert "train" in named
    assert named <= set(PROJECT["optional-dependencies"])


# ---------------------------------------------------------------------------------------- installed


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder to work in."""

    environment: Path
    folder: Path
    plain: bool
    """Whether kernels run as plain Python: that spares compiling them for a few moves."""

    @property
    def scripts(self) -> Path:
        return self.environment / ("Scripts" if os.name == "nt" else "bin")

    def run(self, *command: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        hidden = ("PYTHONPATH", "NUMBA_CACHE_DIR")
        space = {name: value for name, value in os.environ.items() if name not in hidden}
        space["NUMBA_DISABLE_JIT"] = str(int(self.plain))
        program, *arguments = command
        return subprocess.run(
            [str(self.scripts / program), *arguments],
            cwd=self.folder,
            env=space,
            input=typed,
            capture_output=True,
            text=True,
            timeout=900,
        )

    def succeed(self, *command: str, typed: str = "") -> str:
        done = self.run(*command, typed=typed)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout


def closure(names: list[str]) -> set[str]:
    """Return the names of some distributions and of all that they require here."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found.add(name)
        try:
            texts = distribution(name).requires or []
        except PackageNotFoundError:  # for another system or version of Python
            continue
        wanted = map(Requirement, texts)
        waiting += [
            one.name for one in wanted if not one.marker or one.marker.evaluate({"extra": ""})
        ]
    return found


def top_files(name: str) -> Iterator[Path]:
    """Yield the files and folders that a distribution has put into the environment."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return
    for top in {path.parts[0] for path in found.files or () if path.parts[0] != ".."}:
        yield Path(str(found.locate_file(top)))


def install(wheel: Path, folder: Path, extra: str) -> Installed:
    """Make an environment of the wheel and what it requires."""
    environment = folder / "environment"
    venv.create(environment, symlinks=os.name != "nt")
    here = Installed(environment, folder / "work", plain=not extra)
    here.folder.mkdir()
    library = here.succeed("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    names = requirements("") + (requirements(extra) if extra else [])
    for path in {path for name in closure(names) for path in top_files(name)}:
        if path.exists() and path.name != "__pycache__":
            (Path(library.strip()) / path.name).symlink_to(path)
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    return here


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment as by `pip install "dominoenv[train]"`."""
    return install(wheels["sdist"], tmp_path_factory.mktemp("train"), "train")


@pytest.fixture(scope="module")
def bare(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """An environment as by `pip install dominoenv`."""
    return install(wheels["sdist"], tmp_path_factory.mktemp("bare"), "")


def test_the_command_line_explains_itself(bare: Installed, installed: Installed) -> None:
    for here in (bare, installed):
        text = here.succeed("dominoenv", "--help")
        assert re.findall(r"^  ([a-z]+) ", text, re.M)[: len(COMMANDS)] == COMMANDS
    assert bare.succeed("python", "-m", "dominoenv", "--help") == text
    for command in COMMANDS:
        assert f"\n    dominoenv {command} " in installed.succeed("dominoenv", command, "--help")


def test_what_an_extra_brings_is_named_without_it(bare: Installed) -> None:
    for command in ("train", "evaluate", "tournament", "study", "figures"):
        done = bare.run("dominoenv", command, "quickstart")
        assert done.returncode == WRONG_USE
        assert done.stderr.startswith("error: No module named ")
        assert done.stderr.endswith(': pip install "dominoenv[train]"\n')
        assert done.stderr.count("\n") == 1


PLAYED = """
import importlib.util, json, sys
from dominoenv import BatchedGame, Game, make_policy, make_rules, policy_names, write_record
from dominoenv.games.registry import GAMES

assert importlib.util.find_spec("agents") is None
assert importlib.util.find_spec("experiments") is None
places = {}
for game in GAMES:
    rules = make_rules(game, players=3, max_pip=6, rounds=[6], hand_size=5)
    batch = BatchedGame(rules, 2, seed=1)
    for name in policy_names(game):
        policy = make_policy(name, rules, seed=1)
        for _ in range(5):
            batch.step(policy.act(batch.observations, batch.masks))
        places.setdefault(game, {})[name] = type(policy).__module__
    match = Game(game, rules, seed=1)
    while not match.over:
        match.push(match.legal_moves()[0])
    write_record(f"{game}.jsonl", match.record(["a", "b", "c"]))
print(json.dumps([sys.modules["dominoenv"].__file__, places]))
"""


def test_every_baseline_plays(bare: Installed) -> None:
    place, played = json.loads(bare.succeed("python", "-c", PLAYED))
    assert Path(place).is_relative_to(bare.environment)
    for game in GAMES:
        assert sorted(played[game]) == policy_names(game)
        others = {name: place for name, place in played[game].items() if "policies" not in place}
        assert len(others) > 3
        assert all(place.startswith("dominoenv.agents.") for place in others.values())


def test_records_are_verified_and_shown(bare: Installed) -> None:
    bare.succeed("python", "-c", PLAYED)
    for game in GAMES:
        assert f"{game}.jsonl: valid" in bare.succeed("dominoenv", "verify", f"{game}.jsonl")
        bare.succeed("dominoenv", "replay", f"{game}.jsonl", "--html", f"{game}.html")
        assert "</html>" in (bare.folder / f"{game}.html").read_text("utf-8")


def test_a_person_plays(bare: Installed) -> None:
    rules = ["max_pip=6", "hand_size=4", "rounds=[6]"]
    command = ["dominoenv", "play", "--seed", "3", "--against", "lightest", "--rules", *rules]
    assert "The match is over" in bare.succeed(*command, "--record", "p.jsonl", typed="1\n\n" * 500)
    assert len(list(read_records(bare.folder / "p.jsonl"))) == 1


TRAINING = ["environment.games=8", "ppo.steps=8", "ppo.decisions=64", "ppo.batch_size=32"]
TRAINING += ["network.hidden=[8]", "threads=1", "evaluation.deals=2", "rules.max_pip=6"]
TRAINING += ["evaluation.opponents=[random]"]
MATCHES = ["rules.max_pip=6", "pair_deals=4", "block=4"]


def test_programs_run(installed: Installed) -> None:
    def run(*command: str) -> str:
        return installed.succeed("dominoenv", *command)

    assert "p (Holm)" in run("train", "quickstart", *TRAINING)
    checkpoint = "runs/quickstart/checkpoint.pt"
    assert "p (Holm)" in run("evaluate", checkpoint, "--deals", "2")
    quick = ["tournament_quick", "--jobs", "2", "mixed_deals=0", "resamples=100"]
    assert "Ratings" in run("tournament", *quick, *MATCHES)
    assert "Pairs" in run("study", "study_quick", "--jobs", "1", *MATCHES, "same_deals=0")
    assert "published" in run("figures", "--rounds", "2")
    runs = {path.name for path in (installed.folder / "runs").iterdir()}
    assert runs == {"quickstart", "tournament_quick", "study_quick"}


def test_an_unknown_config_is_answered_with_those_that_there_are(installed: Installed) -> None:
    done = installed.run("dominoenv", "train", "zzz")
    assert done.returncode == WRONG_USE
    assert all(name in done.stderr for name in shipped_names("train"))
