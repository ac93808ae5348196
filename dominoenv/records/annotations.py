"""Annotations: probabilities and scores that an agent gave its legal moves, kept in a record.

An annotation is `{"probability": {move: number}, "score": {move: number}}` with at least one of the
two keys. Letters: n decisions, A actions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dominoenv.errors import DominoError, RecordError, nearest, shortened

PROBABILITY, SCORE = "probability", "score"
ANNOTATION_KINDS = (PROBABILITY, SCORE)
Annotation = dict[str, dict[str, float]]

MAX_SCORE = 1e12  # absolute value of a score
SLACK = 1e-3  # tolerance of the sum of probabilities, which may be rounded
DIGITS = 6  # after the point, as the library writes them

# Agents that want one kind of move before all others add such a number, whose size says nothing.
FAR_BELOW = 500.0

# A mistake has
UNLIKELY = 0.1  # ... a probability below this fraction of the largest
FAR = 0.5  # ... or a score below the best by more than this fraction of the usual stake


def checked_annotation(
    annotation: object, legal: Collection[str], move_text: Callable[[str], str] = str
) -> Annotation:
    """Return a checked annotation of the legal moves, or raise RecordError.

    move_text: converts a move to its form in `legal`. Missing moves have probability 0 and an
    unknown score.
    """
    if not isinstance(annotation, Mapping) or not annotation:
        raise RecordError(
            f"annotation: {shortened(annotation)} must be an object with "
            f"{' or '.join(ANNOTATION_KINDS)}"
        )
    for kind in annotation:
        if kind not in ANNOTATION_KINDS:
            raise RecordError(
                f"annotation: key {shortened(kind)}: {nearest(str(kind)[:60], ANNOTATION_KINDS)}"
            )
    found = {kind: _checked(kind, annotation[kind], legal, move_text) for kind in annotation}
    total = sum(found.get(PROBABILITY, {"": 1.0}).values())
    if abs(total - 1) > SLACK:
        raise RecordError(f"annotation: the probabilities add up to {total:.6g}, not to 1")
    return found


def _checked(
    kind: str, values: object, legal: Collection[str], move_text: Callable[[str], str]
) -> dict[str, float]:
    """Return the number of each move."""
    if not isinstance(values, Mapping) or not values:
        raise RecordError(f"annotation: {kind}={shortened(values)} must be an object of moves")
    found = {}
    for written, value in values.items():
        move = move_text(written) if isinstance(written, str) else ""
        if move not in legal:
            raise RecordError(
                f"annotation: {kind} of {shortened(written)}, which is not legal; "
                f"legal are {', '.join(legal)}"
            )
        if move in found:
            raise RecordError(f"annotation: {kind} of {move} is given twice")
        found[move] = _number(kind, move, value)
    return found


def _number(kind: str, move: str, value: Any) -> float:
    low, high = (0, 1) if kind == PROBABILITY else (-MAX_SCORE, MAX_SCORE)
    if type(value) not in (int, float) or not low <= value <= high:  # NaN fails too
        raise RecordError(
            f"annotation: {kind} of {move}={shortened(value)} must be a number in "
            f"{low:g} ... {high:g}"
        )
    number: float = value
    return number


# --------------------------------------------------------------------------------- from an agent


def rounded(mask: NDArray[Any], **values: NDArray[Any] | None) -> dict[str, dict[int, float]]:
    """Return the rounded numbers of one decision's legal actions, by action.

    values: rows (A,) of `probability` and `score`; None is left out.
    """
    legal = mask.nonzero()[0].tolist()
    return {
        kind: {action: round(float(row[action]), DIGITS) for action in legal}
        for kind, row in values.items()
        if row is not None
    }


def checked_rows(kind: str, rows: object, masks: NDArray[Any]) -> NDArray[np.float64]:
    """Return checked numbers (n, A) for the legal actions of n decisions, or raise DominoError.

    Rows without a legal action are ignored.
    """
    try:
        values = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise DominoError(f"{kind}: {shortened(rows)} is not an array of numbers") from None
    if values.shape != masks.shape:
        raise DominoError(f"{kind} has the shape {values.shape}, not {masks.shape}")
    at_legal = np.where(masks, values, 0.0)
    low, high = (0.0, 1.0) if kind == PROBABILITY else (-MAX_SCORE, MAX_SCORE)
    if not ((at_legal >= low) & (at_legal <= high)).all():
        raise DominoError(f"{kind} of a legal action must be a number in {low:g} ... {high:g}")
    sums = at_legal.sum(axis=1)[masks.any(axis=1)]
    if kind == PROBABILITY and not (np.abs(sums - 1) <= SLACK).all():
        worst = float(sums[np.abs(sums - 1).argmax()])
        raise DominoError(f"{kind}: the legal actions add up to {worst:.6g}, not to 1")
    return values


def in_words(note: Mapping[str, Mapping[int, float]], texts: Sequence[str]) -> Annotation:
    """Return numbers by action as numbers by move; texts: all actions of the seat to move."""
    return {
        kind: {texts[action]: value for action, value in values.items()}
        for kind, values in note.items()
    }


# -------------------------------------------------------------------------------------- in words


def for_people(
    annotation: Mapping[str, Mapping[str, float]],
) -> dict[str, dict[str, float] | dict[str, str]]:
    """Return an annotation as it is shown: the best move first, scores as they compare with it.

    A score's unit and its zero are the agent's own, so only differences say something.
    """
    found: dict[str, dict[str, float] | dict[str, str]] = {}
    for kind, values in annotation.items():
        ordered = dict(sorted(values.items(), key=lambda one: -one[1]))
        found[kind] = _compared(ordered) if kind == SCORE else ordered
    return found


def _compared(scores: Mapping[str, float]) -> dict[str, str]:
    best = max(scores.values(), default=0.0)
    return {move: _gap_in_words(best - score) for move, score in scores.items()}


def _gap_in_words(gap: float) -> str:
    if gap >= FAR_BELOW:
        return "far below"
    return f"−{gap:.4g}" if gap else "best"


# -------------------------------------------------------------------------------------- mistakes


def mistakes(
    moves: Sequence[tuple[int, str]],
    annotations: Sequence[Mapping[str, Mapping[str, float]] | None],
) -> list[bool]:
    """Return which moves of a record are mistakes by its annotations.

    moves: (seat, move) each; annotations: one per move. A mistake has less than a tenth of the
    probability of the likeliest move; or its score is below the best by more than half of what is
    usually at stake for that seat: the median, over its moves with scores, of the best minus the
    worst. If there are both, probabilities decide.
    """
    stakes: dict[int, list[float]] = {}
    for (seat, _), one in zip(moves, annotations, strict=True):
        if one and SCORE in one:
            values = one[SCORE].values()
            stakes.setdefault(seat, []).append(max(values) - min(values))
    usual = {seat: median(spreads) for seat, spreads in stakes.items()}
    return [
        one is not None and _is_mistake(move, one, usual.get(seat, 0.0))
        for (seat, move), one in zip(moves, annotations, strict=True)
    ]


def _is_mistake(move: str, annotation: Mapping[str, Mapping[str, float]], stake: float) -> bool:
    if PROBABILITY in annotation:
        chances = annotation[PROBABILITY]
        return chances.get(move, 0.0) < UNLIKELY * max(chances.values())
    scores = annotation[SCORE]
    return move in scores and max(scores.values()) - scores[move] > FAR * stake
