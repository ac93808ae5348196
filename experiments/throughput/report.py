"""The tables of `docs/performance.md`, as Markdown between two marks."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dominoenv.core.version import __version__
from dominoenv.errors import DominoError

from .batches import TABLES, C
from .timing import Speed, short

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
TITLE = "### "
PACKAGES = ("numpy", "numba", "torch", "stable-baselines3", "pettingzoo", "gymnasium")


def table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table whose first column is text and the others are numbers."""
    cells = [list(heading), *map(list, rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    rule = ["---", *["---:"] * (len(cells[0]) - 1)]
    return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]])


def machine() -> str:
    """Return machine and versions, on which the figures depend."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"{_processor()}, {platform.system()}, Python {platform.python_version()}, "
        f"{', '.join(versions)}, dominoenv {__version__}"
    )


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":")[1].strip() for line in text.splitlines() if "model name" in line]
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def with_spread(speed: Speed) -> str:
    """Return a speed with the quarters around it."""
    return f"{speed} ({short(speed.low)} … {short(speed.high)})"


def sizes_table(found: Mapping[int, Mapping[str, Speed]]) -> str:
    """Return `step` by size, and how it compares with the yardstick and with the fastest size."""
    names = list(next(iter(found.values())))
    heading = ["`step`, decisions a second", *(f"{size:,} games" for size in found), "flat within"]
    rows = []
    for name in names:
        speeds = [found[size][name] for size in found]
        rates = [speed.median for speed in speeds]
        rows.append([name, *map(with_spread, speeds), f"{max(rates) / min(rates):.2f}"])
    if C in names:
        ours = next(iter(TABLES))
        ratios = [f"{found[size][ours].median / found[size][C].median:.2f}" for size in found]
        rows.append([f"{ours}: times plain C", *ratios, ""])
    return table(heading, rows)


def seats_table(found: Mapping[int, Mapping[str, tuple[Speed, int]]]) -> str:
    """Return the time of a decision by seats, and the bytes that it writes."""
    rows = []
    for seats, games in found.items():
        row = [str(seats)]
        for speed, size in games.values():
            row += [f"{speed.nanoseconds:.0f} ns", f"{size:,}"]
        rows.append(row)
    heading = ["seats", "Mexican Train", "bytes", "Chicken Foot", "bytes"]
    return table(heading, rows)


def threads_table(found: Mapping[str, tuple[Speed, Speed]]) -> str:
    """Return the gain of a second thread."""
    rows = [
        [name, str(one), str(two), f"{two.median / one.median:.2f}"]
        for name, (one, two) in found.items()
    ]
    return table(["", "1 thread", "2 threads", "times"], rows)


def columns_table(heading: str, found: Mapping[str, Mapping[str, Speed]]) -> str:
    """Return speeds by row and column; missing ones stay empty."""
    columns = list(dict.fromkeys(name for speeds in found.values() for name in speeds))
    rows = [
        [name, *(str(speeds[key]) if key in speeds else "" for key in columns)]
        for name, speeds in found.items()
    ]
    return table([heading, *columns], rows)


def classics_table(found: Mapping[str, Speed]) -> str:
    """Return the speeds of PettingZoo's classic environments."""
    rows = [[f"`pettingzoo.classic.{name}`", str(speed)] for name, speed in found.items()]
    return table(["`last` and `step` without wrappers", "decisions a second"], rows)


def write_sections(path: Path, first_line: str, sections: Mapping[str, str]) -> None:
    """Write sections by title between the marks of a page; other sections are kept.

    Raises DominoError if the marks are missing.
    """
    try:
        old = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DominoError(f"cannot read {path}: {error.strerror}") from None
    before, begin, rest = old.partition(BEGIN)
    between, end, after = rest.partition(END)
    if not begin or not end:
        raise DominoError(f"{path} must hold the lines {BEGIN} and {END}")
    parts = (part.partition("\n\n") for part in between.split(TITLE)[1:])
    kept = {title: text.strip() for title, _, text in parts}
    text = "\n\n".join([first_line, *as_markdown({**kept, **sections})])
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def as_markdown(sections: Mapping[str, str]) -> list[str]:
    """Return sections under their titles."""
    return [f"{TITLE}{title}\n\n{text}" for title, text in sections.items()]
