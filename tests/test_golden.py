"""Play is what it was in version 0.1.0, and what that version wrote is still read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dominoenv import Game, read_records
from tests import golden

DATA = Path(__file__).parent / "data"
HASHES = json.loads(golden.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", HASHES)
def test_play_is_unchanged(key: str) -> None:
    part, table = key.split(": ")
    assert golden.PARTS[part](table) == HASHES[key]


def test_every_part_has_its_hash() -> None:
    assert list(HASHES) == [f"{part}: {table}" for part in golden.PARTS for table in golden.TABLES]


@pytest.mark.parametrize(
    ("game", "matches"), [("mexican_train", 2), ("chicken_foot", 1)], ids=lambda one: str(one)
)
def test_old_records_are_read(game: str, matches: int) -> None:
    path = DATA / f"{game}_0.1.0.jsonl"
    records = list(read_records(path))
    assert len(records) == matches
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    old = [line["policy"] for line in lines if "policy" in line]
    new = [line["annotations"] for one in records for line in one.rounds if "annotations" in line]
    assert new == old != []


def test_old_positions_are_read() -> None:
    found = json.loads((DATA / "positions_0.1.0.json").read_text(encoding="utf-8"))
    assert any("lacks" in one["position"] for one in found)
    for one in found:
        game = Game.from_position(one["position"])
        assert game.legal_moves() == one["legal"]
        assert game.penalties == one["penalties"]
        position = game.position()
        if "voids" in position:
            position["lacks"] = position.pop("voids")
        assert position == one["position"]
