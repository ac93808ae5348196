"""`OpponentPool`: the population from which opponents are drawn; it may change while games run.

For every opposing seat and episode one member is drawn by weight. The draw depends on the seed, the
match and the pool at that time. A running game keeps its line-up until its episode ends.
Letters: P seats, n episodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dominoenv.core.arguments import as_array, checked_index, finite
from dominoenv.core.compiling import kernel
from dominoenv.core.rules import Rules
from dominoenv.core.streams import GAMMA, LINEUP, mix, open_stream
from dominoenv.errors import (
    CheckpointError,
    DominoError,
    IllegalActionError,
    UnknownNameError,
    nearest,
)
from dominoenv.games.registry import as_rules
from dominoenv.opponents.baselines import make_policy
from dominoenv.opponents.snapshot import Snapshot
from dominoenv.policies import Actions, Masks, Observations, Policy

WINDOW = 2000  # seats over which the share of beaten ones is measured
PRIOR_SEATS = 20  # seats, half of them beaten: added for members that have hardly played

Function: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.int8]], Any]
Player: TypeAlias = Policy | Function | str
Opponent: TypeAlias = tuple[Player, float]  # and its weight relative to the others
Opponents: TypeAlias = "OpponentPool | Player | Sequence[Opponent]"


@kernel
def _draw_rolls(seed: Any, matches: Any, rolls: Any) -> None:
    """Draw a number in [0, 1) for each seat of each match, from seed, match and seat alone."""
    for k in range(rolls.shape[0]):
        for seat in range(rolls.shape[1]):
            start = open_stream(seed[0], matches[k], LINEUP + seat)
            rolls[k, seat] = (mix(start + GAMMA) >> np.uint64(11)) * 2.0**-53


class FunctionPolicy(Policy):
    """Plays by a function of (n, L) float32 observations in [0, 1] and (n, A) int8 masks."""

    name = "function"

    def __init__(self, rules: Rules, function: Function, seed: int = 0) -> None:
        super().__init__(rules, seed)
        self.function = function

    def act(self, observations: Observations, masks: Masks) -> Actions:
        """Return the result of the function: one action for each of n decisions."""
        if observations.dtype == np.uint8:
            observations = self.layout.scaled(observations)
        return as_array("actions", self.function(observations, masks), IllegalActionError)


@dataclass
class Tally:
    """Results of the learner against some seats; a seat is beaten if it has more penalty points."""

    seats: float = 0.0
    beaten: float = 0.0
    """A tie counts half."""

    def add(self, seats: float, beaten: float) -> None:
        """Add the results of an episode."""
        self.seats += seats
        self.beaten += beaten

    def shrink(self, seats: float) -> None:
        """Scale the results down to at most so many seats."""
        if self.seats > seats:
            self.seats, self.beaten = float(seats), self.beaten * seats / self.seats


@dataclass(eq=False)
class Member:
    """A member of a pool, with a unique name in it."""

    number: int
    """Its number in line-ups; never reused in a pool."""
    name: str
    policy: Policy
    weight: float
    recent: Tally = field(default_factory=Tally)
    """Results over about the last WINDOW seats; older ones fade out."""

    @property
    def kind(self) -> str:
        """The policy's name, shared by all snapshots, for example."""
        return _name_of(self.policy)

    @property
    def beaten_share(self) -> float:
        """Share of its recent seats that the learner beat; 1/2 means equal strength.

        It starts near 1/2 and moves as results come in.
        """
        return (self.recent.beaten + PRIOR_SEATS / 2) / (self.recent.seats + PRIOR_SEATS)


