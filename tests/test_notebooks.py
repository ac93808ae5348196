"""Every notebook runs from top to bottom and prints what it holds; what it holds is small."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

WANTED = ("nbclient", "ipykernel", "torch", "sb3_contrib", "matplotlib")
for module in WANTED:
    pytest.importorskip(
        module, reason=f"{module} is not installed: see the extras of pyproject.toml"
    )
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: extra `notebooks`")
notebooks = pytest.importorskip("experiments.notebooks")

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 150_000  # bytes of a notebook


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebook_runs_and_prints_what_it_holds(path: Path) -> None:
    if "torchrl" in path.read_text(encoding="utf-8") and find_spec("torchrl") is None:
        pytest.skip("torchrl is not installed")
    command = [sys.executable, "-m", "experiments.notebooks", "--check", str(path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-4000:]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_notebook_is_kept_with_its_outputs_and_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert not re.search(r"/(home|root|tmp|usr|work|Users|var)/", text)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert any(
        "image/png" in out.get("data", {}) or "image/svg+xml" in out.get("data", {})
        for out in outputs
    )
    assert not [out for out in outputs if out.output_type == "error" or out.get("name") == "stderr"]


def made(*sources: str, tag: str = "") -> nbformat.NotebookNode:
    """Return a notebook of these cells, the last one tagged if a tag is given."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    if tag:
        cells[-1].metadata["tags"] = [tag]
    return nbformat.v4.new_notebook(cells=cells)


def saved(notebook: nbformat.NotebookNode, path: Path) -> Path:
    nbformat.write(notebook, path)
    return path


def test_a_change_of_what_is_printed_is_told(tmp_path: Path) -> None:
    old = notebooks.run(saved(made("print('one')", "2"), tmp_path / "a.ipynb"))
    new = notebooks.run(saved(made("print('one')", "3"), tmp_path / "b.ipynb"))
    assert notebooks.printed(old) == ["one", "2"]
    assert notebooks.differences(old, old) == ""
    assert "-2\n+3" in notebooks.differences(old, new)


def test_what_varies_is_not_compared_and_what_fails_is(tmp_path: Path) -> None:
    varies = made("print(1)", "import time; print(time.time_ns())", tag="varies")
    runs = [notebooks.run(saved(varies, tmp_path / "a.ipynb")) for _ in range(2)]
    assert notebooks.differences(*runs) == ""
    assert notebooks.printed(runs[0]) == ["1"]
    with pytest.raises(notebooks.CellExecutionError, match="ZeroDivisionError"):
        notebooks.run(saved(made("1 / 0"), tmp_path / "b.ipynb"))
