"""The contract of a game: every function of `dominoenv/games/protocol.py`, on every game.

The game that only the tests know is held to it like the others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dominoenv import BatchedGame, DominoError, RecordError, Rules, make_policy, verify_record
from dominoenv.core.board import Board
from dominoenv.core.compiling import kernel
from dominoenv.core.observe import shared_sections, tile_sections
from dominoenv.core.round import BY_CENTRE, FREE, PLAYING, ROUND_STATE, ROUND_STORE, SEATS
from dominoenv.core.tiles import tiles_of
from dominoenv.errors import PositionError
from dominoenv.games import stepping
from dominoenv.games.match_play import MatchPlay, move_texts
from dominoenv.games.observation import Observation
from dominoenv.games.position_reader import PositionReader
from dominoenv.games.positions import position_of, record_of
from dominoenv.games.protocol import GameKind
from dominoenv.games.registry import GAMES, kind_of, make_rules
from dominoenv.games.state_checks import check_states
from dominoenv.games.verbs import apply, heaviest_action, is_legal, legal, random_action, view
from dominoenv.records.deals import dealt_round
from dominoenv.records.format import Record, header_of, round_keys
from dominoenv.render.svg import render_svg
from dominoenv.render.text import render_text
from dominoenv.search.playouts import playouts
from tests import block_dominoes

pytestmark = pytest.mark.usefixtures("registered_block_dominoes")

KINDS = [*GAMES.values(), block_dominoes.GAME]
SHARED_FIELDS = [field[0] for field in (*ROUND_STATE, *ROUND_STORE)]
BEYOND = 2  # ids tried on either side of the actions


TABLES = [
    kind.rules.preset(preset, players=players)
    for kind in KINDS
    for preset in kind.rules.presets
    for players in (2, 3, 4)
]


def name_of(rules: Rules) -> str:
    return f"{rules.game}-{rules.short_dict()['preset']}-{rules.players}"


every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
every_table = pytest.mark.parametrize("rules", TABLES, ids=name_of)


def played(rules: Rules, steps: int = 120, games: int = 4) -> Iterator[BatchedGame]:
    """Yield a batch at every step of random play, rounds that end among them."""
    game = BatchedGame(rules, games, seed=3, episode="match")
    chooser = make_policy("random", rules, seed=4)
    for _ in range(steps):
        yield game
        game.step(chooser.act(game.observations, game.masks))


# ----------------------------------------------------------------------------------- what it brings


@every_kind
def test_names_rules_and_state(kind: GameKind) -> None:
    assert kind.name == kind.rules.game == kind.name.lower()
    assert kind.title.replace(" ", "_").lower() == kind.name
    assert issubclass(kind.rules, Rules)
    assert kind.rules.presets
    dtype = kind.state
    for name, kind_of_number, *shape in (*ROUND_STATE, *ROUND_STORE):
        base, sizes = dtype[name].subdtype or (dtype[name], ())
        assert (base, list(sizes)) == (np.dtype(kind_of_number), list(shape[0]) if shape else [])
    assert isinstance(kind.state_module.TILES_IN_MIDDLE, int)
    assert kind.state_module.TILES_IN_MIDDLE >= 0


@every_kind
def test_the_folders_are_twins(kind: GameKind) -> None:
    names = ["rules", "state", "play", "observe", "position", "deal", "table"]
    modules: list[Any] = [
        *(kind.state_module, kind.play, kind.observe, kind.position, kind.deal, kind.table),
    ]
    assert all(isinstance(module, ModuleType) for module in modules)
    folder = Path(modules[0].__file__).parent
    assert {Path(module.__file__).parent for module in modules} == {folder}
    assert {path.stem for path in folder.glob("*.py")} == {"__init__", *names}
    assert [module.__name__.rpartition(".")[2] for module in modules] == names[1:]


@every_table
def test_rules_are_options_and_a_record(rules: Rules) -> None:
    assert type(rules).from_dict(rules.to_dict()) == rules
    assert make_rules(rules.game, rules.short_dict()) == rules
    assert json.loads(json.dumps(rules.to_dict())) == rules.to_dict()
    assert rules.record.dtype == type(rules).record_dtype()
    assert rules.record.shape == (1,)
    assert 0 < rules.hand_size * rules.players <= rules.dealt_tiles <= rules.tiles.size
    assert isinstance(rules.starter_is_drawn, bool)
    assert isinstance(rules.draws_from_boneyard, bool)
    assert all(spec.metadata.keys() >= {"choices", "low", "high"} for spec in fields(rules))
    rules.check_decisions()


# ------------------------------------------------------------------------------------------- states


@every_table
def test_ranges_cover_every_own_field_and_all_play(rules: Rules) -> None:
    module = kind_of(rules).state_module
    ranges = module.ranges(rules)
    own = [name for name in module.STATE.names or () if name not in SHARED_FIELDS]
    assert sorted(ranges) == sorted(own)
    for name, (low, high, size) in ranges.items():
        shape = module.STATE[name].shape
        limits = np.iinfo(module.STATE[name].base)
        assert limits.min <= low <= high <= limits.max, name
        assert size is None or 0 < size <= shape[0], name
    for game in played(rules):
        check_states(rules, game.states)


@every_table
def test_what_play_was_bound_to(rules: Rules) -> None:
    for game in played(rules, 40):
        bound = kind_of(rules).state_module.unfinished(rules, game.states)
        assert bound.shape == (game.num_games,)
        assert bound.dtype == np.int32
        assert bound.min() >= FREE
        assert bound.max() <= BY_CENTRE


# --------------------------------------------------------------------------------------------- play


@kernel
def probe(states: Any, rules: Any, mask: Any, flags: Any, found: Any) -> None:
    """Ask one game all that can be asked without a move."""
    g, r = states[0], rules[0]
    found[0], found[1] = legal(g, r, mask)
    for i in range(len(flags)):
        flags[i] = is_legal(g, r, i - BEYOND)
    if found[0] > 0:
        found[2], found[3] = random_action(g, r), heaviest_action(g, r)


@kernel
def carry_out(states: Any, rules: Any, action: int) -> None:
    apply(states[0], rules[0], action)


@kernel
def look(states: Any, rules: Any, seat: int, row: Any) -> int:
    return view(states[0], rules[0], seat, row)


def asked(rules: Rules, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return mask, the answers of `is_legal`, and number, one, random and heaviest action."""
    size = kind_of(rules).observe.num_actions(rules)
    mask = np.full(size, 1, np.int8)
    flags, found = np.zeros(size + 2 * BEYOND, np.int8), np.full(4, -1)
    probe(states, rules.record, mask, flags, found)
    return mask, flags, found.tolist()


