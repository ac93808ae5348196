"""Names for what kernels work on, each with its shape.

Letters: L entries of an observation, A actions, P seats.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = np.void  # one game: a record of the game's `STATE`
RulesRecord: TypeAlias = np.void  # its rules: a record of `Rules.record_dtype()`
Mask: TypeAlias = NDArray[np.int8]  # (A,) 1 = legal
Row: TypeAlias = NDArray[np.uint8]  # (L,) one observation
Words: TypeAlias = NDArray[np.uint64]  # (WORDS,) a tile set, bit t of word t // 64 ...

States: TypeAlias = NDArray[np.void]  # (B,) records of games
RulesRecords: TypeAlias = NDArray[np.void]  # (1,) the rules of a batch
Masks: TypeAlias = NDArray[np.int8]  # (B, A)
Rows: TypeAlias = NDArray[np.uint8]  # (B, L)
