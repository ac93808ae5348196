"""YAML as configs have it: plain data as text and back, the same data.

The syntax is read by PyYAML, whose own numbers are those of YAML 1.1: there 010 is 8, 1:30 is 90
and 1e-4 a text. Here plain scalars mean what the core schema of YAML 1.2 says, with one addition:
`_` between the digits of a number. Text goes in quotes where it looks like something else; tags,
merge keys and dates do not exist. Whatever a text holds, it is read in moments or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from dominoenv.errors import DominoError, shortened

MAX_CHARACTERS = 100_000
MAX_DEPTH = 30
MAX_VALUES = 10_000  # of a whole text, aliases counted as often as they occur
MAX_DIGITS = 100
MAX_PROBLEM = 120  # characters of what PyYAML says, which may quote the text
EXACT_FLOATS = 2**53  # whole numbers below are exact as floats


class TextError(DominoError):
    """A text that is not read; the message begins with its line."""


# ------------------------------------------------------------------------------------ plain scalars

DIGITS = r"[0-9]+(?:_[0-9]+)*"


def _float(text: str) -> float:
    """Return a number with a point or an exponent; 1e6 is a whole one."""
    value = float(text)
    is_whole = "." not in text and abs(value) < EXACT_FLOATS and value.is_integer()
    return int(value) if is_whole else value


def _special_float(text: str) -> float:
    return float(text.replace(".", "").lower())


def _in_base(base: int) -> Callable[[str], int]:
    return lambda text: int(text[2:], base)


# What a plain scalar means: the first pattern that it matches in full, otherwise it is text.
PLAIN: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("null", r"~|null|Null|NULL|", lambda text: None),
    ("bool", r"true|True|TRUE|false|False|FALSE", lambda text: text.lower() == "true"),
    ("int", rf"[-+]?{DIGITS}", int),
    ("int", r"0o[0-7]+", _in_base(8)),
    ("int", r"0x[0-9a-fA-F]+", _in_base(16)),
    ("float", rf"[-+]?(?:\.[0-9]+|{DIGITS}(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", _float),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", _special_float),
)


def _plain_value(text: str) -> Any:
    """Return what a plain scalar means. Raises ValueError for a number of too many digits."""
    for kind, pattern, read in PLAIN:
        if re.fullmatch(pattern, text):
            if kind in ("int", "float") and len(text) > MAX_DIGITS:
                raise ValueError(f"a number may have {MAX_DIGITS} characters, this has {len(text)}")
            return read(text)
    return text


# ----------------------------------------------------------------------------------------- reading


class _Composer(yaml.SafeLoader):
    """Reads text as nodes, and stops at what configs do not have before it costs anything."""

    _depth = _nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call,unused-ignore]
        tag = getattr(event, "tag", None)
        if tag is not None:
            tag = shortened(tag.replace("tag:yaml.org,2002:", "!!"))
            raise _error(event, f"tags such as {tag} are not read; quotes make text")
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)  # a later one of the name replaces it
        self._nodes += 1
        self._depth += 1
        _check_size(event, self._depth, self._nodes)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Builder:
    """Builds the values of nodes. An alias gives a copy, so its content counts again."""

    def __init__(self) -> None:
        self._values = 0

    def build(self, node: yaml.Node, depth: int = 1) -> Any:
        """Return the value of a node at a depth. Raises TextError."""
        self._values += 1
        _check_size(node, depth, self._values)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(one, depth + 1) for one in node.value]
        return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value in node.value:
            key = self.build(key_node, depth + 1)
            if not isinstance(key, str):
                raise _error(key_node, f"key {shortened(key)} must be a name")
            if key == "<<" and _is_plain(key_node):
                raise _error(key_node, "merge keys (<<) are not read; write out what they merge")
            if key in values:
                raise _error(key_node, f"not YAML: key {shortened(key)} is given twice")
            values[key] = self.build(value, depth + 1)
        return values


def parse_yaml(text: str) -> Any:
    """Return the plain data of a text: dicts, lists, text, numbers, switches, None.

    Raises TextError for what is not YAML, for tags, merge keys and keys given twice, and for texts
    that are too long, too deep or, by their aliases, too large.
    """
    if len(text) > MAX_CHARACTERS:
        raise TextError(f": more than {MAX_CHARACTERS:,} characters")
    with _syntax_errors():
        node = _Composer(text).get_single_node()
    return None if node is None else _Builder().build(node)


@contextmanager
def _syntax_errors() -> Iterator[None]:
    """Turn what PyYAML raises into a TextError of one line."""
    try:
        yield
    except TextError:
        raise
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(filter(None, (error.context, error.problem)))[:MAX_PROBLEM]
        raise _error(error.problem_mark or error.context_mark, f"not YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise TextError(f": not YAML: {str(error).splitlines()[0]}") from None
    except (ValueError, OverflowError):  # such as "\UFFFFFFFF"
        raise TextError(": not YAML: a number in an escape or a directive is too large") from None


def _check_size(place: yaml.Node | yaml.Event, depth: int, values: int) -> None:
    if depth > MAX_DEPTH:
        raise _error(place, f"nested more than {MAX_DEPTH} deep")
    if values > MAX_VALUES:
        raise _error(place, f"more than {MAX_VALUES:,} values, aliases counted as often as used")


def _scalar(node: yaml.Node) -> Any:
    """Return the value of a node that holds one. Raises TextError."""
    text: str = node.value
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _error(node, f"text {shortened(text)} holds half of a surrogate pair")
    if not _is_plain(node):  # in quotes, or a block of text
        return text
    try:
        return _plain_value(text)
    except ValueError as error:
        raise _error(node, str(error)) from None


def _is_plain(node: yaml.Node) -> bool:
    return getattr(node, "style", None) is None


def _error(place: Any, text: str) -> TextError:
    """Return the error for a node, an event or a mark."""
    mark = getattr(place, "start_mark", place)
    return TextError(f": {text}" if mark is None else f" line {mark.line + 1}: {text}")


# ----------------------------------------------------------------------------------------- writing


class _Dumper(yaml.SafeDumper):
    """Writes plain data; text that a reader of YAML 1.1 or 1.2 might take for more gets quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


for _kind, _pattern, _ in PLAIN:
    _Dumper.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), None
    )


def dump_yaml(data: Any) -> str:
    """Return plain data as text that `parse_yaml` reads as the same data."""
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False))
