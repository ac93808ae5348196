"""SVG, pixels and the window: well formed, the same for everybody who may know the same."""

from __future__ import annotations

import copy
import io
import pickle
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

from dominoenv import (
    BatchedGame,
    DominoError,
    Game,
    PositionError,
    chicken_foot_v0,
    make_policy,
    make_rules,
    mexican_train_v0,
)
from dominoenv.games.positions import position_of
from dominoenv.render import scene, window
from dominoenv.render.modes import RENDER_MODES, Renderer
from dominoenv.render.pixels import render_pixels
from dominoenv.render.svg import render_svg
from dominoenv.render.text import render_text, wants_colour
from tests.test_leaks import permute_hidden
from tests.test_render import FEET, TRAINS, positions
from tests.test_render_placement import deepest, staircase

pytest.importorskip("PIL", reason="pixels are drawn by Pillow")

NAMESPACE = "{http://www.w3.org/2000/svg}"
GAMES = ["mexican_train", "chicken_foot"]
REAL_WINDOW = window._window  # the fixture of all tests puts another in its place
each_game = pytest.mark.parametrize("game", GAMES)
each_module = pytest.mark.parametrize("module", [mexican_train_v0, chicken_foot_v0])


# ------------------------------------------------------------------------------------------ hidden


@pytest.mark.parametrize("players", [2, 4, 8])
@each_game
def test_a_seats_picture_shows_what_it_may_know(game: str, players: int) -> None:
    """Dealing the hidden tiles anew changes no drawing, at any moment of a round."""
    rules = make_rules(game, players=players)
    batch = BatchedGame(rules, 1, seed=4, autoreset=False)
    policy, rng = make_policy("random", rules, 4), np.random.default_rng(3)
    changed = 0
    for step in range(30):
        if batch.episode_over[0]:
            break
        position = without_proofs(position_of(rules, batch.states[0]))
        for viewer in range(players) if step % 3 == 0 else ():
            other = batch.states.copy()
            permute_hidden(rules, other[0], viewer, rng)
            dealt = without_proofs(position_of(rules, other[0]))
            changed += dealt["hands"] != position["hands"]
            assert drawn(dealt, [viewer], step) == drawn(position, [viewer], step)
        batch.step(policy.act(batch.observations, batch.masks))
    assert changed > 5 * players


def without_proofs(position: dict[str, Any]) -> dict[str, Any]:
    """Leave out what hands are known to lack: it is not drawn, and deals may differ from it."""
    return {key: value for key, value in position.items() if key != "voids"}


def drawn(position: dict[str, Any], reveal: Any, step: int) -> tuple[str, str, bytes]:
    pixels = render_pixels(position, reveal, 300).tobytes() if step % 15 == 0 else b""
    return render_svg(position, reveal), render_text(position, reveal), pixels


@each_game
def test_nobodys_picture_shows_no_hand(game: str) -> None:
    for position in positions(game, players=4, every=11):
        shown = [title.text for title in tiles_of_svg(render_svg(position))]
        names = {f"{max(a, b)}-{min(a, b)}" for a, b in pips(shown)}
        hidden = [tile for hand in position["hands"] for tile in hand] + position["boneyard"]
        assert not names & set(hidden)
        every = [title.text for title in tiles_of_svg(render_svg(position, "all"))]
        names = {f"{max(a, b)}-{min(a, b)}" for a, b in pips(every)}
        assert names >= {tile for hand in position["hands"] for tile in hand}
        assert not names & set(position["boneyard"])


def tiles_of_svg(text: str) -> list[Any]:
    return ElementTree.fromstring(text).findall(f".//{NAMESPACE}g/{NAMESPACE}title")


def pips(texts: list[str]) -> list[tuple[int, int]]:
    return [tuple(map(int, text.split("-"))) for text in texts]  # type: ignore[misc]


# --------------------------------------------------------------------------------------------- SVG


@each_game
@pytest.mark.parametrize(("players", "max_pip"), [(2, 18), (4, 9), (10, 18)])
def test_svg_is_well_formed_and_self_contained(game: str, players: int, max_pip: int) -> None:
    for position in positions(game, players=players, max_pip=max_pip, every=50):
        before = copy.deepcopy(position)
        text = render_svg(position, "all")
        assert position == before and len(text) < 200_000
        root = ElementTree.fromstring(text)
        assert root.tag == f"{NAMESPACE}svg" and root.get("role") == "img"
        assert root.get("aria-label") and root[0].tag == f"{NAMESPACE}title"
        assert root[1].tag == f"{NAMESPACE}desc" and "Seat 0:" in (root[1].text or "")
        assert not re.search(r"(https?:|url\(|@import|<script|<image)", text.split(">", 1)[1])
        defined = {one.get("id") for one in root.iter() if one.get("id")}
        used = [use.get("href", "") for use in root.iter(f"{NAMESPACE}use")]
        assert {name.removeprefix("#") for name in used} == defined
        # two halves a tile, and blanks have nothing to use
        halves = [pip for pair in pips([t.text for t in tiles_of_svg(text)]) for pip in pair]
        assert sorted(int(u.removeprefix("#pips-")) for u in used) == sorted(filter(None, halves))
        assert not re.search(r"\b(nan|inf)\b", text)


