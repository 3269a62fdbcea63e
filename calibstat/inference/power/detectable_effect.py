"""The effect that a test of calibration would have found with a given probability, for the predictions at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.checks import check_level, check_whole
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import EVENT, NamedLens
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.power.alternatives import ALTERNATIVES, Family, find_families
from calibstat.inference.power.fixed_tests import FixedTest, MeasureTest, one_number
from calibstat.inference.power.grouped_predictions import with_few_values
from calibstat.inference.power.power_search import PowerPoint, solve_power
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.output.wording import level_text
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_MEASURE = "omnibus"
SPOKEN = {name: name.replace("_confidence", "-confidence").replace("_", " ") for name in ALTERNATIVES}  # "shift up"
TIMES = 5  # as many draws under calibration as under each effect: the noise of the critical value is in every power
ROOT = 3.3  # of the noncentrality at which tests of several directions have power .8 at level .05
LEAST_LOGIT = 1e-6


@dataclass(frozen=True, eq=False)
class DetectableEffect(Result):
    """Result of `detectable_effect`.

    Attributes
    ----------
    family : tuple of str
        The families of alternatives, names in `calibstat.inference.power.alternatives.FAMILIES`.
    effect : ndarray, shape (families,)
        The temperature or the shift that is found with probability `power`; inf where none is.
    ece : ndarray, shape (families,)
        Its size: the mean of abs(q - v) over the predictions v with their true probabilities q, or half its sum over
        K classes; inf where there is none.
    largest_power : ndarray, shape (families,)
        The largest power among the effects that were tried.
    words : tuple of str
        Each effect in words.
    power, level : float
        The probability with which the test rejects, and the p-value up to which it does.
    test : str
        The test.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, n_resamples, n_datasets : int
        Rows, draws under calibration, and draws under each effect that was tried.
    """

    family: tuple[str, ...]
    effect: np.ndarray
    ece: np.ndarray
    largest_power: np.ndarray
    words: tuple[str, ...]
    power: float
    level: float
    test: str
    lens: NamedLens
    n: int
    n_resamples: int
    n_datasets: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each family."""
        import pandas as pd

        return pd.DataFrame({name: list(getattr(self, name)) for name in ("family", "effect", "ece", "largest_power")})

    def __str__(self) -> str:
        rows = f"With {self.n:,} such rows" if self.n > 1 else "With one such row"
        seen = "" if self.lens == EVENT else f" of {self.lens.subject}"
        known = np.isfinite(self.effect)
        effects = [words for words, is_found in zip(self.words, known, strict=True) if is_found]
        missed = [SPOKEN[name] for name, is_found in zip(self.family, known, strict=True) if not is_found]
        how = f"with probability {level_text(self.power)}"
        test = f"\nTest: {self.test} at level {level_text(self.level)}."
        best = f"the largest power seen was {settled(100 * self.largest_power[~known].max()):.2g} %" if missed else ""
        if not effects:
            return f"{rows} the test finds no {' or '.join(missed)}{seen}, however large, {how}; {best}.{test}"
        also = f"; no {' or '.join(missed)}, however large ({best})" if missed else ""
        return f"{rows} the test finds {' or '.join(effects)}{seen} {how}{also}.{test}"


@question("sample_weight", "predictions")
def detectable_effect(
    rows: Data,
    /,
    measure: str | Measure | type[Measure] = DEFAULT_MEASURE,
    *,
    lens: AnyLens = None,
    families: str | Sequence[str] | None = None,
    power: float = 0.8,
    level: float = 0.05,
    n_resamples: int | None = None,
    n_datasets: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[RowsAndOptions],
) -> DetectableEffect:
    """Return the miscalibration that a test would have found with a given probability, for these predictions.

    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(500, rng=1)
    >>> result = cs.detectable_effect(y, p, measure="ks", rng=1)
    >>> result.family
    ('over_confidence', 'shift_up')

    Parameters
    ----------
    y_true, y_prob, lens, **options
        As for `calibration_test`; or `y_true` alone is the predictions, an array of shape (n,) or (n, K). Outcomes
        decide nothing: power at an observed estimate would say no more than the p-value. Lens "class_wise" means the
        test by the mean over the classes.
    measure : str or Measure
        The statistic, as for `calibration_test`.
    families : str or sequence of str, optional
        "over_confidence", "under_confidence" (the logit of the true probability is that of the prediction divided by a
        temperature; of K classes the probabilities are proportional to v**(1 / temperature)), "shift_up", "shift_down"
        (the logit plus a shift; only of one outcome). Default: "over_confidence" and, of one outcome, "shift_up".
        Through a lens they act on what it shows. Predictions of exactly 0 and 1 stay what they are.
    power, level : float
        The probability of a rejection, and the p-value up to which the test rejects; between 0 and 1.
    n_resamples, n_datasets : int, optional
        Draws under calibration, and draws under each effect that is tried. Default: 4999 and 1000, or 499 and 100 for a
        slow measure.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    DetectableEffect
        `print` says it in one sentence. `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or an argument is unknown or out of range.

    Notes
    -----
    It is about these predictions alone: the same model on other rows has another answer. Local deviations of the same
    ECE may be harder or easier to find. How exact the stated power is, is in the study `planning`; how strengths are
    searched, is behind the page on planning. Cost: `n_resamples` + 6 `n_datasets` draws for each family. More than 8192
    distinct predictions of one outcome, or 256 for the omnibus statistic, are taken in groups of close ones.
    """
    problem = one_number(rows, find_measure(measure, options))
    problem = problem.in_order("detectable_effect") if rows.has_outcomes else problem
    return effects(problem, families, power, level, n_resamples, n_datasets, rng, n_jobs)


