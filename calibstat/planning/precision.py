"""Numbers of rows by precision: the width of an interval for O/E, the calibration slope or any measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.lenses import AnyLens, find_lens
from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.power.alternatives import Alternative
from calibstat.inference.power.detectable_effect import two_moments
from calibstat.inference.power.fixed_tests import FixedPredictions, pose_predictions
from calibstat.measures.kinds.base import Measure
from calibstat.output.wording import level_text
from calibstat.planning.future_rows import FutureRows
from calibstat.planning.test_names import OwnTest
from calibstat.resampling import Draws, planned_key
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

FORMULAS = ("o/e", "slope")
USUAL_WIDTH = 0.2
WIDTH_RUNS = 5
_NEAR_WIDTH = 2.0  # times the wished width, and its inverse: points that the line is fitted to
FIRST = 200  # rows
WIDTH_SHARES = (2.0, 1.7, 1.4, 1.2, 1.0, 0.85, 0.7, 0.6, 0.5)  # of the wished width: the curve of a formula


@dataclass(frozen=True, eq=False)
class PrecisionSize(Result):
    """Rows for an interval of a given width: result of `sample_size` with `width`.

    Attributes
    ----------
    n : int
        Rows of a data set.
    width : float
        The wished width, from the low end of the interval to the high end.
    of : str
        What is estimated: "o/e", "slope", or a measure.
    method : str
        How the number was found.
    confidence_level : float
        The confidence level of the interval.
    alternative : str
        What is assumed to be true.
    lens : NamedLens
        The outcome whose probability was predicted.
    curve : tuple of (int, float)
        Numbers of rows, ascending, with the width of intervals: by the formula, or the mean of those simulated.
    """

    n: int
    width: float
    of: str
    method: str
    confidence_level: float
    alternative: str
    lens: NamedLens
    curve: tuple[tuple[int, float], ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each number of rows of the curve."""
        import pandas as pd

        return pd.DataFrame(self.curve, columns=["n", "width"])

    def __str__(self) -> str:
        return (
            f"{self.n} rows for a {level_text(self.confidence_level)} confidence interval of width {self.width:g} for "
            f"{PLANNED_NAMES.get(self.of, self.of)}{self.lens.with_comma}, if the truth is {self.alternative} "
            f"({self.method}). "
            "To find a miscalibration by a test, another number of rows is needed."
        )


PLANNED_NAMES = {"o/e": "O/E, observed over expected events", "slope": "the calibration slope"}


