"""`SelfPlay`: manages snapshots of the learner in a pool of opponents."""

from __future__ import annotations

import numpy as np

from dominoenv.core.arguments import checked_choice, finite
from dominoenv.errors import DominoError
from dominoenv.opponents.pool import Member, OpponentPool
from dominoenv.opponents.snapshot import Snapshot

WHICH = ("newest", "spaced")
DRAW = ("uniform", "prioritised")
MIN_CHANCE = 1e-3  # of a member that is always beaten, against 1 for one that always wins


class SelfPlay:
    """Adds snapshots to a pool, drops some, and weighs them; other members are left unchanged.

    - weight: of all snapshots together, relative to the pool's other members.
    - keep: maximum number of snapshots.
    - which: the ones to keep. "newest"; or "spaced": spread over the whole training as evenly as
      possible, always including the first and the newest.
    - draw: their relative weights. "uniform"; or "prioritised": proportional to (1 - x)^2, where x
      is the share of its seats that the learner beat (prioritised fictitious self-play with the
      weighting of the main agents in Vinyals et al., "Grandmaster level in StarCraft II using
      multi-agent reinforcement learning", Nature 575, 2019). `Member.beaten_share` measures x.

    All of its state is in the pool: there is nothing else to save.

    Raises DominoErrors for invalid settings.
    """

    def __init__(
        self,
        pool: OpponentPool,
        *,
        weight: float = 1.0,
        keep: int = 8,
        which: str = "newest",
        draw: str = "uniform",
    ) -> None:
        checked_choice("which", which, WHICH)
        checked_choice("draw", draw, DRAW)
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
            raise DominoError(f"keep={keep!r} must be a whole number from 1 on")
        if finite("weight", weight) <= 0:
            raise DominoError(f"weight={weight!r} must lie above 0")
        self.pool, self.weight, self.keep = pool, float(weight), keep
        self.which, self.draw = which, draw

    @property
    def snapshots(self) -> list[Member]:
        """The pool's snapshots, the oldest first."""
        return [member for member in self.pool.members if isinstance(member.policy, Snapshot)]

    def take(self, snapshot: Snapshot) -> None:
        """Add a snapshot, drop those beyond `keep`, and update the weights.

        Raises DominoError if the pool has one of the same or a later time.
        """
        with self.pool.lock:  # no draw comes in between
            times = _times(self.snapshots)
            if times and times[-1] >= snapshot.taken_at:
                raise DominoError(
                    f"a snapshot taken at {snapshot.taken_at} cannot follow one taken at "
                    f"{times[-1]}"
                )
            self.pool.add(snapshot, self.weight, name=f"{snapshot.name}-{snapshot.taken_at}")
            while len(kept := self.snapshots) > self.keep:
                forget = _most_crowded if self.which == "spaced" else _oldest
                self.pool.remove(kept[forget(_times(kept))].name)
            self.weigh()

    def weigh(self) -> None:
        """Distribute the weight among the snapshots, by the results so far."""
        with self.pool.lock:
            snapshots = self.snapshots
            beaten = np.array([member.beaten_share for member in snapshots])
            chances = np.ones(len(snapshots))
            if self.draw == "prioritised":
                chances = np.maximum((1 - beaten) ** 2, MIN_CHANCE)
            weights = self.weight * chances / chances.sum()
            self.pool.reweigh({m.name: w for m, w in zip(snapshots, weights.tolist(), strict=True)})


def _times(snapshots: list[Member]) -> list[int]:
    return [member.policy.taken_at for member in snapshots if isinstance(member.policy, Snapshot)]


def _oldest(times: list[int]) -> int:
    """Return the place of the oldest of some snapshots."""
    return 0


def _most_crowded(times: list[int]) -> int:
    """Return the place of the one whose neighbours are nearest each other; never first or last."""
    if len(times) < 3:
        return 0
    gaps = np.array(times[2:]) - np.array(times[:-2])
    return 1 + int(gaps.argmin())