def effects(
    problem: Problem,
    families: str | Sequence[str] | None,
    power: float,
    level: float,
    n_resamples: int | None,
    n_datasets: int | None,
    rng: Rng,
    n_jobs: int,
) -> DetectableEffect:
    """Return the effects of these families that the test of a problem finds."""
    check_level("power", power)
    check_level("level", level)
    if n_datasets is None:
        n_datasets = problem.measure.draws(None) + 1
    check_whole("n_datasets", n_datasets)
    if n_resamples is None:
        n_resamples = TIMES * (problem.measure.draws(None) + 1) - 1
    test = MeasureTest(with_few_values(problem), Draws.of(rng, n_resamples, n_jobs))
    if power <= level:
        raise ValueError(f"expected power above the level {level:g}, which a calibrated model reaches; found {power:g}")
    asked = find_families(families, of_classes=test.predicted.ndim == 2 and test.predicted.shape[1] > 2)
    searched = [_strength(test, family, power, level, n_datasets) for family in asked]
    strength = [min(x, family.largest) for family, (x, _) in zip(asked, searched, strict=True)]
    tried = [family.value(x) for family, x in zip(asked, strength, strict=True)]
    effect = np.where(np.isfinite([x for x, _ in searched]), tried, np.inf)
    ece = np.array([test.ece(family.at(x)) for family, x in zip(asked, strength, strict=True)])
    words = tuple(
        f"{family.say(x)} (ECE {settled(size):.2g})" for family, x, size in zip(asked, strength, ece, strict=True)
    )
    return DetectableEffect(
        family=tuple(family.name for family in asked),
        effect=effect,
        ece=np.where(np.isfinite(effect), ece, np.inf),
        largest_power=np.array([max(point.power for point in points) for _, points in searched]),
        words=words,
        power=power,
        level=level,
        test=test.title,
        lens=test.lens,
        n=test.n,
        n_resamples=test.draws.n,
        n_datasets=n_datasets,
    )


def _strength(
    test: MeasureTest, family: Family, power: float, level: float, n_datasets: int
) -> tuple[float, list[PowerPoint]]:
    """Return the strength that is found with this power, and the powers on the way."""

    def power_at(strength: float) -> PowerPoint:
        return PowerPoint(strength, test.expected(family.at(strength), n_datasets, level), n_datasets)

    return solve_power(power_at, _start(test, family, power, level), family.largest, power, level)


def _start(test: FixedTest, family: Family, power: float, level: float) -> float:
    """Return a strength to start from: where two moments of the residuals are as far off as the power needs."""
    wished = noncentrality(power, level)
    low, high = 0.0, family.largest
    for _ in range(30):
        middle = (low + high) / 2
        told = test.n * information(test.truth(family.at(middle)), test.predicted, test.count)
        low, high = (middle, high) if told < wished else (low, middle)  # nan, of what is infinite, is enough
    return high


def noncentrality(power: float, level: float) -> float:
    """Return the noncentrality at which a test of several directions has about this power."""
    from scipy.special import ndtri

    usual = ROOT - float(ndtri(0.8) - ndtri(0.025))
    return float(ndtri(power) - ndtri(level / 2) + usual) ** 2


def information(truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None) -> float:
    """Return u' I^-1 u for one row: u the means of (1, logit) (q - v), I the means of (1, logit)(1, logit)' v (1 - v).

    It is the noncentrality for each row of the score test of intercept and slope. Of K classes the sum over them, each
    against the rest, times (K - 1) / K, as residuals of the classes sum to 0.
    """
    if predicted.ndim == 2:
        k = predicted.shape[1]
        return sum(information(truth[:, i], predicted[:, i], None) for i in range(k)) * (k - 1) / k
    moments, spread = two_moments(truth, predicted, count, weight=predicted)
    with np.errstate(over="ignore", invalid="ignore"):  # predictions so near 0 and 1 that any other truth is seen
        return float(moments @ np.linalg.pinv(spread, hermitian=True) @ moments)


def two_moments(
    truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None, *, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means over rows of (1, x) (q - v) and of (1, x)(1, x)' w (1 - w), x the logit of the prediction v."""
    from scipy.special import logit

    x = logit(np.clip(predicted.astype(np.float64), LEAST_LOGIT, 1 - LEAST_LOGIT))
    basis = np.stack([np.ones_like(x), x])
    rows = np.ones_like(x) if count is None else count
    moments = basis @ (rows * (truth - predicted)) / rows.sum()
    return moments, (basis * (rows * weight * (1 - weight))) @ basis.T / rows.sum()


def distance(truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None) -> float:
    """Return `information`, or a third of the chi-square distance of a row if that is more, as of local deviations."""
    open_ = (predicted > 0) & (predicted < 1)
    weight = predicted * (1 - predicted)
    squares = np.divide((truth - predicted) ** 2, weight, out=np.zeros(predicted.shape), where=open_)
    each = squares if squares.ndim == 1 else squares.sum(axis=1)
    return max(information(truth, predicted, count), float(np.average(each, weights=count)) / 3)