@every_table
def test_legal_is_legal_and_the_choices_agree(rules: Rules) -> None:
    weights = rules.record[0]["cost"][kind_of(rules).observe.action_tiles(rules)]
    weights = np.where(kind_of(rules).observe.action_tiles(rules) < 0, -1, weights)
    for game in played(rules, 60, games=2):
        mask, flags, (number, one, drawn, heaviest) = asked(rules, game.states[:1].copy())
        assert np.array_equal(mask, game.masks[0])
        assert np.array_equal(flags[BEYOND:-BEYOND], mask)
        assert not flags[:BEYOND].any()
        assert not flags[-BEYOND:].any()
        assert number == mask.sum() > 0
        assert mask[one]
        assert mask[drawn]
        assert mask[heaviest]
        assert weights[heaviest] == weights[mask == 1].max()


@every_table
def test_apply_is_the_step_and_ends_the_round_at_last(rules: Rules) -> None:
    rng, states = random.Random(5), np.zeros(1, kind_of(rules).state)
    states["seed"] = 8
    stepping.deal_games(states, rules.record)
    for _ in range(10_000):
        mask, _, (number, *_) = asked(rules, states)
        if number == 0:
            break
        before = states.copy()
        stepping.end_blocked_games(states, rules.record)
        assert np.array_equal(states, before)  # asked after every action already
        carry_out(states, rules.record, rng.choice(mask.nonzero()[0].tolist()))
    assert states["ending"][0] != PLAYING
    assert not mask.any()
    kind, g, cost = kind_of(rules), states[0], rules.record[0]["cost"]
    costs = [int(cost[tiles_of(g["hands"][seat])].sum()) for seat in range(rules.players)]
    empty = [seat for seat in range(rules.players) if not g["hand_sizes"][seat]]
    if empty:
        costs[empty[0]] += kind.position.out_bonus(rules, g)
    assert g["penalties"][: rules.players].tolist() == costs
    assert g["scores"][: rules.players].tolist() == costs


