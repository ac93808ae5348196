"""What the site does to pages before they become HTML; mkdocs calls these functions by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Turn links to files of the repository into their paths: the site holds the pages alone."""
    docs = Path(config["docs_dir"])
    folder = (docs / page.file.src_uri).parent

    def path_of(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(docs.resolve()):
            return link[0]
        name = target.relative_to(docs.resolve().parent).as_posix()
        text = link[1].strip("`")
        return f"`{name}`" if text in (name, target.name) else f"{text} (`{name}`)"

    return LINK.sub(path_of, markdown)
