"""Names for what kernels work on, each with its shape.

Letters: B games, P seats, L entries of an observation, A actions, n rows of any kind.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

# One of each. A record that a kernel takes is one element of an array, which it may write to.
State: TypeAlias = np.void  # one game: a record of the game's `STATE`
RulesRecord: TypeAlias = np.void  # its rules: a record of `Rules.record_dtype()`
Settings: TypeAlias = np.void  # how episodes are played: a record of `stepping.SETTINGS`
Outcome: TypeAlias = np.void  # of a game's last step: a record of `stepping.OUTCOME`
SearchRecord: TypeAlias = np.void  # a search for a train: a record of `longest_train.SEARCH`
Word: TypeAlias = np.uint64  # tile t of a set is bit t & 63 of word t >> 6
Mask: TypeAlias = NDArray[np.int8]  # (A,) 1 = legal
Row: TypeAlias = NDArray[np.uint8]  # (L,) one observation
RewardRow: TypeAlias = NDArray[np.float32]  # (P,) rewards of a game's last step

# Many of them.
Records: TypeAlias = NDArray[np.void]  # (1,) or (n,) records of any of these kinds
States: TypeAlias = NDArray[np.void]  # (B,)
Outcomes: TypeAlias = NDArray[np.void]  # (B,)
Rows: TypeAlias = NDArray[np.uint8]  # (B, L)
Rewards: TypeAlias = NDArray[np.float32]  # (B, P)
Masks: TypeAlias = NDArray[Any]  # (n, A) 1 = legal; int8 where a kernel reads or writes it
Observations: TypeAlias = NDArray[Any]  # (n, L) uint8 of a batch, or float32 of environments
Actions: TypeAlias = NDArray[np.int64]  # (n,) one action for each row
Indices: TypeAlias = NDArray[np.int64]  # (n,) games, seats or rounds by number
Draws: TypeAlias = NDArray[np.float64]  # (n,) random numbers in [0, 1)
Weights: TypeAlias = NDArray[np.int32]  # (A,) what each action takes out of a hand
Numbers: TypeAlias = NDArray[np.float64]  # (n, A) probabilities or scores of actions
