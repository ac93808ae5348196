"""Play random rounds over all options in the engine and in the plain reference at once.

Afterwards programs are stopped anywhere and resumed (`tests/kills.py`); --stops 0 leaves that out.

    python -m tests.soak --rounds 100000
    python -m tests.soak --minutes 30 --jobs 2 --seed 5

Every move is compared. The run fails on the first difference, naming everything needed to play it
again, and also when it never met one of the rare cases it is there for. First of all, a file of
each kind that is read back is damaged in thousands of ways (`tests/damage.py`): none may be read.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from tests.compare import RARE, compare_rounds
from tests.damage import MAKERS, damage
from tests.rule_sets import random_rules

TABLES, ROUNDS = 12, 20  # a worker plays so many tables at a time, so many rounds at each
CHUNK = TABLES * ROUNDS
FLIPS, CUTS = 2000, 200  # of a file of each kind


def play_chunk(seed: int, chunk: int) -> Counter[str]:
    """Play one chunk of rounds, every table with other rules."""
    rng = random.Random(f"{seed} {chunk}")
    met: Counter[str] = Counter()
    for table in range(TABLES):
        rules = random_rules(rng)
        first = chunk * CHUNK + table * ROUNDS
        rounds = [rng.randrange(len(rules.rounds)) for _ in range(ROUNDS)]
        met.update(compare_rounds(rules, seed, range(first, first + ROUNDS), rounds))
    return met


def chunks(rounds: int | None, minutes: float) -> Iterator[int]:
    """Number the chunks until enough rounds are handed out, or the time is over."""
    end = time.monotonic() + 60 * minutes
    chunk = 0
    while chunk * CHUNK < rounds if rounds else time.monotonic() < end:
        yield chunk
        chunk += 1


def soak(seed: int, rounds: int | None, minutes: float, jobs: int) -> tuple[int, Counter[str]]:
    """Play on several processes; return the number of rounds and what they met."""
    met: Counter[str] = Counter()
    played = 0
    numbers = chunks(rounds, minutes)
    with (
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool,
        tqdm(total=rounds, unit=" rounds", smoothing=0.05) as bar,
    ):
        first = [next(numbers, None) for _ in range(2 * jobs)]
        waiting = {pool.submit(play_chunk, seed, n) for n in first if n is not None}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                met.update(future.result())
                number = next(numbers, None)
                if number is not None:
                    waiting.add(pool.submit(play_chunk, seed, number))
            played += CHUNK * len(done)
            bar.update(CHUNK * len(done))
            bar.set_postfix_str(", ".join(missing(met)) or "every rare case met")
    return played, met


def damage_files(seed: int) -> None:
    """Damage a file of each kind; raise AssertionError where other content is read."""
    for name, make in MAKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            damage(make(Path(folder)), FLIPS, CUTS, seed)
        print(f"{name}: {FLIPS:,} flipped bits and {CUTS} cuts, none was read as something else")


def missing(met: Counter[str]) -> list[str]:
    """Return the rare cases that were not met."""
    return [f"no {case}" for case in RARE if not met[case]]


def main() -> int:
    """Soak from the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, help="how many; else for --minutes")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stops", type=int, default=20, help="of a training, tournament, study")
    options = parser.parse_args()
    damage_files(options.seed)
    played, met = soak(options.seed, options.rounds, options.minutes, max(options.jobs, 1))
    print(f"{played:,} rounds, no difference. Positions or rounds with")
    for case in RARE:
        print(f"  {case:<32} {met[case]:>12,}")
    if missing(met):
        print(f"but {', '.join(missing(met))}: play more rounds", file=sys.stderr)
        return 1
    return stop_programs(options.stops, options.seed) if options.stops > 0 else 0


def stop_programs(stops: int, seed: int) -> int:
    """Stop programs and resume them; return the exit code."""
    from tests import kills  # here: it imports torch

    found = kills.soak(stops, seed)
    for difference in found:
        print(f"not the same after being stopped: {difference}", file=sys.stderr)
    print(f"{stops} stops of each program, {len(found)} differences")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
