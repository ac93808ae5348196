"""What each agent is about, on positions made by hand."""

from __future__ import annotations

from typing import Any

from dominoenv import BatchedGame, Game, make_policy
from dominoenv.games.positions import record_of


def decide(position: dict[str, Any], name: str, **parameters: Any) -> str:
    """Return the move of an agent, which must be the same whatever the seed."""
    (move,) = decisions(position, name, **parameters)
    return move


def decide_tile(position: dict[str, Any], name: str, **parameters: Any) -> str:
    """Return the tile that an agent plays whatever the seed, joined by either pip."""
    moves = decisions(position, name, **parameters)
    (tile,) = {move.partition("@")[0] for move in moves}
    return tile


def decisions(position: dict[str, Any], name: str, **parameters: Any) -> set[str]:
    """Return the moves of an agent for several seeds."""
    rules, states = record_of(position)
    batch = BatchedGame(rules, 1, seed=0)
    batch.load(states)
    policies = [make_policy(name, rules, seed, **parameters) for seed in range(6)]
    actions = [policy.act(batch.observations, batch.masks)[0] for policy in policies]
    return {batch.action_text(int(action), position["to_move"]) for action in actions}


def trains(hand: list[str], **changes: Any) -> dict[str, Any]:
    """Return a position of Mexican Train: seat 0's train ends in 5, the Mexican Train in 8."""
    return {
        "game": "mexican_train",
        "rules": {"preset": "engine", "players": 2},
        "engine": 9,
        "to_move": 0,
        "hands": [hand, ["1-0", "2-0", "3-0", "1-1", "2-2", "3-3", "9-1"]],
        "boneyard": ["0-0"],
        "trains": [["9-5"], []],
        "mexican_train": ["9-8"],
        **changes,
    }


# ---------------------------------------------------------------------------------- longest train


def test_longest_train_plays_off_the_plan_first() -> None:
    assert decide(trains(["5-2", "8-7", "8-3"]), "longest_train") == "8-7@M"
    assert decide(trains(["5-2", "8-7"]), "longest_train", off_plan_first=False) == "5-2@0"


def test_longest_train_closes_a_marked_train_at_once() -> None:
    assert decide(trains(["5-2", "8-7", "8-3"], markers=[0]), "longest_train") == "5-2@0"
    assert decide(trains(["5-2", "8-7", "8-3"], markers=[1]), "longest_train") == "8-7@M"


def test_longest_train_covers_its_own_double_at_once() -> None:
    own = trains(["5-2", "8-7"], trains=[["9-5", "5-5"], []], pending=[0], owes_play=True)
    assert decide(own, "longest_train") == "5-2@0"


def test_longest_train_keeps_the_plan() -> None:
    assert decide(trains(["5-2", "8-2"]), "longest_train") == "5-2@0"  # 8-2 is for later
    # the heavier start would leave two tiles behind
    assert decide(trains(["6-5", "5-2", "3-2", "4-3"]), "longest_train") == "5-2@0"


def test_longest_train_covers_others_doubles_off_the_plan() -> None:
    hand = ["5-4", "4-3", "3-1", "8-4"]  # the plan is 5-4, 4-3, 3-1
    other = trains(hand, trains=[["9-5"], ["9-4", "4-4"]], pending=[1])
    assert decide(other, "longest_train") == "8-4@1"
    # and where all covers are of the plan, with the last of them
    del hand[-1]
    assert decide(other, "longest_train") == "4-3@1"


def test_longest_train_by_pips() -> None:
    hand = ["6-5", "5-1", "2-1"]
    assert decide(trains(hand), "longest_train") == "5-1@0"
    assert decide(trains(hand), "longest_train", objective="pips") == "6-5@0"


# ---------------------------------------------------------------------------------------- doubles


def test_doubles_first_and_avoided() -> None:
    hand = ["5-5", "6-5", "8-8", "8-7"]
    assert decide(trains(hand), "doubles_first") == "8-8@M"
    assert decide(trains(hand), "doubles_avoided") == "8-7@M"
    assert decide(trains(["5-5", "5-4"]), "doubles_first") == "5-5@0"
    assert decide(trains(["5-5", "8-8", "2-1"]), "doubles_avoided") == "8-8@M"  # forced


def test_doubles_avoided_on_the_one_table() -> None:
    assert decide(table(["4-4", "5-5", "5-2"]), "doubles_avoided") == "5-2@5"
    assert decide(table(["4-4", "5-5", "5-2"]), "doubles_first") == "5-5@5"


def test_double_chaining_saves_a_single_double() -> None:
    hand = ["5-5", "5-2", "7-6"]
    assert decide(trains(hand), "double_chaining") == "5-2@0"
    assert decide(trains(hand), "double_chaining", chain=1) == "5-5@0"
    assert decide(trains(["5-5", "7-6"]), "double_chaining") == "5-5@0"  # forced
    assert decide(trains(["8-8", "5-2"]), "double_chaining", chain=1) == "5-2@0"  # no cover


