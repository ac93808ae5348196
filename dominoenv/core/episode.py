"""How episodes are played: `EpisodeOptions`, which every interface takes, and its defaults.

This is the one place that spells them out. Environments take them as keywords, config files as keys
of `environment`, the kernels as the record `SETTINGS` (`games/stepping.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, Literal, TypeAlias, TypedDict

from dominoenv.core.options import Options, option
from dominoenv.core.tiles import MAX_PIPS
from dominoenv.errors import DominoError, RulesError, UnknownKeywordError, nearest, shortened

POINTS_PER_REWARD = 20  # a reward of 1 is that many penalty points
Owner: TypeAlias = type[Any] | FunctionType  # whose keywords they are
DRAWN_ROUND = -1  # in place of a round's index: it is drawn from the seed


class Episode(IntEnum):
    """What an episode is."""

    ROUND = 0
    MATCH = 1


class Reward(IntEnum):
    """What is paid when a round ends (WIN: when an episode ends)."""

    ZERO_SUM = 0
    PENALTY = 1
    WIN = 2


class Forced(IntEnum):
    """Who makes a move that is the only legal one."""

    EXPLICIT = 0
    AUTO = 1


class Illegal(IntEnum):
    """What happens at an illegal action."""

    RAISE = 0
    PENALTY = 1
    SUBSTITUTE = 2
    TERMINATE = 3


@dataclass(frozen=True, kw_only=True)
class EpisodeOptions(Options):
    """How episodes are played, under any rules. Docs: `docs/interfaces.md`.

    Raises RulesError or another DominoError for an invalid value.
    """

    episode: str = option(
        "round",
        Episode,
        meaning="what an episode is: one round of a match, or a whole match",
    )
    double: int | None = option(
        None,
        low=0,
        high=MAX_PIPS - 1,
        named={None: DRAWN_ROUND},
        meaning="the double of one-round episodes; none: each match draws one of the rules' rounds",
    )
    reward: str = option(
        "zero_sum",
        Reward,
        meaning="what each seat is paid when a round ends: the others' mean penalty minus its own, "
        "or minus its own; or 1 for winning the episode, shared in a tie",
    )
    reward_scale: float = option(
        1 / POINTS_PER_REWARD, above=0.0, meaning="reward for a penalty point"
    )
    forced: str = option(
        "explicit",
        Forced,
        meaning="who makes a move without a choice: the seat to move, or the engine",
    )
    illegal: str = option(
        "raise",
        Illegal,
        meaning="what an illegal action does: it is an `IllegalActionError` and the state is left "
        "unchanged; or the lowest legal action is played in its place, at the price of "
        "`illegal_reward` or for nothing; or it ends the episode at that price",
    )
    illegal_reward: float = option(-1.0, meaning="what the seat that chose it is paid")

    def __post_init__(self) -> None:
        self._check_options()
        if self.double is not None and self.episode == "match":
            raise DominoError(
                f"double={self.double} chooses a round, but an episode is a whole match"
            )

    @property
    def replaces_illegal(self) -> bool:
        """Whether the lowest legal action is played in an illegal one's place."""
        return self.illegal in ("penalty", "substitute")

    @property
    def illegal_price(self) -> float:
        """What a seat is paid for an illegal action that was replaced."""
        return self.illegal_reward if self.illegal == "penalty" else 0.0

    def round_in(self, rounds: Sequence[int]) -> int:
        """Return the place of `double` among the rounds of a match, or DRAWN_ROUND.

        Raises RulesError where no round has it.
        """
        if self.double is None:
            return DRAWN_ROUND
        if self.double not in rounds:
            raise RulesError(f"double={self.double} is not in rounds={list(rounds)}")
        return rounds.index(self.double)

    def check_engine(self) -> None:
        """Raise DominoError for what only PettingZoo's `env` can do: ending an episode early."""
        if self.illegal == "terminate":
            raise DominoError(
                "illegal='terminate' is for PettingZoo's `env`, whose wrapper ends the episode; "
                "here an illegal action may 'raise', or have a 'penalty' or a 'substitute'"
            )

    def changed(self, owner: Owner, keywords: Mapping[str, Any]) -> EpisodeOptions:
        """Return the options with some keywords of a call to `owner` put in.

        `episode_options` among them replaces all the defaults. Raises UnknownKeywordError for a
        keyword that neither these options nor the owner know.
        """
        if not keywords:
            return self
        for key in keywords:
            if key not in EPISODE_KEYWORDS:
                raise unknown_keyword(key, owner, EPISODE_KEYWORDS)
        base = keywords.get("episode_options")
        base = self if base is None else base
        if not isinstance(base, EpisodeOptions):
            raise DominoError(f"episode_options={base!r} must be an EpisodeOptions")
        given = {key: value for key, value in keywords.items() if key != "episode_options"}
        return replace(base, **given) if given else base


