"""Text of users as plain text: labels, names and rules, wherever they are shown.

`visible` comes first and is all that a terminal or a plot needs, if these read no markup (see
`grid` and `drawing`); Markdown has its own characters to escape.
"""

from __future__ import annotations

import re
import unicodedata

MARKDOWN = re.compile(
    r"""[\\`*\[\]{}>|~$\#^!]         # what Markdown, its tables and GitHub's formulas read
      | <(?=\S) | &(?=[\#\w])       # HTML
      | (?<![^\W_])_ | _(?![^\W_])  # underscores, but for those inside a word
      | :(?=\S)                     # emoji by name, addresses
    """,
    re.VERBOSE,
)


def visible(text: str) -> str:
    r"""Return a text in one line: control and direction characters by name, such as `\x1b`."""
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if unicodedata.category(character) == "Zs":
        return " "
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def markdown(text: str) -> str:
    """Return a text that Markdown shows as it is inside a line or the cell of a table."""
    return MARKDOWN.sub(lambda found: f"&#{ord(found[0])};", visible(text).strip())


def code_block(text: str, language: str) -> str:
    """Return a block of code, within a fence that the text does not contain."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
