"""Configs as text: YAML 1.2 in files and overrides; what is written reads back; nothing hangs."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dominoenv import DominoError
from experiments.config import Config, ConfigError, Experiment, check_config, load_config
from experiments.shipped import command_for
from experiments.study import StudyConfig
from experiments.tournament import TournamentConfig
from experiments.yaml_text import MAX_DEPTH, MAX_VALUES, TextError, dump_yaml, parse_yaml

CONFIGS = Path(__file__).resolve().parent.parent / "configs"
KINDS: dict[str, type[Experiment]] = {
    model.command: model for model in (Config, TournamentConfig, StudyConfig)
}
FILES = sorted(CONFIGS.glob("*.yaml"))
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in FILES}
QUICK = {
    "train": CONFIGS / "quickstart.yaml",
    "tournament": CONFIGS / "tournament_quick.yaml",
    "study": CONFIGS / "study_quick.yaml",
}


def kind_of(name: str) -> type[Experiment]:
    return KINDS[str(command_for(parse_yaml(TEXTS[name])))]


# ------------------------------------------------------------------------------- the core schema

PLAIN: dict[str, Any] = {
    "010": 10,
    "050": 50,
    "-08": -8,
    "+12": 12,
    "0o17": 15,
    "0x1F": 31,
    "0b11": "0b11",
    "1:30": "1:30",
    "190:20:30": "190:20:30",
    "1_000": 1000,
    "1_0.5": 10.5,
    "1__0": "1__0",
    "1_": "1_",
    "1e3": 1000,
    "1e-4": 0.0001,
    "1.5E+3": 1500.0,
    ".5": 0.5,
    "1.": 1.0,
    "1e400": math.inf,
    "-.inf": -math.inf,
    "yes": "yes",
    "No": "No",
    "on": "on",
    "OFF": "OFF",
    "y": "y",
    "true": True,
    "FALSE": False,
    "~": None,
    "null": None,
    "": None,
    "2001-01-01": "2001-01-01",
    "2001-99-99": "2001-99-99",
    "=": "=",
    "'010'": "010",
    '"1e3"': "1e3",
    "|\n  12": "12",
    "\ufeff7": 7,
}


@pytest.mark.parametrize("text", PLAIN)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str) -> None:
    value = parse_yaml(text)
    assert value == PLAIN[text] and type(value) is type(PLAIN[text])


@pytest.mark.parametrize("command", KINDS)
@pytest.mark.parametrize("text", ["010", "1_0", "1e1", "0xA"])
def test_a_number_is_the_same_in_files_and_overrides(
    tmp_path: Path, command: str, text: str
) -> None:
    model = KINDS[command]
    path = tmp_path / "one.yaml"
    path.write_text(QUICK[command].read_text().replace("seed: 1", f"seed: {text}"))
    assert load_config(path, (), model).seed == 10
    assert load_config(QUICK[command], [f"seed={text}"], model).seed == 10


def test_numbers_of_yaml_1_1_are_decimal_or_refused() -> None:
    overrides = ["rules.double_blank=050", "network.hidden=[0256,256]", "ppo.decisions=200_000"]
    config = load_config(QUICK["train"], overrides)
    assert config.make_rules().double_blank == 50
    assert config.network.hidden == (256, 256)
    assert config.ppo.decisions == 200_000
    with pytest.raises(ConfigError, match="learning_rate='1:30': should be a valid number"):
        load_config(QUICK["train"], ["ppo.learning_rate=1:30"])
    with pytest.raises(ConfigError, match="seed='1:30': should be a valid integer"):
        load_config(QUICK["study"], ["seed=1:30"], StudyConfig)


def test_an_alias_gives_a_copy_and_a_later_anchor_replaces_an_earlier_one() -> None:
    assert parse_yaml("[&a [1], *a, &a 2, *a]") == [[1], [1], 2, 2]
    data = parse_yaml("{a: &a {b: 1}, c: *a}")
    data["a"]["b"] = 2
    assert data["c"] == {"b": 1}


# ---------------------------------------------------------------------------- refused, and at once

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)
REFUSED = {
    "a: 1\na: 2": "line 2: not YAML: key 'a' is given twice",
    "{'a': 1, a: 2}": "key 'a' is given twice",
    "2: 1": "key 2 must be a name",
    "[1]: 2": "key [1] must be a name",
    "foo: !!int abc": "tags such as '!!int' are not read",
    "!!python/object:os.system x": "tags such as",
    "! 1": "tags such as '!'",
    "&a [*a]": f"nested more than {MAX_DEPTH} deep",
    "[" * 3_000: f"nested more than {MAX_DEPTH} deep",
    "- " * 3_000: f"nested more than {MAX_DEPTH} deep",
    "{a: " * 3_000: f"nested more than {MAX_DEPTH} deep",
    "? " * 3_000: f"nested more than {MAX_DEPTH} deep",
    BOMB: f"more than {MAX_VALUES:,} values",
    "[" + "1," * MAX_VALUES + "]": f"more than {MAX_VALUES:,} values",
    "x" * 200_000: "more than 100,000 characters",
    "9" * 5_000: "a number may have 100 characters, this has 5000",
    "1." + "9" * 5_000: "a number may have 100 characters",
    "{<<: {a: 1}}": "merge keys (<<) are not read",
    "*a": "undefined alias 'a'",
    "*" + "a" * 50_000: "undefined alias",
    "--- 1\n--- 2": "expected a single document",
    "%YAML 2.0\n--- 1": "incompatible YAML document",
    "%YAML 1." + "9" * 5_000 + "\n--- 1": "too large",
    r'"\UFFFFFFFF"': "too large",
    r'"\ud800"': "half of a surrogate pair",
    "\ud800": "not YAML: unacceptable character",
    "a: \x07": "not YAML: unacceptable character",
    "\t- 1": "cannot start any token",
    "a: [": "not YAML",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(TextError) as caught:
        parse_yaml(text)
    assert REFUSED[text] in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize("command", KINDS)
def test_a_file_is_refused_by_its_name(tmp_path: Path, command: str) -> None:
    path = tmp_path / "bad.yaml"
    for content in (b"foo: !!int abc", BOMB.encode(), b"\xff", b"\0" * 300_000, b"seed: &a [*a]"):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=r"bad\.yaml"):
            load_config(path, (), KINDS[command])
    for odd in ("a\0b", "x" * 5_000, str(tmp_path), f"{QUICK[command]}/x"):
        with pytest.raises(ConfigError, match=r"does not exist|cannot be read"):
            load_config(odd, (), KINDS[command])


OVERRIDES = {
    "environment.opponents.².weight=1": "'²' must be an index 0 ... 1 of the list",
    "environment.opponents.-1.weight=1": "'-1' must be an index",
    "environment.opponents.00.weight=1": "'00' must be an index",
    "environment.opponents." + "9" * 5_000 + "=1": "must be an index",
    "a." * 5_000 + "b=1": f"no key lies deeper than {MAX_DEPTH}",
    "foo=" + "x" * 5_000: "unknown key 'foo'",
    "seed=" + "9" * 5_000: "a number may have 100 characters",
    "seed=&a [*a]": "nested more than",
    "seed=!!int abc": "tags such as '!!int'",
    "name=2001": "name=2001: should be a valid string; quotes make it text",
    "rules.max_pip=" + "9" * 99: "must lie in",
    "ppo.steps=1e15": "less than or equal to",
    "environment.games=1000000000": "less than or equal to",
    "network.hidden=[100000]": "less than or equal to",
    "ppo.clip=1e400": "should be a finite number",
    "opponents.0.policy=random": "unknown key 'opponents'; did you mean 'environment.opponents' or",
    "learning_rate=1": "unknown key 'learning_rate'; did you mean 'ppo.learning_rate'?",
    "environment.opponents.0={kind: snapshots, policy: random}": "opponents.0.policy'; known: kind",
    "environment.opponents.0.parameters={a: .inf}": "'a' should be a finite number",
    "rules.dead_double=" + "x" * 5_000: "known: released, binds",
    "rules.preset=" + "x" * 5_000: "known: engine, station",
    "x" * 5_000 + "=1": "known: name, seed",
}


@pytest.mark.parametrize("override", OVERRIDES, ids=range(len(OVERRIDES)))
def test_an_override_is_refused_in_one_line(override: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(QUICK["train"], [override])
    assert OVERRIDES[override] in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_the_grid_of_a_study_is_bounded_before_it_is_built() -> None:
    grid = {name: list(range(10)) for name in "abcdefghi"}
    with pytest.raises(ConfigError, match="make more than 500 cells"):
        load_config(QUICK["study"], [f"cells=[{{rules: {grid}}}]"], StudyConfig)


# ----------------------------------------------------------------------------- written, read back

ODD_TEXTS = [
    *["3e-4", "010", "1_000", "0o7", "yes", "null", "~", "<<", "=", "1:30", "2001-01-01", ".inf"],
    *[" a", "a ", "a: b", "#", "a #b", "- a", "'", '"', "\n", "a\n b", "\t", "&a", "*a", "!a", "%"],
    *["\x85", "\u2028", "\ufeff", "---", "...", "[", "{", "|", ">", "?", "\0", "\x1b[0m", "é😀"],
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(ODD_TEXTS)
NUMBER = (
    st.integers(-(10**50), 10**50)
    | st.floats(allow_nan=False)
    | st.sampled_from([0, -0.0, 1e16, 1e-7, 5e-324, 1.7976931348623157e308, 2**53, 0.1])
)
SCALAR = TEXT | NUMBER | st.booleans() | st.none()
DATA = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(DATA)
def test_what_is_written_reads_back_the_same_under_yaml_1_2_and_1_1(data: Any) -> None:
    text = dump_yaml(data)
    assert repr(parse_yaml(text)) == repr(data)
    assert repr(yaml.safe_load(text)) == repr(data)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in some plain data that is no dict or list."""
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from leaves(data[key], (*path, key))
    else:
        yield path


