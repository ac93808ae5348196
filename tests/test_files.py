"""Files that are read back: sealed, bounded, private where they hold code, written atomically."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import stat
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("choix")

import torch

from dominoenv import CheckpointError, DominoError, make_policy, make_rules
from dominoenv.core import container, files
from dominoenv.core.cache import KERNEL
from dominoenv.core.container import FileKind, read_container, write_container
from dominoenv.core.files import SUFFIX, read_bounded, write_atomically
from dominoenv.opponents import trained
from dominoenv.opponents.snapshot import Snapshot
from dominoenv.opponents.trained import (
    CHECKPOINT,
    load_policy,
    make_network,
    read_checkpoint,
    save_checkpoint,
)
from experiments.tournament.run import play_block
from experiments.tournament.store import BLOCK
from tests.damage import MAKERS, Victim, block_of, damage, flat

ANY = FileKind("test", version=3, limit=10_000)
POSIX = pytest.mark.skipif(os.name != "posix", reason="files have owners and locks on POSIX")
MIB = 1 << 20


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Victim]]:
    threads, numpy_state = torch.get_num_threads(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        yield {name: make(tmp_path_factory.mktemp(name)) for name, make in MAKERS.items()}
    torch.set_num_threads(threads)
    np.random.set_state(numpy_state)


@pytest.mark.parametrize("name", MAKERS)
def test_a_damaged_file_is_refused(name: str, victims: dict[str, Victim]) -> None:
    assert damage(victims[name], flips=150, cuts=40, seed=1) == 0


@pytest.mark.parametrize("name", MAKERS)
def test_files_of_one_kind_are_none_of_another(name: str, victims: dict[str, Victim]) -> None:
    victim = victims[name]
    whole = victim.path.read_bytes()
    for other in victims.values():
        if other is not victim:
            victim.path.write_bytes(other.path.read_bytes())
            assert refuses(victim)
    victim.path.write_bytes(whole + b"\0")
    assert refuses(victim)
    victim.path.write_bytes(whole)
    assert not refuses(victim)


def refuses(victim: Victim) -> bool:
    try:
        return victim.read() is None
    except CheckpointError:
        return True


# ------------------------------------------------------------------------------------ the container

CONTENTS = [
    {},
    [],
    None,
    "text €",
    {"a": [1, -2.5, True, None, {"b": "c"}], "": 10**39},
    np.arange(6, dtype=np.uint8),
    {"scalar": np.array(2.5, np.float32), "empty": np.zeros((0, 3), np.int64)},
    [np.arange(6).reshape(2, 3).T, np.arange(3, dtype=">i4"), np.eye(2)[::-1]],
]


@pytest.mark.parametrize("content", CONTENTS, ids=str)
@pytest.mark.parametrize("compressed", [False, True])
def test_what_is_written_is_read(content: Any, compressed: bool, tmp_path: Path) -> None:
    kind = dataclasses.replace(ANY, compressed=compressed)
    path = tmp_path / "folder" / "file"
    write_container(path, kind, content)
    found = read_container(path, kind)

    assert flat(found) == flat(content)
    assert [name.name for name in path.parent.iterdir()] == ["file"]
    assert path.read_bytes().startswith(b"dominoenv test 3\n")
    if isinstance(found, np.ndarray):
        assert found.flags.writeable and found.flags.owndata


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (np.array([1.0, np.nan]), "not finite"),
        ({"a": np.array([np.inf], np.float32)}, "not finite"),
        (np.array([1j]), "complex128 cannot be kept"),
        (np.array(["a"]), "cannot be kept"),
        (np.array([True]), "cannot be kept"),
        (np.array([None]), "cannot be kept"),
        (object(), "cannot be kept"),
        (float("nan"), "not JSON compliant"),
        ({(1, 2): 3}, "keys must be"),
        (np.zeros(10_000), "80,.* bytes, and a test may have 10,000"),
        ("x" * (1 << 22), "of text"),
    ],
)
def test_what_would_not_be_read_is_not_written(content: Any, reason: str, tmp_path: Path) -> None:
    write_container(tmp_path / "file", ANY, 1)
    with pytest.raises(CheckpointError, match=f"file cannot be written: .*{reason}"):
        write_container(tmp_path / "file", ANY, content)
    assert read_container(tmp_path / "file", ANY) == 1


def forge(path: Path, kind: FileKind, body: bytes) -> None:
    """Write a file whose digest is right, whatever it holds."""
    path.write_bytes(kind.line + container._digest(path, kind, body) + body)


def sized(text: str, rest: bytes = b"") -> bytes:
    return len(text.encode()).to_bytes(4, "little") + text.encode() + rest


BODIES = {
    "empty": b"",
    "long text": (5000).to_bytes(4, "little") + b"{}",
    "no JSON": sized("{"),
    "not UTF-8": b"\1\0\0\0\xff",
    "left over": sized("{}", b"1234"),
    "too few bytes": sized('{"__array__": ["<f4", [3]]}', b"12345678"),
    "huge": sized('{"__array__": ["<f4", [1000000000000]]}'),
    "huger": sized(f'{{"__array__": ["|u1", [{"9" * 39}]]}}'),
    "overflowing": sized('{"__array__": ["<f8", [4294967296, 4294967296, 0]]}'),
    "negative": sized('{"__array__": ["<f4", [-1]]}', b"1234"),
    "fraction": sized('{"__array__": ["<f4", [1.0]]}', b"1234"),
    "bool": sized('{"__array__": ["<f4", [true]]}', b"1234"),
    "no shape": sized('{"__array__": ["<f4", 1]}', b"1234"),
    "no dtype": sized('{"__array__": [["<f4"], [1]]}', b"1234"),
    "nothing": sized('{"__array__": null}'),
    "pairs": sized('{"__array__": ["<f4", [1], 2]}', b"1234"),
    "complex": sized('{"__array__": ["<c8", [1]]}', b"12345678"),
    "objects": sized('{"__array__": ["|O", [1]]}', b"12345678"),
    "text": sized('{"__array__": ["<U1", [1]]}', b"1234"),
    "record": sized('{"__array__": ["<f4,<f4", [1]]}', b"12345678"),
    "dimensions": sized(f'{{"__array__": ["|u1", [{", ".join("1" * 70)}]]}}', b"1"),
    "NaN": sized('{"__array__": ["<f4", [1]]}', np.float32("nan").tobytes()),
    "infinity": sized('{"__array__": ["<f8", [1]]}', np.float64("-inf").tobytes()),
    "JSON NaN": sized("NaN"),
    "JSON infinity": sized("[-Infinity]"),
    "1e999": sized("1e999"),
    "5,000 digits": sized("9" * 5000),
    "41 digits": sized("9" * 41),
    "brackets": sized("[" * 9000),
}


@pytest.mark.parametrize("name", BODIES)
def test_forged_content_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    forge(path, ANY, BODIES[name])
    with pytest.raises(CheckpointError, match="file is damaged, or not a test of dominoenv"):
        read_container(path, ANY)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_container(path, dataclasses.replace(ANY, version=12), {})
    with pytest.raises(CheckpointError, match=r"has version 12 .* reads version 3: make it anew"):
        read_container(path, ANY)
    for content in (
        b"",
        b"PK\3\4",
        b"dominoenv test 3",
        ANY.line,
        b"dominoenv test x\n" + bytes(99),
    ):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match="damaged, or not a test"):
            read_container(path, ANY)
    for nothing in (tmp_path, tmp_path / "missing", Path("a\0b"), path / "below", Path(os.devnull)):
        with pytest.raises(CheckpointError, match="cannot be read"):
            read_container(nothing, ANY)
    path.write_bytes(bytes(ANY.limit + 200))
    with pytest.raises(CheckpointError, match="cannot be read: larger than 10,"):
        read_container(path, ANY)


def test_a_named_file_is_valid_under_its_name_alone(tmp_path: Path) -> None:
    kind = dataclasses.replace(ANY, named=True)
    write_container(tmp_path / "a", kind, {})
    (tmp_path / "a").rename(tmp_path / "b")
    with pytest.raises(CheckpointError, match="damaged"):
        read_container(tmp_path / "b", kind)


def peak(function: Callable[[], Any]) -> int:
    """Return the bytes that a call takes at most."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_compressed_file_cannot_take_more_than_its_limit(tmp_path: Path) -> None:
    kind = dataclasses.replace(ANY, compressed=True, limit=100_000)
    bomb, size = tmp_path / "bomb", 64 * MIB
    text = f'{{"__array__": ["|u1", [{size}]]}}'
    forge(bomb, kind, zlib.compress(sized(text, bytes(size)), 9))
    forge(tmp_path / "cut", kind, zlib.compress(sized("{}"))[:-1])
    forge(tmp_path / "more", kind, zlib.compress(sized("{}")) + b"1")

    def read() -> None:
        for name in ("bomb", "cut", "more"):
            with pytest.raises(CheckpointError, match="damaged"):
                read_container(tmp_path / name, kind)

    assert bomb.stat().st_size < 70_000
    assert peak(read) < MIB


