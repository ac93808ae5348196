"""Run the notebooks and store their outputs.

    python -m experiments.notebooks
    python -m experiments.notebooks --check notebooks/tour.ipynb

Each runs in a fresh kernel, in the repository's root. With --check nothing is written: the exit
code is 1 if a cell fails or its output differs from the notebook. The output of cells with the tag
`varies` is not compared.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

from dominoenv.core.program import run_program
from dominoenv.errors import DominoError

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"
HUNG = 900  # time limit of a cell in seconds; none takes a minute
DIFFERENT = 1  # exit code
KEPT = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

Notebook = Any  # an nbformat.NotebookNode: attributes by name, without types


def run(path: Path) -> Notebook:
    """Run a notebook and return it. Raises CellExecutionError if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=HUNG,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(ROOT)}},
    )
    client.execute()
    notebook.metadata = nbformat.from_dict(KEPT)
    for cell in _code(notebook):  # progress bars on stderr are not kept
        cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return notebook


def _code(notebook: Notebook) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook: Notebook) -> list[str]:
    """Return the lines that cells print, without pictures and without cells that vary."""
    return [
        line
        for cell in _code(notebook)
        if "varies" not in cell.metadata.get("tags", ())
        for text in _texts(cell.outputs)
        for line in text.splitlines()
    ]


def _texts(outputs: list[Any]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data", {})
        if output.output_type == "stream":
            yield output.text
        elif not any(kind.startswith("image/") for kind in data):
            yield data.get("text/plain", "")


def differences(old: Notebook, new: Notebook) -> str:
    """Return the differences between the outputs of two runs, "" if there are none."""
    lines = difflib.unified_diff(printed(old), printed(new), "kept", "now", lineterm="")
    return "\n".join(lines)


def main() -> None:
    """Run notebooks from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.notebooks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    parser.add_argument("--check", action="store_true", help="compare the outputs, write nothing")
    options = parser.parse_args()
    paths = options.notebooks or sorted(FOLDER.glob("*.ipynb"))
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise DominoError(f"no such notebook: {', '.join(missing)}")
    failed = sum(_did_fail(path, options.check) for path in tqdm(paths))
    sys.exit(DIFFERENT if failed else 0)


def _did_fail(path: Path, is_check: bool) -> bool:
    """Run one notebook and write or compare it; return whether a cell or the comparison failed."""
    try:
        new = run(path)
    except CellExecutionError as error:
        print(f"{path}: {error}", file=sys.stderr)
        return True
    if not is_check:
        nbformat.write(new, path)
        return False
    different = differences(nbformat.read(path, as_version=4), new)
    if different:
        print(f"{path}: the output has changed:\n{different}", file=sys.stderr)
    return bool(different)


if __name__ == "__main__":
    run_program(main, "notebooks")
