"""Benchmark the library against plain C and PettingZoo's own environments.

    python -m experiments.throughput                              # about 8 minutes
    python -m experiments.throughput --only batch playouts --games 64 1024 --repeats 3
    python -m experiments.throughput --write docs/performance.md  # write the tables into the page
    python -m experiments.throughput --write docs/performance.md --only memory  # only that one

Contestants of a table take turns, so slow minutes affect all of them; each figure is the median of
the repeats. Parts:

batch      `BatchedGame.step`, mask and observation of the next decision included, by size
seats      the same by number of seats, with the bytes that a decision writes
threads    one thread and two
playouts   positions played to the end of the round
policies   choices of every policy at 1,024 games
single     `Game`, PettingZoo's two forms; and PettingZoo's classic environments in the same loop
memory     bytes of a game, growth over ten million decisions
start      first use (compiling), later starts
training   the environment's share of the quickstart's training
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from tqdm import tqdm

from dominoenv.core.program import run_program
from dominoenv.errors import DominoError
from dominoenv.games.registry import GAMES

from . import batches, lifetime, loops, report

GROWTH_DECISIONS = 10_000_000


def batch(options: argparse.Namespace) -> str:
    """Measure `step` by size."""
    return report.sizes_table(batches.race_sizes(options.games, options.repeats))


def seats(options: argparse.Namespace) -> str:
    """Measure `step` by seats."""
    found = batches.race_seats(1024, options.repeats)
    return "A decision at 1,024 games of double-12:\n\n" + report.seats_table(found)


def threads(options: argparse.Namespace) -> str:
    """Measure one thread and two."""
    size = max(options.games)
    found = batches.race_threads(size, options.repeats)
    return f"{size:,} games of double-12, 4 seats:\n\n" + report.threads_table(found)


def playouts(options: argparse.Namespace) -> str:
    """Measure playouts."""
    found = batches.race_playouts(1024, options.repeats)
    return report.columns_table("`playouts`, moves a second", found)


def policies(options: argparse.Namespace) -> str:
    """Measure the policies."""
    found = batches.race_policies(1024, options.repeats)
    return report.columns_table("`Policy.act`, choices a second", found)


def single(options: argparse.Namespace) -> str:
    """Measure loops over one game, PettingZoo's own among them."""
    names = {
        "game": "`Game`: `legal_moves`, `push`",
        "aec": "`raw_env`: `last`, `step`",
        "parallel": "`parallel_env`: `step`",
    }
    found = {
        table: {names[key]: speed for key, speed in speeds.items()}
        for table, speeds in loops.race_single(options.repeats).items()
    }
    ours = report.columns_table("one game, decisions a second", found)
    classics = loops.race_classics(options.repeats)
    if not classics:
        return f"{ours}\n\nPettingZoo's classic environments are not installed: `.[bench]`."
    return f"{ours}\n\n{report.classics_table(classics)}"


def memory(options: argparse.Namespace) -> str:
    """Measure memory."""
    rows = []
    for name, rules in batches.TABLES.items():
        sizes = lifetime.bytes_per_game(rules)
        rows.append([name, *(f"{size:,}" for size in (*sizes.values(), sum(sizes.values())))])
    text = report.table(["bytes of a game in a batch", *sizes, "all"], rows)
    grown = max(lifetime.growth(batches.TABLES[name], GROWTH_DECISIONS) for name in batches.TABLES)
    return (
        f"{text}\n\nOver {GROWTH_DECISIONS:,} decisions of each the peak memory of the process "
        f"grew by {grown / 1024:,.0f} KiB at most."
    )


def start(options: argparse.Namespace) -> str:
    """Measure first use and later starts."""
    rows = [
        [game, f"{lifetime.first_use(game):.1f} s", f"{lifetime.later_start(game, 3):.1f} s"]
        for game in GAMES
    ]
    return report.table(["from starting Python to the first step", "first use", "later"], rows)


def training(options: argparse.Namespace) -> str:
    """Measure the environment's share of training."""
    share, rate = lifetime.training_share()
    return (
        f"Training by `{lifetime.QUICKSTART}` makes {rate:,.0f} decisions a second; steps, "
        f"opponents, observations and masks take {100 * share:.0f} % of that time."
    )


SECTIONS: dict[str, tuple[str, Callable[[argparse.Namespace], str]]] = {
    "batch": ("Batches", batch),
    "seats": ("Seats", seats),
    "threads": ("Threads", threads),
    "playouts": ("Playouts", playouts),
    "policies": ("Policies", policies),
    "single": ("One game", single),
    "memory": ("Memory", memory),
    "start": ("Start", start),
    "training": ("Training", training),
}


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments.throughput", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--games", type=int, nargs="+", default=[64, 1024, 16384])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to write the tables into")
    options = parser.parse_args()
    if min(options.games) < 1 or options.repeats < 1:
        raise DominoError("--games and --repeats must be at least 1")
    if options.write and not options.write.is_file():
        raise DominoError(f"{str(options.write)!r} is no page: name a file that has the tables")
    first = f"{report.machine()}; medians of {options.repeats} repeats, quarters in brackets."
    sections = {}
    for name in tqdm(options.only, unit="part", leave=False):
        title, measure = SECTIONS[name]
        sections[title] = measure(options)
    text = "\n\n".join([first, *report.as_markdown(sections)])
    Console(width=max(140, Console().width)).print(Markdown(text))
    if options.write:
        report.write_sections(options.write, first, sections)


if __name__ == "__main__":
    run_program(main)
