"""`LearnerGames`: many games with one learning seat in each, the other seats played inside.

The one loop that the single-learner environments adapt (Gymnasium's `single` and `vector`,
Stable-Baselines3's `sb3`); no framework is needed here. Letters: B games, P seats, L entries of an
observation, A actions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from dominoenv.batch import BatchedGame
from dominoenv.core.arguments import as_array, checked_index, checked_seed
from dominoenv.core.container import DAMAGED, parse_json
from dominoenv.core.episode import LEARNER, EpisodeKeywords
from dominoenv.core.rules import Rules
from dominoenv.core.streams import MAX_MATCHES
from dominoenv.core.threads import Guard, one_thread
from dominoenv.errors import CheckpointError, DominoError, IllegalActionError
from dominoenv.games.state_checks import check_states
from dominoenv.opponents.pool import Member, Opponents, as_pool
from dominoenv.policies import Policy

ROTATE = "rotate"

ARRAYS = ("states", "seats", "lineup", "paid", "returns", "lengths")  # of a saved state, (B, ...)


class Seated(NamedTuple):
    """A member of the pool, and the copy of its policy that plays in these games."""

    member: Member
    policy: Policy


class LearnerKeywords(EpisodeKeywords, total=False):
    """The keywords of `LearnerGames`, beside `opponents`."""

    seat: int | str
    seed: int | None


LEARNER_KEYWORDS = ("opponents", *sorted(LearnerKeywords.__optional_keys__))


class LearnerGames:
    """B games, one learner's seat in each; a step is one decision of the learner.

    - opponents: a policy, its name, or a function `f(observations, masks) -> actions` over n rows
      (float32 as the environments hand them out; masks (n, A) int8, 1 = legal); or a mixture,
      (one of these, weight) each: for every opposing seat and episode one of them is drawn, from
      the seed and the match number; or an `OpponentPool`, which these are made into, and which may
      change while games run: a line-up that was drawn stays until its episode ends. Policy objects
      are copied (shallowly: weights are shared), so that each of these games has a generator of its
      own for them; `reset` seeds it.
    - seat: the learner's, or "rotate", which changes it with each episode of a game.
    - seed: of the batch; None draws one from the system.
    - how episodes are played: `EpisodeOptions` as keywords (`episode="match"`), or all in one
      object (`episode_options=`). What they say of illegal actions concerns the learner.

    A reward is what the learner's seat was paid from its decision to its next one. An episode in
    which the learner has nothing to decide is passed over.

    Attributes: `game`, the batch; `pool`, the opponents; `seats` (B,) the learner's; `lineup` (B,
    P) which member of the pool plays each seat, by number (not used at the learner's own);
    `returns`, `lengths` (B,) rewards and decisions of the episode so far; `illegal_actions` (B,)
    whether the game's last action was illegal and replaced.

    Raises DominoErrors for invalid arguments.
    """

    def __init__(
        self,
        rules: Rules | Mapping[str, Any] | str,
        num_games: int,
        opponents: Opponents = "random",
        *,
        seat: int | str = ROTATE,
        seed: int | None = None,
        **episode: Unpack[EpisodeKeywords],
    ) -> None:
        self._seed = checked_seed(seed)
        self._guard = Guard()
        self.options = LEARNER.changed(LearnerGames, episode)
        self.options.check_engine()
        # an opponent's illegal action is a fault, whatever a learner's is
        strict = replace(self.options, illegal="raise")
        self.game = BatchedGame(
            rules, num_games, self._seed, autoreset=False, episode_options=strict
        )
        self.rules = self.game.rules
        self.seat = _checked_seat(seat, self.rules)
        self.pool = as_pool(self.rules, opponents)
        self._seated: dict[int, Seated] = {}  # by number; those that some line-up may name
        self.num_games = size = self.game.num_games
        self._all = np.arange(size)
        self.seats = np.zeros(size, np.int64)
        self.lineup = np.zeros((size, self.rules.players), np.int64)
        self._paid = np.zeros(size, np.float32)  # to the learner since its last decision
        self.returns = np.zeros(size, np.float32)
        self.lengths = np.zeros(size, np.int64)
        self.illegal_actions = np.zeros(size, np.bool_)
        self._is_interrupted = False  # an exception has left other seats to move
        self.reset()
        self._is_fresh = True  # dealt, and neither asked for nor played yet

    # ------------------------------------------------------------------------------------- playing

    @one_thread
    def reset(self, seed: int | None = None, match: int | None = None) -> None:
        """Begin a new episode in every game: game i plays match `match` + i (0 + i) of the seed.

        seed: None keeps the one given last. Raises DominoError for an invalid seed or match; the
        state is left unchanged then.
        """
        seed = self._seed if seed is None else checked_seed(seed)
        first = 0
        if match is not None:
            first = checked_index("match", match, MAX_MATCHES - self.num_games)
        self._seed, self._is_fresh = seed, False
        self.game.reset(seed, matches=first + self._all)
        self._agent_seed = (
            [] if match is None else [first]
        )  # another match: other random choices of opponents
        self._seated.clear()
        self._begin(self._all)

    @one_thread
    def deal(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode in every game, as Gymnasium's `reset` asks for it.

        Without a seed the next match of each game (the first one, if none was asked for yet);
        `options={"match": m}` as in `reset`, other keys are ignored.
        """
        if not isinstance(options, Mapping | None):
            raise DominoError(f"options={options!r} must be a dict or None")
        match = (options or {}).get("match")
        if seed is not None or match is not None:
            self.reset(seed, match)
        elif not self._is_fresh:
            self.restart(self._all)
        self._is_fresh = False

    @one_thread
    def restart(self, games: NDArray[np.int64]) -> None:
        """Begin the next episode in some games, whether theirs is over or not."""
        if games.size:
            self.game.restart(games)
            self._begin(games)

    @one_thread
    def step(self, actions: Any, games: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Carry out the learner's actions; let the others play until it is to move again.

        actions: (n,) for all games, or for some `games`, distinct; returns (n,) rewards. Raises
        IllegalActionError, or GameOverError for a game whose episode is over; the state is left
        unchanged then. An opponent's illegal action is an IllegalActionError too; like any
        exception in an opponent it leaves the games in the middle of a step, and the next step is
        a DominoError.
        """
        if self._is_interrupted:
            raise DominoError("the last step broke off while an opponent was playing: call reset()")
        index = self._all if games is None else games
        chosen, illegal = self._replaced(actions, index)
        self._step(chosen, index)
        self._is_fresh = False
        if self.options.replaces_illegal:
            self.illegal_actions[index] = illegal
        self.lengths[index] += 1
        self._let_others_play(index)
        self._note_results(index[self.done[index]])
        rewards = self._paid[index]
        self._paid[index] = 0
        if self.options.replaces_illegal:
            rewards[illegal] += np.float32(self.options.illegal_price)
        self.returns[index] += rewards
        return rewards

    def _replaced(
        self, actions: Any, games: NDArray[np.int64]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return (n,) actions to carry out, and which of them stand for an illegal one."""
        chosen = as_array("actions", actions, IllegalActionError)
        is_action = chosen.shape == games.shape and chosen.dtype.kind in "iu"
        if not self.options.replaces_illegal or not is_action:
            return chosen, np.zeros(
                games.shape, np.bool_
            )  # the game's own check says what is wrong
        return self.game.replace_illegal(chosen.astype(np.int64), games)

    def _step(self, actions: NDArray[Any], games: NDArray[np.int64]) -> None:
        self.game.step(actions, games)
        self._paid[games] += self.game.rewards[games, self.seats[games]]

    def _let_others_play(self, games: NDArray[np.int64]) -> None:
        """Play the other seats until the learner is to move in these games, or they are over."""
        before, self._is_interrupted = self._is_interrupted, True
        while True:
            to_move = self.game.to_move[games]
            theirs = ~self.game.waiting[games] & (to_move != self.seats[games])
            if not theirs.any():
                self._is_interrupted = before
                return
            games = games[theirs]
            who = self.lineup[games, to_move[theirs]]
            for number in _different(who):
                self._play_opponent(self._seated[number], games[who == number])

    def _play_opponent(self, seated: Seated, games: NDArray[np.int64]) -> None:
        actions = seated.policy.act(self.game.observations[games], self.game.masks[games])
        try:
            self._step(actions, games)
        except IllegalActionError as error:
            raise IllegalActionError(f"opponent {seated.member.name!r}: {error}") from None

    def _note_results(self, games: NDArray[np.int64]) -> None:
        """Tell the pool how the learner did against the other seats of episodes just ended."""
        seats = self.seats[games, None]
        scores, lineup = self.game.scores[games], self.lineup[games]
        own = np.take_along_axis(scores, seats, axis=1)
        beaten = (own < scores) + (own == scores) / 2
        theirs = np.arange(self.rules.players) != seats
        for number in _different(lineup[theirs]):
            some = theirs & (lineup == number)
            member = self._seated[number].member
            self.pool.note(member, int(some.sum()), float(beaten[some].sum()))

    def _begin(self, games: NDArray[np.int64]) -> None:
        """Seat everybody for episodes just dealt; go on to the learner's first decision."""
        if games.size == self.num_games:
            self._is_interrupted = False
        while games.size:
            self._seat_players(games)
            self._paid[games] = self.returns[games] = 0
            self.lengths[games] = 0
            self.illegal_actions[games] = False
            self._let_others_play(games)
            games = games[self.game.waiting[games]]  # nothing was to decide
            if games.size:
                self.game.restart(games)

    def _seat_players(self, games: NDArray[np.int64]) -> None:
        matches = np.ascontiguousarray(self.game.states["match"][games], np.int64)
        players = self.rules.players
        if self.seat == ROTATE:  # the next seat in each game's next match, whatever B and P are
            self.seats[games] = (matches % self.num_games + matches // self.num_games) % players
        else:
            self.seats[games] = self.seat
        members = self.pool.members  # it may change in another thread
        self.lineup[games] = self.pool.draw(self._seed, matches, members)
        self._bring_in(members)

    def _bring_in(self, members: Iterable[Member]) -> None:
        """Let members play here; forget former ones that no line-up names any more."""
        here = {member.number: member for member in members}
        for number in self._seated.keys() - here.keys():
            if not (self.lineup == number).any():
                del self._seated[number]
        for number in here.keys() - self._seated.keys():
            policy = here[number].policy.copy([self._seed, number, *self._agent_seed])
            self._seated[number] = Seated(here[number], policy)

    # ------------------------------------------------------------------------------------- reading

    @property
    def done(self) -> NDArray[np.bool_]:
        """(B,) whether the game's episode is over; it waits for `restart` then."""
        return self.game.waiting

    def observations(self) -> NDArray[np.float32]:
        """Return (B, L) in [0, 1], what the learner may know; a finished game's as it ended."""
        rows = self.game.layout.scaled(self.game.observations)
        finished = np.flatnonzero(self.done)
        if finished.size:
            rows[finished] = self.views(finished)
        return rows

    def views(self, games: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (n, L) in [0, 1], what the learner may know in some games, whoever is to move."""
        return self.game.layout.scaled(self.game.observe(self.seats[games], games))

    def masks(self) -> NDArray[np.int8]:
        """Return (B, A) what the learner may play now, 1 = legal; a copy.

        Rows of finished games are all 1: no action counts there, and who draws one by the mask all
        the same must not be at a loss.
        """
        masks, finished = self.game.masks.copy(), self.done
        if finished.any():
            masks[finished] = 1
        return masks

    def results(self, games: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return what came out for the learner in some games that are over, (n,) each.

        `penalty`: its total of the episode; `others`: the mean of the other seats'; `won`: 1, a
        share for a tie, or 0.
        """
        seats, rows = self.seats[games], np.arange(games.size)
        scores, winners = self.game.scores[games], self.game.winners[games]
        own = scores[rows, seats].astype(np.int64)
        return {
            "penalty": own,
            "others": (scores.sum(axis=1) - own) / (self.rules.players - 1),
            "won": winners[rows, seats] / winners.sum(axis=1),
        }

    # --------------------------------------------------------------------------------------- state

    @one_thread
    def get_state(self) -> dict[str, Any]:
        """Return all that play depends on, as plain arrays and one JSON text; see `set_state`."""
        here = self.pool.members
        former = [seated.member for seated in self._seated.values() if seated.member not in here]
        pool, arrays = self.pool.get_state(former)
        rngs = {k: seated.policy.rng.bit_generator.state for k, seated in self._seated.items()}
        return {
            **arrays,
            "states": self.game.states.view(np.uint8).reshape(self.num_games, -1).copy(),
            "seats": self.seats.copy(),
            "lineup": self.lineup.copy(),
            "paid": self._paid.copy(),
            "returns": self.returns.copy(),
            "lengths": self.lengths.copy(),
            "text": json.dumps(
                {"seed": self._seed, "agent_seed": self._agent_seed, "rngs": rngs, "pool": pool}
            ),
        }

    @one_thread
    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` of games made alike returned.

        Raises CheckpointError where they were made differently.
        """
        try:
            text, members, rngs = self._read_state(state)
            self.pool.set_state(text["pool"], members)
        except CheckpointError:
            raise
        except (*DAMAGED, AttributeError) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise CheckpointError(f"the saved environment is damaged: {reason}") from error
        self.game.load(self._as_records(state["states"]))
        self._seed, self._agent_seed, self._is_fresh = text["seed"], text["agent_seed"], False
        self._seated.clear()
        self._bring_in([members[number] for number in rngs])
        for number, rng in rngs.items():
            self._seated[number].policy.rng = rng
        self.seats[:], self.lineup[:] = state["seats"], state["lineup"]
        self._paid[:], self.returns[:] = state["paid"], state["returns"]
        self.lengths[:] = state["lengths"]
        self.illegal_actions[:] = False
        self._is_interrupted = False

    def _read_state(
        self, state: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[int, Member], dict[int, np.random.Generator]]:
        """Return the text, the members and the generators of a state, all checked.

        Nothing is changed. Raises CheckpointError, and others for a damaged state.
        """
        own = self.get_state()
        for name in ARRAYS:
            if np.shape(state[name]) != np.shape(own[name]):
                raise CheckpointError(
                    f"the saved environment has {name} of shape {np.shape(state[name])}, this one "
                    f"{np.shape(own[name])}: make it with the same rules and number of games"
                )
            if state[name].dtype != own[name].dtype or not np.isfinite(state[name]).all():
                raise DominoError(f"{name} of {state[name].dtype}, or not finite")
        check_states(self.rules, self._as_records(state["states"]))
        if not ((state["seats"] >= 0) & (state["seats"] < self.rules.players)).all():
            raise DominoError("seats that do not exist")
        text = parse_json(state["text"])
        checked_seed(text["seed"])
        np.random.default_rng([0, *text["agent_seed"]])  # raises for what seeds none
        members = self.pool.read_state(text["pool"], state)
        rngs = {int(number): _as_generator(rng) for number, rng in text["rngs"].items()}
        if not set(np.unique(state["lineup"]).tolist()) <= rngs.keys() <= members.keys():
            raise CheckpointError("the saved line-ups name opponents that were not saved")
        return text, members, rngs

    def _as_records(self, states: NDArray[np.uint8]) -> NDArray[np.void]:
        records = np.ascontiguousarray(states).view(self.game.states.dtype)
        return records.reshape(self.num_games)


# ------------------------------------------------------------------------------------------ helpers


def _checked_seat(seat: int | str, rules: Rules) -> int | str:
    is_seat = isinstance(seat, int | np.integer) and 0 <= seat < rules.players
    is_name = isinstance(seat, str) and seat == ROTATE
    if not is_name and (isinstance(seat, bool) or not is_seat):
        last = rules.players - 1
        raise DominoError(f"seat={seat!r} must be 'rotate' or a seat 0 ... {last}")
    return seat


def _as_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """Return a generator in a saved state."""
    generator = np.random.default_rng(0)
    generator.bit_generator.state = state
    return generator


def _different(numbers: NDArray[np.int64]) -> list[int]:
    """Return which members' numbers there are among (n,), in order; np.unique would sort them."""
    different: list[int] = np.bincount(numbers).nonzero()[0].tolist()
    return different
