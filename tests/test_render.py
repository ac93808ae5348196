"""The text picture: what it shows, what it hides, and that it fits."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from dominoenv import BatchedGame, PositionError, make_policy, make_rules
from dominoenv.games.positions import position_of
from dominoenv.render.text import render_text

ANSI = re.compile(r"\x1b\[[0-9;]*m")

TRAINS: dict[str, Any] = {
    "game": "mexican_train",
    "rules": {"preset": "engine", "players": 2, "max_pip": 9},
    "engine": 9,
    "to_move": 0,
    "hands": [["5-5", "5-2", "8-1"], ["5-0", "1-1"]],
    "boneyard": ["3-0", "4-0"],
    "trains": [["9-5"], ["9-7", "7-7"]],
    "mexican_train": ["9-8"],
    "markers": [1],
    "pending": [1],
    "scores": [1, 24],
}
TRAINS_DRAWN = """\
Mexican Train · 2 players · double-9 · round 1 of 10              boneyard 2
────────────────────────────────────────────────────────────────────────────

 ┏━━━┯━━━┓  ╭─   Mexican  [9|8]                                       end  8
 ┃ 9 │ 9 ┃──┼─ ▸ seat 0   [9|5]                                       end  5
 ┗━━━┷━━━┛  ╰─   seat 1 ⚑ [9|7][7|7]                               ◆1 end  7

▸ seat 0    1 point     3 [5|5][5|2][8|1]
  seat 1   24 points    2 ▯▯

Seat 0 to move; must cover the double on the train of seat 1 (◆1)."""

FEET: dict[str, Any] = {
    "game": "chicken_foot",
    "rules": {"preset": "chicken_foot", "players": 4},
    "centre": 9,
    "to_move": 1,
    "hands": [["3-2"], ["5-3", "7-0"], ["1-1"], ["6-6"]],
    "boneyard": [],
    "table": [
        *(["9-3"], ["9-0"], ["9-1"], ["9-2"], ["9-4"], ["9-5"]),
        *(["3-3", 0], ["8-3", 6]),
    ],
}
FEET_DRAWN = """\
Chicken Foot · 4 players · double-9 · round 1 of 9                boneyard 0
────────────────────────────────────────────────────────────────────────────

            ╭─ [9|3][3|3] ◆ open foot
            │  ├─ [3|8] (8)
            │  ├─ ▫ toe
 ┏━━━┯━━━┓  │  ╰─ ▫ toe
 ┃ 9 │ 9 ┃──┼─ [9|0] → 0
 ┗━━━┷━━━┛  ├─ [9|1] → 1
            ├─ [9|2] → 2
            ├─ [9|4] → 4
            ╰─ [9|5] → 5

  open ends, locked now:  0×1  1×1  2×1  4×1  5×1

  seat 0    0 points    1 ▯
▸ seat 1    0 points    2 ▯▯
  seat 2    0 points    1 ▯
  seat 3    0 points    1 ▯