def put(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(data)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


CHECKPOINT = {"kind": "checkpoint", "path": "runs/a/checkpoint.pt"}
BASELINE = {"kind": "baseline", "policy": "random", "parameters": {"a": 1}}
EXTRAS: dict[str, list[str]] = {  # keys that hold text, beside those of the shipped configs
    "train": [f"environment.opponents=[{CHECKPOINT}, {BASELINE}]"],
    "tournament": [f"agents=[{CHECKPOINT}, {BASELINE | {'label': 'b'}}, heaviest]"],
    "study": [f"agents=[{CHECKPOINT}, {BASELINE | {'label': 'b'}}]", "cells.0.label=c"],
}
FULL = {
    command: load_config(QUICK[command], EXTRAS[command], KINDS[command]).resolved()
    for command in KINDS
}


def assert_reads_back(config: Experiment) -> None:
    text = config.to_yaml()
    again = check_config(parse_yaml(text), "again", type(config))
    assert again.resolved() == config.resolved()
    assert again.to_yaml() == text
    assert again.make_rules() == config.make_rules()


def reads_back_or_is_refused(load: Callable[[], Experiment]) -> bool:
    """Return whether a config is accepted; a mistake must be one sentence."""
    try:
        config = load()
    except DominoError as error:
        message = str(error)
    else:
        assert_reads_back(config)
        return True
    assert "\n" not in message and len(message) < 1_500, message[:2_000]
    return False


@pytest.mark.parametrize("command", KINDS)
def test_any_text_and_number_in_any_field_reads_back(command: str) -> None:
    full, accepted = FULL[command], set()

    @settings(max_examples=200, deadline=None, derandomize=True)
    @given(st.sampled_from(list(leaves(full))), SCALAR)
    def check(path: tuple[Any, ...], value: Any) -> None:
        changed = put(full, path, value)
        if reads_back_or_is_refused(lambda: check_config(changed, "here", KINDS[command])):
            accepted.add(path)

    check()
    assert len(accepted) > 5


TEXT_FIELDS = {
    "train": ["environment.opponents.0.path", "environment.opponents.1.parameters.a"],
    "tournament": ["agents.0.path", "agents.0.label", "agents.1.parameters.a", "agents.1.label"],
    "study": ["agents.0.path", "agents.0.label", "cells.0.label"],
}
FIELDS = [(command, key) for command, keys in TEXT_FIELDS.items() for key in ["name", *keys]]


@pytest.mark.parametrize(("command", "key"), FIELDS)
def test_any_text_in_a_text_field_reads_back_from_an_override(command: str, key: str) -> None:
    at = tuple(int(name) if name.isdigit() else name for name in key.split("."))
    texts = TEXT
    if key == "name":
        texts = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]*", fullmatch=True)
        texts = texts | st.sampled_from(["3e-4", "010", "1_000", "0x10", "null", "true", "1."])
    elif at[-1] == "label":
        texts = TEXT.filter(lambda text: text == text.strip() != "" and not {*text} & {*"|\n"})

    @settings(max_examples=30, deadline=None, derandomize=True)
    @given(texts)
    def check(text: str) -> None:
        override = f"{key}={dump_yaml(text)}"
        config = load_config(QUICK[command], [*EXTRAS[command], override], KINDS[command])
        assert get(config.resolved(), at) == text
        assert_reads_back(config)

    check()


