"""Policies by name: the library's own, those that programs register, and the baseline agents.

The baselines are imported when one of their names is needed first, so that importing the library
stays light. They build on `dominoenv.policies`, which therefore knows nothing of them.
"""

from __future__ import annotations

from typing import Any

from dominoenv.core.companions import import_companion
from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RulesError, UnknownNameError, nearest, shortened
from dominoenv.games.registry import GAMES
from dominoenv.policies import POLICIES, Policy


def load_baselines() -> None:
    """Import the baseline agents, which makes their names known.

    Names that a program has registered by then keep their meaning.
    """
    known = dict(POLICIES)
    import_companion("agents")
    POLICIES.update(known)


def policy_names(game: str | None = None) -> list[str]:
    """Return the names that `make_policy` knows; only those that play `game`, if one is named.

    Raises UnknownNameError for a game that does not exist.
    """
    if game is not None and game not in GAMES:
        raise UnknownNameError(f"game {shortened(game)}: {nearest(game, GAMES)}")
    load_baselines()
    return sorted(name for name in POLICIES if game is None or POLICIES[name].plays(game))


def make_policy(name: str, rules: Rules, seed: int = 0, **parameters: Any) -> Policy:
    """Make a policy by name.

    Raises UnknownNameError for an unknown name, RulesError for a game that the policy does not
    play, a seed below 0, and unknown or invalid parameters.
    """
    policy = _policy_class(name)
    if not isinstance(rules, Rules):
        raise RulesError(
            f"policy {shortened(name)} needs a rules object, not {type(rules).__name__}"
        )
    if not policy.plays(rules.game):
        known = ", ".join(policy_names(rules.game))
        raise RulesError(f"policy {shortened(name)} does not play {rules.game}; these do: {known}")
    try:
        return policy(rules, seed=seed, **parameters)
    except DominoError:
        raise
    except (TypeError, ValueError) as error:
        raise RulesError(f"policy {shortened(name)}: {error}") from error


def _policy_class(name: str) -> type[Policy]:
    """Return the class of a name, or raise UnknownNameError."""
    if isinstance(name, str):
        if name not in POLICIES:
            load_baselines()
        if name in POLICIES:
            return POLICIES[name]
    raise UnknownNameError(f"policy {shortened(name)}: {nearest(name, policy_names())}")