def z(confidence_level: float) -> float:
    """Return how many standard errors an interval reaches to each side."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence_level) / 2))


def rows_for_ratio(truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None, width: float, z: float) -> int:
    """Return the rows for O/E (Riley et al. 2021): n = (1 - φ) / (φ SE²), SE the standard error of log(O/E).

    The variance of O, the sum of n outcomes, is n φ (1 - φ), so log O has (1 - φ) / (n φ), the variance of E being left
    out. The interval is O/E times exp(-z SE) to exp(z SE), of width 2 O/E sinh(z SE).
    """
    share, expected = np.average(truth, weights=count), np.average(predicted, weights=count)
    if not 0 < share < 1 or expected == 0:
        raise ValueError(f"expected an outcome that may occur or not for O/E, found a mean probability of {share:g}")
    error = math.asinh(width / 2 * expected / share) / z
    return math.ceil((1 - share) / (share * error**2))


def rows_for_slope(truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None, width: float, z: float) -> int:
    """Return the rows for the slope (Riley et al. 2021): n = I00 / (SE² (I00 I11 - I01²)).

    The information of one row on (intercept, slope) is I, the mean of q (1 - q) (1, x)(1, x)', x the logit of the
    prediction; SE² is the last entry of the inverse of n I. Predictions of 0 and 1 tell nothing.
    """
    rows = np.ones(predicted.size) if count is None else count
    inner = (predicted > 0) & (predicted < 1)
    if not inner.any():
        raise ValueError("expected at least two distinct predictions between 0 and 1 for the slope, found none")
    _, information = two_moments(truth[inner], predicted[inner], rows[inner], weight=truth[inner])
    information *= rows[inner].sum() / rows.sum()
    determinant = float(np.linalg.det(information))
    if not determinant > 1e-12 * information[0, 0] * information[1, 1]:
        raise ValueError("expected at least two distinct predictions between 0 and 1 for the slope, found one")
    error = width / 2 / z
    return math.ceil(information[0, 0] / (error**2 * determinant))


def size_by_formula(
    rows: FutureRows, draws: Draws, of: str, width: float, confidence_level: float, lens: AnyLens
) -> PrecisionSize:
    """Return the rows for O/E or the slope."""
    predictions, alternative = rows.pilot(draws.key)
    pilot = FixedPredictions(pose_predictions(predictions, "brier", {}, lens=lens))
    pilot.problem.view.one_event(f"the width of {of}")
    truth = pilot.truth(alternative)
    formula = {"o/e": rows_for_ratio, "slope": rows_for_slope}[of]

    def rows_for(width: float) -> int:
        return formula(truth, pilot.predicted, pilot.count, width, z(confidence_level))

    return PrecisionSize(
        n=rows_for(width),
        width=width,
        of=of,
        method="formula of Riley et al. 2021",
        confidence_level=confidence_level,
        alternative=rows.alternative.words,
        lens=pilot.lens,
        curve=tuple((rows_for(share * width), share * width) for share in WIDTH_SHARES),
    )


def size_by_simulation(
    rows: FutureRows,
    draws: Draws,
    of: str | Measure | type[Measure],
    width: float,
    confidence_level: float,
    lens: AnyLens,
    n_sets: int,
    most: int,
    options: Mapping[str, Any],
) -> PrecisionSize:
    """Return the rows for the honest interval of a measure, by the mean width of simulated intervals."""
    lens = None if lens is None else find_lens(lens)
    seen: list[OwnTest] = []

    def width_of(data: Any) -> float:
        interval = confidence_interval(
            data, measure=of, confidence_level=confidence_level, n_resamples=draws.n, rng=int(draws.key), **options
        )
        return interval.high - interval.low

    def mean_width(n: int) -> float:
        widths = []
        for number in range(n_sets):
            key = planned_key(draws.key, number)
            taken, alternative = rows.take(n, key)
            problem = pose_predictions(taken, "brier", {}, lens=lens)
            problem.view.one_event("the width of an interval")
            seen.append(OwnTest(problem, Draws(key, 1, draws.n_jobs), str(of), width_of))
            widths.append(seen[-1].pvalues(seen[-1].truth(alternative), 1)[0])
        return float(np.mean(widths))

    n, curve = solve_width(mean_width, width, most)
    return PrecisionSize(
        n=n,
        width=width,
        of=getattr(of, "name", str(of)) if not isinstance(of, str) else of,
        method=f"mean width of honest intervals on {n_sets} simulated data sets for each number of rows",
        confidence_level=confidence_level,
        alternative=rows.alternative.words,
        lens=seen[0].lens,
        curve=curve,
    )


def solve_width(
    mean_width: Callable[[int], float], width: float, most: int
) -> tuple[int, tuple[tuple[int, float], ...]]:
    """Return the rows at which intervals have this width, which is about a power of the number of rows."""
    widths: dict[int, float] = {}
    n = FIRST
    while n not in widths and len(widths) < WIDTH_RUNS:
        widths[n] = mean_width(n)
        if n == most and widths[n] > width:
            raise ValueError(
                f"expected a width that intervals reach with at most {most} rows, found a mean width of "
                f"{settled(widths[n]):.3g} with that many, wider than {width:g}"
            )
        n = min(max(round(_read_off(widths, width)), 2), most)
    return n, tuple(sorted(widths.items()))


def _read_off(widths: dict[int, float], width: float) -> float:
    """Return the rows by a line through the logarithms of the points near the wished width, or of a bracket.

    At first, by 1 / sqrt(n).
    """
    x, y = np.log(list(widths)), np.log(np.maximum(list(widths.values()), 1e-12) / width)
    near = np.abs(y) < math.log(_NEAR_WIDTH)
    if near.sum() < 2 and (y > 0).any() and (y < 0).any():
        near = (y == y[y > 0].min()) | (y == y[y < 0].max())
    if near.sum() >= 2:
        slope, base = np.polyfit(x[near], y[near], 1)
        if slope < 0:
            return float(np.exp(np.clip(-base / slope, x.min() - 2, x.max() + 2)))
    nearest = int(np.abs(y).argmin())
    return float(np.exp(x[nearest] + np.clip(2 * y[nearest], -4.6, 4.6)))


def riley(pilot: FixedPredictions, alternative: Alternative, width: float = USUAL_WIDTH) -> dict[str, int]:
    """Return the rows for O/E and the slope, if they are known for these predictions."""
    if pilot.predicted.ndim == 2:
        return {}
    truth, sizes = pilot.truth(alternative), {}
    for of, formula in (("o/e", rows_for_ratio), ("slope", rows_for_slope)):
        try:
            sizes[of] = formula(truth, pilot.predicted, pilot.count, width, z(0.95))
        except ValueError:  # no events, or one prediction only
            continue
    return sizes