# ------------------------------------------------------------------------------------- checkpoints

RULES = make_rules("chicken_foot", players=3, max_pip=6)
ACTIONS = make_policy("random", RULES).num_actions
NETWORK: dict[str, Any] = {"hidden": [4, 3], "activation": "relu"}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "checkpoint.pt"
    save_checkpoint(path, RULES, NETWORK, make_network(RULES, NETWORK).state_dict())
    return path


@pytest.mark.parametrize(
    "changed",
    [
        {"network": {"hidden": [20_000] * 3, "activation": "relu"}},
        {"network": {"hidden": [10**30], "activation": "relu"}},
        {"network": {"hidden": [], "activation": "relu"}},
        {"network": {"hidden": [4, 3, 1], "activation": "relu"}},
        {"network": {"hidden": [4], "activation": "relu"}},
        {"network": {"hidden": [1] * 101, "activation": "relu"}},
        {"network": {"hidden": "43", "activation": "relu"}},
        {"network": {"hidden": [4.0, 3.5], "activation": "relu"}},
        {"network": {"hidden": [4, 3], "activation": ["relu"]}},
        {"network": {"hidden": [4, 3], "activation": "gelu"}},
        {"network": []},
        {"weights": [1]},
        {"weights": {}},
        {"weights": {"1": np.zeros(3, np.float32)}},
        {"weights": "weights"},
        {"rules": {"game": "chess"}},
        {"rules": {"game": "chicken_foot", "players": 4, "max_pip": 6}},
        {"rules": {"game": "chicken_foot", "players": "3"}},
        {"rules": [1, 2]},
        {"layout": 10**30},
    ],
    ids=str,
)
def test_a_checkpoint_that_says_too_much_builds_nothing(
    changed: dict[str, Any], saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "checkpoint.pt"
    write_container(path, CHECKPOINT, {**read_checkpoint(saved), **changed})
    sizes: list[list[int]] = []

    def small(rules: Any, network: dict[str, Any]) -> Any:
        sizes.append(network["hidden"])
        return make_network(rules, network)

    monkeypatch.setattr(trained, "make_network", small)
    with pytest.raises(CheckpointError):
        load_policy(path)
    assert all(max(hidden, default=0) < 5 for hidden in sizes)


def test_layers_of_no_width_do_not_make_up_for_large_ones(saved: Path, tmp_path: Path) -> None:
    """Arrays of shape (20000, 0) take no bytes, and a network of such layers 1.6 GB."""
    content = read_checkpoint(saved)
    for name in ("policy_net", "value_net"):
        for number in (0, 2, 4):
            key = f"mlp_extractor.{name}.{number}.weight"
            content["weights"][key] = np.zeros((20_000, 0), np.float32)
    content["network"]["hidden"] = [20_000] * 3
    write_container(tmp_path / "checkpoint.pt", CHECKPOINT, content)
    with pytest.raises(CheckpointError, match="has the shape"):
        load_policy(tmp_path / "checkpoint.pt")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1j])
