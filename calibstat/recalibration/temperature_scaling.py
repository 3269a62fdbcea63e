"""Temperature scaling: all logits divided by one number."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calibstat.data.checks import calls_within, is_among, short
from calibstat.data.clipping import clipped
from calibstat.digits import settled
from calibstat.inference.estimate import estimate
from calibstat.recalibration.formula import Expression, moved, power, total
from calibstat.recalibration.least_log_loss import best_temperature
from calibstat.recalibration.one_against_rest import columns_of
from calibstat.recalibration.recalibrator import Recalibrator, check_possible, counted

HOTTEST = 100.0  # temperatures are searched from 1 / HOTTEST to HOTTEST
TRIALS = 201  # temperatures at which an objective that need not be smooth is tried; an odd number, so that 1 is one
AHEAD = 9  # steps of the grid, a factor 1.5, without a smaller value: then a valley has ended
SEARCHES = ("local", "global")
GOLDEN_STEPS = 24  # each makes the interval .618 of what it was: log temperature is then known to 1e-6


class TemperatureScaling(Recalibrator):
    """Divide the logits, the logarithms of the predictions, by one temperature T: p becomes p^(1/T) / sum of p^(1/T).

        >>> import calibstat as cs
        >>> from calibstat.recalibration import TemperatureScaling
        >>> y, p = cs.generators.temperature(2).sample(10000, rng=1)  # logits twice as large as they should be
        >>> TemperatureScaling().fit(p, y).temperature_.__round__(1)
        2.0
        >>> fitted = TemperatureScaling(objective="ece", options={"n_bins": 10}).fit(p, y)
        >>> bool(cs.estimate(y, fitted.predict_proba(p), n_bins=10) < cs.estimate(y, p, n_bins=10) / 4)
        True

    Parameters
    ----------
    objective : str
        The measure that T minimises on the calibration rows, a name in `calibstat.MEASURES`. "log_loss" without options
        is the mean negative logarithm of the probability of the observed class.
    options : mapping, optional
        Further keywords of `calibstat.estimate`, such as ``{"n_bins": 10}`` or ``{"lens": "class_wise_mean"}``.
    search : {"local", "global"}
        Which minimum of an objective other than "log_loss" is taken: in the valley in which T = 1 lies, or the
        smallest between .01 and 100.
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before they are scaled. By default none is
        moved, and one of exactly 0 raises if its class is observed; the message gives a value.

    Attributes
    ----------
    temperature_ : float
        T; above 1 it makes predictions less confident.

    Raises
    ------
    ValueError
        By `fit`, if the objective, an option or the search is unknown; or, for "log_loss" without `clip`, if an
        observed class has probability 0, because the log loss is then infinite at every temperature.

    Warns
    -----
    RuntimeWarning
        By `fit`, if it has not converged; or if the log loss of its rows is larger than before, so that the objective
        prefers predictions that tell less.

    Notes
    -----
    The range of T is from .01 to 100; not converged: T is an end of that range. No finite T is best if the most likely
    class is observed in every row (lower is always better) or the predictions are no better than chance (higher is).

    Any other objective than the log loss may have jumps. It is computed on a grid of 201 temperatures, equally spaced
    in log T: "global" on all, "local" from 1 upwards and downwards, each way until it has not become smaller for a
    factor of 1.5. Then a golden section search refines the best; an optimum is not guaranteed.

    Without `clip` a probability of exactly 0 stays 0. The order of the classes never changes, nor therefore does the
    accuracy. Cost: some five passes over the rows for the log loss; of another objective 226 evaluations, fewer if the
    search is local.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599; other objectives: Nixon et al. 2019, arXiv:1904.01685.
    """

    temperature_: float

    def __init__(
        self,
        *,
        objective: str = "log_loss",
        options: Mapping[str, Any] | None = None,
        search: str = "local",
        clip: float | None = None,
    ) -> None:
        self.objective = objective
        self.options = options
        self.search = search
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        options, prob = dict(self.options or {}), clipped(prob, self.clip)
        if self.objective == "log_loss" and options:
            raise ValueError(f"expected no options with objective 'log_loss', found {options!r}")
        if not is_among(self.search, SEARCHES):
            raise ValueError(f"expected search 'local' or 'global', found {short(self.search)}")
        if self.objective == "log_loss":
            check_possible(prob, label)
            self.temperature_ = best_temperature(prob, label, HOTTEST, counted(weight, label.size))
        else:
            of_rows = {**options, "measure": self.objective, "sample_weight": weight}
            best = _least(lambda t: estimate(label, scaled(prob, t), **of_rows), self.search)
            self.temperature_ = best
            before, after = (_log_loss(prob, label, weight, t) for t in (1.0, best))
            if after > before + 1e-9 * abs(before):
                warnings.warn(
                    f"{self.objective} is smallest at temperature {settled(best):.4g}, where the log loss of these "
                    "rows is "
                    f"larger than before: {settled(after):.4g}, not {settled(before):.4g}. A small calibration "
                    "error alone may be the "
                    "error of predictions that tell little; compare with objective 'log_loss'",
                    RuntimeWarning,
                    stacklevel=calls_within(),
                )
        if abs(math.log(self.temperature_)) < math.log(HOTTEST) - 1e-9:
            return None
        return f"{self.objective} is smallest at the end of the range, temperature {self.temperature_:g}"

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return scaled(clipped(prob, self.clip), self.temperature_)

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        powers = [power(moved(p, self.clip), 1 / self.temperature_) for p in prob]
        return [powers[k] / total(powers) for k in columns_of(len(prob))]


def scaled(prob: np.ndarray, temperature: float) -> np.ndarray:
    """Return rows of p^(1/T) divided by their sums; a probability of 0 stays 0."""
    # relative to the largest of the row, so that not all powers can vanish
    power = (prob / prob.max(axis=1, keepdims=True)) ** (1 / temperature)
    return power / power.sum(axis=1, keepdims=True)


def _log_loss(prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None, temperature: float) -> float:
    """Return the mean log loss of scaled predictions, of the rows whose observed class is possible; 0 of none."""
    observed = prob[np.arange(label.size), label]
    possible = observed > 0
    prob, observed = prob[possible], observed[possible]
    if observed.size == 0:
        return 0.0
    largest = prob.max(axis=1)
    total = ((prob / largest[:, np.newaxis]) ** (1 / temperature)).sum(axis=1)
    loss = np.log(total) - np.log(observed / largest) / temperature
    return float(np.average(loss, weights=None if weight is None else weight[possible]))


def _least(objective: Callable[[float], float], search: str) -> float:
    """Return the temperature of the smallest objective ever tried, of equal ones the nearest to 1."""
    tried: dict[float, float] = {}

    def value(log_t: float) -> float:
        tried[log_t] = objective(math.exp(log_t))
        return tried[log_t]

    def best() -> float:
        return min(tried, key=lambda log_t: (tried[log_t], abs(log_t)))

    half = TRIALS // 2
    step = math.log(HOTTEST) / half
    patience = AHEAD if search == "local" else half
    value(0.0)
    for way in (-step, step):
        lowest, bottom, i = tried[0.0], 0, 0
        while i < min(bottom + patience, half):
            i += 1
            if value(i * way) < lowest:
                lowest, bottom = tried[i * way], i
    low, high = max(best() - step, -half * step), min(best() + step, half * step)
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(GOLDEN_STEPS - 1):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
    return math.exp(best())