class OpponentPool:
    """Members with weights, each a policy, its name, or a function of (observations, masks).

    - opponents: one of these, or (one of these, weight) pairs; if omitted, the pool is empty and
      needs a member before games can begin.

    Several environments may share a pool; changes apply to all of them from the next episode of
    each game on. Each environment plays with copies of the policies (`Policy.copy`: weights are
    shared, generators are not), so environments in several threads may share a pool, and play what
    they play alone as long as it stays the same. Any thread may change it at any time; hold `lock`
    to make several changes at once. Copied or pickled environments have their own pool.

    Raises DominoErrors for invalid members, weights and names; the pool is left unchanged.
    """

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        opponents: Player | Sequence[Opponent] | None = None,
    ) -> None:
        self.rules = as_rules(rules)
        self.lock = RLock()
        self._members: dict[str, Member] = {}  # replaced as a whole: others may be reading it
        self._next = 0
        self.totals: dict[str, Tally] = {}  # of each kind, since the pool was made
        if opponents is not None:
            self.replace(opponents)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = {**vars(self), "totals": dict(self.totals)}
        del state["lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lock=RLock())

    def __repr__(self) -> str:
        who = ", ".join(f"{member.name} {member.weight:g}" for member in self.members)
        return f"OpponentPool({who})"

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> Member:
        members = self._members
        if name not in members:
            raise UnknownNameError(f"opponent {name!r}: {nearest(name, members)}")
        return members[name]

    @property
    def members(self) -> tuple[Member, ...]:
        """The members in the order in which they were added."""
        return tuple(self._members.values())

    # ------------------------------------------------------------------------------------ changing

    def add(self, who: Player, weight: float = 1.0, name: str | None = None) -> Member:
        """Add a member.

        name: must be free; by default the policy's name, with a number if that is taken
        (`random`, `random-2`).
        """
        policy, weight = _as_policy(who, self.rules), _checked_weight(weight)
        with self.lock:
            member = self._made(self._members, policy, weight, name)
            self._members = {**self._members, member.name: member}
        return member

    def _made(
        self, others: Mapping[str, Member], policy: Policy, weight: float, name: str | None = None
    ) -> Member:
        """Return a new member, whose name differs from those of the others."""
        if name is not None and (not isinstance(name, str) or not name or name in others):
            raise DominoError(f"opponent {name!r}: the name must be text that is not in use")
        free = name or _free_name(_name_of(policy), others)
        member = Member(self._next, free, policy, weight)
        self._next += 1
        return member

    def remove(self, name: str) -> Member:
        """Remove a member, but not the last one; it finishes the episodes that it is in."""
        with self.lock:
            member = self[name]
            if len(self) == 1:
                raise DominoError(
                    f"opponent {name!r} is the last one in the pool: add another one first"
                )
            self._members = {key: one for key, one in self._members.items() if one is not member}
        return member

    def reweigh(self, weights: Mapping[str, float]) -> None:
        """Set the weights of some members, by name."""
        with self.lock:
            new = [(self[name], _checked_weight(weight)) for name, weight in weights.items()]
            for member, weight in new:
                member.weight = weight

    def replace(self, opponents: Player | Sequence[Opponent]) -> None:
        """Replace all members."""
        if isinstance(opponents, str | Policy) or callable(opponents):
            opponents = [(opponents, 1.0)]
        try:
            pairs = [(who, weight) for who, weight in opponents]
        except (TypeError, ValueError):
            raise DominoError(
                f"opponents={opponents!r} must be a policy, the name of one, a function, or "
                "(one of these, weight) pairs"
            ) from None
        if not pairs:
            raise DominoError("opponents must be at least one")
        new = [(_as_policy(who, self.rules), _checked_weight(weight)) for who, weight in pairs]
        with self.lock:
            members: dict[str, Member] = {}
            for policy, weight in new:
                member = self._made(members, policy, weight)
                members[member.name] = member
            self._members = members

    # ------------------------------------------------------------------------------------- drawing

    def draw(
        self,
        seed: int,
        matches: NDArray[np.int64],
        members: Sequence[Member] | None = None,
    ) -> NDArray[np.int64]:
        """Return (n, P) numbers of members, one for each seat of (n,) matches of a seed.

        members: that `members` has named, for one who needs the same ones afterwards. The numbers
        depend on the arguments, the members and their weights alone. Raises DominoError for an
        empty pool.
        """
        with self.lock:
            drawn_from = self.members if members is None else members
            weights = [member.weight for member in drawn_from]
        if not weights:
            raise DominoError("the pool is empty: opponents must be at least one")
        rolls = np.zeros((len(matches), self.rules.players))
        _draw_rolls(np.array([seed], np.uint64), np.ascontiguousarray(matches, np.int64), rolls)
        upto = np.cumsum(weights)
        places = np.searchsorted(upto / upto[-1], rolls, side="right")
        numbers = np.array([member.number for member in drawn_from], np.int64)
        drawn: NDArray[np.int64] = numbers[np.minimum(places, len(numbers) - 1)]
        return drawn

    def note(self, member: Member, seats: int, beaten: float) -> None:
        """Add the learner's results against so many seats of a member, or of a former one."""
        with self.lock:
            self.totals.setdefault(member.kind, Tally()).add(seats, beaten)
            here = self._members.get(member.name)
            if here is not None and here.number == member.number:
                here.recent.add(seats, beaten)
                here.recent.shrink(WINDOW)

    # --------------------------------------------------------------------------------------- state

    def get_state(
        self, former: Iterable[Member] = ()
    ) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
        """Return JSON values, and arrays by name (the weights of snapshots); see `set_state`.

        former: removed members that still play in some episode.
        """
        with self.lock:
            return self._described(former)

    def _described(
        self, former: Iterable[Member]
    ) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
        described: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[np.float32]] = {}
        for member in (*self.members, *former):
            entry: dict[str, Any] = {
                "number": member.number,
                "name": member.name,
                "weight": member.weight,
                "recent": [member.recent.seats, member.recent.beaten],
                "here": self._members.get(member.name) is member,
            }
            if isinstance(member.policy, Snapshot):
                entry["snapshot"], weights = member.policy.get_state()
                arrays |= {_array_name(member.number, name): weights[name] for name in weights}
            described.append(entry)
        totals = {kind: [tally.seats, tally.beaten] for kind, tally in self.totals.items()}
        return {"next": self._next, "totals": totals, "members": described}, arrays

    def read_state(
        self, described: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> dict[int, Member]:
        """Return the members of a state by number, former ones included; the pool is unchanged.

        Snapshots are rebuilt from the arrays, which may include others. All other members must be
        in this pool under the same names, with any weights. Raises CheckpointError for a missing
        one.
        """
        return {
            entry["number"]: Member(
                number=checked_index("number", entry["number"], 1 << 62),
                name=entry["name"],
                policy=self._policy_of(entry, arrays),
                weight=_checked_weight(entry["weight"]),
                recent=_as_tally(entry["recent"]),
            )
            for entry in described["members"]
        }

    def set_state(self, described: Mapping[str, Any], members: Mapping[int, Member]) -> None:
        """Restore a state: what `get_state` described, with the members from `read_state`."""
        here = [members[entry["number"]] for entry in described["members"] if entry["here"]]
        following = checked_index("next", described["next"], 1 << 62)
        totals = {kind: _as_tally(tally) for kind, tally in described["totals"].items()}
        with self.lock:
            self._members = {member.name: member for member in here}
            self._next, self.totals = following, totals

    def _policy_of(self, entry: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Policy:
        if not isinstance(entry["name"], str):
            raise CheckpointError(f"the saved pool has an opponent called {entry['name']!r}")
        if "snapshot" in entry:
            prefix = _array_name(entry["number"], "")
            own = {k.removeprefix(prefix): arrays[k] for k in arrays if k.startswith(prefix)}
            return Snapshot.from_state(self.rules, entry["snapshot"], own)
        if entry["name"] not in self:
            raise CheckpointError(
                f"the saved pool has an opponent {entry['name']!r}, which this one lacks: add it "
                f"before restoring the state; {nearest(entry['name'], self._members)}"
            )
        return self._members[entry["name"]].policy


def as_pool(rules: Rules, opponents: Opponents) -> OpponentPool:
    """Return a pool of the opponents, or the given pool. Raises DominoErrors."""
    if not isinstance(opponents, OpponentPool):
        pool = OpponentPool(rules)
        pool.replace(opponents)
        return pool
    if opponents.rules != rules:
        raise DominoError(f"the pool's members play {opponents.rules}, not {rules}")
    return opponents


def _as_tally(saved: Iterable[float]) -> Tally:
    """Return a saved tally. Raises DominoError for what is none."""
    seats, beaten = (finite("a tally", number) for number in saved)
    if not 0 <= beaten <= seats:
        raise DominoError(f"a tally of {beaten} beaten among {seats} seats")
    return Tally(seats, beaten)


def _array_name(number: int, name: str) -> str:
    return f"member {number} {name}"


def _name_of(policy: Policy) -> str:
    return policy.name or type(policy).__name__


def _free_name(name: str, taken: Mapping[str, Member]) -> str:
    number = 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _checked_weight(weight: Any) -> float:
    try:
        value = finite("weight", weight)
    except DominoError:
        value = 0.0
    if value <= 0:
        raise DominoError(f"opponents need a weight above 0 each, not {weight!r}")
    return value


def _as_policy(who: Player, rules: Rules) -> Policy:
    if isinstance(who, str):
        return make_policy(who, rules)
    if isinstance(who, Policy):
        if who.rules != rules:
            raise DominoError(f"opponent {who.name} plays {who.rules}, not {rules}")
        return who
    if isinstance(who, type) or not callable(who):
        raise DominoError(
            f"opponent {who!r} is neither a policy, nor the name of one or a function"
        )
    return FunctionPolicy(rules, who)
