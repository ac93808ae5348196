"""`BatchedGame`: many games side by side, arrays in, arrays out.

Letters: B games, P seats, T tiles, L entries of an observation, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from itertools import combinations
from threading import get_ident
from typing import Any, Protocol, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dominoenv.core.arguments import (
    as_array,
    checked_index,
    checked_seed,
    flag,
    positive,
)
from dominoenv.core.episode import BATCH, EpisodeKeywords
from dominoenv.core.layout import Layout
from dominoenv.core.round import PLAYING
from dominoenv.core.rules import Rules
from dominoenv.core.streams import MAX_MATCHES
from dominoenv.core.threads import Guard, in_use, map_slices, one_thread
from dominoenv.errors import (
    DominoError,
    GameOverError,
    IllegalActionError,
    nearest,
)
from dominoenv.games import stepping
from dominoenv.games.registry import as_rules, kind_of
from dominoenv.games.state_checks import as_states, check_states
from dominoenv.search.determinization import redeal

HELD_OUT_MATCH = 1 << 40  # match numbers from here on are for evaluation; training stays below
MAX_GAMES = 1 << 24  # more do not fit into the memory of any machine


class Listener(Protocol):
    """What follows the play of a batch: a `Recorder`."""

    def began(self, games: NDArray[np.int64]) -> None:
        """Follow new episodes; called when they have been dealt in some games."""

    def stepped(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Follow a step; called when some games have carried out an action each."""

    def changed(self) -> None:
        """Follow a change from outside; called when states were written."""


