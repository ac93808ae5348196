"""Policies by reference: files of Stable-Baselines3, classes by name, and what uses them."""

from __future__ import annotations

import io
import json
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominoenv import BatchedGame, DominoError, Policy, Rules, make_rules
from dominoenv.core.program import WRONG_USE, exit_status
from dominoenv.opponents import references
from dominoenv.opponents.references import find_policy, load_file, make_from

torch = pytest.importorskip("torch", reason="models are tested where torch is installed")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402
from stable_baselines3 import A2C, DQN, PPO  # noqa: E402
from stable_baselines3.common.torch_layers import FlattenExtractor  # noqa: E402

from dominoenv.envs.sb3 import DominoVecEnv  # noqa: E402
from dominoenv.opponents import sb3_models  # noqa: E402
from dominoenv.opponents.trained import TrainedPolicy  # noqa: E402
from experiments import evaluate, ppo  # noqa: E402
from experiments.config import Config, ConfigError, check_config  # noqa: E402
from experiments.tournament.config import TournamentConfig  # noqa: E402
from experiments.tournament.run import play_tournament  # noqa: E402

RELU = {"net_arch": {"pi": [24], "vf": [8, 8]}, "activation_fn": torch.nn.ReLU}
RULES = {
    "mexican_train": make_rules("mexican_train", players=2, max_pip=6),
    "chicken_foot": make_rules("chicken_foot", players=2, max_pip=6),
}
over_games = pytest.mark.parametrize("game", RULES)
OWN = '''
from dominoenv import Policy

class First(Policy):
    """The first legal action from `skip` on."""
    def __init__(self, rules, seed=0, skip=0):
        super().__init__(rules, seed)
        self.skip = skip
    def act(self, observations, masks):
        return masks.argmax(axis=1)

class Feet(First):
    games = ("chicken_foot",)

class Lazy(Policy):
    pass

def made(rules, seed=0):
    return First(rules, seed)

def nothing(rules, seed=0):
    return [rules]

number = 3
'''


def env(rules: Rules, illegal: str = "penalty") -> DominoVecEnv:
    return DominoVecEnv(rules, 2, seed=0, illegal=illegal)


def save(model: Any, path: Path) -> Path:
    model.save(path)
    return path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a maker of saved models, each made once."""
    folder, made = tmp_path_factory.mktemp("models"), {}

    def make(game: str = "mexican_train", algorithm: Any = MaskablePPO, **options: Any) -> Path:
        key = repr((game, algorithm, options))
        if key not in made:
            small = {"n_steps": 8} | ({} if algorithm is A2C else {"batch_size": 16})
            model = algorithm("MlpPolicy", env(RULES[game]), seed=1, policy_kwargs=options, **small)
            made[key] = save(model, folder / f"model{len(made)}.zip")
        return made[key]

    return make


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module that lies in the current folder."""
    (tmp_path / "own_agents_for_tests.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_agents_for_tests", raising=False)
    return "own_agents_for_tests"


def decisions(rules: Rules, number: int = 64) -> BatchedGame:
    game = BatchedGame(rules, number, seed=3)
    for _ in range(5):
        game.step(game.masks.argmax(axis=1))
    return game


def edited(path: Path, to: Path, **entries: Any) -> Path:
    """Write a copy of a file in which some entries are others."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            new.writestr(name, entries.get(name.partition(".")[0], old.read(name)))
    return to


def packed(weights: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(weights, buffer)
    return buffer.getvalue()


def weights_in(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as file:
        found: dict[str, Any] = torch.load(io.BytesIO(file.read("policy.pth")), weights_only=True)
    return found


# ---------------------------------------------------------------------- models of the other library


@over_games
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (MaskablePPO, {}),
        (MaskablePPO, RELU),
        (MaskablePPO, {"net_arch": []}),
        (MaskablePPO, {"features_extractor_class": FlattenExtractor}),
        (PPO, {"net_arch": [16, 16]}),
        (A2C, {}),
    ],
    ids=["plain", "relu", "linear", "flatten", "ppo", "a2c"],
)
def test_it_plays_what_the_model_plays(
    models: Any, game: str, algorithm: Any, options: dict[str, Any]
) -> None:
    """The same best actions as the library's own `predict`, and the same probabilities."""
    path, batch = models(game, algorithm, **options), decisions(RULES[game])
    policy, model = load_file(path, RULES[game]), algorithm.load(path, device="cpu")
    assert isinstance(policy, TrainedPolicy) and policy.deterministic
    actions = policy.act(batch.observations, batch.masks)
    assert batch.masks[np.arange(64), actions].all()
    rows = batch.layout.scaled(batch.observations)
    if algorithm is MaskablePPO:
        expected, _ = model.predict(rows, action_masks=batch.masks, deterministic=True)
        assert np.array_equal(actions, expected)
        with torch.no_grad():
            chances = model.policy.get_distribution(
                torch.as_tensor(rows), action_masks=batch.masks
            ).distribution.probs.numpy()
        assert np.allclose(policy.probabilities(rows, batch.masks), chances, atol=1e-6)
    else:
        free = np.ones_like(batch.masks)
        assert np.array_equal(policy.act(rows, free), model.predict(rows, deterministic=True)[0])
    sampling = [load_file(path, RULES[game], False, seed=seed) for seed in (1, 1, 2)]
    same, twin, other = (one.act(rows, batch.masks) for one in sampling)
    assert np.array_equal(same, twin) and not np.array_equal(same, other)