def test_svg_says_what_is_open() -> None:
    words = " ".join(ElementTree.fromstring(render_svg(TRAINS)).itertext())
    assert "The train of seat 1 has 2 tiles and ends in 7, marked." in words
    assert "The Mexican Train has 1 tiles and ends in 8." in words
    assert scene.GOLD in render_svg(TRAINS) and "boneyard 2" in words
    words = " ".join(ElementTree.fromstring(render_svg(FEET)).itertext())
    assert "open ends: 0 (1), 1 (1), 2 (1), 4 (1), 5 (1)" in words


def test_a_notebook_shows_a_game() -> None:
    game = Game("chicken_foot", players=3, seed=1)
    assert game._repr_svg_() == game.svg() == render_svg(game.position())
    assert game.svg([1]) == render_svg(game.position(), [1]) != game.svg()
    assert game.text("all", width=80) == render_text(game.position(), "all", width=80)
    assert np.array_equal(game.pixels([0], width=300), render_pixels(game.position(), [0], 300))


# ------------------------------------------------------------------------------------------ pixels


@each_game
@pytest.mark.parametrize(("players", "max_pip"), [(2, 6), (4, 12), (10, 18)])
def test_pixels_are_of_one_size_and_show_something(game: str, players: int, max_pip: int) -> None:
    seen = []
    for position in positions(game, players=players, max_pip=max_pip, every=60):
        pixels = render_pixels(position, width=600)
        assert pixels.shape == (400, 600, 3) and pixels.dtype == np.uint8
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
        assert np.array_equal(pixels, render_pixels(position, width=600))
        pixels[:] = 0  # the caller's own
        seen.append(render_pixels(position, width=600))
    assert all(not np.array_equal(one, seen[-1]) for one in seen[:-1])


@pytest.mark.parametrize("width", [300, 451, 1200])
def test_width_of_pixels(width: int) -> None:
    assert render_pixels(TRAINS, width=width).shape == (round(width * 2 / 3), width, 3)


@pytest.mark.parametrize("width", [0, -1, 299, 6001, 10**12, 600.0, "600", None, True])
def test_impossible_widths(width: Any) -> None:
    with pytest.raises(PositionError, match="width="):
        render_pixels(TRAINS, width=width)


def test_pixels_hold_the_colours_of_the_tiles() -> None:
    pixels = render_pixels(TRAINS, width=2400).astype(np.int64)
    colours = set(np.unique(pixels @ [65536, 256, 1]).tolist())
    wanted = [scene.IVORY, scene.FELT, scene.DARK, scene.BACK, scene.GOLD]
    for colour in [*wanted, *(scene.PIPS[pip] for pip in (5, 7, 8, 9))]:
        assert int(colour[1:], 16) in colours


@pytest.mark.parametrize("draw", [render_svg, render_pixels, render_text])
def test_bad_positions_and_seats(draw: Any) -> None:
    for reveal in ("none", [2], [-1], ["0"], 5):
        with pytest.raises(PositionError, match="reveal="):
            draw(TRAINS, reveal)
    with pytest.raises(PositionError, match="does not fit"):
        draw({**TRAINS, "trains": [["9-5"], ["8-7"]]})
    with pytest.raises(PositionError, match="'boneyard' is missing"):
        draw({key: value for key, value in TRAINS.items() if key != "boneyard"})


