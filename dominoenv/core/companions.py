"""The packages that come with the library: `agents` and `experiments`.

A wheel carries them inside the library, as `dominoenv.agents` and `dominoenv.experiments`. In a
clone they lie beside it, and are imported from there. Other distributions use these names too: a
stranger's package is never taken for one of ours.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

LIBRARY = Path(__file__).resolve().parent.parent
CLONE = LIBRARY.parent


def companion_folder(name: str) -> Path | None:
    """Return the folder of a companion package; None where the library stands alone."""
    inside, beside = LIBRARY / name, CLONE / name
    if (inside / "__init__.py").is_file():
        return inside
    is_clone = (CLONE / "pyproject.toml").is_file()
    return beside if is_clone and (beside / "__init__.py").is_file() else None


def import_companion(name: str) -> ModuleType | None:
    """Import a companion package and return it; None where the library stands alone.

    In a clone it is the top-level package, as in the clone's own programs. Where Python finds a
    stranger's package of that name, ours becomes `dominoenv.agents` or `dominoenv.experiments`.
    """
    folder = companion_folder(name)
    if folder is None:
        return None
    if folder.parent == CLONE:
        if _is_found(name, folder):
            return importlib.import_module(name)
        _look_in_the_clone()
    return importlib.import_module(f"dominoenv.{name}")


def _is_found(name: str, folder: Path) -> bool:
    """Return whether `import name` finds the package in a folder."""
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module that somebody made by hand
        return False
    return Path((spec and spec.origin) or "").resolve() == (folder / "__init__.py").resolve()


def _look_in_the_clone() -> None:
    """Let the library find submodules in the clone's folder too."""
    search_path = sys.modules["dominoenv"].__path__
    if str(CLONE) not in search_path:
        search_path.append(str(CLONE))
