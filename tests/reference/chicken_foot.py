"""One round of Chicken Foot, rule by rule. Numbers in comments are those of docs/rules.md."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .tiles import (
    Tile,
    all_on_table,
    by_id,
    check_distinct,
    hand_penalty,
    is_double,
    move_text,
    normal_text,
    once_a_move,
    other_pip,
    parse_move,
    parse_tile,
    tile_text,
)

CENTRE = None  # what an arm joins in place of the index of a table entry
Entry = tuple[Tile, int | None]  # a tile and the index of the entry that it joins


class ChickenFoot:
    """A round at one moment, read from a docs/formats.md position whose rules are all resolved.

    Ends, arms and the open foot are never stored: they follow from the tiles in `entries`.
    """

    def __init__(self, position: dict[str, Any]) -> None:
        self.memo: dict[Any, Any] = {}
        self.outer_pips: list[int] = []  # of the entries that were asked for
        self.rules: dict[str, Any] = position["rules"]
        self.players: int = self.rules["players"]
        self.centre: int = position["centre"]
        self.to_move: int = position["to_move"]
        self.hands: list[set[Tile]] = [set(map(parse_tile, hand)) for hand in position["hands"]]
        self.boneyard: list[Tile] = [parse_tile(text) for text in position["boneyard"]]
        self.entries: list[Entry] = [
            (parse_tile(entry[0]), entry[1] if len(entry) > 1 else CENTRE)
            for entry in position["table"]
        ]
        self.drew: bool = position.get("drew", False)
        self.passes: int = position.get("passes", 0)
        self.round: int = position.get("round", 0)
        self.scores: list[int] = list(position.get("scores", [0] * self.players))
        self.proofs: list[set[int]] = [set() for _ in range(self.players)]
        self.round_over = False
        self.blocked: str | None = None
        self.penalties: list[int] | None = None
        self._check()
        self._end_round_if_over()

    def _check(self) -> None:
        hands = [tile for hand in self.hands for tile in hand]
        check_distinct(hands + self.boneyard + self.table_tiles(), self.rules["max_pip"])
        for index in range(len(self.entries)):
            self.outer_pip(index)  # an inconsistent chain raises

    # --- the table ---

    @property
    def table(self) -> list[list[Any]]:
        """The position's `table`: tiles in the order played, each with the entry that it joins."""
        return [
            [tile_text(tile)] if joins is CENTRE else [tile_text(tile), joins]
            for tile, joins in self.entries
        ]

    def table_tiles(self) -> list[Tile]:
        """All tiles on the table, the centre included."""
        return [(self.centre, self.centre)] + [tile for tile, _ in self.entries]

    def outer_pip(self, index: int) -> int:
        """The pip of an entry that does not touch the one it joins."""
        for tile, joins in self.entries[len(self.outer_pips) :]:
            inner = self.centre if joins is CENTRE else self.outer_pips[joins]
            self.outer_pips.append(other_pip(tile, inner))
        return self.outer_pips[index]

    def joined_to(self, index: int | None) -> int:
        """How many entries join this one (or the centre)."""
        return int(self.numbers_joined()[index])

    @once_a_move
    def numbers_joined(self) -> Counter[int | None]:
        """How many entries join each."""
        return Counter(joins for _, joins in self.entries)

    @property
    def centre_missing(self) -> int:
        """Rule 2: how many tiles must still join the centre."""
        return max(0, int(self.rules["centre_arms"]) - self.joined_to(CENTRE))

    @once_a_move
    def open_foot(self) -> int | None:
        """The index of the double whose foot is unfinished; at most one (rule 5)."""
        for index, (tile, _) in enumerate(self.entries):
            if is_double(tile) and not self.foot_is_done(index):
                return index
        return None

    def foot_is_done(self, index: int) -> bool:
        """Rule 5: complete, or dropped because all tiles of its pip are on the table."""
        if self.joined_to(index) >= self.rules["toes"]:
            return True
        pip = self.entries[index][0][0]
        dead = all_on_table(pip, self.table_tiles(), self.rules["max_pip"])
        return dead and self.rules["dead_foot"] == "released"

    @property
    def foot(self) -> tuple[int, int] | None:
        """The open foot: (its pip, toes missing)."""
        index = self.open_foot()
        if index is None:
            return None
        return self.entries[index][0][0], self.rules["toes"] - self.joined_to(index)

    @once_a_move
    def open_entries(self) -> list[int]:
        """Rule 3: the entries that nothing joins yet, the toes of an unfinished foot excluded."""
        foot = self.open_foot()
        joined = self.numbers_joined()
        return [
            index
            for index, (tile, joins) in enumerate(self.entries)
            if not is_double(tile)  # a double is joined as a foot only
            and index not in joined
            and (foot is None or joins != foot)
        ]

    @once_a_move
    def open_ends(self) -> dict[int, int]:
        """How many open ends show each pip."""
        return dict(Counter(self.outer_pip(index) for index in self.open_entries()))

    # --- legal moves ---

    def usable_pips(self) -> set[int]:
        """The pips that a tile could be joined by just now."""
        if self.centre_missing:
            return {self.centre}  # rule 2
        if self.foot is not None:
            return {self.foot[0]}  # rule 5
        return set(self.open_ends())  # rule 3

    @once_a_move
    def legal_moves(self) -> list[str]:
        """All legal move texts, sorted; none when the round is over."""
        if self.round_over:
            return []
        usable = self.usable_pips()
        hand = self.hands[self.to_move]
        plays = [move_text(tile, pip) for tile in hand for pip in usable if pip in tile]
        if plays:
            return sorted(plays)  # rule 4: a seat that can play must
        return ["draw"] if self.boneyard and not self.drew else ["pass"]

    # --- moves ---

    def push(self, move: str) -> None:
        """Plays one move; ValueError naming the legal ones if it is none of them."""
        legal = self.legal_moves()
        if normal_text(move) not in legal:
            raise ValueError(f"{move!r} is not legal here; legal moves: {legal}")
        if move == "draw":
            self.draw()
        elif move == "pass":
            self.pass_turn()
        else:
            tile, place = parse_move(move)
            self.play(tile, int(place))
        self.memo.clear()
        self._end_round_if_over()

    def draw(self) -> None:
        self.proofs[self.to_move] |= self.usable_pips()
        self.hands[self.to_move].add(self.boneyard.pop(0))
        self.drew = True

    def pass_turn(self) -> None:
        seat = self.to_move
        # the drawn tile stayed in the hand, so only what is proved now is known of the new hand
        earlier = set() if self.drew else self.proofs[seat]
        self.proofs[seat] = earlier | self.usable_pips()
        self.passes = 0 if self.boneyard else self.passes + 1  # rule 6
        self.end_turn()

    def play(self, tile: Tile, pip: int) -> None:
        joins = self.entry_to_join(pip)
        self.hands[self.to_move].remove(tile)
        self.entries.append((tile, joins))
        self.memo.clear()
        self.passes = 0
        self.end_turn()  # rule 5: a double gives no extra play

    def entry_to_join(self, pip: int) -> int | None:
        if self.centre_missing:
            return CENTRE
        foot = self.open_foot()
        if foot is not None:
            return foot
        # equal ends are interchangeable: the oldest
        return next(index for index in self.open_entries() if self.outer_pip(index) == pip)

    def end_turn(self) -> None:
        self.drew = False
        self.to_move = (self.to_move + 1) % self.players

    # --- the end of the round ---

    def _end_round_if_over(self) -> None:
        """Rule 6: an empty hand, or every seat in a row passed with the boneyard empty."""
        out = [seat for seat, hand in enumerate(self.hands) if not hand]
        if not out and not self.boneyard and self.passes >= self.players:
            self.blocked = "lap"
        if out or self.blocked:
            self.round_over = True
            blank = self.rules["double_blank"]
            self.penalties = [hand_penalty(hand, blank) for hand in self.hands]  # rule 7
            for seat in out:
                self.penalties[seat] = self.bonus()

    def bonus(self) -> int:
        """Rule 7: what the seat that went out with the last tile on the table scores."""
        foot_out = bool(self.entries) and (is_double(self.entries[-1][0]) or self.last_is_toe())
        return int(self.rules["foot_out_bonus"] if foot_out else self.rules["out_bonus"])

    def last_is_toe(self) -> bool:
        joins = self.entries[-1][1]
        return joins is not CENTRE and is_double(self.entries[joins][0])

    # --- what the table knows about a hand ---

    def lacks(self, seat: int) -> set[int]:
        """The pips that the seat provably lacks, by its draws and passes seen by this object."""
        return set(self.proofs[seat])

    def position(self) -> dict[str, Any]:
        """docs/formats.md form, all fields written."""
        return {
            "game": "chicken_foot",
            "rules": self.rules,
            "centre": self.centre,
            "to_move": self.to_move,
            "hands": [[tile_text(tile) for tile in by_id(hand)] for hand in self.hands],
            "boneyard": [tile_text(tile) for tile in self.boneyard],
            "table": self.table,
            "drew": self.drew,
            "passes": self.passes,
            "round": self.round,
            "scores": list(self.scores),
        }
