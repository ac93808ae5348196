"""What the site does to pages before they become HTML; mkdocs calls the functions `on_...`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(?:#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Make a page of each notebook."""
    for path in sorted((Path(config["docs_dir"]).parent / "notebooks").glob("*.ipynb")):
        page = "\n\n".join(_as_markdown(json.loads(path.read_text(encoding="utf-8"))))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    return files


def _as_markdown(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        for output in cell.get("outputs", ()):
            yield _shown(output.get("data", {"text/plain": output.get("text", "")}))


def _shown(data: dict[str, Any]) -> str:
    """Return an output in the best of its forms."""
    form = next(form for form in ("image/svg+xml", "image/png", "text/plain") if form in data)
    content = "".join(data[form]).strip()
    if form == "image/svg+xml":
        return f"<div>{content}</div>".replace("\n", " ")
    if form == "image/png":
        return f"![plot](data:image/png;base64,{content})"
    return f"```text\n{content}\n```"


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Lead links to notebooks to their pages, and turn those to other files into their paths."""
    docs = Path(config["docs_dir"]).resolve()
    folder = (docs / page.file.src_uri).parent

    def replaced(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        name = target.relative_to(docs.parent).as_posix()
        if target.suffix == ".ipynb":
            shown = os.path.relpath((docs / name).with_suffix(".md"), folder)
            return f"[{link[1]}]({Path(shown).as_posix()})"
        text = link[1].strip("`")
        return f"`{name}`" if text in (name, target.name) else f"{text} (`{name}`)"

    return LINK.sub(replaced, markdown)
