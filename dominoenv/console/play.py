"""`dominoenv play`: a person against agents, in the terminal."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from dominoenv.console.session import PlaySession
from dominoenv.console.terminal import Terminal
from dominoenv.core.arguments import named_values
from dominoenv.errors import DominoError
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.baselines import policy_names

DESCRIPTION = """\
Play a match against agents, and write its record. `quit` saves; type `help` at the table for what
else there is.

    dominoenv play --against opportunist heaviest --rules preset=station max_pip=12
    dominoenv play --continue mexican_train-7.jsonl.saved.json"""


def main(arguments: Sequence[str] | None = None, prog: str = "dominoenv play") -> None:
    """Play in the terminal, a new match or a saved one. Raises DominoErrors for bad input."""
    options = _parser(prog).parse_args(arguments)
    if options.agents:
        print(*policy_names(options.game), sep="\n")
        return
    session = _saved_session(options) if options.saved else _new_session(options)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  lets people edit what they type
    Terminal(session).play()


def _parser(prog: str) -> argparse.ArgumentParser:
    first, *_ = GAMES
    parser = argparse.ArgumentParser(
        prog=prog,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--game", choices=GAMES, help=f"({first})")
    add(
        "--rules",
        nargs="+",
        action="extend",
        metavar="OPTION=VALUE",
        help="such as preset=station max_pip=12 rounds=[12,11]; players is the number of agents "
        "plus you, or more: agents then sit at several seats",
    )
    add(
        "--against",
        nargs="+",
        action="extend",
        metavar="AGENT",
        help="clockwise from you (heaviest): agents by name, or the checkpoint.pt of a trained one",
    )
    add("--agents", action="store_true", help="list the agents that play the game, and exit")
    add("--seat", type=int, metavar="N", help="yours (0)")
    add("--seed", type=int, metavar="N", help="of the deals; drawn if left out")
    add("--hints", metavar="AGENT", help="whom `hint` asks (heaviest)")
    add("--record", metavar="FILE", help="to write (GAME-SEED.jsonl)")
    add("--continue", dest="saved", metavar="FILE", help="resume what `quit` has saved")
    return parser


def _saved_session(options: argparse.Namespace) -> PlaySession:
    """Return the session in a file. Raises DominoError for options that it cannot follow."""
    given = {**vars(options), "saved": None, "agents": None}
    ignored = [f"--{name}" for name, value in given.items() if value is not None]
    if ignored:
        raise DominoError(f"--continue resumes a match as it was: leave out {', '.join(ignored)}")
    return PlaySession.from_file(Path(options.saved))


def _new_session(options: argparse.Namespace) -> PlaySession:
    """Return the session that the command line describes."""
    against = options.against or ["heaviest"]
    rules = {"players": len(against) + 1, **named_values("--rules", options.rules or ())}
    session = PlaySession(
        make_rules(options.game or next(iter(GAMES)), rules),
        options.seed,
        options.seat or 0,
        against,
        options.hints or "heaviest",
        options.record or "",
    )
    check_places(session)
    return session


def check_places(session: PlaySession) -> None:
    """Raise DominoError if the files of a new session exist, or could not be written."""
    record, saved = session.record.path, session.saved.path
    if os.path.lexists(record):
        raise DominoError(f"{str(record)!r} exists; name another one with --record")
    if os.path.lexists(saved):
        raise DominoError(
            f"{saved} holds a match that was left: {session.resume_command} resumes it; for a new "
            "one name another record with --record"
        )
    session.saved.check()
