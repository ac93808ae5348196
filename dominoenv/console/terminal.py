"""Play in the terminal: what is shown, and the commands."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from dominoenv.console.session import PlaySession
from dominoenv.errors import DominoError, IllegalActionError
from dominoenv.records.annotations import PROBABILITY, SCORE, Annotation
from dominoenv.records.format import write_record
from dominoenv.render.text import MIN_WIDTH, render_text
from dominoenv.render.view import Reveal

MAX_WIDTH = 100
HELP = """\
  a number       the move of that number
  9-4@2          the move itself; 9-4 alone if the tile fits in one place only
  hint           the move that the adviser would play
  undo           take your last move back, until the others move or you draw
  table          show the table again
  quit           save and leave; --continue resumes
  help           this list"""


class Quit(Exception):  # noqa: N818  not an error: the person leaves
    """The person leaves the table."""


class Terminal:
    """Shows a session and asks for moves, line by line.

    ask: returns the line typed after a prompt, or raises EOFError at the end of input; say: prints.
    """

    def __init__(
        self,
        sitting: PlaySession,
        ask: Callable[[str], str] = input,
        say: Callable[[str], None] = print,
    ) -> None:
        self.sitting = sitting
        self._ask, self._say = ask, say

    def play(self) -> bool:
        """Play until the match is over (True) or the person leaves (False); save then."""
        try:
            self._match()
        except (Quit, EOFError, KeyboardInterrupt):
            self._leave()
            return False
        self._say(f"The match is over. {self._totals()}")
        self._write_record()
        self._saved.unlink(missing_ok=True)
        return True

    def _match(self) -> None:
        while True:
            while not self.sitting.game.round_over:
                self._turn()
            game = self.sitting.game
            self._show()
            if game.over:
                return
            self._answer("Enter deals the next round: ", {""})
            self.sitting.next_round()

    # -------------------------------------------------------------------------------------- turns

    def _turn(self) -> None:
        """Let the others move, then ask the person until the person's turn is over.

        If the person takes the last move back, the next call continues the turn.
        """
        for seat, move in self.sitting.let_others_move():
            self._say(f"  {self._who(seat)}: {move}")
        if not self.sitting.is_persons_turn:
            return
        self._show()
        while self.sitting.is_persons_turn:
            self._one_move()
        if self.sitting.can_undo and not self.sitting.game.round_over:
            self._confirm()

    def _one_move(self) -> None:
        """Make one move of the person; draws and passes are forced and made without asking."""
        game = self.sitting.game
        legal = game.legal_moves()
        if legal in (["draw"], ["pass"]):
            self._forced(legal[0])
            return
        self._say("  " + "   ".join(f"{i}: {move}" for i, move in enumerate(legal, 1)))
        line = self._answer("your move: ", None)
        if line == "undo":
            self._show()
            return
        try:
            self.sitting.move(chosen(line, legal))
            self._say(f"  you: {self.sitting.game.moves[-1]}")
        except IllegalActionError as error:
            self._say(f"  {error}")

    def _forced(self, move: str) -> None:
        game = self.sitting.game
        drawn = game.position()["boneyard"][0] if move == "draw" else ""
        self.sitting.move(move)
        self._say(f"  nothing fits: you draw {drawn}" if drawn else "  nothing fits: you pass")

    def _confirm(self) -> None:
        """Let the person take the move back before the others move."""
        self._answer("Enter plays on, undo takes it back: ", {"", "undo"})

    # ------------------------------------------------------------------------------- what is typed

    def _answer(self, prompt: str, wanted: set[str] | None) -> str:
        """Return what the person typed; carry out commands and ask again.

        wanted: the valid answers; None for any move.
        """
        while True:
            line = self._ask(prompt).strip()
            if line in COMMANDS:
                COMMANDS[line](self)
            elif line == "undo" and (wanted is None or "undo" in wanted):
                if self._undo():
                    return line
            elif line in wanted if wanted is not None else line:
                return line
            elif line:
                self._say(f"  {line!r} is not valid here; type help for a list")

    def _undo(self) -> bool:
        try:
            self.sitting.undo()
        except DominoError as error:
            self._say(f"  {error}")
            return False
        return True

    def _quit(self) -> None:
        raise Quit

    def _help(self) -> None:
        self._say(HELP)

    def _hint(self) -> None:
        if not self.sitting.is_persons_turn:
            self._say("  it is not your turn")
            return
        move, advice = self.sitting.hint()
        self._say(f"  {self.sitting.hints} plays {move}{numbers(advice)}")

    # -------------------------------------------------------------------------------------- showing

    def _show(self) -> None:
        """Show the table with only the person's hand face up."""
        game = self.sitting.game
        width = max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns))
        reveal: Reveal = "all" if game.round_over else [self.sitting.seat]
        self._say("")
        self._say(render_text(game.position(), reveal, has_colours(), width))

    def _who(self, seat: int) -> str:
        return "you" if seat == self.sitting.seat else f"seat {seat} ({self.sitting.names[seat]})"

    def _totals(self) -> str:
        game = self.sitting.game
        winners = " and ".join(map(self._who, game.winners))
        totals = ", ".join(f"{self._who(seat)} {score}" for seat, score in enumerate(game.scores))
        return f"Lowest total: {winners}. Totals: {totals}."

    # ---------------------------------------------------------------------------------------- files

    @property
    def _saved(self) -> Path:
        return Path(self.sitting.record).with_suffix(".saved.json")

    def _leave(self) -> None:
        self.sitting.save(self._saved)
        self._say(f"\nSaved. Go on with: dominoenv play --continue {self._saved}")

    def _write_record(self) -> None:
        write_record(self.sitting.record, self.sitting.game.record(self.sitting.names))
        self._say(f"Record written to {self.sitting.record}")


COMMANDS: dict[str, Callable[[Terminal], None]] = {
    "quit": Terminal._quit,
    "help": Terminal._help,
    "hint": Terminal._hint,
    "table": Terminal._show,
}


def chosen(line: str, legal: list[str]) -> str:
    """Return the move that a line means: its number, its text, or a tile that fits one place.

    Other lines are returned unchanged.
    """
    if line.isascii() and line.isdigit() and 1 <= int(line) <= len(legal):
        return legal[int(line) - 1]
    tile, at, place = line.partition("@")
    wanted = {tile, "-".join(reversed(tile.split("-")))}
    fitting = [move for move in legal if move.split("@")[0] in wanted]
    if at:
        fitting = [move for move in fitting if move.split("@")[1].lower() == place.strip().lower()]
    return fitting[0] if len(fitting) == 1 else line


def numbers(advice: Annotation | None) -> str:
    """Return the best few moves of an annotation in words."""
    if not advice:
        return ""
    kind = PROBABILITY if PROBABILITY in advice else SCORE
    best = sorted(advice[kind].items(), key=lambda one: -one[1])[:5]
    return f" ({kind}: " + ", ".join(f"{move} {value:.6g}" for move, value in best) + ")"


def has_colours() -> bool:
    """Return whether the output is a terminal and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