class EpisodeKeywords(TypedDict, total=False):
    """The same fields as keyword arguments, for type checkers and editors; or all in one object."""

    episode: Literal["round", "match"]
    double: int | None
    reward: Literal["zero_sum", "penalty", "win"]
    reward_scale: float
    forced: Literal["explicit", "auto"]
    illegal: Literal["raise", "penalty", "substitute", "terminate"]
    illegal_reward: float
    episode_options: EpisodeOptions


EPISODE_FIELDS = tuple(spec.name for spec in fields(EpisodeOptions))
EPISODE_KEYWORDS = (*EPISODE_FIELDS, "episode_options")
NO_OPTIONS = {  # what people look for, and what there is instead
    "max_episode_steps": "episodes end by the rules, with the round or the match (`episode`)",
}


def keyword_names(owner: Owner) -> list[str]:
    """Return the names of the arguments that a function or a class takes by keyword."""
    kinds = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in signature(owner).parameters.values() if one.kind in kinds]


def unknown_keyword(
    key: str, owner: Owner, known: Iterable[str], title: str = ""
) -> UnknownKeywordError:
    """Return the error for a keyword that is neither known nor an argument of the owner.

    title: of the owner in the message, if not its own name. It is put in Python's words, because
    clients that probe for a keyword (TorchRL's `GymEnv`) look for them.
    """
    hint = NO_OPTIONS.get(key) or nearest(key, [*known, *keyword_names(owner)])
    who = title or owner.__name__
    return UnknownKeywordError(f"{who} got an unexpected keyword argument {shortened(key)}; {hint}")


# ------------------------------------------------------------------------------- where they differ

BATCH = EpisodeOptions()
"""`BatchedGame`: every move is shown and made, as records, searches and opponents see them."""

PETTINGZOO = EpisodeOptions()
"""`raw_env`, `parallel_env`: as above; PettingZoo's raw environments are strict."""

PETTINGZOO_WRAPPED = replace(PETTINGZOO, illegal="terminate")
"""`env`: PettingZoo's classic games end at an illegal action, by the wrapper made for it."""

LEARNER = EpisodeOptions(forced="auto")
"""One learner (`LearnerGames`, `DominoVecEnv`, configs): it learns nothing where it has no choice,
and each such move costs it a pass through its network."""

GYMNASIUM = replace(LEARNER, illegal="penalty")
"""`DominoEnv`, `DominoVectorEnv`: Gymnasium's checkers, and algorithms that know no masks, sample
illegal actions; they must not end in an exception."""

DEFAULTS = {
    "`BatchedGame`": BATCH,
    "`raw_env`, `parallel_env`": PETTINGZOO,
    "`env`": PETTINGZOO_WRAPPED,
    "`LearnerGames`, `DominoVecEnv`, configs": LEARNER,
    "`DominoEnv`, `DominoVectorEnv`": GYMNASIUM,
}


def episode_table() -> str:
    """Return the options as a table in Markdown, with the defaults of every interface."""
    lines = ["| option | values | default | meaning |", "| --- | --- | --- | --- |"]
    for spec in fields(EpisodeOptions):
        cells = f"`{spec.name}`", _values(spec.metadata), _defaults(spec.name)
        lines.append(f"| {' | '.join(cells)} | {spec.metadata['meaning']} |")
    return "\n".join(lines) + "\n"


def _values(limits: Mapping[str, Any]) -> str:
    if limits["choices"]:
        return ", ".join(f"`{name}`" for name in limits["choices"])
    if limits["high"] > limits["low"]:
        return f"{limits['low']} … {limits['high']}, or `None`"
    return "a number" if limits["above"] is None else f"a number above {limits['above']:g}"


def _defaults(name: str) -> str:
    usual = getattr(BATCH, name)
    text = f"`{usual}`"
    for interface, options in DEFAULTS.items():
        if getattr(options, name) != usual:
            text += f"; {interface}: `{getattr(options, name)}`"
    return text
