"""One round of Mexican Train, rule by rule. Numbers in comments are those of docs/rules.md."""

from __future__ import annotations

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

Train = int | str  # a seat, or "M" for the Mexican Train
MEXICAN = "M"


class MexicanTrain:
    """A round at one moment, read from a docs/formats.md position whose rules are all resolved."""

    def __init__(self, position: dict[str, Any]) -> None:
        self.memo: dict[Any, Any] = {}
        self.rules: dict[str, Any] = position["rules"]
        self.players: int = self.rules["players"]
        self.engine: int = position["engine"]
        self.to_move: int = position["to_move"]
        self.hands: list[set[Tile]] = [set(map(parse_tile, hand)) for hand in position["hands"]]
        self.boneyard: list[Tile] = [parse_tile(text) for text in position["boneyard"]]
        self.trains: list[list[Tile]] = [
            [parse_tile(text) for text in train] for train in position["trains"]
        ]
        self.mexican: list[Tile] = [parse_tile(text) for text in position["mexican_train"]]
        self.markers: set[int] = set(position.get("markers", []))
        self.pending: list[Train] = list(position.get("pending", []))  # oldest first
        self.turns_taken: list[int] = list(position.get("turns_taken", [1] * self.players))
        self.drew: bool = position.get("drew", False)
        self.owes_play: bool = position.get("owes_play", False)
        self.passes: int = position.get("passes", 0)
        self.round: int = position.get("round", 0)
        self.scores: list[int] = list(position.get("scores", [0] * self.players))
        self.drew_for_this_play: bool = self.drew
        self.proofs: list[set[int]] = [set() for _ in range(self.players)]
        self.round_over = False
        self.blocked: str | None = None
        self.penalties: list[int] | None = None
        self._check()
        self._end_round_if_over()

    def _check(self) -> None:
        hands = [tile for hand in self.hands for tile in hand]
        check_distinct(hands + self.boneyard + self.table(), self.rules["max_pip"])
        for train in self.all_trains():
            self.end(train)  # an inconsistent chain raises
        for train in self.pending:
            if not self.tiles_of(train) or not is_double(self.tiles_of(train)[-1]):
                raise ValueError(f"train {train} is pending but does not end with a double")

    # --- the table ---

    def all_trains(self) -> list[Train]:
        return [*range(self.players), MEXICAN]

    def tiles_of(self, train: Train) -> list[Tile]:
        return self.mexican if isinstance(train, str) else self.trains[train]

    @once_a_move
    def end(self, train: Train) -> int:
        """The outer pip of the train's last tile, or the engine's pip while it is empty."""
        pip = self.engine
        for tile in self.tiles_of(train):
            pip = other_pip(tile, pip)
        return pip

    def table(self) -> list[Tile]:
        """All tiles on the table, the engine included."""
        tiles = [(self.engine, self.engine)]
        for train in self.all_trains():
            tiles += self.tiles_of(train)
        return tiles

    # --- where the seat to move may play ---

    def is_opening(self) -> bool:
        """opening="whole_train": a seat's first turn lays as long a train as it likes."""
        return self.rules["opening"] == "whole_train" and self.turns_taken[self.to_move] == 0

    def usable_trains(self) -> list[Train]:
        """The trains that the seat to move may play on just now, whatever fits there."""
        own = self.to_move
        if self.is_opening():
            return [own]  # and no pending double binds it
        if self.pending and not self.owes_play:
            return [self.pending[0]]  # rule 7; also for a seat with an own-train restriction
        trains = self.trains_open_to_mover()
        if self.owes_play and self.rules["double_followup"] == "cover_if_possible":
            # nothing older is pending while a play is owed: these are this turn's doubles
            coverable = [train for train in self.pending if self.holds_pip(self.end(train))]
            if coverable:
                return list(self.pending)
        return trains

    def trains_open_to_mover(self) -> list[Train]:
        own = self.to_move
        if self.rules["first_turn"] == "own_train" and self.turns_taken[own] == 0:
            return [own]
        if self.rules["own_train_first"] and not self.trains[own]:
            return [own]
        # rule 1: the own train, every marked train, the Mexican Train
        seats = [seat for seat in range(self.players) if seat == own or seat in self.markers]
        return [*seats, MEXICAN]

    def holds_pip(self, pip: int) -> bool:
        return any(pip in tile for tile in self.hands[self.to_move])

    # --- legal moves ---

    @once_a_move
    def legal_moves(self) -> list[str]:
        """All legal move texts, sorted; none when the round is over."""
        if self.round_over:
            return []
        moves = self.plays()
        if self.may_stop():
            moves.append("stop")
        if moves:
            return sorted(moves)  # rule 2: a seat that can play, plays
        return ["draw"] if self.may_draw() else ["pass"]  # rules 3, 4

    def plays(self) -> list[str]:
        return [
            move_text(tile, train)
            for train in self.usable_trains()
            for tile in self.hands[self.to_move]
            if self.end(train) in tile and not (is_double(tile) and self.doubles_barred())
        ]

    def doubles_this_turn(self) -> int:
        """How many doubles the seat to move has played in this turn."""
        if self.is_opening():
            return sum(is_double(tile) for tile in self.trains[self.to_move])
        # a turn goes on after doubles only, and what covers a double is never one itself
        return len(self.pending) if self.owes_play else 0

    def doubles_barred(self) -> bool:
        most = self.rules["max_doubles_per_turn"]
        return most is not None and self.doubles_this_turn() >= most

    def may_stop(self) -> bool:
        """Whole-train opening: after at least one tile, but not on a double just laid."""
        return self.is_opening() and bool(self.trains[self.to_move]) and not self.owes_play

    def may_draw(self) -> bool:
        """Rule 3: one tile for a play (or for a turn), if the boneyard has one."""
        empty_hand = not self.hands[self.to_move]  # go_out_on_double=False: it always may
        return bool(self.boneyard) and (empty_hand or not self.drew)

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
        elif move == "stop":
            self.end_turn()
        else:
            tile, place = parse_move(move)
            self.play(tile, MEXICAN if place == MEXICAN else int(place))
        self.memo.clear()
        self._end_round_if_over()

    def draw(self) -> None:
        """Rule 3."""
        self.proofs[self.to_move] |= self.usable_pips()
        self.hands[self.to_move].add(self.boneyard.pop(0))
        self.drew = self.drew_for_this_play = True

    def pass_turn(self) -> None:
        """Rule 4: the own train is marked, and the turn ends."""
        seat = self.to_move
        # the drawn tile stayed in the hand, so only what is proved now is known of the new hand
        earlier = set() if self.drew_for_this_play else self.proofs[seat]
        self.proofs[seat] = earlier | self.usable_pips()
        self.markers.add(seat)
        self.passes = 0 if self.boneyard else self.passes + 1  # rule 10
        self.end_turn()

    def play(self, tile: Tile, train: Train) -> None:
        seat = self.to_move
        self.hands[seat].remove(tile)
        self.tiles_of(train).append(tile)
        self.memo.clear()
        self.passes = 0  # rule 10: any play starts the count anew
        self.drew_for_this_play = False
        if self.rules["draws"] == "per_play":
            self.drew = False
        if train == seat:
            self.markers.discard(seat)  # rule 5
        if train in self.pending:
            self.pending.remove(train)  # rule 7: covered
        if is_double(tile):
            self.pending.append(train)  # rule 6; binds nobody before the turn is over
        self.after_play(is_double(tile))

    def after_play(self, double: bool) -> None:
        """Rule 6 and its house rules: does the turn go on?"""
        self.owes_play = double and self.rules["double_followup"] != "none"
        if not self.hands[self.to_move]:
            # rule 9 lets it go out, if not go_out_on_double=False: one more play is owed then
            self.owes_play = double and not self.rules["go_out_on_double"]
        elif self.is_opening():
            if not self.plays():
                self.end_turn()  # nothing more fits: no draw, no marker
        elif not self.owes_play:
            self.end_turn()

    def end_turn(self) -> None:
        self.turns_taken[self.to_move] += 1
        self.owes_play = self.drew = self.drew_for_this_play = False
        self.release_dead_doubles()
        self.to_move = (self.to_move + 1) % self.players

    def release_dead_doubles(self) -> None:
        """Rule 8: a double that nobody can ever cover stops being pending when a turn ends."""
        if self.rules["dead_double"] == "released":
            table, max_pip = self.table(), self.rules["max_pip"]
            self.pending = [
                train for train in self.pending if not all_on_table(self.end(train), table, max_pip)
            ]

    # --- the end of the round ---

    def _end_round_if_over(self) -> None:
        if not self.is_out():
            self.blocked = self.block()
        if self.is_out() or self.blocked:
            self.round_over = True
            blank = self.rules["double_blank"]
            self.penalties = [hand_penalty(hand, blank) for hand in self.hands]  # rule 11

    def is_out(self) -> bool:
        """Rule 9: an empty hand, except one that owes a play and can draw for it."""
        return any(
            not hand and not (seat == self.to_move and self.owes_play and self.boneyard)
            for seat, hand in enumerate(self.hands)
        )

    def block(self) -> str | None:
        """Rule 10."""
        if self.boneyard:
            return None
        if self.rules["blocked"] == "lap":
            return "lap" if self.passes >= self.players else None
        if self.passes >= 2 * self.players:
            return "no_play"  # every train is open by now, and still nobody may play
        ends = {self.end(train) for train in self.trains_that_count()}
        tiles = [tile for hand in self.hands for tile in hand]
        fits = any(high in ends or low in ends for high, low in tiles)
        return None if fits else "no_play"

    def trains_that_count(self) -> list[Train]:
        """Rule 10, no_play: all trains, marked or not; with a pending double, the oldest only."""
        if self.owes_play or not self.pending or self.is_opening():
            return self.all_trains()
        return [self.pending[0]]

    # --- what the table knows about a hand ---

    def usable_pips(self) -> set[int]:
        """The pips that a seat which cannot play proves not to hold.

        While doubles are barred it may hold the double of an end; so that pip is proved only
        if the double lies on the table.
        """
        pips = {self.end(train) for train in self.usable_trains()}
        if self.doubles_barred():
            table = self.table()
            pips = {pip for pip in pips if (pip, pip) in table}
        return pips

    def lacks(self, seat: int) -> set[int]:
        """The pips that the seat provably lacks, by its draws and passes seen by this object."""
        return set(self.proofs[seat])

    def position(self) -> dict[str, Any]:
        """docs/formats.md form, all fields written."""
        return {
            "game": "mexican_train",
            "rules": self.rules,
            "engine": self.engine,
            "to_move": self.to_move,
            "hands": [[tile_text(tile) for tile in by_id(hand)] for hand in self.hands],
            "boneyard": [tile_text(tile) for tile in self.boneyard],
            "trains": [[tile_text(tile) for tile in train] for train in self.trains],
            "mexican_train": [tile_text(tile) for tile in self.mexican],
            "markers": sorted(self.markers),
            "pending": list(self.pending),
            "turns_taken": list(self.turns_taken),
            "drew": self.drew,
            "owes_play": self.owes_play,
            "passes": self.passes,
            "round": self.round,
            "scores": list(self.scores),
        }
