"""dominoenv: Mexican Train and Chicken Foot for reinforcement learning research.

Ways in: `Game` (one match, for people, tests and search), `BatchedGame` (many games over arrays),
`mexican_train_v0` and `chicken_foot_v0` (PettingZoo, or `pettingzoo.make` by the ids below),
`gymnasium.make("dominoenv/MexicanTrain-v0")` and `"dominoenv/ChickenFoot-v0"` (one learner), and
`dominoenv.envs.sb3` (training).
"""

import gymnasium as _gymnasium
import pettingzoo as _pettingzoo

from dominoenv.batch import BatchedGame
from dominoenv.core.episode import EpisodeOptions
from dominoenv.core.rules import Rules
from dominoenv.core.version import __version__
from dominoenv.errors import (
    CheckpointError,
    DominoError,
    GameOverError,
    IllegalActionError,
    PositionError,
    RecordError,
    RulesError,
    UnknownKeywordError,
    UnknownNameError,
)
from dominoenv.game import Game
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.mexican_train.rules import MexicanTrainRules
from dominoenv.games.observation import Observation
from dominoenv.games.registry import GAMES, make_rules
from dominoenv.opponents.baselines import make_policy, policy_names
from dominoenv.policies import Policy, register_policy
from dominoenv.records.format import Record, write_record
from dominoenv.records.read import read_records, verify_record
from dominoenv.records.recorder import Recorder
from dominoenv.search.longest_train import Train, longest_train
from dominoenv.search.playouts import Playouts, playouts

__all__ = [
    "BatchedGame",
    "CheckpointError",
    "ChickenFootRules",
    "DominoError",
    "EpisodeOptions",
    "Game",
    "GameOverError",
    "IllegalActionError",
    "MexicanTrainRules",
    "Observation",
    "Playouts",
    "Policy",
    "PositionError",
    "Record",
    "RecordError",
    "Recorder",
    "Rules",
    "RulesError",
    "Train",
    "UnknownKeywordError",
    "UnknownNameError",
    "__version__",
    "longest_train",
    "make_policy",
    "make_rules",
    "playouts",
    "policy_names",
    "read_records",
    "register_policy",
    "verify_record",
    "write_record",
]

# Both libraries import an environment when somebody asks for one: importing ours stays light. The
# module may be loaded anew, so ids may be known already.
for _kind in GAMES.values():
    _id = f"dominoenv/{_kind.title.replace(' ', '')}-v0"
    if _id not in _gymnasium.registry:
        _gymnasium.register(
            _id,
            entry_point="dominoenv.envs.single:DominoEnv",
            vector_entry_point="dominoenv.envs.vector:DominoVectorEnv",
            kwargs={"game": _kind.name},
        )
    # since PettingZoo 1.27
    if hasattr(_pettingzoo, "register") and _id not in _pettingzoo.aec_registry:
        for _type, _entry in (("aec", "aec:wrapped"), ("parallel", "parallel:DominoParallel")):
            _of = {"game": _kind.name}
            _pettingzoo.register(_type, _id, f"dominoenv.envs.{_entry}", kwargs=_of)