def get(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


# --------------------------------------------------------------------------------- damaged configs

JUNK = [
    *[b"[", b"]", b"{", b"}", b":", b": ", b"- ", b"? ", b"&a ", b"*a", b"!!int ", b"!", b"|"],
    *[b">", b"#", b"'", b'"', b"%YAML 9", b"---\n", b"...", b"\t", b"\n", b" ", b",", b"<<: "],
    *[b"\0", b"\xff", b"\xc2\xb2", b"\xe2\x80\xa8", b"2001-99-99", b"1:30", b"9" * 200, b".nan"],
    *[b"true", b"-1", b"1e400", b"null", b"999999999999", b"~"],
]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return a text with a few bytes flipped, cut out, doubled, swapped or put in."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted(rng.randint(0, len(content)) for _ in range(2))
        b = min(b, a + rng.choice([1, 3, 30, 1000]))
        middle: list[Callable[[], bytes]] = [
            lambda: b"",
            lambda a=a, b=b, text=content: text[a:b] * rng.choice([2, 3, 40]),
            lambda: rng.choice(JUNK),
            lambda: rng.choice(JUNK) * rng.choice([2, 40, 3_000]),
            lambda: bytes([rng.randrange(256)]),
            lambda a=a, b=b, text=content: text[a:b][::-1],
        ]
        content = content[:a] + rng.choice(middle)() + content[b:]
    return content


VALUES: list[Any] = [
    *[None, True, -1, 0, 1, 2, 10**6, 10**12, 10**30, 0.5, -0.0, 1e-300, 1e300, math.inf, math.nan],
    *["", "x", "3e-4", "²", "\n", "\0", "a|b", "é" * 200, "x" * 2_000, "random", "heaviest", "all"],
    *[[], [[]], {}, [1], [1, 2, 3], ["a"], {"a": 1}, {"kind": "snapshots"}, [None], {"": None}],
    *[list(range(60)), {"players": [2, 3]}, [[]] * 60, {str(i): [1] * 9 for i in range(9)}],
]


def nodes(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in some plain data but the whole."""
    for key in data if isinstance(data, dict) else range(len(data)):
        yield (*path, key)
        if isinstance(data[key], dict | list):
            yield from nodes(data[key], (*path, key))


def rearranged(data: Any, rng: random.Random) -> Any:
    """Return plain data with a few values replaced, removed, exchanged or added."""
    data = copy.deepcopy(data)
    for _ in range(rng.randint(1, 3)):
        paths = list(nodes(data))
        if not paths:
            break
        *parents, key = rng.choice(paths)
        node = get(data, tuple(parents))
        what = rng.randrange(5)
        if what == 0:
            del node[key]
        elif what == 1:
            node[key] = copy.deepcopy(get(data, rng.choice(paths)))
        elif what == 2 and isinstance(node, dict):
            node[rng.choice(["x", "kind", "policy", "label", "weight", "²", "", "a.b"])] = 1
        elif what == 3 and isinstance(node, list):
            node.extend(copy.deepcopy(node) * rng.choice([1, 5]))
        else:
            node[key] = copy.deepcopy(rng.choice(VALUES))
    return data


CASES = 2_000 // len(FILES)


@pytest.mark.parametrize("name", TEXTS)
def test_a_damaged_config_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    rng, path = random.Random(name), tmp_path / f"{name}.yaml"
    original, data = TEXTS[name].encode(), parse_yaml(TEXTS[name])
    for case in range(CASES):
        is_text = case % 2
        content = damaged(original, rng) if is_text else dump_yaml(rearranged(data, rng)).encode()
        path.write_bytes(content)
        reads_back_or_is_refused(lambda: load_config(path, (), kind_of(name)))
