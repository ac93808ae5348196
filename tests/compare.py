"""Play a round in the engine and in the plain reference at once, and compare after every move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dominoenv import BatchedGame, ChickenFootRules, Rules, make_policy
from dominoenv.core.round import DRAWN, NOT_DRAWN, PLAYING
from dominoenv.games.positions import position_of
from tests.reference import ChickenFoot, MexicanTrain, deal_round

Reference = MexicanTrain | ChickenFoot

RARE = (
    "two pending doubles",
    "a dead double",
    "blocked by a lap",
    "blocked by no_play",
    "an unfillable foot",
    "a redeal",
    "the engine after a lap of draws",
    "a chain of three doubles",
    "out on a double",
)


@dataclass
class Trace:
    """One round as the engine played it: a frame before each move, one at the end, the moves."""

    rules: Rules
    frames: Any  # (m + 1,) records
    legal: list[list[str]]  # m + 1
    moves: list[str]  # m

    def position(self, frame: int) -> dict[str, Any]:
        return position_of(self.rules, self.frames[frame])


def play_rounds(rules: Rules, seed: int, matches: Any, rounds: Any) -> Iterator[Trace]:
    """Play one random round of each match in the engine, all side by side."""
    game = BatchedGame(rules, len(matches), seed, autoreset=False, observe=False)
    game.reset(seed, matches=matches, rounds=rounds)
    policy = make_policy("random", rules, seed=int(matches[0]))
    frames, masks, actions = [game.states.copy()], [game.masks.copy()], []
    while (some := np.flatnonzero(game.states["ending"] == PLAYING)).size:
        chosen = np.full(game.num_games, -1)
        chosen[some] = policy.act(game.observations[some], game.masks[some])
        game.step(chosen[some], some)
        actions.append(chosen)
        frames.append(game.states.copy())
        masks.append(game.masks.copy())
    text = cache(game.action_text)
    everything = np.empty((len(frames), game.num_games), game.states.dtype)
    for k, frame in enumerate(frames):
        everything[k] = frame
    for i in range(game.num_games):
        number = sum(int(step[i]) >= 0 for step in actions)
        own = everything[: number + 1, i]
        seats = own["to_move"].tolist()
        yield Trace(
            rules,
            own,
            [
                sorted(text(action, seats[k]) for action in masks[k][i].nonzero()[0].tolist())
                for k in range(number + 1)
            ],
            [text(int(actions[k][i]), seats[k]) for k in range(number)],
        )


COMPARED = {
    *("ending", "penalties", "hand_sizes", "boneyard_size", "to_move", "drew", "passes", "voids"),
    *("markers", "ends", "pending", "num_pending", "turns_taken", "owes_play"),
    *("foot", "toes", "arms"),
}


def bits(number: int) -> set[int]:
    return {i for i in range(number.bit_length()) if number >> i & 1}


def engine_facts(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield what the engine says of each position of a round."""
    rules, frames = trace.rules, trace.frames
    players = rules.players
    column = {name: frames[name].tolist() for name in frames.dtype.names if name in COMPARED}
    for k, legal in enumerate(trace.legal):
        over = column["ending"][k] != PLAYING
        facts: dict[str, Any] = {
            "legal": legal,
            "over": over,
            "penalties": column["penalties"][k][:players] if over else None,
            "hand sizes": column["hand_sizes"][k][:players],
            "boneyard": column["boneyard_size"][k],
        }
        if not over:  # whose turn it would be has no meaning any more
            facts["to_move"] = column["to_move"][k]
            facts["drew"] = column["drew"][k] != NOT_DRAWN
            facts["passes"] = column["passes"][k]
            facts["voids"] = [bits(pips) for pips in column["voids"][k][:players]]
        parts = train_facts if rules.game == "mexican_train" else foot_facts
        yield facts | parts(rules, column, k, over)


def train_facts(rules: Rules, column: Any, k: int, over: bool) -> dict[str, Any]:
    players = rules.players
    facts = {"markers": bits(column["markers"][k]), "ends": column["ends"][k][: players + 1]}
    if not over:
        pending = column["pending"][k][: column["num_pending"][k]]
        facts["pending"] = ["M" if train == players else train for train in pending]
        facts["turns"] = column["turns_taken"][k][:players]
        facts["owes"] = bool(column["owes_play"][k])
    return facts


def foot_facts(rules: Rules, column: Any, k: int, over: bool) -> dict[str, Any]:
    assert isinstance(rules, ChickenFootRules)
    foot = column["foot"][k]
    return {
        "ends": {pip: n for pip, n in enumerate(column["ends"][k]) if n},
        "foot": (foot, rules.toes - column["toes"][k]) if foot >= 0 else None,
        "missing": max(rules.centre_arms - column["arms"][k], 0),
    }


