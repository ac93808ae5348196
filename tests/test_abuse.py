"""Whatever is thrown at a public function, it answers rightly or raises what its docs say.

Every attack draws arguments that are nearly right or utterly wrong from a seeded generator. A
DominoError is a fine answer, any other exception is a fault. After each of them the object must be
exactly what an untouched twin is, and now and then both play on to show that they still are.

The suite spends some seconds on it. ABUSE_SECONDS=60 python -m pytest tests/test_abuse.py spends a
minute; ABUSE_SEED=n throws other things. A failure names the attack's own seed.
"""

from __future__ import annotations

import copy
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dominoenv import (
    BatchedGame,
    ChickenFootRules,
    DominoError,
    Game,
    MexicanTrainRules,
    Record,
    Recorder,
    Rules,
    chicken_foot_v0,
    make_policy,
    make_rules,
    mexican_train_v0,
    read_records,
    verify_record,
    write_record,
)
from dominoenv.core.layout import Layout
from dominoenv.core.round import PLAYING
from dominoenv.games.registry import kind_of
from dominoenv.render.pixels import render_pixels
from dominoenv.render.svg import render_svg
from dominoenv.render.text import render_text
from tests.rule_sets import random_rules

SECONDS = float(os.environ.get("ABUSE_SECONDS", "15"))
SEED = int(os.environ.get("ABUSE_SEED", "0"))
POLICIES = ("random", "heaviest", "lightest")

JUNK: list[Callable[[random.Random], Any]] = [
    lambda rng: None,
    lambda rng: rng.choice([True, False]),
    lambda rng: rng.randint(-3, 12),
    lambda rng: rng.choice(
        [-1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1, 2**64, 10**30, -(2**63)]
    ),
    lambda rng: rng.choice([0.0, 1.0, -1.5, 1e300, float("nan"), float("inf"), 1j]),
    lambda rng: rng.choice(
        ["", "9-4", "9-4@0", "draw", "engine", "game", "M", "all", "9-", "é☃", "\0"]
    ),
    lambda rng: rng.randbytes(rng.randint(0, 20)),
    lambda rng: rng.randbytes(rng.randint(0, 20)).decode("latin-1"),
    lambda rng: [junk(rng) for _ in range(rng.randint(0, 4))],
    lambda rng: tuple(rng.randint(-2, 9) for _ in range(rng.randint(0, 5))),
    lambda rng: [[1, 2], [3]],
    lambda rng: {rng.choice(["a", "preset", "players", "game", "match", 3, None]): junk(rng)},
    lambda rng: {rng.randint(0, 3)},
    lambda rng: object(),
    lambda rng: int,
    lambda rng: (x for x in range(3)),
    lambda rng: array(rng),
    lambda rng: rng.choice([np.int8(3), np.uint64(2**64 - 1), np.float32("nan"), np.bool_(True)]),
    lambda rng: np.array(rng.randint(0, 3)),
]


def junk(rng: random.Random) -> Any:
    """Return any value at all."""
    return rng.choice(JUNK)(rng)


def array(rng: random.Random) -> Any:
    """Return an array of any shape, type and content."""
    shape = tuple(rng.randint(0, 5) for _ in range(rng.randint(0, 3)))
    kind = rng.choice(["i1", "u1", "i4", "i8", "u8", "f4", "f8", "?", "O", "U3", "c8", "M8[s]"])
    numbers = np.random.default_rng(rng.randrange(2**32))
    if rng.random() < 0.5:
        values = numbers.integers(0, 3, shape)
    else:
        values = numbers.integers(-(2**63), 2**63 - 1, shape)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(kind)


def nearly(rng: random.Random, *good: Any) -> Any:
    """Return one of some values that make sense, or junk."""
    return rng.choice(good) if good and rng.random() < 0.6 else junk(rng)


def generator() -> np.random.Generator:
    return np.random.default_rng(1)


