"""The configs that come with the programs, by name, and which program each file is for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "configs"  # in a clone and in a wheel alike
FIRST = "quickstart"  # to be named first
# Keys that only configs of one program have. A study has agents too, so it stands first.
TELLING = {"study": ("cells",), "train": ("environment", "ppo"), "tournament": ("agents",)}


def command_for(keys: Iterable[object]) -> str | None:
    """Return the program that a config with these keys is for; None if they do not tell."""
    found = set(keys)
    return next((name for name, telling in TELLING.items() if found & {*telling}), None)


def configs_in(folder: Path, command: str) -> list[Path]:
    """Return the config files of a folder that are for a program."""
    return [path for path in sorted(folder.glob("[!.]*.yaml")) if _command_of(path) == command]


def _command_of(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return command_for(re.findall(r"^(\w+):", text, re.M))


def shipped_names(command: str) -> list[str]:
    """Return the names of the shipped configs for a program, those to begin with first."""
    names = [path.stem for path in configs_in(FOLDER, command)]
    return sorted(names, key=lambda name: (name != FIRST and not name.endswith("_quick"), name))


def find_config(path: Path) -> Path:
    """Return the file that a path or the name of a shipped config means; it need not exist."""
    shipped = FOLDER / f"{path.name.removesuffix('.yaml')}.yaml"
    is_name = path.name == str(path)
    return shipped if is_name and not is_config(path) and os.path.isfile(shipped) else path


def is_config(path: Path) -> bool:
    """Return whether something can be read at a path."""
    return os.path.exists(path) and not os.path.isdir(path)  # False for impossible names too


def alternatives(path: Path, command: str) -> list[str]:
    """Return what may have been meant by a path that does not exist: names, and files near it."""
    near = [str(other) for other in configs_in(path.parent, command)]
    return near if path.parent == FOLDER else [*shipped_names(command), *near]
