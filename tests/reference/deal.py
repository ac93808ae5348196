"""The deal of any round from (seed, match, round) alone: 64-bit numbers, shuffles, hands."""

from __future__ import annotations

from typing import Any

from .tiles import Tile, by_id, full_set, is_double, tile_text

STEP = 0x9E3779B97F4A7C15
U64 = 2**64
FIRST_STARTER = 2**32  # the topic of the stream that draws the first round's starter


def mix(z: int) -> int:
    z = (z + STEP) % U64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % U64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % U64
    return z ^ (z >> 31)


class Stream:
    """The random numbers of one topic (a round's index, or FIRST_STARTER) of one match."""

    def __init__(self, seed: int, match: int, topic: int) -> None:
        self.state = mix(mix(mix(seed % U64) ^ match) ^ topic)

    def next(self) -> int:
        out = mix(self.state)
        self.state = (self.state + STEP) % U64
        return out

    def below(self, n: int) -> int:
        """A number from 0 to n-1, all equally likely: draws again where the range is uneven."""
        while True:
            m = (self.next() >> 32) * n
            if m % 2**32 >= 2**32 % n:
                return m >> 32

    def shuffle(self, tiles: list[Tile]) -> None:
        for i in range(len(tiles) - 1, 0, -1):
            j = self.below(i + 1)
            tiles[i], tiles[j] = tiles[j], tiles[i]


def deal_round(game: str, rules: dict[str, Any], seed: int, match: int, k: int) -> dict[str, Any]:
    """The position in which round k of a match begins (docs/formats.md form, rules resolved).

    Extra keys: "starter" and "engine_draws" (tiles drawn until the engine came, itself included)
    in Mexican Train; "leader" and "redeals" in Chicken Foot.
    """
    deal = {"mexican_train": deal_mexican_train, "chicken_foot": deal_chicken_foot}[game]
    return deal(rules, seed, match, k)


def deal_mexican_train(rules: dict[str, Any], seed: int, match: int, k: int) -> dict[str, Any]:
    players, pip = rules["players"], rules["rounds"][k]
    engine = (pip, pip)
    starter = round_starter(rules, seed, match, k)
    tiles = full_set(rules["max_pip"])
    if rules["engine_tile"] == "set_aside":
        tiles.remove(engine)
    Stream(seed, match, k).shuffle(tiles)
    hands, boneyard = deal_hands(tiles, rules)
    to_move, engine_draws = starter, 0
    if rules["engine_tile"] == "dealt":
        layer, engine_draws = lay_engine(engine, hands, boneyard, starter)
        to_move = (layer + 1) % players
    return {
        "game": "mexican_train",
        "rules": rules,
        "engine": pip,
        "to_move": to_move,
        "hands": [[tile_text(tile) for tile in by_id(hand)] for hand in hands],
        "boneyard": [tile_text(tile) for tile in boneyard],
        "trains": [[] for _ in range(players)],
        "mexican_train": [],
        "markers": [],
        "pending": [],
        "turns_taken": [0] * players,
        "drew": False,
        "owes_play": False,
        "passes": 0,
        "round": k,
        "scores": [0] * players,
        "starter": starter,
        "engine_draws": engine_draws,
    }


def round_starter(rules: dict[str, Any], seed: int, match: int, k: int) -> int:
    """Who moves first: the next seat clockwise in each following round."""
    first = rules["first_starter"]
    if first == "seed":
        first = Stream(seed, match, FIRST_STARTER).below(rules["players"])
    return int((first + k) % rules["players"])


def deal_hands(tiles: list[Tile], rules: dict[str, Any]) -> tuple[list[list[Tile]], list[Tile]]:
    """Seat 0 gets the first tiles, seat 1 the next …; the rest is the boneyard."""
    players, size = rules["players"], rules["hand_size"]
    if players * size > len(tiles):
        raise ValueError(f"{players} hands of {size} need more than the {len(tiles)} tiles")
    hands = [tiles[seat * size : (seat + 1) * size] for seat in range(players)]
    return hands, tiles[players * size :]


def lay_engine(
    engine: Tile, hands: list[list[Tile]], boneyard: list[Tile], starter: int
) -> tuple[int, int]:
    """The holder lays the engine; if nobody holds it, seats draw until it is drawn.

    Changes hands and boneyard; returns the seat that laid it and the number of tiles drawn.
    """
    draws = 0
    seat = starter
    while not any(engine in hand for hand in hands):
        seat = (starter + draws) % len(hands)
        hands[seat].append(boneyard.pop(0))
        draws += 1
    layer = next(seat for seat, hand in enumerate(hands) if engine in hand)
    hands[layer].remove(engine)
    return layer, draws


def deal_chicken_foot(rules: dict[str, Any], seed: int, match: int, k: int) -> dict[str, Any]:
    players = rules["players"]
    stream = Stream(seed, match, k)
    tiles = full_set(rules["max_pip"])
    redeals = -1
    while True:
        redeals += 1
        stream.shuffle(tiles)
        hands, boneyard = deal_hands(tiles, rules)
        if any(is_double(tile) for hand in hands for tile in hand):
            break
    leader, pip = lead(rules["rounds"][k], hands, rules["max_pip"])
    hands[leader].remove((pip, pip))
    return {
        "game": "chicken_foot",
        "rules": rules,
        "centre": pip,
        "to_move": (leader + 1) % players,
        "hands": [[tile_text(tile) for tile in by_id(hand)] for hand in hands],
        "boneyard": [tile_text(tile) for tile in boneyard],
        "table": [],
        "drew": False,
        "passes": 0,
        "round": k,
        "scores": [0] * players,
        "leader": leader,
        "redeals": redeals,
    }


def lead(pip: int, hands: list[list[Tile]], max_pip: int) -> tuple[int, int]:
    """Rule 1: the seat that leads the round of a pip, and the pip of the double that it leads."""
    for wanted in lead_order(pip, max_pip):
        for seat, hand in enumerate(hands):
            if (wanted, wanted) in hand:
                return seat, wanted
    raise ValueError("no hand holds a double")


def lead_order(pip: int, max_pip: int) -> list[int]:
    """Rule 1: down from the round's pip to 0, then upward; in the round of 1 up, then 0."""
    if pip == 1:
        return [*range(1, max_pip + 1), 0]
    return [*range(pip, -1, -1), *range(pip + 1, max_pip + 1)]
