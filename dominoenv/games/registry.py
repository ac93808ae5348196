"""The registry of games. A new one is a folder beside this file, and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RulesError, UnknownNameError, nearest, shortened
from dominoenv.games import chicken_foot, mexican_train
from dominoenv.games.protocol import GameKind

GAMES: dict[str, GameKind] = {kind.name: kind for kind in (mexican_train.GAME, chicken_foot.GAME)}


def register_game(kind: GameKind) -> None:
    """Make a game of your own known by its name. Raises DominoError for a name that is taken."""
    if GAMES.setdefault(kind.name, kind) is not kind:
        raise DominoError(f"a game named {kind.name!r} exists already")


def kind_of(rules: Rules) -> GameKind:
    """Return the game that some rules belong to."""
    return GAMES[rules.game]


def make_rules(
    game: str, rules: Rules | Mapping[str, Any] | str | None = None, **options: Any
) -> Rules:
    """Make the rules of a game, by the game's name.

    `rules`: a rules object (returned as it is), a preset's name or options by name; or give the
    options themselves, `preset` among them. Raises UnknownNameError or RulesError.
    """
    if isinstance(game, Rules):
        raise UnknownNameError(
            f"rules stand in the place of the game: name the game first, {game.game!r}, then them"
        )
    if not isinstance(game, str) or game not in GAMES:
        raise UnknownNameError(f"game {shortened(game)}: {nearest(shortened(game), GAMES)}")
    kind = GAMES[game].rules
    if isinstance(rules, Rules):
        if not isinstance(rules, kind) or options:
            what = f"options {sorted(options)}" if options else f"rules of {rules.game}"
            raise RulesError(f"{what} given beside a rules object of {game}")
        return rules
    if isinstance(rules, str):
        options = {"preset": rules, **options}
    elif rules is not None:
        if not isinstance(rules, Mapping):
            what = shortened(rules)
            raise RulesError(f"rules={what} must be a rules object, a preset or options by name")
        return kind.from_dict({**rules, **options})
    return kind.from_dict(options)


def as_rules(rules: Rules | Mapping[str, Any] | str) -> Rules:
    """Return a rules object from one, from a game's name, or from a dict with a `game`."""
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        return make_rules(rules)
    if not isinstance(rules, Mapping) or "game" not in rules:
        raise RulesError("rules must be a rules object, a game's name, or a dict with a 'game'")
    options = dict(rules)
    return make_rules(options.pop("game"), options)