class Attack:
    """One attack: calls are counted, an error of the library's is an answer, a slow one is not."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.refused = self.answered = 0

    def call(self, function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        """Call a function; return its answer, or None where it refused."""
        answer, said = None, None
        try:
            answer = function(*arguments, **keywords)
        except DominoError as error:
            said = str(error)
        except Exception as error:
            shown = f"{getattr(function, '__qualname__', function)}, {arguments!r}, {keywords!r}"
            raise AssertionError(f"{type(error).__name__} {error} from {shown[:2000]}") from error
        assert said != "", "an error says what is wrong"
        self.refused += said is not None
        self.answered += said is None
        return answer


# ------------------------------------------------------------------------------------------ rules


def rules_options(rng: random.Random) -> dict[Any, Any]:
    """Return some options of either game, many of them wrong."""
    good: dict[str, list[Any]] = {"preset": ["engine", "station", "pagat", "chicken_foot"]}
    for kind in (MexicanTrainRules, ChickenFootRules):
        for key, value in kind().to_dict().items():
            good.setdefault(key, []).extend([value, 1, 2, 12, True, "seed", "binds", [9, 3, 0]])
    keys = rng.sample(sorted(good), rng.randint(0, 4))
    options: dict[Any, Any] = {key: nearly(rng, *good[key]) for key in keys}
    if rng.random() < 0.1:
        options[rng.choice(["name", "self", "cls", "rules", "game", "plaiers", "", 3, None])] = 3
    return options


def attack_rules(attack: Attack) -> None:
    rng = attack.rng
    game = nearly(rng, "mexican_train", "chicken_foot")
    options = rules_options(rng)
    kind = rng.choice([MexicanTrainRules, ChickenFootRules])
    texts = usable(options)
    made = [
        attack.call(make_rules, game, options),
        attack.call(make_rules, game, **texts),
        attack.call(make_rules, game, junk(rng)),
        attack.call(kind.from_dict, options),
        attack.call(kind.preset, nearly(rng, *kind.presets), **{**texts, "players": junk(rng)}),
    ]
    for rules in made:
        if rules is not None:
            assert isinstance(rules, Rules)
            assert type(rules).from_dict(rules.to_dict()) == rules
            assert type(rules).from_dict(json.loads(json.dumps(rules.short_dict()))) == rules
            assert str(rules)


# ------------------------------------------------------------------------------------------ batch


def fingerprint(game: BatchedGame) -> bytes:
    """Return everything that a batch holds."""
    records = (game.states, game._outcomes, game._settings)
    return b"".join([*map(content, records), game.masks.tobytes(), game.observations.tobytes()])


def content(records: Any) -> bytes:
    """Return the bytes of all fields; between them lies whatever was in memory before."""
    return b"".join(records[field].tobytes() for field in records.dtype.names)


def play_on(games: list[BatchedGame], seed: int, steps: int) -> None:
    """Play the same random moves in all; they must stay alike."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        states = games[0].states
        playing = np.flatnonzero(states["ending"] == PLAYING)
        actions = [rng.choice(games[0].masks[i].nonzero()[0]) for i in playing]
        for game in games:
            game.step(actions, playing)
        assert len({fingerprint(game) for game in games}) == 1


def some_batch(rng: random.Random) -> BatchedGame:
    rules = random_rules(rng)
    while rules.game == "chicken_foot" and rules.hand_size == 1:
        rules = random_rules(rng)
    game = BatchedGame(
        rules,
        rng.randint(1, 4),
        rng.randrange(2**64),
        episode=rng.choice(["round", "match"]),
        reward=rng.choice(["zero_sum", "penalty", "win"]),
        forced=rng.choice(["explicit", "auto"]),
        autoreset=rng.random() < 0.7,
    )
    play_on([game], rng.randrange(2**32), rng.randint(0, 40))
    return game


def broken_states(game: BatchedGame, rng: random.Random) -> Any:
    """Return records with some bytes overwritten, or of the wrong shape."""
    states = game.states.copy()
    if rng.random() < 0.2:
        return rng.choice([states[:-1], states[None], states.tobytes(), states.tolist(), states[0]])
    raw = states.view(np.uint8).reshape(-1)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(raw.size)
        raw[at : at + rng.choice([1, 1, 2, 8])] = rng.choice([0, 1, 127, 255, rng.randrange(256)])
    return states


