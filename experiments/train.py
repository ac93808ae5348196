"""Train an agent from a config, then compare it with the baselines.

    dominoenv train quickstart
    dominoenv train quickstart --resume
    dominoenv train quickstart --out runs/fast ppo.decisions=200_000
    dominoenv train mine.yaml

The run's folder (runs/<name> unless --out says otherwise) holds config.yaml (resolved),
checkpoint.pt (the newest; older ones in checkpoints/), progress.csv, tensorboard/, evaluation.json
and learning_curve.png. After an interruption, --resume continues from the newest checkpoint and
reaches the same weights.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dominoenv.core.files import write_atomically
from dominoenv.core.program import run_program
from dominoenv.errors import CheckpointError
from dominoenv.opponents.baselines import make_policy

from .cli import add_config, check_config_named, make_parser
from .config import Config, ConfigError, load_config
from .evaluate import Comparison, as_json, evaluate, print_table
from .folder import CONFIG, RunFolder, explained

RUNS = Path("runs")
RESUME_IGNORES = {"name", "threads", "checkpoints", "evaluation"}  # do not affect the weights
FILES = ("config.yaml", "checkpoint.pt", "progress.csv", "evaluation.json", "learning_curve.png")
FOLDERS = ("checkpoints", "tensorboard")


class Progress:
    """The progress bar, and progress.csv with one row per iteration."""

    def __init__(self, config: Config, folder: Path, done: int) -> None:
        self.path = folder / "progress.csv"
        self._forget_beyond(done)
        self.total = config.ppo.decisions
        watched = sys.stderr.isatty()
        self.bar = tqdm(
            total=self.total,
            initial=done,
            unit=" decisions",
            unit_scale=True,
            smoothing=0.1,
            dynamic_ncols=watched,
            mininterval=0.5 if watched else 15,  # fewer lines in a log file
        )

    def _forget_beyond(self, done: int) -> None:
        """Drop rows of iterations after the checkpoint: they will be played again."""
        if not self.path.exists():
            return
        header, *rows = whole_lines(self.path) or [""]
        kept = [row for row in rows if float(row.partition(",")[0]) <= done]  # by decisions
        write_atomically(self.path, "".join([header, *kept]).encode())

    def tick(self, decisions: int) -> None:
        """Show how many decisions have been made."""
        self.bar.update(min(decisions, self.total) - self.bar.n)

    def add(self, figures: dict[str, float]) -> None:
        """Add the metrics of an iteration."""
        new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(_as_csv(figures, header=new))
        self.bar.set_postfix(
            penalty=f"{figures['penalty']:.2f}",
            others=f"{figures['others']:.2f}",
            refresh=False,
        )

    def close(self) -> None:
        """Close the bar, leaving it on the screen."""
        self.bar.close()


def _as_csv(row: dict[str, float], header: bool) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(row), lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerow({key: round(value, 4) for key, value in row.items()})
    return text.getvalue()


def whole_lines(path: Path) -> list[str]:
    """Return the lines of a file, without a last one that was cut off."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return lines if not lines or lines[-1].endswith("\n") else lines[:-1]


def read_progress(path: Path) -> list[dict[str, float]]:
    """Return the rows of a progress.csv."""
    rows = csv.DictReader(whole_lines(path))
    return [{key: float(value) for key, value in row.items()} for row in rows]


# ---------------------------------------------------------------------------------------- folders


def run_folder(path: Path) -> RunFolder:
    """Return the folder of a training run."""
    return RunFolder(path, "run", FILES, FOLDERS)


def check_same_training(config: Config, folder: Path) -> None:
    """Raise if a folder holds no run, or one that began with another config."""
    saved = folder / CONFIG
    if not saved.exists():
        raise CheckpointError(
            f"{saved} is missing, so nobody can tell how the run began: start again with "
            "--overwrite, or name the run's folder with --out"
        )
    begun = load_config(saved)
    different = _differences(begun.resolved(), config.resolved())
    if different:
        raise ConfigError(
            f"{folder} began with {', '.join(different)}: resume with the same values, or "
            "start again with --overwrite or another --out"
        )


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    """Return `key=value` of the old config for each difference that affects the weights."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if path or key not in RESUME_IGNORES]
        return [
            line
            for key in keys
            for line in _differences(old.get(key), new.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if old == new else [f"{path}={json.dumps(old)}"]


# ---------------------------------------------------------------------------------------- running


@contextmanager
def opened_run(
    config: Config, folder: Path, *, resume: bool = False, overwrite: bool = False
) -> Iterator[Any]:
    """Make all that a run needs, then open its folder; yield the model as far as it is trained.

    Raises DominoErrors for bad input; the folder is unchanged then.
    """
    import torch

    from . import curve, ppo  # noqa: F401  # the curve comes last, but what it needs is missed now

    place = RunFolder(folder, "run", FILES, FOLDERS)
    place.check(resume, overwrite)
    if resume:
        check_same_training(config, folder)
    for opponent in config.evaluation.opponents:
        make_policy(opponent, config.make_rules())
    torch.set_num_threads(config.threads)
    model = ppo.make_model(config, ppo.make_env(config))
    with place.opened(config, resume, overwrite):
        if resume:
            ppo.load_training(model, folder)
        yield model


def train(config: Config, folder: Path, *, resume: bool = False, overwrite: bool = False) -> Any:
    """Train from a config in a folder; return the model. Raises DominoErrors for bad input."""
    with opened_run(config, folder, resume=resume, overwrite=overwrite) as model:
        continue_training(config, folder, model)
    return model


def continue_training(config: Config, folder: Path, model: Any) -> None:
    """Train a model until it has made all decisions of a config."""
    from . import ppo

    with closing(Progress(config, folder, model.num_timesteps)) as progress:
        ppo.learn(config, model, folder, progress)


def compare(config: Config, folder: Path, model: Any) -> list[Comparison]:
    """Evaluate the agent; write evaluation.json and learning_curve.png, print the table."""
    from . import ppo
    from .curve import draw_learning_curve

    rules, settings = config.make_rules(), config.evaluation
    with tqdm(total=2 * len(settings.opponents), desc="evaluating", leave=False) as bar:
        rows = evaluate(
            ppo.trained_policy(config, model),
            rules,
            opponents=settings.opponents,
            deals=settings.deals,
            seed=config.seed,
            progress=bar.update,
        )
    result = as_json(rows, rules, config.seed)
    write_atomically(folder / "evaluation.json", f"{json.dumps(result, indent=1)}\n".encode())
    draw_learning_curve(
        read_progress(folder / "progress.csv"), rows, folder / "learning_curve.png", config.name
    )
    print_table(rows, rules)
    return rows


def main(arguments: Sequence[str] | None = None, prog: str = "python -m experiments.train") -> None:
    """Train from the command line."""
    parser = make_parser(prog, __doc__)
    add_config(parser, "run", "continue a run")
    options = parser.parse_intermixed_args(arguments)
    path = check_config_named(prog, options.config, Config.command)
    config = load_config(path, options.overrides)
    folder = options.out or RUNS / config.name
    how = {"resume": options.resume, "overwrite": options.overwrite}
    with explained(folder), opened_run(config, folder, **how) as model:
        continue_training(config, folder, model)
        compare(config, folder, model)
    print(f"results are in {folder}")


if __name__ == "__main__":
    run_program(main)