def test_rules_by_default_are_those_that_fit(models: Any, tmp_path: Path) -> None:
    for game in RULES:
        rules = make_rules(game)
        path = save(MaskablePPO("MlpPolicy", env(rules), n_steps=8), tmp_path / f"{game}.zip")
        assert load_file(path).rules == rules
    with pytest.raises(DominoError, match=r"reads .* inputs .* default rules of no game: name"):
        load_file(models("mexican_train"))
    with pytest.raises(DominoError, match=r"reads \d+ inputs .*, but Chicken Foot.* has \d+ and"):
        load_file(models("mexican_train"), RULES["chicken_foot"])


class Touch:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.path,)


def test_reading_a_model_runs_no_code(models: Any, tmp_path: Path) -> None:
    import base64

    path, mark = models("mexican_train", MaskablePPO, **RELU), tmp_path / "ran"
    with zipfile.ZipFile(path) as file:
        data = json.loads(file.read("data"))
    evil = base64.b64encode(pickle.dumps(Touch(mark))).decode()
    for value in data.values():
        if isinstance(value, dict) and ":serialized:" in value:
            value[":serialized:"] = evil
    poisoned = edited(path, tmp_path / "poisoned.zip", data=json.dumps(data))
    load_file(poisoned, RULES["mexican_train"])
    assert not mark.exists()
    with pytest.raises(TypeError):
        MaskablePPO.load(poisoned, custom_objects={"policy_class": "MlpPolicy"}, device="cpu")
    assert mark.exists()  # as the library itself would
    mark.unlink()
    worse = edited(path, tmp_path / "worse.zip", policy=packed({"x": Touch(mark)}))
    with pytest.raises(DominoError, match=r"worse\.zip is damaged"):
        load_file(worse)
    assert not mark.exists()


class Own(MaskablePPO.policy_aliases["MlpPolicy"]):  # type: ignore[misc]
    """A policy whose forward pass nobody here knows."""


class Deaf(FlattenExtractor):  # type: ignore[misc]
    """Features without weights of their own, which are not the observation."""

    def forward(self, observations: Any) -> Any:
        return super().forward(observations) * 0


@pytest.mark.parametrize(
    ("algorithm", "policy", "options", "said"),
    [
        (DQN, "MlpPolicy", {}, r"a policy of stable_baselines3\.dqn\.policies"),
        (MaskablePPO, Own, {}, r"a policy of tests\.test_references"),
        (MaskablePPO, "MlpPolicy", {"activation_fn": torch.nn.GELU}, "a network with .*GELU"),
        (MaskablePPO, "MlpPolicy", {"features_extractor_class": Deaf}, "features of .*Deaf"),
    ],
    ids=["dqn", "policy", "gelu", "extractor"],
)
def test_other_networks_are_refused(
    tmp_path: Path, algorithm: Any, policy: Any, options: dict[str, Any], said: str
) -> None:
    model = algorithm(policy, env(RULES["chicken_foot"]), policy_kwargs=options)
    path = save(model, tmp_path / "other.zip")
    with pytest.raises(DominoError, match=f"holds {said}.*write a Policy .* module:Class"):
        load_file(path, RULES["chicken_foot"])


