"""Policies by reference: the name of a baseline, a file of a trained one, or a class of your own.

Command lines, configs and pools find their agents here. A file is only read, whoever wrote it. A
class is imported, and so runs its author's code.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from dominoenv.core.rules import Rules
from dominoenv.errors import DominoError, RulesError, UnknownNameError, nearest
from dominoenv.opponents.baselines import make_policy, policy_names
from dominoenv.policies import Policy

FILES = (".pt", ".zip")


def find_policy(
    reference: str, rules: Rules | None = None, *, deterministic: bool = True, seed: int = 0
) -> Policy:
    """Return the policy that a text stands for.

    reference: a file that ends in .pt or .zip (see `load_file`), `module:Class`, or the name of a
    baseline. rules: may be None for a file. Raises DominoErrors for a reference that leads nowhere,
    and for rules that do not fit.
    """
    if _is_path(reference):
        return load_file(reference, rules, deterministic, seed)
    if rules is None:
        raise DominoError(f"{reference!r} names no rules: name the game too, with --game")
    if ":" in reference:
        return make_from(reference, rules, seed)
    return make_policy(reference, rules, seed)


def _is_path(reference: str) -> bool:
    if reference.endswith(FILES):
        return True
    return reference not in policy_names() and Path(reference).exists()


def load_file(
    path: str | Path, rules: Rules | None = None, deterministic: bool = True, seed: int = 0
) -> Policy:
    """Return the policy of a checkpoint, or of a model that Stable-Baselines3 saved.

    rules: by default those of the checkpoint; for a model, which does not name any, the default
    rules of the game that it fits. Raises CheckpointErrors.
    """
    try:
        from dominoenv.opponents.sb3_models import is_model, load_model
        from dominoenv.opponents.trained import load_policy
    except ImportError as error:
        raise DominoError(str(error)) from None
    load = load_model if is_model(path) else load_policy
    return load(path, rules, deterministic, seed)


# ------------------------------------------------------------------------------- classes by name


def make_from(target: str, rules: Rules, seed: int = 0, **parameters: Any) -> Policy:
    """Return the policy that `target(rules, seed=seed, **parameters)` makes.

    target: `module:Class`, or `module:function`. Raises DominoErrors for a target that does not
    exist, does not play the game, or makes something else.
    """
    make = resolve(target)
    if not plays(target, rules.game):
        raise RulesError(f"target {target!r} does not play {rules.game}")
    try:
        policy = make(rules, seed=seed, **parameters)
    except DominoError:
        raise
    except (TypeError, ValueError) as error:
        raise RulesError(f"target {target!r}: {error}") from error
    if not isinstance(policy, Policy):
        what = type(policy).__name__
        raise DominoError(f"target {target!r} makes a {what}: it must make a dominoenv.Policy")
    return policy


def plays(target: str, game: str) -> bool:
    """Return whether a target plays a game; a function is asked when it makes its policy."""
    make = resolve(target)
    return not isinstance(make, type) or not issubclass(make, Policy) or make.plays(game)


def source_of(target: str) -> bytes:
    """Return the source of a target's module, so that results of another one are told apart."""
    path = getattr(_module_of(target), "__file__", None)
    return Path(path).read_bytes() if path else b""


def resolve(target: str) -> Callable[..., Any]:
    """Return what `module:Class` names. Raises DominoErrors."""
    module, (_, _, name) = _module_of(target), target.partition(":")
    found = getattr(module, name, None)
    if found is None:
        known = [key for key, value in vars(module).items() if callable(value) and key[0] != "_"]
        raise UnknownNameError(f"target {target!r}: {nearest(name, known)}")
    if not callable(found):
        what = type(found).__name__
        raise DominoError(f"target {target!r} is a {what}: it must be a subclass of Policy")
    if isinstance(found, type) and issubclass(found, Policy) and found.act is Policy.act:
        raise DominoError(f"target {target!r} has no method `act`: a Policy needs one")
    return found  # type: ignore[no-any-return]


def _module_of(target: str) -> ModuleType:
    name, _, inside = target.partition(":")
    if not inside.isidentifier() or not all(part.isidentifier() for part in name.split(".")):
        raise DominoError(
            f"target {target!r} must look like my_agents:MyPolicy, a module and a class in it"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last: no installed module is hidden
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise UnknownNameError(
                f"target {target!r}: there is no module {error.name!r}, installed or in {here}"
            ) from None
        raise _failed(target, error) from error
    except Exception as error:  # the module's own code, which may raise anything
        raise _failed(target, error) from error


def _failed(target: str, error: Exception) -> DominoError:
    reason = f"{type(error).__name__}: {error}"
    return DominoError(f"target {target!r}: its module cannot be imported: {reason}")
