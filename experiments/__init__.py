"""Programs of the repository: train, evaluate, figures. Run them from the clone's root."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _check_agents() -> None:
    """Make sure that `agents` is the folder beside this one; other packages use that name too."""
    try:
        import agents
    except ImportError:
        found = "there is none to import"
    else:
        place = Path(agents.__file__ or ".").resolve().parent
        if place == ROOT / "agents":
            return
        found = f"Python finds the one in {place}"
    raise ImportError(
        f"experiments needs the package 'agents' of this repository, but {found}; change to {ROOT} "
        "and run: python -m experiments.train ..."
    )


_check_agents()