class BatchedGame:
    """B games of one kind under one set of rules, stepped together.

    Game i of a batch with seed s plays match i of that seed, afterwards match i + B, and so on;
    each deal depends on the seed, the match and the round alone, so that it is the same game as
    `Game(..., seed=s, match=i)`.

    How episodes are played is said by `EpisodeOptions`, as keywords (`episode="match"`) or as one
    object (`episode_options=`). With `autoreset` an episode that has ended is followed by the next
    one in the same step; without it the game waits for `restart`.

    Rewards are paid when a round ends, to every seat, in units of `POINTS_PER_REWARD` points:
    `zero_sum` the mean penalty of the others minus one's own, `penalty` minus one's own, `win` one,
    shared by those with the lowest total of the episode, at its end.

    Attributes (arrays are overwritten by the next step; copy what you keep):

    - `options`: the `EpisodeOptions`.
    - `states`: (B,) records of `dominoenv.games.<game>.state.STATE`, the full state. `step` and
      `load` check what they are given; writing into the records yourself is unchecked.
    - `masks`: (B, A) int8, 1 = legal, for the seat to move.
    - `observations`: (B, L) uint8, what the seat to move may know, laid out by `layout`.
    - `rewards`: (B, P) float32, what the last step paid to each seat.
    - `illegal_actions`: (B,) whether the action of the last `step` was illegal and replaced.
    """

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        num_games: int,
        seed: int | Sequence[int] | None = None,
        *,
        autoreset: bool = True,
        observe: bool = True,
        out: Mapping[str, NDArray[Any]] | None = None,
        num_threads: int = 1,
        **episode: Unpack[EpisodeKeywords],
    ) -> None:
        """Make the batch and deal its first episodes.

        rules: a rules object, a game's name, or a dict with a `game` and its options. out: arrays
        of the caller by name, C-contiguous, that are written instead of new ones: `masks`,
        `observations`, `rewards` (shared memory, rows of a rollout buffer); they overlap neither
        each other nor what a step is given. num_threads: that step the games of a large batch; the
        games are the same with any number. Raises RulesError and other DominoErrors for invalid
        arguments.
        """
        self.options = BATCH.changed(BatchedGame, episode)
        self.options.check_engine()
        self.rules = as_rules(rules)
        self._guard = Guard()
        self.num_games = positive("num_games", num_games)
        if self.num_games > MAX_GAMES:
            raise DominoError(f"num_games={self.num_games} must be at most {MAX_GAMES}")
        self._settings = stepping.settings_record(
            self.options,
            self.rules,
            self.num_games,
            autoreset=flag("autoreset", autoreset),
            observe=flag("observe", observe),
        )
        self.rules.check_decisions()
        self._make_arrays(out or {})
        self.num_threads = positive("num_threads", num_threads)
        self._recorder: Listener | None = None
        self.reset(seed)

    def _make_arrays(self, given: Mapping[str, NDArray[Any]]) -> None:
        kind = kind_of(self.rules)
        self.layout: Layout = kind.observe.layout(self.rules)
        self.num_actions: int = kind.observe.num_actions(self.rules)
        self.states = np.zeros(self.num_games, kind.state)
        outputs = self._outputs(given)
        self._given = [(name, outputs[name]) for name in given]
        self.masks: NDArray[np.int8] = outputs["masks"]
        self.observations: NDArray[np.uint8] = outputs["observations"]
        self.rewards: NDArray[np.float32] = outputs["rewards"]
        self.illegal_actions: NDArray[np.bool_] = np.zeros(self.num_games, np.bool_)
        self._outcomes = np.zeros(self.num_games, stepping.OUTCOME)
        self._all = np.arange(self.num_games)
        self._places = np.zeros(self.num_games, np.int64)  # scratch of the check for duplicates

    def _outputs(self, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the arrays that steps write: the given ones, and new ones for the others."""
        widths: dict[str, tuple[int, Any]] = {
            "masks": (self.num_actions, np.int8),
            "observations": (self.layout.size, np.uint8),
            "rewards": (self.rules.players, np.float32),
        }
        for name in given:
            if name not in widths:
                raise DominoError(f"out: {name!r}: {nearest(name, list(widths))}")
        arrays = {}
        for name, (width, dtype) in widths.items():
            shape = self.num_games, width
            if name in given:
                _check_output(name, given[name], shape, np.dtype(dtype))
            # `asarray`: a subclass may compute in ways of its own
            arrays[name] = np.asarray(given[name]) if name in given else np.zeros(shape, dtype)
        for one, other in combinations(arrays, 2):
            _refuse_overlap(f"out: {one}", arrays[one], other, arrays[other])
        return arrays

    # ------------------------------------------------------------------------------------- playing

    @one_thread
    def reset(
        self,
        seed: int | Sequence[int] | None = None,
        *,
        matches: ArrayLike | None = None,
        rounds: ArrayLike | None = None,
    ) -> None:
        """Begin a new episode in every game.

        seed: of the batch; one seed for each game makes game i match 0 of the i-th seed; None draws
        one. matches: (B,) which match each game plays instead of 0 ... B-1. rounds: (B,) indices
        into `rules.rounds` for one-round episodes, instead of the drawn ones. Raises DominoError
        for invalid values; the state is left unchanged then.
        """
        if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim):
            if len(seed) != self.num_games:
                raise DominoError(f"seed has {len(seed)} entries for {self.num_games} games")
            seeds: Any = np.array([checked_seed(one) for one in seed], np.uint64)
            numbers, stride = np.zeros(self.num_games, np.int64), 1
        else:
            seeds, numbers, stride = checked_seed(seed), self._all, self.num_games
        if matches is not None:
            numbers = self._indices("matches", matches, MAX_MATCHES)
        wanted = self._rounds(self._all, rounds)
        self.states["seed"], self.states["match"] = seeds, numbers
        self._settings["stride"] = stride
        self._begin(self._all, wanted)

    @one_thread
    def restart(self, games: ArrayLike | None = None, *, rounds: ArrayLike | None = None) -> None:
        """Begin the next episode, of the game's next match, in some games (default: in all)."""
        index = self._games(games)
        wanted = self._rounds(index, rounds)
        self.states["match"][index] += self._settings[0]["stride"]
        self._begin(index, wanted)

    def _rounds(self, games: NDArray[np.int64], rounds: ArrayLike | None) -> NDArray[np.int64]:
        """Return which round each game is to begin with, or stepping.DRAWN_ROUND."""
        if rounds is None:
            return np.full(len(games), self._settings[0]["round"], np.int64)
        if self.options.episode == "match":
            raise DominoError("rounds are for one-round episodes; here an episode is a whole match")
        return self._indices("rounds", rounds, len(self.rules.rounds), len(games))

    def _begin(self, games: NDArray[np.int64], wanted: NDArray[np.int64]) -> None:
        self._drive(games, wanted, stepping.BEGIN)
        if self._recorder is not None:
            self._recorder.began(games)

    def step(self, actions: ArrayLike, games: ArrayLike | None = None) -> None:
        """Carry out one action of the seat to move in each game, or in some `games`.

        actions: (n,) action ids; games: (n,) indices, each at most once. Raises GameOverError where
        a game waits for `restart`, and IllegalActionError unless the options have illegal actions
        replaced; the state is left unchanged then.
        """
        index = self._games(games)
        chosen = as_array("actions", actions, IllegalActionError)
        is_whole = chosen.dtype.kind in "iu" or chosen.size == 0
        if chosen.shape != index.shape or not is_whole:
            raise IllegalActionError(
                f"actions must be {len(index)} whole numbers, one for each game, not an array of "
                f"shape {chosen.shape} and dtype {chosen.dtype}"
            )
        chosen = np.ascontiguousarray(chosen, np.int64)
        for name, output in self._given:  # a kernel writes there before it has read all of these
            _refuse_overlap("actions", chosen, f"out: {name}", output)
            _refuse_overlap("games", index, f"out: {name}", output)
        if self.options.replaces_illegal:
            self._step_replaced(index, chosen)
        else:
            self._step(index, chosen)

    def _step(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        illegal = self._carry_out(games, actions)
        if illegal >= 0:
            raise self._illegal(int(games[illegal]), int(actions[illegal]))
        if self._recorder is not None:
            self._recorder.stepped(games, actions)

    def _step_replaced(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Step some games by legal actions in place of illegal ones, which have their price."""
        played, illegal = self.replace_illegal(actions, games)
        offenders = games[illegal], self.to_move[games[illegal]]
        self._step(games, played)
        self.illegal_actions[:] = False
        self.illegal_actions[games] = illegal
        self.rewards[offenders] += np.float32(self.options.illegal_price)

    def replace_illegal(
        self, actions: NDArray[np.int64], games: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return (n,) actions, the lowest legal one in place of each illegal one, and (n,) which.

        It goes by `masks` as they stand (`step` checks what comes out on the states). Actions of
        games that wait for `restart` are left as they are.
        """
        masks = self.masks[games]
        known = (actions >= 0) & (actions < self.num_actions)
        legal = known & (masks[np.arange(games.size), np.where(known, actions, 0)] != 0)
        illegal = ~legal & ~self.waiting[games]
        return np.where(illegal, masks.argmax(axis=1), actions), illegal

    def _carry_out(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> int:
        """Step some games; return -1, or the place of the first illegal action."""
        if self.num_threads == 1:
            return self._drive(games, actions, stepping.CHECK_AND_MOVE)
        return self._carry_out_in_threads(games, actions)

    @one_thread
    def _carry_out_in_threads(self, games: NDArray[np.int64], actions: NDArray[np.int64]) -> int:
        def check(part: slice) -> int:
            place = self._helper()._drive(games[part], actions[part], stepping.CHECK)
            return place + part.start if place >= 0 else place

        def move(part: slice) -> None:
            self._helper()._drive(games[part], actions[part], stepping.MOVE)

        illegal = [place for place in map_slices(games.size, self.num_threads, check) if place >= 0]
        if not illegal:
            map_slices(games.size, self.num_threads, move)
        return illegal[0] if illegal else -1

    def _helper(self) -> Self:
        """Return a batch of the same arrays, for a thread that helps."""
        helper = copy(self)
        helper._guard = Guard()
        return helper

    def _drive(self, games: NDArray[np.int64], numbers: NDArray[np.int64], work: int) -> int:
        threads, own = self._guard.threads, get_ident()
        try:
            threads.append(own)
            if threads[0] != own:
                raise in_use()
            place: int = stepping.advance_games(
                self.states,
                self.rules.record,
                self._settings,
                games,
                numbers,
                self.masks,
                self.observations,
                self.rewards,
                self._outcomes,
                work,
            )
            return place
        finally:
            threads.pop()

    def _illegal(self, game: int, action: int) -> DominoError:
        if self.states["ending"][game] != PLAYING:
            return GameOverError(f"game {game}: its episode is over; call restart or reset")
        seat = int(self.to_move[game])
        if 0 <= action < self.num_actions:
            what = f"{action} ({self.action_text(action, seat)})"
        else:
            what = f"{action} (actions are 0 ... {self.num_actions - 1})"
        legal = ", ".join(
            f"{number} ({self.action_text(number, seat)})" for number in self.legal_actions(game)
        )
        return IllegalActionError(f"game {game}: action {what} is illegal; legal are {legal}")

    @one_thread
    def legal_actions(self, game: int) -> list[int]:
        """Return the legal actions of one game, read from its state."""
        game = checked_index("game", game, self.num_games)
        mask = np.zeros((1, self.num_actions), np.int8)
        row = np.zeros((1, self.layout.size), np.uint8)
        states = self.states[game : game + 1]
        stepping.show_games(states, self.rules.record, self._settings, self._all[:1], mask, row)
        return [int(action) for action in mask[0].nonzero()[0]]

    # ------------------------------------------------------------------------------------- reading

    @property
    def num_players(self) -> int:
        """P, the number of seats."""
        return self.rules.players

    @property
    def to_move(self) -> NDArray[np.int32]:
        """(B,) seat to move in each game."""
        seats: NDArray[np.int32] = self.states["to_move"]
        return seats

    @property
    def penalties(self) -> NDArray[np.int32]:
        """(B, P) penalties of the round that ended last in each game."""
        penalties: NDArray[np.int32] = self._outcome("penalties")
        return penalties

    @property
    def scores(self) -> NDArray[np.int32]:
        """(B, P) totals of each game's episode at the end of the round that ended last."""
        scores: NDArray[np.int32] = self._outcome("scores")
        return scores

    @property
    def winners(self) -> NDArray[np.bool_]:
        """(B, P) who won the episode that ended last in each game; a tie is shared."""
        winners: NDArray[np.bool_] = self._outcome("winners") != 0
        return winners

    @property
    def round_over(self) -> NDArray[np.bool_]:
        """(B,) whether a round ended in the game's last step."""
        flags: NDArray[np.bool_] = self._outcomes["round_over"]
        return flags

    @property
    def episode_over(self) -> NDArray[np.bool_]:
        """(B,) whether an episode ended in the game's last step."""
        flags: NDArray[np.bool_] = self._outcomes["episode_over"]
        return flags

    @property
    def waiting(self) -> NDArray[np.bool_]:
        """(B,) whether the game's episode is over and it waits for `restart` (no autoreset)."""
        over: NDArray[np.bool_] = self.states["ending"] != PLAYING
        return over

    @property
    def endings(self) -> NDArray[np.int32]:
        """(B,) how the last round that ended did: 1 somebody went out, 2 nobody could play."""
        endings: NDArray[np.int32] = self._outcomes["ending"]
        return endings

    def _outcome(self, field: str) -> Any:
        return self._outcomes[field][:, : self.rules.players]

    def observe_all(self) -> NDArray[np.uint8]:
        """Return (B, P, L) what every seat of each game may know."""
        games, seats = np.indices((self.num_games, self.num_players))
        rows = self.observe(seats.ravel(), games.ravel())
        return rows.reshape(self.num_games, self.num_players, -1)

    @one_thread
    def observe(self, seats: ArrayLike, games: ArrayLike | None = None) -> NDArray[np.uint8]:
        """Return (n, L) what a seat of each game may know, whoever is to move.

        seats: (n,), or one seat for all games.
        """
        index = self._games(games, distinct=False)
        viewers = self._seats(seats, len(index))
        rows = np.zeros((len(index), self.layout.size), np.uint8)
        stepping.observe_games(self.states, self.rules.record, index, viewers, rows)
        return rows

    def action_text(self, action: int, seat: int) -> str:
        """Return a seat's action as text, such as `9-4@2`. Raises DominoError if it is none."""
        action = checked_index("action", action, self.num_actions)
        seat = checked_index("seat", seat, self.rules.players)
        text: str = kind_of(self.rules).observe.action_text(self.rules, seat, action)
        return text

    # --------------------------------------------------------------------------------------- state

    @one_thread
    def load(self, states: NDArray[np.void]) -> None:
        """Put saved records (B,) back; masks and observations follow.

        Raises DominoError for records that no game of these rules has: of another shape, with
        numbers out of range, with a tile in two places. Whether legal play leads there is not
        checked.
        """
        checked = as_states(self.rules, states, self.num_games).copy()  # others may write in it
        check_states(self.rules, checked)
        self.states[:] = checked
        self.refresh()

    @one_thread
    def refresh(self) -> None:
        """Write masks and observations again, after `states` was changed from outside."""
        if self._recorder is not None:
            self._recorder.changed()
        stepping.show_games(
            self.states,
            self.rules.record,
            self._settings,
            self._all,
            self.masks,
            self.observations,
        )

    @one_thread
    def copy(self) -> Self:
        """Return an independent batch that goes on identically."""
        return deepcopy(self)

    @one_thread
    def redeal_hidden(self, seats: ArrayLike, rng: np.random.Generator) -> Self:
        """Return an independent batch in which what a seat cannot see is dealt anew.

        seats: (B,), or one seat for all games; it has the same view there, and the same mask where
        it is to move. Hands, boneyard and the seed of later deals come from `rng` and from what the
        seat may know alone: hand sizes and proofs of what hands lack. Each deal that agrees with
        them is equally likely (how: `dominoenv.search.determinization`). An episode that is over
        stays as it is. No recorder is attached to the new batch. Raises DominoError for an invalid
        seat or generator, PositionError if a position's `voids` allow no deal.
        """
        viewers = self._seats(seats, self.num_games)
        recorder, self._recorder = self._recorder, None
        try:
            other = self.copy()
        finally:
            self._recorder = recorder
        redeal(self.rules, other.states, viewers, rng)
        other.refresh()
        return other

    # -------------------------------------------------------------------------------------- checks

    def _games(self, games: ArrayLike | None, distinct: bool = True) -> NDArray[np.int64]:
        if games is None:
            return self._all
        index = self._indices("games", games, self.num_games, None)
        if distinct:
            places = np.arange(len(index))
            self._places[index] = places
            if not np.array_equal(self._places[index], places):
                raise DominoError("games names a game twice")
        return index

    def _seats(self, seats: ArrayLike, size: int) -> NDArray[np.int64]:
        """Return (n,) seats; one seat stands for all."""
        wanted = as_array("seats", seats)
        if wanted.ndim == 0:
            wanted = np.broadcast_to(wanted, (size,))
        return self._indices("seats", wanted, self.rules.players, size)

    def _indices(
        self, name: str, values: ArrayLike, limit: int, size: int | None = -1
    ) -> NDArray[np.int64]:
        """Return whole numbers 0 ... limit-1 as an array of `size` (None: any; -1: B)."""
        array = as_array(name, values)
        if array.size == 0:
            array = array.astype(np.int64)
        wanted = self.num_games if size == -1 else size
        shape_ok = array.ndim == 1 and (wanted is None or len(array) == wanted)
        if not shape_ok or array.dtype.kind not in "iu":
            raise DominoError(
                f"{name} must be {'' if wanted is None else f'{wanted} '}whole numbers, not an "
                f"array of shape {array.shape} and dtype {array.dtype}"
            )
        if array.size and not (array.min() >= 0 and array.max() < limit):
            raise DominoError(f"{name} must lie in 0 ... {limit - 1}")
        return np.ascontiguousarray(array, np.int64)


def _refuse_overlap(one: str, array: NDArray[Any], other: str, output: NDArray[Any]) -> None:
    """Raise DominoError for two contiguous arrays that have memory in common."""
    if np.may_share_memory(array, output):  # exact for contiguous ones
        raise DominoError(f"{one} and {other} overlap: give each its own memory")


def _check_output(name: str, array: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    """Raise DominoError for an array that kernels cannot write this output to."""
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        what = (
            f"{array.dtype} of shape {array.shape}"
            if isinstance(array, np.ndarray)
            else type(array).__name__
        )
        raise DominoError(f"out: {name} must be {dtype} of shape {shape}, not {what}")
    if not (array.flags.c_contiguous and array.flags.writeable and array.flags.aligned):
        raise DominoError(f"out: {name} must be C-contiguous, aligned and writeable")