def test_double_chaining_chains_and_covers() -> None:
    game = Game.from_position(trains(["5-5", "8-8", "5-2", "7-6"]))
    moves = []
    for _ in range(3):
        moves.append(decide(game.position(), "double_chaining"))
        game.push(moves[-1])
    assert moves == ["8-8@M", "5-5@0", "5-2@0"]  # the double that has a cover comes last
    assert game.position()["pending"] == ["M"]


def test_double_chaining_makes_ends_for_its_doubles() -> None:
    hand = ["4-4", "5-4", "6-5"]
    assert decide(trains(hand), "double_chaining") == "5-4@0"
    assert decide(trains(hand), "double_chaining", prepare=1.0) == "6-5@0"


def test_double_chaining_hurries_at_the_end() -> None:
    late = trains([], hands=[["5-5", "5-2", "7-6"], ["1-0", "2-0", "3-0"]])
    assert decide(late, "double_chaining") == "5-5@0"
    assert decide(late, "double_chaining", endgame=2) == "5-2@0"


# ---------------------------------------------------------------------------------------- blocker


def test_blocker_opens_the_double_that_nobody_covers() -> None:
    hand = ["5-5", "5-2", "8-6", "7-6"]
    assert decide(trains(hand), "blocker", double=8.0) == "8-6@M"
    assert decide(trains(hand, voids=[[], [5]]), "blocker") == "5-5@0"
    assert decide(trains(hand, voids=[[], [5]]), "blocker", double=8.0) == "5-5@0"


def test_blocker_leaves_the_double_open_and_keeps_the_cover() -> None:
    own = trains(
        ["5-2", "7-2", "8-1"],
        trains=[["9-5", "5-5"], []],
        pending=[0],
        owes_play=True,
        voids=[[], [5]],
    )
    assert decide(own, "blocker") == "8-1@M"
    assert decide(own | {"hands": [["5-2", "8-5"], ["1-0", "2-0"]]}, "blocker") == "8-5@M"
    assert decide(own, "blocker", double=0.0, keep_cover=0.0, scarce=0.0) == "8-1@M"
    assert decide(own | {"voids": [[], []]}, "blocker", double=0.0, scarce=20.0) == "8-1@M"


def test_blocker_leaves_scarce_ends() -> None:
    hand = ["8-7", "8-4", "2-1"]
    assert decide(trains(hand), "blocker", scarce=0.0) == "8-7@M"
    assert decide(trains(hand, voids=[[], [4]]), "blocker", scarce=10.0) == "8-4@M"


# ------------------------------------------------------------------------------------ opportunist


def test_opportunist_plays_off_the_plan_first_and_sheds_at_the_end() -> None:
    hand = ["6-5", "6-4", "8-0"]  # the plan is 6-5, 6-4
    assert decide(trains(hand), "opportunist") == "8-0@M"
    assert decide(trains(hand), "opportunist", rush=20.0) == "8-0@M"
    late = trains([], hands=[hand, ["7-7"]])
    assert decide(late, "opportunist", rush=0.0) == "8-0@M"
    assert decide(late, "opportunist", rush=20.0) == "6-5@0"


def test_opportunist_closes_its_train_for_a_price() -> None:
    hand = ["5-2", "8-7", "8-3"]
    assert decide(trains(hand, markers=[0]), "opportunist", close=30.0) == "5-2@0"
    assert decide(trains(hand, markers=[1]), "opportunist", close=30.0) == "8-7@M"


def test_opportunist_guards_the_double_on_its_own_train() -> None:
    own = trains(["5-2", "8-7"], trains=[["9-5", "5-5"], []], pending=[0], owes_play=True)
    assert decide(own, "opportunist", own_double=30.0) == "5-2@0"
    assert decide(own | {"voids": [[], [5]]}, "opportunist", own_double=30.0) == "8-7@M"


def test_opportunist_leaves_doubles_open_elsewhere() -> None:
    own = trains(["8-2", "5-2", "2-1"], mexican_train=["9-8", "8-8"], pending=["M"], owes_play=True)
    free = {"off_plan": 0.0, "on_plan": 0.0, "pips": 0.0, "rush": 0.0, "follow": 0.0}
    unable = own | {"voids": [[], [8]]}
    assert decide(unable, "opportunist", open_double=20.0, scarce=0.0, **free) == "5-2@0"
    assert decide(unable, "opportunist", open_double=0.0, scarce=20.0, **free) == "8-2@M"


# ----------------------------------------------------------------------------------- chicken foot


def table(hand: list[str], **changes: Any) -> dict[str, Any]:
    """Return a position of Chicken Foot with open ends 4, 5, 7 and 8."""
    return {
        "game": "chicken_foot",
        "rules": {"preset": "pagat", "players": 2},
        "centre": 9,
        "to_move": 0,
        "hands": [hand, ["1-1", "2-2", "3-3", "6-6", "7-7"]],
        "boneyard": [],
        "table": [["9-4"], ["9-5"], ["9-7"], ["9-8"]],
        **changes,
    }