@every_table
def test_deals_depend_on_the_seed_the_match_and_the_round(rules: Rules) -> None:
    def dealt(seed: int, match: int, index: int) -> bytes:
        states = np.zeros(1, kind_of(rules).state)
        states["seed"], states["match"], states["round"] = seed, match, index
        states["hands"], states["played"], states["scores"] = 1, 2, 3  # of the round before
        stepping.deal_games(states, rules.record)
        check_states(rules, states)
        assert states["scores"].tolist() == [[3] * SEATS]
        held = sum(states["hand_sizes"][0].tolist()) + int(states["boneyard_size"][0])
        assert held + len(tiles_of(states["table"][0])) == rules.tiles.size
        return bytes(states["hands"].tobytes() + states["boneyard"].tobytes())

    assert dealt(1, 2, 0) == dealt(1, 2, 0)
    others = {dealt(1, 2, 0), dealt(2, 2, 0), dealt(1, 3, 0), dealt(1, 2, 1)}
    assert len(others) == 4


@every_table
def test_playouts_end(rules: Rules) -> None:
    game = BatchedGame(rules, 4, seed=6)
    for policy in ("random", "heaviest"):
        found = playouts(rules, game.states, 2, policy=policy, seed=1)
        assert found.penalties.shape == (4, 2, rules.players)
        assert found.decisions.min() > 0


# ------------------------------------------------------------------------------------ what is seen


@every_table
def test_views_fill_the_layout(rules: Rules) -> None:
    layout = kind_of(rules).observe.layout(rules)
    assert layout.parts[0].start == 0
    assert len({part.name for part in layout.parts}) == len(layout.parts)
    assert all(0 < part.high <= 255 and part.meaning for part in layout.parts)
    for game in played(rules, 40, games=1):
        for seat in range(rules.players):
            rows = np.zeros(layout.size, np.uint8), np.full(layout.size, 255, np.uint8)
            for row in rows:
                assert look(game.states, rules.record, seat, row) == layout.size
            assert np.array_equal(*rows)  # every entry is written
            assert (rows[0] <= layout.high).all()
            hand = tiles_of(game.states["hands"][0, seat])
            assert rows[0][layout["hand"]].nonzero()[0].tolist() == hand


@every_table
def test_rows_as_plain_values(rules: Rules) -> None:
    observe, own = kind_of(rules).observe, {part[0] for part in tile_sections(rules)}
    layout, shared = observe.layout(rules), own | {part[0] for part in shared_sections(rules)}
    for game in played(rules, 40, games=1):
        row = game.observations[0]
        parts = {part.name: row[part.slice].tolist() for part in layout.parts}
        plain = observe.plain_values(rules, parts)
        assert set(plain) <= set(parts) - shared
        seen = Observation(rules, row)
        assert all(getattr(seen, name) == value for name, value in plain.items())
        hands = position_of(rules, game.states[0])["hands"]
        assert sorted(seen.hand) == sorted(hands[game.to_move[0]])


@every_table
def test_actions_have_a_name_and_a_tile(rules: Rules) -> None:
    observe, tiles = kind_of(rules).observe, rules.tiles
    number, of_action = observe.num_actions(rules), observe.action_tiles(rules)
    assert of_action.shape == (number,)
    assert of_action.dtype == np.int16
    assert set(of_action.tolist()) == set(range(-1, tiles.size))
    for seat in range(rules.players):
        texts = [observe.action_text(rules, seat, action) for action in range(number)]
        assert len(set(texts)) == number
        assert {"draw", "pass"} <= set(texts)
        for text, tile in zip(texts, of_action, strict=True):
            what, at, place = text.partition("@")
            assert (what == tiles.text(tile)) if tile >= 0 else not at
            assert bool(place) == (tile >= 0)


# --------------------------------------------------------------------------------- positions, deals


@every_table
def test_positions_say_it_all(rules: Rules) -> None:
    own, size = kind_of(rules).position, kind_of(rules).observe.num_actions(rules)
    for game in played(rules, 60, games=1):
        position = position_of(rules, game.states[0])
        assert json.loads(json.dumps(position)) == position
        written = own.write(rules, game.states[0])
        assert set(own.KEYS) - set(own.OPTIONAL) <= set(written) <= {*own.KEYS, *own.OPTIONAL}
        read_rules, states = record_of(position)
        assert read_rules == rules
        check_states(rules, states)
        assert position_of(rules, states[0]) == position
        assert np.array_equal(asked(rules, states)[0], game.masks[0])
        rows = np.zeros((2, rules.players, game.layout.size), np.uint8)
        for seat in range(rules.players):
            for record, row in ((states, rows[0]), (game.states, rows[1])):
                look(record, rules.record, seat, row[seat])
        assert np.array_equal(*rows)
        assert size == len(game.masks[0])