def test_damaged_models_are_refused(models: Any, tmp_path: Path) -> None:
    path, rules = models("mexican_train"), RULES["mexican_train"]
    good = weights_in(path)
    key = "action_net.weight"
    for name, weights, said in (
        ("nan", {**good, key: torch.full_like(good[key], torch.nan)}, "not finite"),
        ("whole", {**good, key: good[key].to(torch.int64)}, "not finite"),
        ("more", {**good, "extra": torch.zeros(1)}, "other layers"),
        ("less", {k: v for k, v in good.items() if k != "value_net.bias"}, "other layers"),
        ("flat", {**good, key: good[key].ravel()}, "no layer of actions"),
        ("list", [1], "no settings and weights"),
        ("text", {**good, "value_net.bias": "x"}, "other layers"),
        ("empty", {}, "no layer of actions"),
    ):
        bad = edited(path, tmp_path / f"{name}.zip", policy=packed(weights))
        with pytest.raises(DominoError, match=said):
            load_file(bad, rules)
    for name, data in (("cut", b"{"), ("deep", b"[" * 100_000), ("array", b"[]"), ("odd", b'"x"')):
        bad = edited(path, tmp_path / f"{name}.zip", data=data)
        with pytest.raises(DominoError, match=r"damaged|no settings"):
            load_file(bad, rules)
    content = path.read_bytes()
    (tmp_path / "half.zip").write_bytes(content[: len(content) // 2])
    (tmp_path / "empty.zip").write_bytes(b"")
    for name in ("half.zip", "empty.zip", "missing.zip", "."):
        with pytest.raises(DominoError, match=r"damaged|does not exist|is a folder"):
            load_file(tmp_path / name, rules)
    where = content.index(b"mlp_extractor") + 2_000  # among the weights: stored, not compressed
    flipped = bytearray(content)
    flipped[where] ^= 1
    (tmp_path / "flipped.zip").write_bytes(flipped)
    with pytest.raises(DominoError, match="damaged"):
        load_file(tmp_path / "flipped.zip", rules)


def test_files_that_unpack_to_too_much_are_refused(
    models: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sb3_models, "LIMIT", 1 << 20)
    rules, path = RULES["mexican_train"], models("mexican_train")
    load_file(path, rules)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr("data", old.read("data"))
        new.writestr("policy.pth", bytes(1 << 21))
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(DominoError, match="larger than 1,048,576 bytes"):
        load_file(bomb, rules)


# --------------------------------------------------------------------------------- classes by name


def test_targets(own: str) -> None:
    rules = RULES["mexican_train"]
    first = make_from(f"{own}:First", rules, seed=3, skip=1)
    assert isinstance(first, Policy) and first.skip == 1
    assert isinstance(find_policy(f"{own}:made", rules), Policy)
    assert sys.path[-1] == str(Path.cwd()) and own in sys.modules
    assert references.plays(f"{own}:First", "mexican_train")
    assert not references.plays(f"{own}:Feet", "mexican_train")
    assert references.source_of(f"{own}:First") == OWN.encode()


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{own}", "must look like my_agents:MyPolicy"),
        ("{own}:", "must look like"),
        (":First", "must look like"),
        ("{own}:First.act", "must look like"),
        ("../{own}:First", "must look like"),
        ("{own}.py:First", r"there is no module '\w+\.py'"),
        ("no_such_module_at_all:First", "there is no module 'no_such_module_at_all'"),
        ("{own}.inner:First", "there is no module"),
        ("{own}:Fist", "did you mean 'First'"),
        ("{own}:number", "is a int: it must be a subclass of Policy"),
        ("{own}:nothing", "makes a list: it must make a"),
        ("{own}:Lazy", "has no method `act`"),
        ("{own}:Feet", "does not play mexican_train"),
        ("broken_for_tests:First", "cannot be imported: ZeroDivisionError"),
        ("lacking_for_tests:First", "cannot be imported: ModuleNotFoundError.*no_such_library"),
    ],
)
def test_targets_that_lead_nowhere(own: str, target: str, said: str) -> None:
    Path("broken_for_tests.py").write_text("1 / 0")
    Path("lacking_for_tests.py").write_text("import no_such_library")
    with pytest.raises(DominoError, match=said):
        make_from(target.format(own=own), RULES["mexican_train"])


def test_parameters_that_a_class_does_not_take(own: str) -> None:
    with pytest.raises(DominoError, match="unexpected keyword argument 'weight'"):
        make_from(f"{own}:First", RULES["mexican_train"], weight=3)


def test_references_on_a_command_line(models: Any, own: str) -> None:
    rules = RULES["mexican_train"]
    assert isinstance(find_policy(str(models("mexican_train")), rules), TrainedPolicy)
    assert find_policy("heaviest", rules).name == "heaviest"
    Path("heaviest").mkdir()  # a name stays a name
    assert find_policy("heaviest", rules).name == "heaviest"
    for reference, said in (
        ("heavest", "did you mean 'heaviest'"),
        ("nope.pt", "does not exist"),
        ("nope.zip", "does not exist"),
        (".", "is a folder"),
        ("C:\\model", "must look like"),
    ):
        with pytest.raises(DominoError, match=said):
            find_policy(reference, rules)
    with pytest.raises(DominoError, match="name the game"):
        find_policy("heaviest")


# ----------------------------------------------------------------------------------- who uses them


