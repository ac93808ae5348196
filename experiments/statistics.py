"""The statistics of duplicate deals: intervals, tests, corrections and sample sizes.

One number per deal is compared, the mean over its games (every agent at every seat), so the noise
of the deal cancels; deals are independent of each other. Letters: D deals, M comparisons, n agents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.multivariate import test_mvmean as hotelling
from statsmodels.stats.power import TTestPower

CONFIDENCE = 0.95
MIN_DEALS = 2  # one deal has no spread


@dataclass(frozen=True)
class Estimate:
    """A mean over D deals with its confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        return Estimate(self.mean * factor, self.low * factor, self.high * factor)


def interval(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of (D,) values, D at least 2, and its interval by Student's t."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return Estimate(mean, mean - half, mean + half)


def p_value(values: NDArray[np.float64]) -> float:
    """Return the two-sided p of Student's t test that (D,) values have mean 0.

    If all values are the same, as between agents that play alike, there is nothing to test: 1 if
    they are 0, else 0.
    """
    if np.ptp(values) == 0:
        return float(values[0] == 0)
    return float(stats.ttest_1samp(values, 0.0).pvalue)


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return p values by Holm's step-down method, valid for M dependent comparisons too."""
    if not p_values:
        return []
    return [float(p) for p in multipletests(list(p_values), method="holm")[1]]


def sample_size(difference: float, deviation: float, confidence: float, power: float) -> int:
    """Return how many deals find a difference of that size with a probability of `power`.

    deviation: standard deviation, over deals, of what is compared. Two-sided t test at 1 -
    confidence; at least MIN_DEALS.
    """
    if deviation == 0:
        return MIN_DEALS

    def found(deals: int) -> bool:
        chance = TTestPower().power(abs(difference) / deviation, deals, 1 - confidence)
        return bool(chance >= power)

    most = MIN_DEALS
    while not found(most):
        most *= 2
    few = most // 2  # enough is sufficient, few is not (or below the minimum)
    while most - few > 1:
        middle = (few + most) // 2
        few, most = (few, middle) if found(middle) else (middle, most)
    return most


def minimum_detectable_difference(
    deviation: float, deals: int, confidence: float, power: float
) -> float:
    """Return the difference that so many deals find with a probability of `power`."""
    if deviation == 0:
        return 0.0
    effect = TTestPower().solve_power(nobs=deals, alpha=1 - confidence, power=power)
    return float(effect) * deviation


def p_of_equal_columns(values: NDArray[np.float64]) -> float:
    """Return the p of Hotelling's T squared that the columns of (D, P) values have one mean.

    Only differences within a row count. If all rows are the same: 1 if their values are equal, else
    0.
    """
    contrasts = values[:, 1:] - values[:, :1]
    if contrasts.shape[1] == 1:
        return p_value(contrasts[:, 0])  # the same test; the library's needs two columns
    spread = contrasts - contrasts.mean(axis=0)
    if np.linalg.matrix_rank(spread) < contrasts.shape[1]:
        level = not np.any(contrasts)
        return float(level) if not spread.any() else math.nan
    return float(hotelling(contrasts, np.zeros(contrasts.shape[1])).pvalue)
