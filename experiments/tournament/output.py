"""The output files of a tournament: JSON, CSV, a report, plots, and every game."""

from __future__ import annotations

import csv
import io
import json
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dominoenv.batch import HELD_OUT_MATCH
from dominoenv.core.files import write_atomically

from .analysis import Analysis
from .config import MatchConfig, TournamentConfig, TrainedAgent
from .report import markdown
from .run import Played
from .schedule import TABLES
from .store import program

LIBRARIES = ("numpy", "numba", "scipy", "statsmodels", "choix")


def write_results(
    config: TournamentConfig, analysis: Analysis, played: Played, folder: Path
) -> None:
    """Write all files."""
    from .plots import draw_plots  # here: matplotlib takes a second

    used = versions(config)
    data = as_json(config, analysis, played, used)
    files = {
        "results.json": json.dumps(data, indent=1, allow_nan=False) + "\n",
        "results.csv": as_csv(analysis.pairs),
        "report.md": markdown(config, analysis, played, used),
    }
    for name, text in files.items():
        write_atomically(folder / name, as_bytes(text))
    write_atomically(folder / "games.npz", as_npz(played))
    draw_plots(config, analysis, played, folder)


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8; what is none, as in the names of some files, is escaped."""
    return text.encode("utf-8", "backslashreplace")


def versions(config: MatchConfig) -> dict[str, str]:
    """Return the versions of the packages that affect results."""
    torch = any(isinstance(agent, TrainedAgent) for agent in config.agents)
    libraries = (*LIBRARIES, "torch") if torch else LIBRARIES
    own = {"dominoenv": program(), "python": platform.python_version()}
    return own | {name: version(name) for name in libraries}


def as_json(
    config: TournamentConfig, analysis: Analysis, played: Played, used: dict[str, str]
) -> dict[str, Any]:
    """Return the results as plain data; undefined values are null."""
    data = {
        "config": config.resolved(),
        "seed": config.seed,
        "first_match": HELD_OUT_MATCH,
        "versions": used,
        "games": len(played.deal),
        "decisions": int(played.games.decisions.sum()),
        **asdict(analysis),
        "speed": {"core_seconds": played.seconds, "decisions_per_core_second": played.speed},
    }
    plain: dict[str, Any] = without_nan(data)
    return plain


def without_nan(data: Any) -> Any:
    """Return plain data with None for numbers that are not finite."""
    if isinstance(data, dict):
        return {key: without_nan(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_nan(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def as_csv(rows: Sequence[Any]) -> str:
    """Return one line per row of results, a dataclass; columns such as `of_a.wins.low`."""
    flat = [_flat(without_nan(asdict(row))) for row in rows]
    columns = dict.fromkeys(name for row in flat for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _flat(data: Any, path: str = "") -> dict[str, Any]:
    """Return every figure in nested data by its path; nothing for None."""
    if isinstance(data, dict | list | tuple):
        parts = data.items() if isinstance(data, dict) else enumerate(data)
        begin = f"{path}." if path else ""
        return {
            place: value
            for key, part in parts
            for place, value in _flat(part, f"{begin}{key}").items()
        }
    return {} if data is None else {path: data}


def as_npz(played: Played) -> bytes:
    """Return every game, for notebooks: `numpy.load("games.npz")`, arrays of G games by name."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = played.games.arrays()
    np.savez_compressed(
        buffer,
        agents=np.array(played.agents),
        deal=played.deal,
        who=played.who.astype(np.int16),
        tables=np.array(TABLES),
        table=played.table.astype(np.int16),
        **arrays,
    )
    return buffer.getvalue()