Seat 1 to move; the open foot needs 2 toes, by 3."""


def positions(game: str, seed: int = 0, every: int = 7, **options: Any) -> Iterator[dict[str, Any]]:
    """Yield positions of a random game, the last one of its round among them."""
    rules = make_rules(game, **options)
    batch = BatchedGame(rules, 1, seed=seed, autoreset=False)
    policy = make_policy("random", rules, seed)
    step = 0
    while not batch.episode_over[0]:
        if step % every == 0:
            yield position_of(rules, batch.states[0])
        batch.step(policy.act(batch.observations, batch.masks))
        step += 1
    yield position_of(rules, batch.states[0])


@pytest.mark.parametrize(
    ("position", "reveal", "drawn"),
    [(TRAINS, {0}, TRAINS_DRAWN), (FEET, None, FEET_DRAWN)],
    ids=["mexican_train", "chicken_foot"],
)
def test_picture(position: dict[str, Any], reveal: Any, drawn: str) -> None:
    before = copy.deepcopy(position)
    assert render_text(position, reveal, width=76) == drawn
    assert position == before


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
@pytest.mark.parametrize(("players", "max_pip"), [(2, 6), (4, 12), (10, 18), (2, 18)])
def test_fits_into_its_width(game: str, players: int, max_pip: int) -> None:
    for position in positions(game, players=players, max_pip=max_pip, every=13):
        for width in (100, 120):
            text = render_text(position, "all", width=width)
            assert max(map(len, text.splitlines())) <= width
            assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_hands_lie_face_down_unless_revealed(game: str) -> None:
    for position in positions(game, players=3):
        tiles = [{f"[{text.replace('-', '|')}]" for text in hand} for hand in position["hands"]]
        hidden, one = (render_text(position, seats, width=500) for seats in (None, {1}))
        every = render_text(position, "all", width=500)
        lines = {seat: re.search(rf"seat {seat} .*points? .*", one) for seat in range(3)}
        assert hidden.count("▯") == sum(map(len, position["hands"]))
        assert "▯" not in every
        for seat in range(3):
            shown = set(re.findall(r"\[\d+\|\d+\]", lines[seat][0]))  # type: ignore[index]
            assert shown == (tiles[seat] if seat == 1 else set())
        order = position["boneyard"]
        swapped = {**position, "boneyard": order[::-1]}
        assert render_text(swapped, "all", width=500) == every


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
def test_colours_change_nothing_else(game: str) -> None:
    for position in positions(game, players=4):
        plain, coloured = (render_text(position, "all", colour) for colour in (False, True))
        assert "\x1b" not in plain
        assert "\x1b[" in coloured and ANSI.sub("", coloured) == plain


@pytest.mark.parametrize("seed", range(3))
def test_long_trains_keep_their_end(seed: int) -> None:
    *_, last = positions("mexican_train", seed, players=2, max_pip=18)
    text = render_text(last)
    assert "⋯" in text
    for name, train in [("Mexican", last["mexican_train"]), ("seat 0", last["trains"][0])]:
        line = next(line for line in text.splitlines() if f"─   {name}" in line)
        *_, (_, outer) = re.findall(r"\[(\d+)\|(\d+)\]", line)
        shown, left_out = line.count("["), re.search(r"⋯(\d+)⋯", line)
        assert shown + (int(left_out[1]) if left_out else 0) == len(train)
        assert line.endswith(f"end {outer:>2}") and outer in train[-1].split("-")


def test_every_tile_of_a_chicken_foot_table_is_drawn() -> None:
    for position in positions("chicken_foot", 5, players=4):
        text = render_text(position)
        drawn = re.findall(r"\[(\d+)\|(\d+)\]", text)
        names = sorted(f"{max(a, b)}-{min(a, b)}" for a, b in drawn)
        assert names == sorted(entry[0] for entry in position["table"])


def test_open_ends_of_a_chicken_foot_table() -> None:
    rules = make_rules("chicken_foot", players=4)
    batch = BatchedGame(rules, 1, seed=3, autoreset=False)
    policy = make_policy("random", rules, 3)
    while not batch.episode_over[0]:
        text = render_text(position_of(rules, batch.states[0]))
        ends = {int(pip): int(number) for pip, number in re.findall(r"(\d+)×(\d+)", text)}
        found = batch.states["ends"][0]
        assert ends == {pip: int(found[pip]) for pip in found.nonzero()[0]}
        assert text.count("▫ for a") == batch.observations[0][batch.layout["arms_missing"]][0]
        assert text.count("▫ toe") == batch.observations[0][batch.layout["toes_missing"]][0]
        batch.step(policy.act(batch.observations, batch.masks))


def test_says_what_is_owed() -> None:
    assert "owes a play for its double, has drawn." in render_text(
        {**TRAINS, "owes_play": True, "drew": True, "pending": [1], "markers": []}
    )
    assert "the Mexican Train (◆1)" in render_text(
        {**TRAINS, "pending": ["M", 1], "mexican_train": ["9-8", "8-8"]}
    )
    over = render_text({**TRAINS, "penalties": [23, 7]})
    assert over.endswith("The round is over. Penalties: seat 0 23, seat 1 7.")
    assert "▸" not in over
    assert "5 arms to go, by 9" in render_text({**FEET, "table": [["9-3"]]})
    dead = {**FEET, "rules": {"players": 4, "max_pip": 6, "toes": 3, "dead_foot": "released"}}
    threes = [["6-3"], ["6-0"], ["6-1"], ["6-2"], ["6-4"], ["6-5"], ["3-0", 1], ["3-1", 2]]
    threes += [["3-2", 3], ["4-3", 4], ["5-3", 5], ["3-3", 0]]
    text = render_text({**dead, "centre": 6, "hands": [[], [], [], []], "table": threes})
    assert "[6|3][3|3] dead" in text and "open ends:  3×5" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trains": [["9-5"], ["8-7"]]}, "8-7 does not fit the end 9"),
        ({"trains": [["9-5"], ["12-7"]]}, "12-7"),
        ({"rules": {"players": 2, "max_pip": 6}, "engine": 6}, "no tile of the double-6"),
    ],
)
def test_impossible_positions(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PositionError, match=message):
        render_text({**TRAINS, **change})


def test_impossible_tables() -> None:
    with pytest.raises(PositionError, match="does not fit"):
        render_text({**FEET, "table": [["8-3"]]})
    with pytest.raises(PositionError, match="width=20"):
        render_text(FEET, width=20)