def batch_calls(game: BatchedGame, rng: random.Random) -> list[tuple[Callable[..., Any], tuple]]:
    """Return calls that must refuse or leave a batch as it is."""
    size = game.num_games
    legal = [int(row.argmax()) for row in game.masks]
    illegal = [int(row.argmin()) for row in game.masks]
    wrong = nearly(rng, illegal, [*legal[:-1], -1], [10**6] * size, [legal], legal[:-1], 2**63)
    games = nearly(rng, list(range(size)), [0, 0], [size], [-1], [0.0])
    return [
        (game.step, (wrong,)),
        (game.step, (wrong, games)),
        (game.observe, (nearly(rng, 0, [0] * size, [-1] * size, 99), games)),
        (game.legal_actions, (nearly(rng, 0, size, -1),)),
        (game.redeal_hidden, (nearly(rng, 0, [0] * size, -1, 99), nearly(rng, generator()))),
        (game.action_text, (nearly(rng, 0, -1, game.num_actions), nearly(rng, 0, -1, 10))),
        (game.layout.__getitem__, (nearly(rng, "hand", "hands"),)),
        (game.layout.raw, (nearly(rng, game.observations, game.observations[:, :-1]),)),
        (game.layout.scaled, (nearly(rng, game.observations, game.observations[0]),)),
    ]


def attack_batch(attack: Attack) -> None:
    rng = attack.rng
    game = some_batch(rng)
    twin = game.copy()
    before = fingerprint(game)
    for function, arguments in batch_calls(game, rng) * 2:
        refused = attack.refused
        attack.call(function, *arguments)
        if function == game.step and attack.refused == refused:
            game.load(twin.states)  # junk may name legal actions, and no game at all
            game._outcomes[:] = twin._outcomes
        assert fingerprint(game) == before
    for function in (game.reset, game.restart):
        refused = attack.refused
        rounds = nearly(rng, [0] * game.num_games, [99] * game.num_games, [-1])
        matches = nearly(rng, [0] * game.num_games, [-1] * game.num_games, [2**62])
        if function == game.reset:
            attack.call(function, nearly(rng, 3, -1, [1, 2]), matches=matches, rounds=rounds)
        else:
            attack.call(function, nearly(rng, [0], [-1], [0, 0]), rounds=rounds)
        if attack.refused == refused:
            play_on([game], 1, 3)
            game = twin.copy()
        assert fingerprint(game) == before
    attack_load(attack, game.copy())
    play_on([game, twin], rng.randrange(2**32), 15)


def attack_load(attack: Attack, game: BatchedGame) -> None:
    """Load spoilt records: those that are taken must be playable, whatever they mean."""
    before = fingerprint(game)
    spoilt = nearly(attack.rng, broken_states(game, attack.rng))
    refused = attack.refused
    attack.call(game.load, spoilt)
    if attack.refused > refused:
        assert fingerprint(game) == before
        return
    for _ in range(5):
        playing = np.flatnonzero(game.states["ending"] == PLAYING)
        playing = playing[game.masks[playing].any(1)]
        game.step(game.masks[playing].argmax(1), playing)


def attack_constructors(attack: Attack) -> None:
    rng = attack.rng
    good: dict[str, tuple[Any, ...]] = {
        "episode": ("round", "match"),
        "double": (None, 9, 3, 0),
        "reward": ("zero_sum", "penalty", "win"),
        "reward_scale": (1, 0.05, np.float32(2)),
        "forced": ("auto", "explicit"),
        "autoreset": (True, False),
        "observe": (True, False),
    }
    keywords = {key: nearly(rng, *good[key]) for key in rng.sample(sorted(good), rng.randint(0, 3))}
    rules = nearly(rng, "mexican_train", {"game": "chicken_foot", **rules_options(rng)})
    size = rng.choice([0, 1, 3, -1, 2**40, 1.5, None, "3", [3], True])
    game = attack.call(BatchedGame, rules, size, nearly(rng, 0, None, -1, [1, 2, 3]), **keywords)
    if game is not None:
        assert np.isfinite(game.rewards).all()
        play_on([game], 1, 5)
    options = usable(rules_options(rng))
    single = attack.call(
        Game,
        nearly(rng, "mexican_train", "chicken_foot"),
        nearly(rng, None, "engine", "pagat"),
        seed=nearly(rng, 0, None, -1),
        match=nearly(rng, 0, 2**62, -1),
        round=nearly(rng, 0, 3, 99),
        **options,
    )
    if single is not None and not single.round_over:
        single.push(single.legal_moves()[0])


def usable(options: dict[Any, Any]) -> dict[str, Any]:
    """Return what can be a keyword: a second value for an argument is Python's own TypeError."""
    taken = ("self", "cls", "rules", "game")
    return {key: v for key, v in options.items() if isinstance(key, str) and key not in taken}


