"""Mexican Train: all that only this game has, and `GAME`, which names it for the registry."""

from dominoenv.games.mexican_train import deal, observe, play, position, state, table
from dominoenv.games.mexican_train.rules import MexicanTrainRules
from dominoenv.games.protocol import GameKind

GAME = GameKind(MexicanTrainRules, state, play, observe, position, deal, table)