def test_evaluate_takes_any_reference(
    models: Any, own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, rules = str(models("mexican_train")), ["--rules", "players=2", "max_pip=6"]
    more = ["--deals", "4", "--opponents", f"random,{model}", "--json", str(tmp_path / "a.json")]
    for reference, label in ((model, "trained"), (f"{own}:First", "First"), ("lightest",) * 2):
        evaluate.main([reference, *rules, *more])
        content = json.loads((tmp_path / "a.json").read_text())
        assert content["rules"]["players"] == 2 and content["rules"]["max_pip"] == 6
        assert content["rows"][0]["agent"] == label
        assert content["rows"][1]["opponent"] == model
    with pytest.raises(DominoError, match="options are written name=value"):
        evaluate.main([model, "--rules", "players"])
    with pytest.raises(DominoError, match="name the rules"):
        evaluate.main([model])


def tournament(*agents: Any, **more: Any) -> TournamentConfig:
    data = {
        "name": "t",
        "game": "mexican_train",
        "rules": {"players": 2, "max_pip": 6},
        "agents": agents,
        "pair_deals": 4,
        **more,
    }
    return check_config(data, "test", TournamentConfig)


def test_tournaments_take_models_and_classes(models: Any, own: str, tmp_path: Path) -> None:
    path = models("mexican_train")
    config = tournament(
        "random",
        {"kind": "sb3", "path": str(path)},
        {"kind": "python", "target": f"{own}:First", "parameters": {"skip": 1}},
        {"kind": "python", "target": f"{own}:First", "label": "plain"},
    )
    assert config.titles == ("random", path.stem, "First(skip=1)", "plain")
    played = play_tournament(config, tmp_path / "runs", jobs=1)
    assert len(played.agents) == 4 and played.games.decisions.sum() > 0
    before = config.agents[2].identity()
    module = Path(f"{own}.py")
    module.write_text(module.read_text() + "\n")
    assert config.agents[2].identity() != before  # its games are played anew
    again = check_config(config.resolved(), "again", TournamentConfig)
    assert again.agents == config.agents


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ({"kind": "sb3", "path": "nope.zip"}, "'nope.zip' does not exist"),
        ({"kind": "python", "target": "nope:Nothing"}, "there is no module 'nope'"),
        ({"kind": "python", "target": "nope"}, "must look like"),
    ],
)
def test_agents_that_do_not_exist(
    own: str, tmp_path: Path, agent: dict[str, Any], said: str
) -> None:
    with pytest.raises(DominoError, match=said):
        play_tournament(tournament("random", agent), tmp_path / "runs", jobs=1)


def test_keys_of_an_agent_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"unknown key 'agents\.1\.targt'"):
        tournament("random", {"kind": "python", "target": "a:B", "targt": "a:B"})
    with pytest.raises(ConfigError, match=r"agents\.1\.kind='pickle' is not known; .*'sb3'"):
        tournament("random", {"kind": "pickle", "path": "x"})
    with pytest.raises(ConfigError, match=r"key 'agents\.1\.path' is missing"):
        tournament("random", {"kind": "sb3"})


def test_training_takes_models_and_classes_as_opponents(models: Any, own: str) -> None:
    opponents = [
        {"kind": "sb3", "path": str(models("mexican_train")), "weight": 2},
        {"kind": "python", "target": f"{own}:First", "parameters": {"skip": 2}},
    ]
    data = {
        "name": "t",
        "game": "mexican_train",
        "rules": {"players": 2, "max_pip": 6},
        "environment": {"opponents": opponents},
        "ppo": {"decisions": 1000},
    }
    first, second = ppo.make_pool(check_config(data, "test", Config)).members
    assert isinstance(first.policy, TrainedPolicy) and not first.policy.deterministic
    assert (first.weight, second.weight) == (2, 1) and second.policy.skip == 2


@pytest.mark.parametrize("place", ["file/rows.json", "."])
def test_a_place_that_cannot_be_written_is_named_before_anything_is_played(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(evaluate, "evaluate", None)  # would be called
    arguments = ["heaviest", "--game", "chicken_foot", "--json", str(tmp_path / place)]
    assert exit_status(lambda: evaluate.main(arguments)) == WRONG_USE
    assert capsys.readouterr().err.startswith(f"error: cannot write {str(tmp_path / place)!r}: ")
    assert not list(tmp_path.glob("file/*"))


def test_the_folder_of_the_rows_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "rows.json"
    rules = ["max_pip=6", "players=2", "hand_size=3"]
    asked = ["heaviest", "--game", "chicken_foot", "--rules", *rules, "--deals", "2"]
    evaluate.main([*asked, "--opponents", "random", "--json", str(path)])
    assert json.loads(path.read_text("utf-8"))["rows"]
