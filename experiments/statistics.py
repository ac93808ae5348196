"""The statistics of duplicate deals: intervals, tests, corrections and sample sizes.

One number per deal is compared, the mean over its games (every agent at every seat), so the noise
of the deal cancels; deals are independent of each other. Letters: D deals, M comparisons, n agents.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.multivariate import test_mvmean as hotelling
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

CONFIDENCE = 0.95
MIN_DEALS = 2  # one deal has no spread
MAX_DEALS = 10**9  # more than anybody plays
MAX_EFFECT = 1e9  # in deviations
SPREADS = 1000


@dataclass(frozen=True)
class Estimate:
    """A mean over D deals with its confidence interval."""

    mean: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the interval's width; of the wider side, where the mean is not its middle."""
        return max(self.high - self.mean, self.mean - self.low)

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit."""
        return Estimate(self.mean * factor, self.low * factor, self.high * factor)


def interval(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of (D,) values, D at least 2, and its interval by Student's t."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return Estimate(mean, mean - half, mean + half)


def share(values: NDArray[np.float64], confidence: float = CONFIDENCE) -> Estimate:
    """Return the share of ones among (D,) ones and zeros, and Wilson's interval."""
    count = int(values.sum())
    low, high = proportion_confint(count, len(values), 1 - confidence, method="wilson")
    return Estimate(count / len(values), float(low), float(high))


def p_value(values: NDArray[np.float64]) -> float:
    """Return the two-sided p of Student's t test that (D,) values have mean 0.

    If all values are the same there is no spread to compare with: 1 if they are 0, as between
    agents that play alike, else the p of the sign test.
    """
    if np.ptp(values) == 0:
        return 1.0 if values[0] == 0 else _sign_test(len(values))
    return float(stats.ttest_1samp(values, 0.0).pvalue)


def _sign_test(deals: int) -> float:
    """Return the two-sided p if the same side won all deals."""
    return float(2 * 0.5**deals)


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return p values by Holm's step-down method, valid for M dependent comparisons too."""
    if not p_values:
        return []
    return [float(p) for p in multipletests(list(p_values), method="holm")[1]]


def sample_size(difference: float, deviation: float, confidence: float, power: float) -> float:
    """Return how many deals find a difference of that size with a probability of `power`.

    deviation: standard deviation, over deals, of what is compared. Two-sided t test at 1 -
    confidence; at least MIN_DEALS, infinite above MAX_DEALS.
    """
    if difference == 0:
        return math.inf
    if deviation == 0:
        return MIN_DEALS
    effect = abs(difference) / deviation

    def enough(deals: int) -> bool:
        return _chance(effect, deals, confidence) >= power

    if not enough(MAX_DEALS):
        return math.inf
    return bisect.bisect_left(range(MAX_DEALS), True, lo=MIN_DEALS, key=enough)


def minimum_detectable_difference(
    deviation: float, deals: int, confidence: float, power: float
) -> float:
    """Return the difference that so many deals find with a probability of `power`."""
    if deviation == 0:
        return 0.0
    most = 1.0
    while _chance(most, deals, confidence) < power:
        most *= 2
    effect = brentq(lambda size: _chance(size, deals, confidence) - power, 0, most, xtol=1e-9)
    return float(effect) * deviation


def _chance(effect: float, deals: int, confidence: float) -> float:
    """Return how probable it is that a two-sided t test finds an effect, in deviations."""
    chance = float(TTestPower().power(effect, deals, 1 - confidence))
    if not math.isnan(chance):
        return chance
    # scipy has no noncentral t so far out: the mean of a normal tail over the spreads of samples
    freedom, shift = deals - 1, min(effect, MAX_EFFECT) * math.sqrt(deals)
    spreads = np.sqrt(stats.chi2.ppf((np.arange(SPREADS) + 0.5) / SPREADS, freedom) / freedom)
    bound = stats.t.ppf((1 + confidence) / 2, freedom) * spreads
    return float((stats.norm.sf(bound - shift) + stats.norm.cdf(-bound - shift)).mean())


def p_of_equal_columns(values: NDArray[np.float64]) -> float:
    """Return the p of Hotelling's T squared that the columns of (D, P) values have one mean.

    Only differences within a row count. If all rows are the same: 1 if their values are equal, else
    the p of the sign test. NaN where the columns vary too little together.
    """
    contrasts = values[:, 1:] - values[:, :1]
    if contrasts.shape[1] == 1:
        return p_value(contrasts[:, 0])  # the same test; the library's needs two columns
    spread = contrasts - contrasts.mean(axis=0)
    if np.linalg.matrix_rank(spread) < contrasts.shape[1]:
        if spread.any():
            return math.nan
        return _sign_test(len(values)) if contrasts.any() else 1.0
    return float(hotelling(contrasts, np.zeros(contrasts.shape[1])).pvalue)


def probability(p: float) -> str:
    """Return a p value as text; tiny ones as a bound."""
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}"
