"""The factory of compiled agents: each agent plays by its own score, whatever was compiled before.

All kernels come from one closure of one file. Small agents are compiled here in processes of their
own, with a cache of their own, so that numbers and names that a process counts are the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import agents
from agents.agent import Agent
from dominoenv.core.compiling import DISABLED

assert agents  # defines the subclasses of Agent
KINDS = {kind.name: kind for kind in Agent.__subclasses__()}

AGENT = """
from dataclasses import dataclass

from agents.agent import Agent, parameter
from agents.factory import make_kernel
from agents.features import read_feet
from dominoenv.core.compiling import jit


@jit
def score(f, r, p, pip, other):
    return {score}


@dataclass(eq=False, kw_only=True)
class Own(Agent):
    games = ("chicken_foot",)
    slope: float = parameter(1.0, "the same in all of them, and so is the type of the record")
    kernel = staticmethod(make_kernel({name!r}, read_feet, score))
"""
# Prints for each module whether its kernel was loaded, and the action that it chose.
PROGRAM = """
import importlib, sys
import numpy as np
from dominoenv import make_rules

for name in sys.argv[1:]:
    agent = importlib.import_module(name).Own(make_rules("chicken_foot", max_pip=6))
    rows = np.zeros((1, agent.layout.size), np.uint8)
    action = agent.act(rows, np.ones((1, agent.num_actions), np.int8))[0]
    stats = getattr(agent.kernel, "stats", None)
    print("loaded" if stats and stats.cache_hits else "compiled", int(action))
"""
LEAST, MOST = "-p['slope'] * (7 * pip + other)", "7.0 * pip + other"
MIDDLE = "-abs(7 * pip + other - 9.0)"
FIRST, NINTH, LAST = "0", "9", "50"  # what they choose of all actions


def write(folder: Path, module: str, name: str, score: str) -> None:
    (folder / f"{module}.py").write_text(AGENT.format(name=name, score=score), encoding="utf-8")


def choices(folder: Path, *modules: str) -> list[list[str]]:
    """Return, for each module, how its kernel came about and what it chose."""
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", PROGRAM, *modules]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    return [line.split() for line in process.stdout.splitlines()]


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_agents_of_one_factory_never_get_each_others_code(tmp_path: Path) -> None:
    write(tmp_path, "light", "light", LEAST)
    write(tmp_path, "heavy", "heavy", MOST)
    assert choices(tmp_path, "light") == [["compiled", FIRST]]
    assert choices(tmp_path, "heavy") == [["compiled", LAST]]  # as the first of its process too
    both = [["loaded", FIRST], ["loaded", LAST]]
    assert choices(tmp_path, "light", "heavy") == both
    assert choices(tmp_path, "heavy", "light") == both[::-1]


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_agents_of_one_name_in_two_modules_never_get_each_others_code(tmp_path: Path) -> None:
    write(tmp_path, "mine", "same", LEAST)
    write(tmp_path, "yours", "same", MOST)
    for modules in (("mine",), ("yours",), ("mine", "yours"), ("yours", "mine")):
        chosen = [action for _, action in choices(tmp_path, *modules)]
        assert chosen == [{"mine": FIRST, "yours": LAST}[module] for module in modules]


@pytest.mark.skipif(DISABLED, reason="nothing is compiled with NUMBA_DISABLE_JIT")
def test_a_changed_score_is_compiled_anew(tmp_path: Path) -> None:
    write(tmp_path, "mine", "mine", LEAST)
    assert choices(tmp_path, "mine") == [["compiled", FIRST]]
    assert choices(tmp_path, "mine") == [["loaded", FIRST]]
    write(tmp_path, "mine", "mine", MIDDLE)
    assert choices(tmp_path, "mine") == [["compiled", NINTH]]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_kernel_bears_the_name_of_its_agent(name: str) -> None:
    """The compile cache names files by it, and the compiler its symbols."""
    kind = KINDS[name]
    function = getattr(kind.kernel, "py_func", kind.kernel)
    assert (function.__module__, function.__name__) == (kind.__module__, name)
    assert function.__qualname__ == name