@every_table
def test_positions_lack_no_own_key(rules: Rules) -> None:
    own = kind_of(rules).position
    position = position_of(rules, BatchedGame(rules, 1, seed=1).states[0])
    for key in set(own.KEYS) - set(own.OPTIONAL):
        with pytest.raises(PositionError, match=key):
            record_of({name: value for name, value in position.items() if name != key})
        with pytest.raises(PositionError):
            record_of({**position, key: 1.5})
    for key in own.OPTIONAL:
        record_of({name: value for name, value in position.items() if name != key})
    states = np.zeros(1, kind_of(rules).state)
    own.read(PositionReader(rules, position), states[0])
    assert own.write(rules, states[0]) == own.write(rules, record_of(position)[1][0])


@every_table
def test_own_deals_are_accepted_and_others_are_not(rules: Rules) -> None:
    deal, lines = kind_of(rules).deal, []
    for index in range(min(3, len(rules.rounds))):
        line = dealt_round(rules, 7, 5, index)
        assert json.loads(json.dumps(line)) == line
        assert list(line) == list(round_keys(rules)[: len(line)])
        position = deal.dealt_position(rules, line, None)
        _, states = record_of(position)
        assert states["scores"].max() == 0
        deal.check_start(rules, line, lines)
        lines.append(line)
        for key in deal.KEYS:
            with pytest.raises(RecordError, match=key):
                deal.dealt_position(rules, {**line, key: -1}, None)
        fewer = [line["hands"][0][3:], *line["hands"][1:]]
        with pytest.raises(RecordError, match="hands"):
            deal.dealt_position(rules, {**line, "hands": fewer}, None)
    scores = deal.dealt_position(rules, lines[0], [5] * rules.players)["scores"]
    assert scores == [5] * rules.players


@every_table
def test_records_of_a_round_without_a_seed_are_checked_by_their_start(rules: Rules) -> None:
    """Whoever else begins: the record is refused, by its hands or by its start."""
    kind, game = kind_of(rules), MatchPlay(rules, 7)
    starter = kind.deal.KEYS[-1]
    while not game.round_over:
        game.push(game.legal_moves()[0])
    dealt, over = dealt_round(rules, 7, 0, 0), {"moves": game.moves, "penalties": game.penalties}
    line = {**dealt, **over, "scores": game.penalties}
    record = Record(header_of(rules, None), [line], None)
    verify_record(record, partial=True)
    other = {**line, starter: (line[starter] + 1) % rules.players}
    with pytest.raises(RecordError):
        verify_record(Record(record.header, [other], None), partial=True)


# ------------------------------------------------------------------------------------ what is drawn


def drawn_tiles(board: Board) -> list[tuple[int, ...]]:
    """Return the tiles that a board shows, the low pip first, sorted."""
    links = [link for train in board.trains for link in train.links]
    links += board.tree.links if board.tree is not None else []
    links += [board.middle] if board.middle is not None else []
    return sorted(tuple(sorted(link)) for link in links)


@every_table
def test_boards_show_each_tile_on_the_table_once(rules: Rules) -> None:
    tiles = rules.tiles
    for i, game in enumerate(played(rules, 60, games=1)):
        position = position_of(rules, game.states[0])
        board = kind_of(rules).table.board(rules, position)
        on_table = tiles_of(game.states["table"][0])
        assert drawn_tiles(board) == [(int(tiles.low[t]), int(tiles.high[t])) for t in on_table]
        assert not (board.trains and board.tree is not None)
        names = [train.name for train in board.trains]
        assert len(set(names)) == len(names)
        assert all(train.links[-1][1] == train.end for train in board.trains if train.links)
        assert isinstance(board.duty, str)
        assert isinstance(board.owes, str)
        assert all(tiles.parse(text) in on_table for text in board.waiting_tiles())
        if i % 10 == 0:
            assert render_text(position, "all").startswith(kind_of(rules).title)
            assert render_svg(position).endswith("</svg>")


@every_table
def test_places_have_words(rules: Rules) -> None:
    names = {seat: f"player {seat}" for seat in range(rules.players)}
    texts = [text for seat in move_texts(rules).texts for text in seat if "@" in text]
    for place in {text.partition("@")[2] for text in texts}:
        words = kind_of(rules).table.place_text(rules, place, names)
        assert words == words.strip() != ""


def test_unknown_games_are_named() -> None:
    with pytest.raises(DominoError, match="mexican_train"):
        make_rules("mexican_trian")
