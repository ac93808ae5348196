"""The command `dominoenv`, also `python -m dominoenv`: each program is a subcommand.

A program is imported when it is called, so that `--help` is quick and needs no extra. It
has a `main(arguments, prog)` that returns its exit status, or None for success.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from types import ModuleType

from dominoenv.core.companions import CLONE, companion_folder, import_companion
from dominoenv.core.program import exit_status
from dominoenv.core.version import __version__
from dominoenv.errors import DominoError, nearest

COMMANDS = {
    "train": ("experiments.train", "train an agent by a config, then measure it"),
    "evaluate": ("experiments.evaluate", "measure a trained agent against the baselines"),
    "tournament": ("experiments.tournament.__main__", "find out which agent is better"),
    "study": ("experiments.study.__main__", "ask the same question under many rules"),
    "figures": ("experiments.figures", "reproduce the published figures of random play"),
    "play": ("dominoenv.console.play", "play against agents in the terminal"),
    "replay": ("dominoenv.console.replay", "make a web page of a match record, to step through"),
    "verify": ("dominoenv.console.verify", "check match records"),
}
EPILOG = """\
`dominoenv COMMAND --help` explains a command, with an example.
Exit status: 0 success, 1 an invalid file, 2 a file that cannot be read or a wrong command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.error(f"name a command: {', '.join(COMMANDS)}")
    if chosen.command not in COMMANDS:
        parser.error(f"command {chosen.command!r}: {nearest(chosen.command, COMMANDS)}")
    return exit_status(lambda: _run(chosen.command, chosen.arguments))


def _parser() -> argparse.ArgumentParser:
    lines = [f"  {name:<12}{what}" for name, (_, what) in COMMANDS.items()]
    parser = argparse.ArgumentParser(
        prog="dominoenv",
        usage="dominoenv [-h] [--version] COMMAND ...",
        description="\n".join(["Mexican Train and Chicken Foot.", "", "commands:", *lines]),
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dominoenv {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _run(command: str, arguments: Sequence[str]) -> int | None:
    """Import a program, run it, and return its exit status."""
    module, _ = COMMANDS[command]
    package, _, rest = module.partition(".")
    if package == "experiments":
        module = f"{_experiments().__name__}.{rest}"
    status: int | None = importlib.import_module(module).main(arguments, f"dominoenv {command}")
    return status


def _experiments() -> ModuleType:
    """Return the package of the programs. Raises DominoError where the library stands alone."""
    folder = companion_folder("experiments")
    if folder is not None and folder.parent == CLONE:
        sys.path.insert(0, str(CLONE))  # as `python -m` there has it; worker processes inherit it
    package = import_companion("experiments")
    if package is None:
        raise DominoError('the programs are not installed: pip install "dominoenv[train]"')
    return package


if __name__ == "__main__":
    sys.exit(main())