# ------------------------------------------------------------------------- single games, positions


def some_game(rng: random.Random) -> Game:
    """Return a game that has been played for a while."""
    game = Game(*(lambda rules: (rules.game, rules))(random_rules(rng)), seed=rng.randrange(2**64))
    for _ in range(rng.randint(0, 80)):
        if game.round_over:
            break
        game.push(rng.choice(game.legal_moves()))
    return game


def attack_game(attack: Attack) -> None:
    rng = attack.rng
    game = some_game(rng)
    twin = game.copy()
    moves = ["draw", "pass", "stop", "9-4@M", "4-9@0", "0-0@0", "99-1@0", "9-4@", "@", "6-6@6 "]
    for move in [nearly(rng, *moves) for _ in range(6)]:
        if isinstance(move, str) and move in game.legal_moves():
            continue
        refused = attack.refused
        attack.call(game.push, move)
        if attack.refused == refused:  # a legal move written low pip first
            assert len(game.moves) == len(twin.moves) + 1
            game = twin.copy()
    if not game.round_over:
        attack.call(game.next_round)
    else:
        attack.call(game.next_round, rng.choice([-1, "a", 2**64, 1.5, [3], object()]))
    attack.call(game.move_text, nearly(rng, 0, -1, 10**6))
    attack.call(game.redeal_hidden, nearly(rng, 0, -1, 99), nearly(rng, generator()))
    attack.call(game.record, nearly(rng, ["a", "b"]), episode=nearly(rng, "match", "round"))
    assert content(game.state) == content(twin.state)
    assert game.position() == twin.position()
    while not game.round_over:
        move = rng.choice(game.legal_moves())
        for one in (game, twin):
            one.push(move)
        assert content(game.state) == content(twin.state)
    assert game.penalties == twin.penalties


def spots(value: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) in nested dicts and lists."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += spots(value[key])
    return found


def mutated(value: Any, rng: random.Random, more: Any = None) -> Any:
    """Return a nested JSON value with a few parts deleted, doubled, replaced or swapped.

    Parts also come from `more`, another value of the kind.
    """
    value = copy.deepcopy(value)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        where, key = rng.choice(spots(value))
        other, source = rng.choice(spots(more if more and rng.random() < 0.3 else value))
        donor = copied(other[source])
        how = rng.randrange(6)
        if how == 0:
            del where[key]
        elif how == 1 and isinstance(where, list):
            where.insert(key, copied(where[key]))
        elif how == 2:
            where[key] = donor
        elif how == 3 and isinstance(where[key], int):
            where[key] += rng.choice([-1, 1])
        elif how == 4 and isinstance(where, list):
            rng.shuffle(where)
        else:
            where[key] = junk(rng)
        if not value:
            break
    return value


def copied(value: Any) -> Any:
    """Return a copy of JSON values, None of others: some cannot be copied."""
    return copy.deepcopy(value) if is_plain(value) else None


def check_playable(game: Game, rng: random.Random) -> None:
    """A game from a position keeps its tiles, offers one kind of move, and comes to an end."""
    rules, tiles = game.rules, tiles_in(game)
    bound = 2 * rules.players * rules.tiles.size + 2 * rules.tiles.size + 2 * rules.players
    for _ in range(bound):
        if game.round_over:
            return
        legal = game.legal_moves()
        assert legal
        assert {"draw", "pass"}.isdisjoint(legal) or len(legal) == 1
        game.push(rng.choice(legal))
        assert tiles_in(game) == tiles
    raise AssertionError("the round does not end")


def tiles_in(game: Game) -> list[str]:
    """Return all tiles of a position, sorted."""
    position = game.position()
    table = [tile for hand in position["hands"] for tile in hand] + position["boneyard"]
    if game.rules.game == "chicken_foot":
        table += [entry[0] for entry in position["table"]]
    else:
        table += [tile for train in position["trains"] for tile in train]
        table += position["mexican_train"]
    assert len(set(table)) == len(table)
    return sorted(table)


