"""The layout of a table: every tile in its place, and nothing overlaps, however long the round."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from dominoenv import Rules
from dominoenv.render import scene
from dominoenv.render.geometry import Sector, Tile
from dominoenv.render.placement import Placement, place_table
from dominoenv.render.view import view_table
from tests.rule_sets import every_table, name, random_rules
from tests.test_render import FEET, TRAINS, positions


def laid(position: dict[str, Any]) -> Placement:
    return place_table(view_table(position))


def overlaps(tiles: list[Tile]) -> list[tuple[Tile, Tile]]:
    """Return the pairs of tiles that share an inner point, by the theorem of separating axes."""
    shapes = [np.array(tile.corners()) for tile in tiles]
    found = []
    for i, one in enumerate(tiles):
        for j in range(i):
            near = math.hypot(one.x - tiles[j].x, one.y - tiles[j].y) < 2.3 * one.size
            if near and not any(parted(shapes[i], shapes[j], a) for a in axes(one, tiles[j])):
                found.append((one, tiles[j]))
    return found


def axes(*tiles: Tile) -> Iterator[np.ndarray[Any, Any]]:
    for tile in tiles:
        for angle in (tile.angle, tile.angle + 90):
            yield np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])


def parted(one: Any, other: Any, axis: Any) -> bool:
    ours, theirs = one @ axis, other @ axis
    return bool(ours.max() <= theirs.min() + 1e-9 or theirs.max() <= ours.min() + 1e-9)


def played(position: dict[str, Any]) -> Counter[str]:
    if position["game"] == "chicken_foot":
        return Counter([entry[0] for entry in position["table"]])
    return Counter(sum(position["trains"], position["mexican_train"]))


def check(position: dict[str, Any]) -> None:
    """Check that all tiles lie on the table, each once, apart from one another and in bounds."""
    layout = laid(position)
    tiles = layout.tiles
    assert not overlaps(tiles)
    middle = position.get("engine", position.get("centre"))
    shown = Counter(
        f"{max(t.inner, t.outer)}-{min(t.inner, t.outer)}" for t in tiles if t.inner is not None
    )
    assert shown == played(position) + Counter([f"{middle}-{middle}"])
    for tile in tiles:
        assert all(math.hypot(x, y) <= layout.radius + 1e-9 for x, y in tile.corners())
    for rail in layout.rails:
        assert all(math.isfinite(number) for point in rail.points for number in point)


def test_overlaps_are_found() -> None:
    lying = Tile(0, 0, 0, 1, 2)
    assert overlaps([lying, Tile(1.9, 0, 0, 1, 2)]) and overlaps([lying, Tile(0.4, 0.9, 90, 1, 2)])
    assert overlaps([lying, Tile(1.5, 0.7, 45, 1, 2)])
    assert not overlaps([lying, Tile(2, 0, 0, 1, 2)]) and not overlaps([lying, Tile(0, 1, 0, 1, 2)])


@pytest.mark.parametrize("rules", every_table(), ids=name)
def test_nothing_overlaps_at_the_end_of_a_round(rules: Rules) -> None:
    """Ends of random rounds of every preset, set and seat count."""
    *_, last = positions(rules.game, seed=rules.players, every=10**6, **options(rules))
    check(last)


def options(rules: Rules) -> dict[str, Any]:
    return {key: value for key, value in rules.to_dict().items() if key != "game"}


@pytest.mark.parametrize("seed", range(40))
def test_nothing_overlaps_in_random_games(seed: int) -> None:
    """Every position of a game under random options."""
    rules = random_rules(random.Random(seed))
    for position in positions(rules.game, seed, every=1, **options(rules)):
        check(position)


# A set has an Eulerian path over its pips: so long can one train or one arm be.
def one_chain(max_pip: int, start: int) -> list[str]:
    """Return a longest chain of tiles that are no doubles, greedily by the most tiles left."""
    left = {pip: set(range(max_pip + 1)) - {pip} for pip in range(max_pip + 1)}
    chain, end = [], start
    while left[end]:
        after = max(left[end], key=lambda pip: len(left[pip]))
        left[end].discard(after)
        left[after].discard(end)
        chain.append(f"{max(end, after)}-{min(end, after)}")
        end = after
    return chain


@pytest.mark.parametrize(
    ("max_pip", "players"), [(6, 2), (6, 4), *product((9, 12, 15, 18), (2, 3, 5, 10))]
)
def test_the_longest_train(max_pip: int, players: int) -> None:
    chain = one_chain(max_pip, max_pip)
    assert len(chain) > max_pip * (max_pip + 1) / 2 * 0.8
    base = {"game": "mexican_train", "rules": {"players": players, "max_pip": max_pip}}
    base |= {"engine": max_pip, "to_move": 0, "boneyard": [], "mexican_train": []}
    hands = [[f"{pip}-{pip}"] for pip in range(players)] if players <= max_pip else None
    hands = hands or [["0-0"], *[[] for _ in range(players - 1)]]
    for seat in range(players):
        trains: list[list[str]] = [[] for _ in range(players)]
        trains[seat] = chain
        check({**base, "hands": hands, "trains": trains})
    check({**base, "hands": hands, "trains": [[] for _ in range(players)], "mexican_train": chain})


@pytest.mark.parametrize("max_pip", [6, 9, 12, 15, 18])
def test_a_chicken_foot_as_deep_as_can_be(max_pip: int) -> None:
    """One arm takes all: each double is reached from a toe of the one before."""
    assert max(depths(staircase(max_pip)["table"])) == 2 * max_pip
    check(staircase(max_pip))
    assert max(depths(deepest(max_pip)["table"])) > 6
    check(deepest(max_pip))


def deepest(max_pip: int) -> dict[str, Any]:
    """Lay one arm at the centre, then double after double, always at the newest toe."""
    top = max_pip
    table: list[list[Any]] = [[f"{top}-{top - 1}"]]
    used, at, end = {(top, top), (top - 1, top)}, 0, top - 1
    while (end, end) not in used:
        used.add((end, end))
        table.append([f"{end}-{end}", at])
        foot = len(table) - 1
        toes = [pip for pip in range(top) if (min(end, pip), max(end, pip)) not in used][::-1][:3]
        for pip in toes:
            used.add((min(end, pip), max(end, pip)))
            table.append([f"{max(end, pip)}-{min(end, pip)}", foot])
        if len(toes) < 3:
            break
        at, end = foot + 1, toes[0]
    rules = {"players": 2, "max_pip": max_pip, "centre_arms": 1, "toes": 3}
    hands = [["0-0"], ["1-1"]] if (0, 0) not in used else [[], []]
    if (1, 1) in used:
        hands[1] = []
    base = {"game": "chicken_foot", "rules": rules, "centre": top, "to_move": 0}
    return {**base, "hands": hands, "boneyard": [], "table": table}


def staircase(max_pip: int) -> dict[str, Any]:
    """Let every double but the one in the middle grow from the one before."""
    table: list[list[Any]] = [["1-0"], ["1-1", 0]]
    for pip in range(2, max_pip + 1):
        foot = len(table) - 1
        table += [[f"{pip}-{pip - 1}", foot], [f"{pip}-{pip}", foot + 1]]
    rules = {"players": 2, "max_pip": max_pip, "centre_arms": 1, "toes": 1}
    base = {"game": "chicken_foot", "rules": rules, "centre": 0, "to_move": 0}
    return {**base, "hands": [["2-0"], ["3-0"]], "boneyard": [], "table": table}


def depths(table: list[list[Any]]) -> list[int]:
    found: list[int] = []
    for entry in table:
        found.append(1 if len(entry) == 1 else found[entry[1]] + 1)
    return found


def test_trains_leave_in_the_directions_of_their_seats() -> None:
    """Seat 0 sits below, the others follow clockwise, the Mexican Train is the last."""
    for players in range(2, 11):
        *_, last = positions("mexican_train", 3, players=players, max_pip=12, every=10**6)
        signs = laid(last).signs
        assert [sign.train.seat for sign in signs] == [*range(players), None]
        assert signs[0].angle == pytest.approx(math.pi / 2)  # y runs down
        angles = [sign.angle for sign in signs]
        assert angles == sorted(angles) and angles[-1] < angles[0] + 2 * math.pi
    layout = laid({**TRAINS, "pending": []})
    for sign, tile in zip(
        layout.signs, (layout.tiles[1], layout.tiles[2], layout.tiles[4]), strict=True
    ):
        assert math.cos(math.atan2(tile.y, tile.x) - sign.angle) == pytest.approx(1)


def test_doubles_lie_across_and_ends_meet() -> None:
    engine, first, second, double, mexican = laid(TRAINS).tiles
    assert (first.inner, first.outer) == (9, 5) and (second.inner, second.outer) == (9, 7)
    assert (mexican.inner, mexican.outer) == (9, 8) and (engine.inner, engine.x) == (9, 0)
    assert double.angle - second.angle == pytest.approx(90)
    for tile in (first, second, mexican):  # the half that joins lies nearer to the engine
        turn = math.radians(tile.angle)
        assert tile.x * math.cos(turn) + tile.y * math.sin(turn) > 0


def test_marks() -> None:
    layout = laid(TRAINS)
    assert [(token.kind, token.text) for token in layout.tokens] == [
        ("pending", "1"),
        ("marker", ""),
    ]
    assert [tile.ring for tile in layout.tiles] == ["middle", "", "", "pending", "open"]
    assert [rail.kind for rail in layout.rails] == ["rail", "marked", "rail"]
    feet = laid(FEET)
    assert Counter(tile.kind for tile in feet.tiles) == {"tile": 9, "free": 2}
    assert [tile.ring for tile in feet.tiles if tile.ring] == ["middle", "pending"]
    assert Counter(rail.kind for rail in feet.rails)["foot"] == 3
    fresh = laid({**FEET, "table": [["9-3"]]})
    assert [tile.kind for tile in fresh.tiles].count("free") == 5


def test_toes_of_a_foot_point_in_three_directions() -> None:
    feet = laid(FEET)
    toes = [t for t in feet.tiles if t.kind == "free" or (t.inner, t.outer) == (3, 8)]
    assert len({round(tile.angle) for tile in toes}) == 3


def test_rooms_side_by_side_share_no_angle() -> None:
    rng = random.Random(0)
    for _ in range(200):
        shares = [rng.uniform(0.01, 5) for _ in range(rng.randint(1, 12))]
        most = [rng.choice([math.inf, rng.uniform(0.01, 2)]) for _ in shares]
        sector = Sector(0.5, 0.5 + rng.uniform(0.1, 2 * math.pi), 3.0)
        parts = sector.split(shares, most)
        for one, after in pairwise(parts):
            assert one.high <= after.low + 1e-9
        assert parts[0].low >= sector.low - 1e-9 and parts[-1].high <= sector.high + 1e-9
        assert all(
            part.high - part.low <= limit + 1e-9 for part, limit in zip(parts, most, strict=True)
        )


@pytest.mark.parametrize("number", range(19))
def test_pips(number: int) -> None:
    """As many pips as the number says, apart from one another and inside the half."""
    points, radius = scene.pips(number)
    assert len(points) == number
    assert all(max(abs(x), abs(y)) + radius < 0.46 for x, y in points)
    gaps = [math.dist(one, other) for i, one in enumerate(points) for other in points[:i]]
    assert min(gaps, default=1) > 2 * radius
    turned = {(round(-x, 6) + 0.0, round(-y, 6) + 0.0) for x, y in points}
    assert turned == {(round(x, 6) + 0.0, round(y, 6) + 0.0) for x, y in points}  # either way up


def test_colours_of_pips_can_be_told_from_the_tile() -> None:
    assert len(set(scene.PIPS)) == 19
    for colour in scene.PIPS[1:]:
        assert contrast(colour, scene.IVORY) > 3
    assert contrast(scene.INK, scene.FELT) > 4.5 and contrast(scene.INK, scene.DARK) > 4.5
    assert contrast(scene.FAINT, scene.DARK) > 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("game", ["mexican_train", "chicken_foot"])
@pytest.mark.parametrize("players", [2, 4, 8, 10])
def test_everything_lies_on_the_canvas(game: str, players: int) -> None:
    for position in positions(game, 1, players=players, max_pip=18, every=60):
        for shape in scene.draw(view_table(position, "all")):
            if isinstance(shape, Tile):
                assert all(
                    0 <= x <= scene.WIDTH and 0 <= y <= scene.HEIGHT for x, y in shape.corners()
                )
            elif isinstance(shape, scene.Words):
                assert 0 <= shape.x <= scene.WIDTH and shape.size < shape.y <= scene.HEIGHT
            elif isinstance(shape, scene.Box):
                assert shape.x >= 0 and shape.x + shape.width <= scene.WIDTH
        hands = [
            s for s in scene.draw(view_table(position)) if isinstance(s, Tile) and s.kind == "down"
        ]
        assert len(hands) == sum(map(len, position["hands"]))
        assert not overlaps(hands) and all(tile.x > scene.PANEL for tile in hands)
