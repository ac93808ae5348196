"""Random streams: every deal depends on (seed, match, round) alone.

A stream is a splitmix64 counter whose start is a hash of three numbers, so that any round of any
match can be dealt without dealing the ones before it. While it is drawn from, it stands in the
state's record.

Source of the generator: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
(2014); of the bounded draw: Lemire, "Fast random integer generation in an interval"
(2019).
"""

from __future__ import annotations

import numpy as np

from dominoenv.core.compiling import jit
from dominoenv.core.types import State, Word

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
TWO_32 = np.uint64(1 << 32)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

MAX_MATCHES = 1 << 62  # match numbers lie below

# Topics of a match's streams: a round's number, or one of these.
STARTER = 1 << 32  # who starts the match's first round
EPISODE = (1 << 32) + 1  # which round a one-round episode plays
LINEUP = (1 << 32) + 64  # who plays seat 0 of a training game; the seats' topics follow each other


@jit
def mix(z: Word) -> Word:
    """Return splitmix64's output for the state z."""
    z = z + GAMMA
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@jit
def open_stream(seed: Word | int, match: int, topic: int) -> Word:
    """Return the start of one topic's stream in one match."""
    return mix(mix(mix(np.uint64(seed)) ^ np.uint64(match)) ^ np.uint64(topic))


@jit
def below(g: State, n: int) -> int:
    """Draw a number from 0 ... n-1, each equally likely, from the stream in g["stream"]."""
    bound = np.uint64(n)
    while True:
        product = (mix(g["stream"]) >> S32) * bound
        g["stream"] += GAMMA
        rest = product & LOW_HALF
        if rest >= bound or rest >= TWO_32 % bound:  # the first test spares most draws a division
            return int(product >> S32)