def attack_positions(attack: Attack) -> None:
    rng = attack.rng
    good, other = some_game(rng).position(), some_game(rng).position()
    for _ in range(8):
        bad = mutated(good, rng, other)
        kept = copy.deepcopy(bad) if is_plain(bad) else None
        attack.call(render_text, bad, nearly(rng, "all", [0], None), junk(rng), nearly(rng, 80, 60))
        attack.call(render_svg, bad, nearly(rng, "all", [0], None))
        attack.call(render_pixels, bad, None, nearly(rng, 300, 301))
        game = attack.call(Game.from_position, bad)
        if kept is not None:
            assert bad == kept, "positions are read, not written"
        if game is None:
            continue
        again = Game.from_position(game.position())
        assert again.position() == game.position()
        assert again.legal_moves() == game.legal_moves()
        check_playable(game, rng)
    attack.call(Game.from_position, junk(rng))
    attack.call(render_text, junk(rng))


def is_plain(value: Any) -> bool:
    """Return whether a value is plain JSON, so that comparing it with a copy means something."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


# ---------------------------------------------------------------------------------------- policies


def attack_policies(attack: Attack) -> None:
    rng = attack.rng
    game = some_batch(rng)
    name = rng.choice(POLICIES)
    attack.call(make_policy, nearly(rng, name), nearly(rng, game.rules), nearly(rng, 0, -1, "a"))
    attack.call(make_policy, name, game.rules, 0, **{rng.choice(["depth", "x"]): junk(rng)})
    policy, masks, rows = make_policy(name, game.rules, 1), game.masks, game.observations
    good = masks if masks.any(1).all() else masks[:0]
    for bad in (
        nearly(rng, good, good[:, :-1], np.zeros_like(masks), good.T, masks.astype(float)),
    ):
        attack.call(policy.act, nearly(rng, rows, rows[:, :-1]), bad)
    actions = policy.act(rows[: len(good)], good)
    assert good[np.arange(len(good)), actions].all()


# ----------------------------------------------------------------------------------------- records


def attack_records(attack: Attack) -> None:
    rng = attack.rng
    rules = random_rules(rng)
    game = Game(rules.game, rules, seed=rng.randrange(2**64))
    while not game.round_over:
        game.push(rng.choice(game.legal_moves()))
    record = game.record(episode="round")
    verify_record(record)
    parts = {"header": record.header, "rounds": record.rounds, "result": record.result}
    for _ in range(4):
        bad = mutated(parts, rng)
        spoilt = Record(bad.get("header"), bad.get("rounds"), bad.get("result"))
        if isinstance(spoilt.header, dict) and isinstance(spoilt.rounds, list):
            attack.call(verify_record, spoilt, partial=rng.random() < 0.5)
    attack.call(verify_record, junk(rng))
    path = rng.choice([None, 3, "", "\0", b"x", ["a"], Path("/nowhere/at/all"), object()])
    attack.call(lambda: list(read_records(path)))
    attack.call(write_record, path, record)


def attack_record_files(attack: Attack, folder: Path) -> None:
    rng = attack.rng
    rules = make_rules("chicken_foot", players=2, max_pip=6, rounds=[6, 3])
    game = Game("chicken_foot", rules, seed=rng.randrange(2**32))
    while not game.over:
        if game.round_over:
            game.next_round()
        else:
            game.push(rng.choice(game.legal_moves()))
    path = folder / "match.jsonl"
    write_record(path, game.record())
    raw = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(raw))
        how = rng.randrange(4)
        if how == 0:
            del raw[at : at + rng.choice([1, 1, 10, 500])]
        elif how == 1:
            raw[at] = rng.randrange(256)
        elif how == 2:
            raw[at:at] = rng.randbytes(rng.randint(1, 5))
        else:
            raw[at:at] = raw[at : at + rng.randint(1, 300)]
    path.write_bytes(raw)
    for found in attack.call(lambda: list(read_records(path, partial=rng.random() < 0.5))) or []:
        verify_record(found, partial=True)


# ------------------------------------------------------------------------------------ environments


def env_fingerprint(env: Any) -> bytes:
    extra = (env.agents, getattr(env, "agent_selection", None), getattr(env, "terminations", None))
    return fingerprint(env.game) + repr(extra).encode()


def attack_aec(attack: Attack, module: ModuleType) -> None:
    rng = attack.rng
    env = module.raw_env(seed=rng.randrange(100), players=3, max_pip=6)
    attack.call(env.step, nearly(rng, 0, None))  # before the reset
    env.reset()
    for _ in range(rng.choice([0, 5, 30, 400])):
        if not env.agents or env.terminations[env.agent_selection]:
            break
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(rng.choice(mask.nonzero()[0].tolist()))
    before = env_fingerprint(env)
    agent = env.agent_selection
    over = env.terminations[agent]
    legal = set(env.infos[agent]["action_mask"].nonzero()[0].tolist())
    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (env.observe, (nearly(rng, agent, "player_9"),)),
        (env.action_space, (nearly(rng, agent, "player_9"),)),
        (env.observation_space, (nearly(rng, agent, "player_9"),)),
        (env.reset, (rng.choice([-1, "a", 1.5, [1, 2], 2**64, object()]),)),
        (env.reset, (None, rng.choice([3, "abc", [1], {"match": "x"}, {"match": -1}]))),
        (env.step, (nearly(rng, -1, 10**6, 0, 1, 2, 1.5),)),
        (env.state, ()),
        (env.close, ()),
    ]
    for function, arguments in calls:
        allowed = (None,) if over else tuple(legal)
        if function == env.step and is_one_of(arguments[0], allowed):
            continue
        attack.call(function, *arguments)
        assert env_fingerprint(env) == before, function
    attack.call(module.raw_env, **usable(rules_options(rng)))


def is_one_of(value: Any, allowed: tuple[Any, ...]) -> bool:
    """Return whether an action is meant to be taken: None, or what counts as a whole number."""
    if value is None:
        return None in allowed
    try:
        return int(value.__index__()) in allowed
    except (AttributeError, TypeError):
        return False


def attack_parallel(attack: Attack, module: ModuleType) -> None:
    rng = attack.rng
    illegal = rng.choice(["raise", "substitute"])
    env = module.parallel_env(seed=rng.randrange(100), players=3, max_pip=6, illegal=illegal)
    attack.call(env.step, junk(rng))  # before the reset
    _, infos = env.reset()
    for _ in range(rng.choice([0, 5, 30, 400])):
        if not env.agents:
            break
        actions = {a: int(infos[a]["action_mask"].nonzero()[0][-1]) for a in env.agents}
        infos = env.step(actions)[-1]
    before = env_fingerprint(env)
    actions = nearly(rng, {"player_9": 0}, {}, dict.fromkeys(env.agents, -1), {3: 4, "a": 5})
    refused = attack.refused
    attack.call(env.step, actions)
    if attack.refused > refused:
        assert env_fingerprint(env) == before
    spoilt = {agent: nearly(rng, -1, 10**6, env.wait) for agent in env.possible_agents}
    attack.call(env.step, spoilt)  # may be right by chance, or be substituted
    before = env_fingerprint(env)
    attack.call(env.reset, rng.choice([-1, "a", 2**64]), junk(rng))
    assert env_fingerprint(env) == before


# ------------------------------------------------------------------------------------ all of them


def attack_rest(attack: Attack) -> None:
    rng = attack.rng
    game = some_batch(rng)
    recorder = attack.call(Recorder, game, junk(rng))
    if recorder is not None:
        attack.call(recorder.rename, junk(rng))
    layout: Layout = kind_of(game.rules).observe.layout(game.rules)
    attack.call(layout.raw, junk(rng))
    attack.call(layout.scaled, junk(rng))


ATTACKS: dict[str, Callable[..., None]] = {
    "rules": attack_rules,
    "batch": attack_batch,
    "constructors": attack_constructors,
    "game": attack_game,
    "positions": attack_positions,
    "policies": attack_policies,
    "records": attack_records,
    "record files": attack_record_files,
    "raw_env": attack_aec,
    "parallel_env": attack_parallel,
    "rest": attack_rest,
}


@pytest.mark.parametrize("kind", ATTACKS)
def test_abuse(kind: str, tmp_path: Path) -> None:
    more: list[tuple[Any, ...]] = [()]
    if kind == "record files":
        more = [(tmp_path,)]
    elif kind.endswith("env"):
        more = [(mexican_train_v0,), (chicken_foot_v0,)]
    end = time.perf_counter() + SECONDS / len(ATTACKS)
    number = refused = answered = 0
    while time.perf_counter() < end or number < 3:
        attack = Attack(f"{kind} {SEED} {number}")
        try:
            ATTACKS[kind](attack, *more[number % len(more)])
        except Exception as error:
            raise AssertionError(f"attack {attack.seed!r}: {error}") from error
        number, refused, answered = number + 1, refused + attack.refused, answered + attack.answered
    assert refused, "an attack that nothing resists is none"