def test_weights_that_are_no_numbers_are_not_saved(value: complex, tmp_path: Path) -> None:
    weights = make_network(RULES, NETWORK).state_dict()
    key = "action_net.bias"
    one = torch.full(weights[key].shape, value)
    with pytest.raises(CheckpointError, match=r"diverged|complex64 cannot be kept"):
        save_checkpoint(tmp_path / "checkpoint.pt", RULES, NETWORK, {**weights, key: one})
    assert not (tmp_path / "checkpoint.pt").exists()
    size = make_policy("random", RULES).layout.size
    layers = [(np.zeros((size, ACTIONS)), np.full(ACTIONS, value))]
    with pytest.raises(DominoError, match=r"finite|pairs of arrays of numbers"):
        Snapshot(RULES, layers)


def test_weights_of_another_precision_are_refused(saved: Path, tmp_path: Path) -> None:
    """1e300 is finite, and infinite as float32."""
    content = read_checkpoint(saved)
    for dtype in (np.float64, np.int32):
        content["weights"]["action_net.bias"] = np.full(ACTIONS, 1e9).astype(dtype)
        write_container(tmp_path / "checkpoint.pt", CHECKPOINT, content)
        with pytest.raises(CheckpointError, match="float32"):
            load_policy(tmp_path / "checkpoint.pt")


