"""Chicken Foot: all that only this game has, and `GAME`, which names it for the registry."""

from dominoenv.games.chicken_foot import deal, observe, play, position, state, table
from dominoenv.games.chicken_foot.rules import ChickenFootRules
from dominoenv.games.protocol import GameKind

GAME = GameKind(ChickenFootRules, state, play, observe, position, deal, table)
