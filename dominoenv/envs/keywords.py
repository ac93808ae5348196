"""The keywords of environments: options of the rules, of episodes, and the environment's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeAlias

from dominoenv.core.episode import EPISODE_KEYWORDS, Owner, unknown_keyword
from dominoenv.core.rules import Rules
from dominoenv.games.registry import GAMES, make_rules

RulesLike: TypeAlias = Rules | Mapping[str, Any] | str | None


def split_keywords(
    owner: Owner,
    game: str,
    rules: RulesLike,
    keywords: Mapping[str, Any],
    others: Sequence[str] = EPISODE_KEYWORDS,
) -> tuple[Rules, dict[str, Any]]:
    """Make an environment's rules from its keywords; return them, and the `others` among these.

    owner: the environment's class. Raises UnknownKeywordError for a keyword that is neither an
    option of the rules, nor one of the others; its hint knows the owner's arguments too.
    """
    if isinstance(rules, Mapping) and rules.get("game") == game:
        rules = {key: value for key, value in rules.items() if key != "game"}
    options = {key: value for key, value in keywords.items() if key not in others}
    known = ["preset", *(spec.name for spec in fields(GAMES[game].rules)), *others]
    for key in options:
        if key not in known:
            raise unknown_keyword(key, owner, known, f"{game}_v0")
    made = make_rules(game, rules, **options)
    return made, {key: value for key, value in keywords.items() if key in others}
