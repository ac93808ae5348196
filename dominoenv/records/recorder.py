"""`Recorder`: records of the matches that a `BatchedGame` or an environment plays."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoenv.batch import BatchedGame
from dominoenv.core.round import PLAYING
from dominoenv.errors import IllegalActionError, RecordError
from dominoenv.games import stepping
from dominoenv.games.match_play import MatchPlay, move_texts
from dominoenv.records.annotations import (
    PROBABILITY,
    SCORE,
    Annotation,
    checked_rows,
    in_words,
    rounded,
)
from dominoenv.records.format import (
    PlayedRound,
    Record,
    checked_names,
    match_record,
    played_round,
    round_record,
)

Note = dict[str, dict[int, float]]  # probabilities or scores by action
Notes = dict[int, Note]  # by number of the decision
Names = Sequence[str] | Sequence[Sequence[str]] | None

# No state recurs within a match: these fields identify a state within its match.
PROGRESS = ("round", "ending", "to_move", "passes", "num_played", "boneyard_size", "hands", "table")


class Decided(NamedTuple):
    """A finished episode: its deal and its decisions; everything else follows by replaying."""

    seed: int
    match: int
    round: int  # index into the rules' rounds; of a whole match: ignored
    actions: NDArray[np.int16]  # (n,) action ids, one per decision
    players: list[str]
    notes: Notes


class Recorder:
    """Stores the decisions of a batch, and makes records of finished episodes.

    Attach it before the games are played: `recorder = Recorder(game)`, or `Recorder(env.game)` for
    an environment. A game in the middle of an episode is recorded from its next episode on. The
    overhead of a step is small: it stores two bytes per decision, and `take` replays the moves.
    Unfinished episodes are not recorded, nor are those that end before the first decision.
    """

    def __init__(self, game: BatchedGame, players: Names = None) -> None:
        """Attach to a batch of B games, replacing a recorder that was attached before.

        players: a name for each seat, or B lists of them; default `seat 0` and so on. Raises
        RecordError for invalid names.
        """
        self.game = game
        self.rename(players)
        size = game.num_games
        self._seeds = np.zeros(size, np.uint64)
        self._matches, self._rounds, self._lengths = np.zeros((3, size), np.int64)
        self._is_open = np.zeros(size, np.bool_)  # this game's episode is being recorded
        self._actions = np.zeros((size, 64), np.int16)
        self._notes: list[Notes] = [{} for _ in range(size)]
        self._finished: deque[Decided] = deque()
        fresh = self._at_first_decision()
        self.began(fresh)
        game._recorder = self

    def rename(self, players: Names) -> None:
        """Name the seats of episodes that end from now on; `players` as in the constructor."""
        is_list = isinstance(players, list | tuple) and len(players) > 0
        nested = is_list and not isinstance(players[0], str)  # type: ignore[index]
        if nested and len(players) != self.game.num_games:  # type: ignore[arg-type]
            raise RecordError(
                f"players has {len(players)} lists of names for "  # type: ignore[arg-type]
                f"{self.game.num_games} games"
            )
        self._names = [
            checked_names(self.game.rules, names)
            for names in (players if nested else [players])  # type: ignore[union-attr]
        ]

    def annotate(
        self,
        games: ArrayLike | None = None,
        *,
        probability: ArrayLike | None = None,
        score: ArrayLike | None = None,
    ) -> None:
        """Annotate the next decision of each game with probabilities or scores.

        games: (n,) indices, None for all. probability, score: (n, A); illegal actions are ignored.
        Records keep them with 6 decimal places. Raises DominoError for numbers that are not finite
        and for probabilities that do not add up to 1.
        """
        chosen = self.game._games(games)
        masks = self.game.masks[chosen]
        given = {PROBABILITY: probability, SCORE: score}
        rows = {
            kind: checked_rows(kind, values, masks)
            for kind, values in given.items()
            if values is not None
        }
        for n, i in enumerate(chosen.tolist()):
            if rows and self._is_open[i] and masks[n].any():
                note = rounded(masks[n], **{kind: values[n] for kind, values in rows.items()})
                self._notes[i][int(self._lengths[i])] = note

    def detach(self) -> None:
        """Stop recording; finished episodes can still be taken."""
        if self.game._recorder is self:
            self.game._recorder = None
        self._is_open[:] = False

    def __len__(self) -> int:
        """Return the number of finished episodes that can be taken."""
        return len(self._finished)

    def take(self) -> Iterator[Record]:
        """Yield the records of finished episodes once, in the order in which they ended.

        Raises RecordError for an episode whose states were modified from outside the batch.
        """
        while self._finished:
            yield self._replayed(self._finished.popleft())

    # ----------------------------------------------------------------------- called by the batch

    def began(self, games: NDArray[np.int64]) -> None:
        """Start recording the episodes that some games begin; called after the deal."""
        states = self.game.states
        self._seeds[games] = states["seed"][games]
        self._matches[games] = states["match"][games]
        self._rounds[games] = states["round"][games]
        self._lengths[games] = 0
        self._is_open[games] = states["ending"][games] == PLAYING
        for i in games.tolist():
            if self._notes[i]:
                self._notes[i] = {}

    def stepped(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Record one action in each of some games; called after the step."""
        lengths = self._lengths[games]
        if lengths.max(initial=0) >= self._actions.shape[1]:
            self._actions = np.hstack([self._actions, np.zeros_like(self._actions)])
        self._actions[games, lengths] = actions
        self._lengths[games] = lengths + 1
        over = games[self.game.episode_over[games]]
        if len(over):
            self._finished.extend(self._decided(i) for i in over.tolist() if self._is_open[i])
            self.began(over)

    def changed(self) -> None:
        """Drop the running episodes; called when states were set from outside."""
        self._is_open[:] = False

    # ------------------------------------------------------------------------------------- inside

    def _decided(self, i: int) -> Decided:
        actions = self._actions[i, : self._lengths[i]].copy()
        names = self._names[i if len(self._names) > 1 else 0]
        seed, match, index = int(self._seeds[i]), int(self._matches[i]), int(self._rounds[i])
        return Decided(seed, match, index, actions, names, self._notes[i])

    def _at_first_decision(self) -> NDArray[np.int64]:
        """Return the games at the start of their episode, found by dealing it again."""
        game, settings = self.game, self.game._settings.copy()
        states, outcomes = game.states.copy(), game._outcomes.copy()
        masks, rewards = game.masks.copy(), game.rewards.copy()
        rows = np.zeros((game.num_games, 0), np.uint8)
        settings["observe"] = 0
        rounds = states["round"].astype(np.int64)
        every = np.arange(game.num_games)
        record, arrays = game.rules.record, (masks, rows, rewards, outcomes)
        stepping.advance_games(states, record, settings, every, rounds, *arrays, stepping.BEGIN)
        same = [(states[field] == game.states[field]) for field in PROGRESS]
        return every[np.all([one.reshape(len(every), -1).all(1) for one in same], axis=0)]

    def _replayed(self, episode: Decided) -> Record:
        rules, options = self.game.rules, self.game.options
        whole = options.episode == "match"
        game = MatchPlay(rules, episode.seed, episode.match, 0 if whole else episode.round)
        try:
            played = replay(game, episode, whole, options.forced == "auto")
        except (IllegalActionError, StopIteration):
            raise RecordError(
                f"match {episode.match} of seed {episode.seed} was not played from its deal on; "
                f"its states were modified from outside"
            ) from None
        if whole:
            return match_record(rules, played, episode.players)
        return round_record(rules, played[0], episode.players)


def replay(game: MatchPlay, episode: Decided, whole: bool, auto_forced: bool) -> list[PlayedRound]:
    """Play a round, or all rounds, from recorded actions.

    auto_forced: forced moves were not recorded. Raises IllegalActionError or StopIteration if the
    actions belong to another game.
    """
    decisions, played = enumerate(episode.actions.tolist()), []
    while True:
        annotations: list[Annotation | None] = []
        while not game.round_over:
            forced = game.legal_moves() if auto_forced else []
            if len(forced) == 1:
                annotations.append(None)
                game.push(forced[0])
            else:
                number, action = next(decisions)
                annotations.append(annotation_at(game, episode.notes.get(number)))
                game.push(game.move_text(action))
        played.append(played_round(game, annotations))
        if game.over or not whole:
            break
        game.next_round()
    if next(decisions, None) is not None:
        raise StopIteration("actions are left over")
    return played


def annotation_at(game: MatchPlay, note: Note | None) -> Annotation | None:
    """Return the annotation of a decision, with the actions of the seat to move as text."""
    return None if note is None else in_words(note, move_texts(game.rules).texts[game.to_move])
