"""Block and draw dominoes, a game that only the tests know: everything it owns is in this folder.

Seats join tiles to either end of one line. `GAME` is what `register_game` takes.
"""

from dominoenv.games.protocol import GameKind
from tests.block_dominoes import deal, observe, play, position, state, table
from tests.block_dominoes.rules import BlockDominoesRules

GAME = GameKind(BlockDominoesRules, state, play, observe, position, deal, table)
