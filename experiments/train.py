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
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dominoenv.core.files import write_atomically
from dominoenv.core.program import run_program
from dominoenv.errors import CheckpointError

from .cli import add_config, check_config_named, make_parser
from .config import Config, ConfigError, load_config
from .evaluate import Comparison, as_json, evaluate, print_table

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
        rows = [row for row in read_progress(self.path) if row["decisions"] <= done]
        write_atomically(self.path, _as_csv(rows, header=True).encode())

    def __call__(self, figures: dict[str, float]) -> None:
        """Add the metrics of an iteration."""
        new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_as_csv([figures], header=new))
        self.bar.set_postfix(
            penalty=f"{figures['penalty']:.2f}",
            others=f"{figures['others']:.2f}",
            refresh=False,
        )
        self.bar.update(min(figures["decisions"], self.total) - self.bar.n)

    def close(self) -> None:
        """Close the bar, leaving it on the screen."""
        self.bar.close()


def _as_csv(rows: list[dict[str, float]], header: bool) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows({k: round(v, 4) for k, v in row.items()} for row in rows)
    return text.getvalue()


def read_progress(path: Path) -> list[dict[str, float]]:
    """Return the rows of a progress.csv without a truncated last line."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{k: float(v) for k, v in row.items()} for row in rows if all(row.values())]


# ---------------------------------------------------------------------------------------- folders


def prepare_folder(config: Config, folder: Path, resume: bool, overwrite: bool) -> None:
    """Prepare the folder of a run. Raises CheckpointError or ConfigError if it does not fit."""
    if resume:
        check_resumable(config, folder)
        return
    taken = [name for name in (*FILES, *FOLDERS) if (folder / name).exists()]
    if taken and not overwrite:
        raise CheckpointError(
            f"{folder} already holds a run: continue with --resume, replace it with --overwrite, "
            "or choose another folder with --out"
        )
    for name in taken:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.yaml").write_text(config.to_yaml(), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"cannot write to {folder}: {error.strerror}; choose another --out"
        ) from None


def check_resumable(config: Config, folder: Path) -> None:
    """Raise if there is no run, or if it began with another config."""
    saved = folder / "config.yaml"
    if not saved.exists():
        raise CheckpointError(
            f"{folder} holds no run to resume: start without --resume, or name the run's folder "
            "with --out"
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


def train(config: Config, folder: Path, *, resume: bool = False, overwrite: bool = False) -> Any:
    """Train from a config in a folder; return the model. Raises DominoErrors for bad input."""
    import torch

    from . import ppo

    prepare_folder(config, folder, resume, overwrite)
    torch.set_num_threads(config.threads)
    model = ppo.make_model(config, ppo.make_env(config))
    # a run interrupted before its first checkpoint resumes from the beginning
    resumable = resume and (folder / "checkpoint.pt").exists()
    done = ppo.load_training(model, folder) if resumable else 0
    progress = Progress(config, folder, done)
    try:
        ppo.learn(config, model, folder, progress)
    finally:
        progress.close()
    return model


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
    (folder / "evaluation.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
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
    try:
        model = train(config, folder, resume=options.resume, overwrite=options.overwrite)
    except KeyboardInterrupt:
        message = f"stopped; continue with --resume (checkpoints are in {folder})"
        raise KeyboardInterrupt(message) from None
    compare(config, folder, model)
    print(f"results are in {folder}")


if __name__ == "__main__":
    run_program(main)
