"""Play in the terminal: what is shown, and the commands."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence

from dominoenv.console.session import PlaySession
from dominoenv.core.output import label, printable
from dominoenv.errors import DominoError, IllegalActionError
from dominoenv.records.annotations import PROBABILITY, SCORE, Annotation, for_people
from dominoenv.render.text import MIN_WIDTH, render_text, wants_colour
from dominoenv.render.view import Reveal

MAX_WIDTH = 100
GAP = 2  # columns before each word
SHOWN_MOVES = 5  # with their numbers, of a hint
HELP = """\
  a number       the move of that number
  9-4@2          the move itself; 9-4 alone if the tile fits in one place only
  hint           the move that the adviser would play
  undo           take your last move back, until the others move or you draw
  table          show the table again
  quit           save and leave; --continue resumes
  help           this list""".splitlines()


class Quit(Exception):  # noqa: N818  not an error: the person leaves
    """The person leaves the table."""


LEAVING = (Quit, EOFError, KeyboardInterrupt)


class Terminal:
    """Shows a session and asks for moves, line by line.

    ask: returns the line typed after a prompt, or raises EOFError at the end of input. write:
    prints.
    """

    def __init__(
        self,
        session: PlaySession,
        ask: Callable[[str], str] = input,
        write: Callable[[str], None] = print,
    ) -> None:
        self.session = session
        self._ask, self._write = ask, write

    def play(self) -> bool:
        """Play until the match is over (True) or the person leaves (False); save then."""
        try:
            self._match()
        except BaseException as reason:
            self._leave()
            if isinstance(reason, LEAVING):
                return False
            raise
        self._say(f"The match is over. {self._totals()}")
        self.session.write_record()
        self._say(f"Record written to {self.session.record.path}")
        return True

    def _match(self) -> None:
        while True:
            while not self.session.game.round_over:
                self._turn()
            game = self.session.game
            self._show()
            if game.over:
                return
            self._answer("Enter deals the next round: ", {""})
            self.session.next_round()

    # -------------------------------------------------------------------------------------- turns

    def _turn(self) -> None:
        """Let the others move, then ask the person until the person's turn is over.

        If the person takes the last move back, the next call continues the turn.
        """
        for seat, move in self.session.let_others_move():
            self._say(f"  {self._who(seat)}: {move}")
        if not self.session.is_persons_turn:
            return
        self._show()
        while self.session.is_persons_turn:
            self._one_move()
        if self.session.can_undo and not self.session.game.round_over:
            self._confirm()

    def _one_move(self) -> None:
        """Make one move of the person; draws and passes are forced and made without asking."""
        game = self.session.game
        legal = game.legal_moves()
        if legal in (["draw"], ["pass"]):
            self._forced(legal[0])
            return
        self._say(*in_columns([f"{i}: {move}" for i, move in enumerate(legal, 1)], width()))
        line = self._answer("your move: ", None)
        if line == "undo":
            self._show()
            return
        try:
            self.session.move(chosen(line, legal))
            self._say(f"  you: {self.session.game.moves[-1]}")
        except IllegalActionError as error:
            self._say(f"  {error}")

    def _forced(self, move: str) -> None:
        game = self.session.game
        drawn = game.position()["boneyard"][0] if move == "draw" else ""
        self.session.move(move)
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
            self.session.undo()
        except DominoError as error:
            self._say(f"  {error}")
            return False
        return True

    def _quit(self) -> None:
        raise Quit

    def _help(self) -> None:
        self._say(*HELP)

    def _hint(self) -> None:
        if not self.session.is_persons_turn:
            self._say("  it is not your turn")
            return
        move, advice = self.session.hint()
        self._say(f"  {label(self.session.hints)} plays {move}{numbers(advice)}")

    # -------------------------------------------------------------------------------------- showing

    def _say(self, *lines: str) -> None:
        """Print lines; names in them may come from anywhere."""
        for line in lines:
            self._write(printable(line))

    def _show(self) -> None:
        """Show the table with only the person's hand face up."""
        game = self.session.game
        reveal: Reveal = "all" if game.round_over else [self.session.seat]
        self._say("")
        self._write(
            render_text(game.position(), reveal, wants_colour(sys.stdout), max(MIN_WIDTH, width()))
        )

    def _who(self, seat: int) -> str:
        name = label(self.session.names[seat])
        return "you" if seat == self.session.seat else f"seat {seat} ({name})"

    def _totals(self) -> str:
        game = self.session.game
        winners = " and ".join(map(self._who, game.winners))
        totals = ", ".join(f"{self._who(seat)} {score}" for seat, score in enumerate(game.scores))
        return f"Lowest total: {winners}. Totals: {totals}."

    # ---------------------------------------------------------------------------------------- files

    def _leave(self) -> None:
        """Save, and say where: in another place if it had to be."""
        wanted = self.session.saved.path
        self.session.save()
        is_there = self.session.saved.path == wanted
        where = "" if is_there else f" elsewhere: {wanted} could not be used"
        self._say("", f"Saved{where}. Go on with: {self.session.resume_command}")


COMMANDS: dict[str, Callable[[Terminal], None]] = {
    "quit": Terminal._quit,
    "help": Terminal._help,
    "hint": Terminal._hint,
    "table": Terminal._show,
}


def chosen(line: str, legal: list[str]) -> str:
    """Return the move that a line means: its number, its text, or a tile that fits one place.

    Other lines are returned unchanged. Raises IllegalActionError for a tile that fits several.
    """
    if line.isascii() and line.isdigit() and 1 <= int(line) <= len(legal):
        return legal[int(line) - 1]
    tile, at, place = line.partition("@")
    wanted = {tile, "-".join(reversed(tile.split("-")))}
    fitting = [move for move in legal if move.split("@")[0] in wanted]
    if at:
        fitting = [move for move in fitting if move.split("@")[1].lower() == place.strip().lower()]
    if len(fitting) > 1:
        raise IllegalActionError(f"{line} is ambiguous: type {' or '.join(fitting)}")
    return fitting[0] if fitting else line


def width() -> int:
    """Return how many columns to fill: those of the terminal, up to a readable number."""
    return min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns)


def in_columns(words: Sequence[str], room: int) -> list[str]:
    """Return lines of words in as many columns as fit."""
    size = max(map(len, words)) + GAP
    number = max(1, (room - GAP) // size)
    rows = [words[i : i + number] for i in range(0, len(words), number)]
    lines = ("".join(f"{'':{GAP}}{word:<{size - GAP}}" for word in row) for row in rows)
    return [line.rstrip() for line in lines]


def numbers(advice: Annotation | None) -> str:
    """Return the best few moves of an annotation in words."""
    if not advice:
        return ""
    kind = PROBABILITY if PROBABILITY in advice else SCORE
    best = list(for_people(advice)[kind].items())[:SHOWN_MOVES]
    shown = (f"{move} {value if kind == SCORE else f'{value:.3f}'}" for move, value in best)
    return f" ({kind}: {', '.join(shown)})"
