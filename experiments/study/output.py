"""The output files of a study: JSON, CSV, a report and pictures."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dominoenv.batch import HELD_OUT_MATCH
from dominoenv.core.files import write_atomically

from ..tournament.output import as_bytes, as_csv, versions, without_nan
from .analysis import Findings
from .config import StudyConfig
from .report import markdown

RESULTS = ("config.yaml", "results.json", "pairs.csv", "same.csv", "report.md")


def write_study(config: StudyConfig, findings: Findings, folder: Path) -> None:
    """Write all files."""
    from .plots import draw_plots  # here: matplotlib takes a second

    used = versions(config)
    drawn = draw_plots(config, findings, folder)
    files = {
        "results.json": json.dumps(as_json(config, findings, used), indent=1, allow_nan=False),
        "pairs.csv": as_csv(findings.pairs),
        "same.csv": as_csv(findings.same),
        "report.md": markdown(config, findings, drawn, used).rstrip(),
    }
    for name, text in files.items():
        write_atomically(folder / name, as_bytes(f"{text}\n"))


def as_json(config: StudyConfig, findings: Findings, used: dict[str, str]) -> dict[str, Any]:
    """Return the findings as plain data; undefined values are null."""
    plain: dict[str, Any] = without_nan(
        {
            "config": config.resolved(),
            "first_match": HELD_OUT_MATCH,
            "versions": used,
            **asdict(findings),
        }
    )
    return plain