def reference_facts(twin: Reference) -> dict[str, Any]:
    """Return the same of the reference."""
    facts: dict[str, Any] = {
        "legal": twin.legal_moves(),
        "over": twin.round_over,
        "penalties": twin.penalties,
        "hand sizes": [len(hand) for hand in twin.hands],
        "boneyard": len(twin.boneyard),
    }
    if not twin.round_over:
        facts["to_move"] = twin.to_move
        facts["drew"] = bool(twin.drew)
        facts["passes"] = twin.passes
        facts["voids"] = [set(twin.lacks(seat)) for seat in range(twin.players)]
    if isinstance(twin, MexicanTrain):
        facts["markers"] = twin.markers
        facts["ends"] = [twin.end(train) for train in twin.all_trains()]
        if not twin.round_over:
            facts |= {"pending": twin.pending, "turns": twin.turns_taken, "owes": twin.owes_play}
        return facts
    return facts | {
        "ends": {pip: n for pip, n in twin.open_ends().items() if n},
        "foot": twin.foot,
        "missing": twin.centre_missing,
    }


def whole(position: dict[str, Any]) -> dict[str, Any]:
    """Return a position as far as both must agree: every tile in its place."""
    keys = ("hands", "boneyard", "trains", "mexican_train", "table", "engine", "centre")
    kept = {key: position[key] for key in keys if key in position}
    kept["hands"] = [sorted(hand) for hand in kept["hands"]]
    if "table" in kept:  # which of equal ends took a tile is left open
        kept["table"] = [entry[0] for entry in kept["table"]]
    return kept


def compare_rounds(rules: Rules, seed: int, matches: Any, rounds: Any) -> Counter[str]:
    """Play a random round of each match in both; return how often each rare thing was met."""
    met: Counter[str] = Counter()
    for trace in play_rounds(rules, seed, np.asarray(matches), np.asarray(rounds)):
        met.update(compare_trace(trace, seed))
    return met


def compare_trace(trace: Trace, seed: int) -> Counter[str]:
    """Deal the round in the reference, by its own means, and play the same moves."""
    rules, g = trace.rules, trace.frames[0]
    options = rules.to_dict()
    where = f"{options}, seed {seed}, match {g['match']}, round {g['round']}"
    dealt = deal_round(rules.game, options, seed, int(g["match"]), int(g["round"]))
    kind = MexicanTrain if rules.game == "mexican_train" else ChickenFoot
    twin: Reference = kind({**dealt, "rules": options})
    met = Counter({"a redeal": int(dealt.get("redeals", 0) > 0)})
    met["the engine after a lap of draws"] += dealt.get("engine_draws", 0) > rules.players
    assert whole(trace.position(0)) == whole(twin.position()), where
    for k, ours in enumerate(engine_facts(trace)):
        if k > 0:
            twin.push(trace.moves[k - 1])
        assert ours == reference_facts(twin), f"{where}: after {trace.moves[:k]}"
        watch(trace, k, ours, met)
    assert whole(trace.position(-1)) == whole(twin.position()), where
    last = trace.frames[-1]  # totals of an episode of one round are its penalties
    assert last["scores"].tolist() == last["penalties"].tolist(), where
    return met


def watch(trace: Trace, k: int, facts: dict[str, Any], met: Counter[str]) -> None:
    """Count the rare things that a position shows."""
    if trace.rules.game == "mexican_train":
        watch_trains(trace, k, facts, met)
    elif facts["foot"] and on_table(trace, k, facts["foot"][0]):
        met["an unfillable foot"] += 1
    if facts["over"]:
        out = 0 in facts["hand sizes"]
        tile = trace.moves[-1].partition("@")[0].split("-") if trace.moves else []
        met["out on a double"] += out and len(tile) == 2 and tile[0] == tile[1]
        met["out"] += out
        blocked = trace.rules.to_dict().get("blocked", "lap")
        met["blocked by a lap" if blocked == "lap" else "blocked by no_play"] += not out


def watch_trains(trace: Trace, k: int, facts: dict[str, Any], met: Counter[str]) -> None:
    pending = facts.get("pending", [])
    if not pending:
        return
    met["two pending doubles"] += len(pending) >= 2 and not facts["owes"]
    g = trace.frames[k]
    met["a chain of three doubles"] += bool(g["doubles"] >= 3 and g["drew"] != DRAWN)
    ends = facts["ends"]
    met["a dead double"] += any(on_table(trace, k, ends[-1 if t == "M" else t]) for t in pending)


def on_table(trace: Trace, k: int, pip: int) -> bool:
    """Return whether all tiles of a pip lie on the table."""
    left = trace.rules.record[0]["pip_tiles"][pip] & ~trace.frames[k]["table"]
    return not left.any()
