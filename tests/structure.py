"""Counts that tell whether the house is in order: `python -m tests.structure`.

A room is a folder or a top-level file of the library, `agents`, or `experiments`. Every import
counts, also one inside a function, one by a function of LAZY with a constant name, and the name of
a module as a text ("dominoenv.envs.single:DominoEnv"), which somebody is going to import.
`--write docs/architecture.md` puts the table between its markers there.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("agents", "experiments")
LAZY = ("import_module", "import_companion")  # functions that import what their argument names
GAMES = ("mexican_train", "chicken_foot")
RULES_CLASSES = {"MexicanTrainRules", "ChickenFootRules"}
BEGIN, END = "<!-- structure:begin -->", "<!-- structure:end -->"

# What was counted in version 0.1.0 by the same rules, and what is wanted.
BEFORE = {"rooms": 41, "levels": 16, "arrows": 204, "branches": 22}


@cache
def sources() -> tuple[Path, ...]:
    """Return the Python files of the library and its programs."""
    folders = (ROOT / name for name in ("dominoenv", *PROGRAMS))
    return tuple(sorted(path for folder in folders for path in folder.rglob("*.py")))


def module_of(path: Path) -> str:
    """Return a file's dotted name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room of a module of this project."""
    top, *rest = module.split(".")
    if top in PROGRAMS:
        return top
    return rest[0] if rest else "__init__"


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of this project that a file imports, lazily or not."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(package, node)
            yield from (_module(f"{base}.{alias.name}", base) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(LAZY):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            if "." in name and _is_module(name):
                yield name


def _absolute(package: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _module(name: str, base: str) -> str:
    """Return the module that a name imported from a package is, or stands in."""
    return name if _is_module(name) else base


def _is_module(name: str) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    place = ROOT / name.replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").is_file()


@cache
def arrows() -> dict[str, set[str]]:
    """Return for each room the rooms that it imports from."""
    found: dict[str, set[str]] = {room_of(module_of(path)): set() for path in sources()}
    for path in sources():
        own = room_of(module_of(path))
        for module in imported(path):
            if module.split(".")[0] in ("dominoenv", *PROGRAMS):
                found[own] |= {room_of(module)} - {own}
    return found


def ring(graph: dict[str, set[str]]) -> list[str]:
    """Return the rooms of an import ring, first to first; [] where there is none."""
    done: set[str] = set()

    def search(room: str, path: list[str]) -> list[str]:
        if room in path:
            return [*path[path.index(room) :], room]
        if room in done:
            return []
        for other in sorted(graph[room]):
            if found := search(other, [*path, room]):
                return found
        done.add(room)
        return []

    return next((found for room in graph if (found := search(room, []))), [])


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the level of each room: one more than the highest below it. There is no ring."""

    @cache
    def level(room: str) -> int:
        return 1 + max((level(other) for other in graph[room]), default=0)

    return {room: level(room) for room in graph}


# --------------------------------------------------------------------------- branches on the game


def branches() -> list[str]:
    """Return where code outside of the two games' folders asks which of them it has."""
    found = []
    for path in sources():
        if not set(path.relative_to(ROOT).parts) & set(GAMES):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [_place(path, node.lineno) for node in ast.walk(tree) if _asks(node)]
    for path in sorted((ROOT / "dominoenv").rglob("*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if any(game in line for game in GAMES):
                found.append(_place(path, number))
    return found


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


def _asks(node: ast.AST) -> bool:
    """Return whether a node compares with a game, picks by it, or tests for its rules class."""
    if isinstance(node, ast.Compare):
        return any(_names_game(part) for part in (node.left, *node.comparators))
    if isinstance(node, ast.Dict):
        return sum(key is not None and _names_game(key) for key in node.keys) > 1
    if isinstance(node, ast.MatchValue):
        return _names_game(node.value)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
        return bool(RULES_CLASSES & set(re.findall(r"\w+", ast.unparse(node.args[1]))))
    return False


def _names_game(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in GAMES


# ------------------------------------------------------------------------------------- the report


def counts() -> dict[str, int]:
    """Return the counts by name."""
    graph = arrows()
    return {
        "rooms": len(graph),
        "levels": max(levels(graph).values()),
        "arrows": sum(map(len, graph.values())),
        "branches": len(branches()),
    }


NAMES = {
    "rooms": "rooms: folders and top-level files of `dominoenv/`, `agents`, `experiments`",
    "levels": "levels of the import graph",
    "arrows": "arrows: pairs of rooms, one importing from the other",
    "branches": "branches on the game outside of the games' folders",
}


def table() -> str:
    """Return the counts as a Markdown table, and the rooms level by level."""
    now, by_level = counts(), defaultdict(list)
    lines = ["| what | version 0.1.0 | now |", "| --- | ---: | ---: |"]
    lines += [f"| {text} | {BEFORE[name]} | {now[name]} |" for name, text in NAMES.items()]
    for room, level in levels(arrows()).items():
        by_level[level].append(f"`{room}`")
    lines += ["", "| level | rooms |", "| ---: | --- |"]
    lines += [f"| {level} | {', '.join(sorted(by_level[level]))} |" for level in sorted(by_level)]
    return "\n".join(lines)


def write(path: Path) -> None:
    """Put the table between the markers of a page."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.structure", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--arrows", action="store_true", help="list what each room imports from")
    options = parser.parse_args()
    if found := ring(arrows()):
        raise SystemExit(f"import ring: {' -> '.join(found)}")
    print(table())
    if options.arrows:
        for room, others in arrows().items():
            print(f"{room}: {', '.join(sorted(others))}")
    for place in branches():
        print(f"branch: {place}")
    if options.write:
        write(options.write)


if __name__ == "__main__":
    main()
