"""Shared by the command lines of the programs: parsers, and configs found by name."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dominoenv.core.arguments import named_values
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError
from dominoenv.games.registry import GAMES, make_rules

from .shipped import is_config, shipped_names


def make_parser(prog: str, doc: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is a program's docstring, as it is written."""
    return argparse.ArgumentParser(
        prog=prog, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_config(parser: argparse.ArgumentParser, what: str, resume: str) -> None:
    """Declare the config, its overrides and the folder of a run, which is a `what`.

    resume: what --resume does.
    """
    add = parser.add_argument
    add("config", nargs="?", type=Path, help="a YAML file, or the name of a shipped config")
    add("overrides", nargs="*", metavar="a.b=value", help="values that differ from the config")
    add("--out", type=Path, help=f"folder of the {what} (runs/NAME)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--resume", action="store_true", help=resume)
    how.add_argument("--overwrite", action="store_true", help=f"replace a {what} in the folder")


def check_config_named(prog: str, config: Path | None, command: str) -> Path:
    """Return the config of a command line. Raises DominoError where none was named."""
    if config is None or ("=" in config.name and not is_config(config)):
        first, *_ = names = shipped_names(command)
        raise DominoError(
            f"name a config first, as in `{prog} {first}`: a YAML file, or one of the shipped "
            f"configs: {', '.join(names)}"
        )
    return config


def check_output(path: Path) -> None:
    """Make the folder of a file that a program writes at its end.

    Raises DominoError where it could not be written, before there is much to lose.
    """
    if path.is_dir():
        raise DominoError(f"cannot write {str(path)!r}: it is a folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise DominoError(f"cannot write {str(path)!r}: {error.strerror}") from error


def named_rules(game: str | None, options: Sequence[str]) -> Rules | None:
    """Return the rules of `--game` and `--rules`, the first game's by default; None for neither.

    options: `name=value`; a value is JSON, or else plain text. Raises DominoErrors.
    """
    if game is None and not options:
        return None
    return make_rules(game or next(iter(GAMES)), named_values("--rules", options))