BLANK_END = [["9-4"], ["9-5"], ["9-7"], ["9-0"]]


def test_flexible_keeps_pips() -> None:
    hand = ["8-6", "8-3", "5-3", "6-5"]  # 8-6 and 8-3 lose no pip; 8-6 is the heavier
    assert decide(table(hand), "flexible") == "8-6@8"
    hand = ["7-2", "5-4", "4-3", "5-1"]  # 7-2 takes two pips with it, 5-4 none, both cost nine
    assert decide_tile(table(hand), "flexible") == "5-4"
    assert decide(table(["8-2", "5-4", "4-3", "5-1"]), "flexible", variety=0.1) == "8-2@8"
    assert decide(table(["8-2", "7-1", "2-1", "7-3"]), "flexible", variety=3.0) == "7-1@7"


def test_blank_hunter_sheds_its_own_first() -> None:
    rules = {"preset": "pagat", "players": 2, "double_blank": 0}  # by its weight it would be last
    hand = ["0-0", "7-6", "5-4"]
    own = table(hand, table=BLANK_END, rules=rules)
    assert decide(own, "blank_hunter") == "0-0@0"
    assert decide(own, "flexible") == "7-6@7"


def test_blank_hunter_makes_and_spares_ends_for_its_own() -> None:
    assert decide(table(["0-0", "4-0", "8-7"]), "blank_hunter") == "4-0@4"
    assert decide_tile(table(["4-0", "8-7"]), "blank_hunter") == "8-7"
    foot = [*BLANK_END, ["7-7", 2]]  # a foot of 7 is open: [0|0] has to wait for it
    waiting = table(["0-0", "7-0", "7-6"], table=foot)
    waiting["hands"][1] = ["1-1", "2-2"]
    assert decide(waiting, "blank_hunter") == "7-0@7"


def test_blank_hunter_starves_the_others() -> None:
    hand = ["8-0", "7-6", "6-0", "8-6", "7-0"]  # no play takes a pip out of the hand
    starving = table(hand, table=BLANK_END)
    assert decide_tile(starving, "blank_hunter", starve=9.0) == "8-0"
    assert decide_tile(starving, "blank_hunter") == "7-6"
    assert decide_tile(starving, "blank_hunter", starve=0.0) == "7-6"
    fed = starving | {"voids": [[], [0]]}  # the only other seat provably has no 0
    assert decide_tile(fed, "blank_hunter", starve=9.0) == "7-6"


SMALL = {"preset": "pagat", "players": 2, "max_pip": 6}
# All sixes but 6-6 lie on the table or in the hand: three toes for it can never be found.
DEAD_SIX = [["5-4"], ["5-3"], ["5-2"], ["5-6"], ["4-6", 0], ["3-6", 1], ["6-2", 4], ["6-1", 3]]


def dead_six(hand: list[str], other: list[str], **rules: Any) -> dict[str, Any]:
    """Return a position in which 6-6 can be laid, but only one six is left for its toes."""
    return {
        "game": "chicken_foot",
        "rules": SMALL | rules,
        "centre": 5,
        "to_move": 0,
        "hands": [hand, other],
        "boneyard": [],
        "table": DEAD_SIX,
    }


def test_foot_counter_freezes_the_table_when_light() -> None:
    light = dead_six(["6-6", "2-1", "0-0"], ["6-0", "4-4", "3-3", "4-3", "4-1"], double_blank=0)
    assert decide(light, "foot_counter") == "6-6@6"


def test_foot_counter_withholds_a_dead_foot_when_heavy() -> None:
    heavy = dead_six(["6-6", "2-1", "4-4", "3-3", "4-3", "4-1"], ["6-0"])
    assert decide(heavy, "foot_counter") != "6-6@6"
    assert decide(heavy, "foot_counter", freeze=0.0, variety=0.0) == "6-6@6"
    released = dead_six(heavy["hands"][0], ["6-0"], dead_foot="released")
    assert decide(released, "foot_counter") == "6-6@6"  # no trap under this rule


def test_foot_counter_opens_feet_for_its_own_toes() -> None:
    hand = ["4-4", "8-8", "4-1", "4-2", "6-5"]
    plain = {"variety": 0.0, "block": 0.0}
    assert decide(table(hand), "foot_counter", toe=1.0, **plain) == "8-8@8"
    assert decide(table(hand), "foot_counter", toe=6.0, **plain) == "4-4@4"


def test_foot_counter_opens_feet_that_the_next_seat_has_no_toe_for() -> None:
    hand = ["4-4", "8-8", "4-1", "8-1"]
    assert decide(table(hand), "foot_counter") == "8-8@8"
    assert decide(table(hand, voids=[[], [4]]), "foot_counter", block=0.0) == "8-8@8"
    assert decide(table(hand, voids=[[], [4]]), "foot_counter") == "4-4@4"