def test_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.split(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install .*dominoenv\[render\]"):
        render_pixels(TRAINS)
    assert render_svg(TRAINS) and render_text(TRAINS)


# -------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("width", [70, 71, 85, 100])
def test_the_deepest_tables_fit_as_text(width: int) -> None:
    for position in (deepest(18), staircase(18)):
        lines = render_text(position, "all", width=width).splitlines()
        assert max(map(len, lines)) <= width
        assert re.search(r"[┃] ?\d+ ?│ ?\d+ ?┃──── \[", lines[4])  # the one arm leaves the middle


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal()) and not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")  # https://no-color.org: only when it is not empty
    assert wants_colour(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_text_instead_of_a_window(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = window.Screen("table")
    with pytest.warns(UserWarning, match="no window: tests open none; the table is printed"):
        screen.show(TRAINS, [1])
    assert capsys.readouterr().out == render_text(TRAINS, [1]) + "\n"
    screen.show(FEET)  # says so once
    assert capsys.readouterr().out == render_text(FEET) + "\n"
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    screen.show(FEET)
    assert terminal.getvalue() == render_text(FEET, colour=True) + "\n"
    screen.close()


# ---------------------------------------------------------------------------------------- windows


@pytest.fixture
def dummy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Open real windows on SDL's dummy display."""
    pygame: ModuleType = pytest.importorskip("pygame", reason="windows are pygame's")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(window, "_window", REAL_WINDOW)
    monkeypatch.setattr(window, "FPS", 1000)
    return pygame


def test_a_window_shows_the_pixels(dummy: ModuleType) -> None:
    screen = window.Screen("table", 300)
    for position in (TRAINS, FEET):
        screen.show(position, "all")
        shown = dummy.surfarray.array3d(dummy.display.get_surface()).swapaxes(0, 1)
        assert np.array_equal(shown, render_pixels(position, "all", 300))
    twin = pickle.loads(pickle.dumps(screen))
    assert twin._surface is None and copy.deepcopy(screen)._surface is None
    for _ in range(2):
        screen.close()
    assert not dummy.display.get_init()


def test_no_display(dummy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "nonsense")
    with pytest.raises(DependencyNotInstalled, match="the display cannot be opened"):
        REAL_WINDOW("table", 300)
    monkeypatch.delenv("SDL_VIDEODRIVER")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    if sys.platform == "linux":  # elsewhere there is a screen without these
        with pytest.raises(DependencyNotInstalled, match="display"):
            REAL_WINDOW("table", 300)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match=r"pip install .*dominoenv\[render\]"):
        REAL_WINDOW("table", 300)


def test_pixels_need_no_display() -> None:
    program = (
        "import os, sys\n"
        "for name in ('DISPLAY', 'WAYLAND_DISPLAY'): os.environ.pop(name, None)\n"
        "from dominoenv import mexican_train_v0\n"
        "env = mexican_train_v0.env(render_mode='rgb_array'); env.reset(seed=1)\n"
        "assert env.render().shape == (800, 1200, 3) and 'pygame' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# ----------------------------------------------------------------------------------- environments


@each_module
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_modes_of_pettingzoo(module: ModuleType, mode: str) -> None:
    for make in (module.env, module.raw_env, module.parallel_env):
        env = make(players=3, render_mode=mode)
        assert mode in env.metadata["render_modes"] and env.metadata["render_fps"] > 0
        env.reset(seed=1)
        position = position_of(env.unwrapped.rules, env.unwrapped.game.states[0])
        assert same(env.render(), expected(mode, position, None))
        env.close()
        env.close()
    told = module.env(players=3, render_mode=mode, reveal=[2])
    told.reset(seed=1)
    assert same(told.render(), expected(mode, position, [2]))


def expected(mode: str, position: dict[str, Any], reveal: Any) -> Any:
    if mode == "human":
        return None
    draw: Any = {"ansi": render_text, "svg": render_svg, "rgb_array": render_pixels}[mode]
    return draw(position, reveal)


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and np.array_equal(one, other)


@pytest.mark.parametrize("mode", RENDER_MODES)
@pytest.mark.parametrize("name", ["dominoenv/MexicanTrain-v0", "dominoenv/ChickenFoot-v0"])
def test_modes_of_gymnasium(name: str, mode: str) -> None:
    """The learner's own hand lies face up, unless others are named."""
    for reveal in (None, "all", [], [1]):
        env = gymnasium.make(name, players=3, render_mode=mode, seat=2, reveal=reveal)
        env.reset(seed=1)
        table: Any = env.unwrapped
        position = position_of(table.rules, table.game.states[0])
        assert same(env.render(), expected(mode, position, [2] if reveal is None else reveal))
        env.close()


@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "svg"])
def test_modes_of_vectors(mode: str) -> None:
    envs = gymnasium.make_vec("dominoenv/ChickenFoot-v0", num_envs=3, render_mode=mode)
    envs.reset(seed=1)
    pictures: Any = envs.render()
    games: Any = envs.unwrapped
    for game, picture in enumerate(pictures):
        position = position_of(games.rules, games.game.states[game])
        assert same(picture, expected(mode, position, [games.learner.seats[game]]))
    envs.close()
    with pytest.raises(DominoError, match="render_mode='human'"):
        gymnasium.make_vec("dominoenv/ChickenFoot-v0", num_envs=3, render_mode="human")


def test_seats_that_are_none_are_told_at_once() -> None:
    for reveal in ([4], "everybody", 1):
        with pytest.raises(PositionError, match="reveal="):
            mexican_train_v0.env(players=4, reveal=reveal)
        with pytest.raises(PositionError, match="reveal="):
            Renderer(make_rules("chicken_foot", players=4), "svg", reveal)  # type: ignore[arg-type]