def test_files_of_torch_are_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    torch.save({"format": "dominoenv checkpoint", "version": 1}, path)
    with pytest.raises(CheckpointError, match=r"torch wrote it, or dominoenv 0\.1\.0; train again"):
        read_checkpoint(path)


def leaves(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    parts = content.items() if isinstance(content, dict) else ()
    if isinstance(content, list):
        parts = enumerate(content[:4])
    for key, value in parts:
        yield from leaves(value, (*path, key))


def replaced(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    key, *rest = path
    copy = content.copy()
    copy[key] = replaced(content[key], tuple(rest), value)
    return copy


JUNK = [None, -1, 0, 10**30, 1e308, "", "x", [], {}, [1, 2], {"a": 1}, True]
JUNK += [np.zeros(0), np.full((2, 3), -1.0, np.float32), np.array(7)]


def test_forged_training_states_are_refused_or_complete(victims: dict[str, Victim]) -> None:
    """Each part of a checkpoint in turn is something else; also the text of the environment."""
    victim = victims["checkpoint"]
    whole, content = victim.path.read_bytes(), read_checkpoint(victim.path)
    text = json.loads(content["training"]["env"]["text"])
    rng = random.Random(1)
    refused = 0
    for place in leaves(content):
        for value in rng.sample(JUNK, 1):
            write_container(victim.path, CHECKPOINT, replaced(content, place, value))
            refused += refuses(victim)
    for place in leaves(text):
        for value in rng.sample(JUNK[:12], 1):
            spoilt = json.dumps(replaced(text, place, value))
            forged = replaced(content, ("training", "env", "text"), spoilt)
            write_container(victim.path, CHECKPOINT, forged)
            refused += refuses(victim)
    victim.path.write_bytes(whole)
    assert not refuses(victim)
    assert refused > 100


# ------------------------------------------------------------------------------ tournament blocks


def test_blocks_of_other_games_are_not_counted(tmp_path: Path) -> None:
    config, store, block = block_of(tmp_path)
    games, seconds = play_block(config, block)
    store.write(block, games, seconds)
    path = store.path(block)
    good = {"seconds": seconds, **games.arrays()}
    assert len(games.first) == 120
    negative = games.penalties.copy()
    negative[5, (games.went_out[5] + 1) % 3] = -1
    seat = games.first.copy()
    seat[0] = 3
    for changed in (
        {name: array[:3] for name, array in games.arrays().items()},
        {"penalties": games.penalties[:3]},
        {"penalties": negative},
        {"penalties": games.penalties.astype(np.float64)},
        {"penalties": games.penalties[:, :2]},
        {"penalties": "41"},
        {"penalties": 41},
        {"penalties": games.penalties.tolist()},
        {"first": seat},
        {"went_out": seat},
        {"went_out": seat - 3},
        {"bound": seat},
        {"seconds": -1.0},
        {"seconds": "1"},
        {"seconds": None},
        {"more": games.first},
    ):
        write_container(path, BLOCK, {**good, **changed})
        assert store.read(block) is None, changed
    for content in ([], {}, None, games.first, {**games.arrays()}):
        write_container(path, BLOCK, content)
        assert store.read(block) is None
    write_container(path, BLOCK, good)
    found = store.read(block)
    assert found is not None and flat(found[0].arrays()) == flat(games.arrays())
    with pytest.raises(DominoError, match="penalties"):
        store.write(block, dataclasses.replace(games, penalties=negative), seconds)


def test_a_bonus_for_going_out_is_a_negative_penalty(tmp_path: Path) -> None:
    config, store, block = block_of(tmp_path, "game=chicken_foot")
    games, seconds = play_block(config, block)
    assert games.penalties.min() < 0
    store.write(block, games, seconds)
    assert store.read(block) is not None
    for changed in ({"went_out": games.went_out * 0 - 1}, {"penalties": -games.penalties}):
        content = {"seconds": seconds, **games.arrays(), **changed}
        write_container(store.path(block), BLOCK, content)
        assert store.read(block) is None


def test_a_block_is_bounded_by_its_games(tmp_path: Path) -> None:
    _, store, block = block_of(tmp_path)
    store.folder.mkdir()
    size = 64 * MIB
    text = f'{{"seconds": 1, "penalties": {{"__array__": ["<i4", [{size // 4}]]}}}}'
    forge(store.path(block), BLOCK, zlib.compress(sized(text, bytes(size)), 9))
    assert peak(lambda: store.read(block)) < MIB
    store.path(block).unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(store.path(block))  # reading it would wait for a writer
        assert store.read(block) is None


# ---------------------------------------------------------------------------------- private files


@POSIX
def test_files_open_to_others_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "own" / "kernel.nbc"
    assert files.make_private_folder(path.parent)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    umask = os.umask(0o002)  # as many systems have it
    try:
        write_container(path, KERNEL, {}, mode=0o600)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_container(path, KERNEL, private=True) == {}
    for mode in (0o620, 0o602, 0o666):
        path.chmod(mode)
        with pytest.raises(CheckpointError, match="cannot be read: open to other users"):
            read_container(path, KERNEL, private=True)
    path.chmod(0o644)
    assert read_container(path, KERNEL, private=True) == {}
    for mode in (0o770, 0o707, 0o1777):
        path.parent.chmod(mode)
        assert not files.make_private_folder(path.parent)
    path.parent.chmod(0o755)
    assert files.make_private_folder(path.parent)
    link = tmp_path / "link"
    link.symlink_to(path.parent)
    assert not files.make_private_folder(link)


@POSIX
def test_files_of_others_are_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernel.nbc"
    write_container(path, KERNEL, {}, mode=0o600)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(CheckpointError, match="open to other users"):
        read_container(path, KERNEL, private=True)
    assert not files.make_private_folder(tmp_path)
    assert read_container(path, KERNEL) == {}  # what holds no code may be anybody's


# --------------------------------------------------------------------------------- atomic writes

WRITES_SLOWLY = """
import os, sys, time
from pathlib import Path
from dominoenv.core import files
def wait(_): print("writing", flush=True); sys.stdin.read()
os.fsync = wait
files.write_atomically(Path(sys.argv[1]), b"slow")
"""


def temporaries(folder: Path) -> list[Path]:
    return list(folder.glob(f".*{SUFFIX}"))


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WRITES_SLOWLY, str(tmp_path / "slow")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "writing\n"
        yield process
        process.kill()


@POSIX
def test_the_next_writer_deletes_what_a_killed_one_left(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    (tmp_path / ".mine.tmp").touch()  # somebody else's
    assert len(temporaries(tmp_path)) == 1
    writer.kill()
    writer.wait()
    write_atomically(tmp_path / "other", b"other")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine.tmp", "other"]


@POSIX
def test_nobody_deletes_what_is_being_written(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    write_atomically(tmp_path / "other", b"other")
    assert len(temporaries(tmp_path)) == 1
    writer.communicate("go on")
    assert writer.returncode == 0
    assert (tmp_path / "slow").read_bytes() == b"slow"
    assert not temporaries(tmp_path)


@POSIX
def test_writers_who_tidy_all_the_time_do_each_other_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In threads: a lock belongs to an open file, so it keeps them apart as it keeps processes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # slow, and nothing here depends on it

    def write_often(number: int) -> None:
        for i in range(100):
            files._tidied.clear()  # each write looks for orphans
            write_atomically(tmp_path / "file", bytes([number]) * 1000)
            content = (tmp_path / "file").read_bytes()
            assert len(content) == 1000 and len(set(content)) == 1
            if i % 10 == 0:
                (tmp_path / f".{number}-{i}{SUFFIX}").touch()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_often, range(4)))
    files._tidied.clear()
    write_atomically(tmp_path / "file", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    (tmp_path / "folder").mkdir()
    for impossible in (tmp_path / "folder", path / "below"):
        with pytest.raises(OSError, match=r"older|file"):
            write_atomically(impossible, b"")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "folder"]


def test_reading_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"123")
    assert read_bounded(path, 3) == b"123"
    with pytest.raises(OSError, match="larger than 2 bytes"):
        read_bounded(path, 2)
    if Path("/dev/zero").exists():
        with pytest.raises(OSError, match="not a plain file"):
            read_bounded(Path("/dev/zero"), 100)
