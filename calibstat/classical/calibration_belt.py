"""The GiViTI calibration belt and its test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from calibstat.classical.asymptotic_result import ASYMPTOTIC_PVALUE
from calibstat.classical.binary_input import between, binary_input, need_held_out
from calibstat.classical.logistic import Fit, LogitPolynomial, null_of_logit
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level, short
from calibstat.data.clipping import uncertain
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import question
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd

POLYNOMIAL = "a polynomial in the logit of the prediction, which is this logit itself"


@dataclass(frozen=True, eq=False)
class CalibrationBelt(Result):
    """Result of `calibration_belt`.

    Attributes
    ----------
    statistic : float
        Twice the log-likelihood ratio of the selected polynomial to the predictions.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as large among polynomials of this degree.
    degree : int
        The selected degree.
    coefficients : ndarray, shape (degree + 1,)
        Of the polynomial in the logit of the prediction, the constant first.
    prediction, curve : ndarray, shape (g,)
        Predictions from the smallest to the largest, and the fitted probability at each.
    confidence_levels : tuple of float
        Levels of the bands, ascending.
    low, high : ndarray, shape (levels, g)
        Ends of the band of each level.
    held_out : bool
        Whether the rows were kept from the fit (external validation) or used for the fit (internal).
    null_hypothesis : Null
        The null hypothesis; as text one sentence.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    """

    statistic: float
    pvalue: float
    degree: int
    coefficients: np.ndarray
    prediction: np.ndarray
    curve: np.ndarray
    confidence_levels: tuple[float, ...]
    low: np.ndarray
    high: np.ndarray
    held_out: bool
    null_hypothesis: Null
    lens: NamedLens
    n: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each prediction of the curve."""
        import pandas as pd

        bands: dict[str, np.ndarray] = {}
        for level, low, high in zip(self.confidence_levels, self.low, self.high, strict=True):
            bands |= {f"low_{100 * level:g}": low, f"high_{100 * level:g}": high}
        return pd.DataFrame({"prediction": self.prediction, "curve": self.curve, **bands})

    def departures(self, level: int = -1) -> list[tuple[str, float, float]]:
        """Return where a band leaves the diagonal: "above" or "below" it, from one prediction to another."""
        above, below = self.low[level] > self.prediction, self.high[level] < self.prediction
        side = above.astype(int) - below
        start = np.flatnonzero(np.diff(side, prepend=0))
        stop = np.append(start[1:], side.size) - 1 if start.size else start
        return [
            ("above" if side[i] > 0 else "below", float(self.prediction[i]), float(self.prediction[j]))
            for i, j in zip(start, stop, strict=True)
            if side[i] != 0
        ]

    def __str__(self) -> str:
        where = " and ".join(f"{side} it from {settled(a):.3g} to {settled(b):.3g}" for side, a, b in self.departures())
        kind = "external" if self.held_out else "internal"
        return (
            f"GiViTI calibration belt of degree {self.degree}, {kind} validation, {self.lens}, n = {self.n}: "
            f"likelihood ratio {settled(self.statistic):.4g}, "
            f"p = {settled(self.pvalue):.3g} (approximate, corrected for the choice of degree).\n"
            f"The {settled(100 * self.confidence_levels[-1]):.4g} % band "
            f"{'contains the diagonal everywhere' if not where else f'leaves the diagonal, {where}'}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )


MOST_DEGREE = 4
GATE = 0.95  # level of the likelihood-ratio test that every further degree has to pass
POINTS = 100
FITTED = 0.1  # standard errors by which the score of a model fitted to these rows may be off: the tolerance of its fit
NODES = 40


@question()
def calibration_belt(
    rows: Data,
    /,
    *,
    held_out: bool | None = None,
    confidence_levels: Sequence[float] = (0.8, 0.95),
    clip: float | None = None,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> CalibrationBelt:
    """Fit the GiViTI calibration belt: a smooth calibration curve with simultaneous bands and a test.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(1.5).sample(1000, rng=1)
    >>> result = cs.classical.calibration_belt(y, p, held_out=True)
    >>> result.degree, result.pvalue < 0.001, [side for side, _, _ in result.departures()]
    (1, True, ['above', 'below'])

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    held_out : bool
        Whether the model was fitted on other rows than these (external validation), or was a logistic regression fitted
        to these rows by maximum likelihood (internal validation). There is no default: the null distribution differs.
    confidence_levels : sequence of float
        Levels of the bands, ascending, each between 0 and 1.
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before their logits are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    CalibrationBelt
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If `held_out` is not given; it is False and the predictions do not come from a logistic regression fitted to
        these rows, or fewer than three are distinct; a prediction is 0 or 1 and there is no `clip`, or fewer than two
        are distinct; a polynomial separates the outcomes, so that there is no maximum likelihood estimate; the levels
        do not ascend between 0 and 1; the data are not as described (the first offending row is named), have
        real-valued weights, or the lens has no binary outcome.

    Notes
    -----
    The curve: the logit of the outcome's probability as a polynomial in the logit of the prediction. The degree starts
    at 1 (2 in internal validation, where the fit at degree 1 is exact) and grows while a likelihood-ratio test of one
    more passes at level .95, up to 4. The null hypothesis is that the polynomial is the logit of the prediction itself;
    the statistic is twice the log-likelihood that the selected polynomial gains. Its limit for many rows is corrected
    for the choice of the degree; the page "Classical tests" has it.

    A calibrated model leaves the band of 95 % anywhere at all in at most 5 % of the data sets, in the limit. Away from
    calibration their level is not exactly known. Cost: one sort, then some thousand passes over the distinct
    predictions, or over about 1000 points that stand for them.

    References
    ----------
    Nattino, Finazzi, Bertolini 2014, doi:10.1002/sim.6100, and 2016, doi:10.1002/sim.6744; Finazzi et al. 2011,
    Calibration belt for quality-of-care assessment, doi:10.1371/journal.pone.0016110.
    """
    need_held_out(held_out, "the calibration belt", "the null distribution of its test depends on it")
    levels = _checked_levels(confidence_levels)
    seen, sample = binary_input(rows, "the calibration belt")
    model = LogitPolynomial.of(between(seen, sample, clip, "the calibration belt"), MOST_DEGREE, "the calibration belt")
    start = 1 if held_out else 2
    if not held_out:
        _need_fitted(model)
    fit, degree, statistic, pvalue = _judge(model, start)
    free, kept = 3 - start, degree - start
    x = _grid(model)
    curve, ends = _bands(model, fit, x, [_quantile(level, free, kept) for level in levels])
    return CalibrationBelt(
        statistic=statistic,
        pvalue=pvalue,
        degree=degree,
        coefficients=read_only(_raw(model, fit)),
        prediction=read_only(_expit(x)),
        curve=read_only(_expit(curve)),
        confidence_levels=levels,
        low=read_only(_expit(ends[:, 0])),
        high=read_only(_expit(ends[:, 1])),
        held_out=bool(held_out),
        null_hypothesis=null_of_logit(POLYNOMIAL).approximately(ASYMPTOTIC_PVALUE),
        lens=seen.lens,
        n=int(sample.n),
    )


def _checked_levels(confidence_levels: Sequence[float]) -> tuple[float, ...]:
    """Return the levels of the bands; raise unless they ascend between 0 and 1."""
    if np.ndim(confidence_levels) != 1:
        raise ValueError(f"expected ascending confidence_levels, such as (0.95,), found {short(confidence_levels)}")
    for level in confidence_levels:
        check_level("ascending confidence_levels", level)
    levels = tuple(float(level) for level in confidence_levels)
    if not levels or not all(0 < a < b <= 1 for a, b in zip(levels, (*levels[1:], 1.0), strict=True)):
        raise ValueError(f"expected ascending confidence_levels between 0 and 1, found {list(confidence_levels)!r}")
    return levels


def belt_pvalue(sample: Sample) -> float:
    """Return the p-value of the belt of held-out rows alone, which takes far less time than its bands."""
    uncertain(sample.value, None, "the calibration belt")
    return _judge(LogitPolynomial.of(sample, MOST_DEGREE, "the calibration belt"), 1)[3]


def _judge(model: LogitPolynomial, start: int) -> tuple[Fit, int, float, float]:
    """Return the selected fit with its degree, the statistic and the p-value."""
    fit, degree = _forward(model, start)
    statistic = max(2 * (fit.log_likelihood - model.derivatives(np.zeros(1))[0]), 0.0)
    return fit, degree, statistic, float(selected_survival(np.array(statistic), 3 - start, degree - start))


def _need_fitted(model: LogitPolynomial) -> None:
    """Raise unless the score for intercept and slope is zero, as it is on the rows of a logistic regression."""
    if model.degree < 2:
        raise ValueError("expected at least three distinct predictions for internal validation, found two")
    score = model.derivatives(np.zeros(2))[1]
    if np.abs(score).max() > FITTED:
        raise ValueError(
            "expected predictions of a logistic regression fitted to these rows by maximum likelihood with "
            f"held_out=False, found some whose intercept and slope are {settled(np.abs(score).max()):.2g} standard "
            "errors off"
        )


def _forward(model: LogitPolynomial, start: int) -> tuple[Fit, int]:
    """Raise the degree while a likelihood-ratio test finds one more worth it."""
    from scipy.special import chdtri

    gate = float(chdtri(1, 1 - GATE))
    fit, degree = model.fit(start), start
    while degree < model.degree:
        longer = model.fit(degree + 1)
        if 2 * (longer.log_likelihood - fit.log_likelihood) < gate:
            break
        fit, degree = longer, degree + 1
    return fit, degree


def selected_survival(t: np.ndarray, free: int, kept: int) -> np.ndarray:
    """Return P(T > t), T a chi-square with `free` degrees of freedom plus `kept` ones with 1, each above the gate.

    P(T_k > t) = E[P(T_{k-1} > t - U²) | U² > gate], U normal; the sum above is sure if U² alone leaves no room for the
    gates of the others. The nodes crowd towards the upper end, where the integrand may have a vertical tangent.
    """
    from scipy.special import chdtrc, chdtri, erfc

    if kept == 0:
        return chdtrc(free, t)
    gate = float(chdtri(1, 1 - GATE))
    low, high = math.sqrt(gate), np.sqrt(np.maximum(t - (kept - 1) * gate, gate))
    node, weight = np.polynomial.legendre.leggauss(NODES)
    w = (node + 1) / 2
    u = high[..., None] - (high[..., None] - low) * w**2
    density = math.sqrt(2 / math.pi) * np.exp(-(u**2) / 2)
    rest = selected_survival(np.maximum(t[..., None] - u**2, 0.0), free, kept - 1)
    inside = (high - low) * ((density * rest * w) @ weight)
    return np.where(t > kept * gate, (inside + erfc(high / math.sqrt(2))) / erfc(low / math.sqrt(2)), 1.0)


def _quantile(level: float, free: int, kept: int) -> float:
    """Return the quantile of the distribution of `selected_survival`."""
    from scipy.optimize import brentq

    def excess(t: float) -> float:
        return float(selected_survival(np.array(t), free, kept)) - (1 - level)

    high = 10.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-10))


def _grid(model: LogitPolynomial) -> np.ndarray:
    """Return logits from the smallest to the largest, half of them evenly spaced and half as probabilities."""
    from scipy.special import logit

    low, high = model.logit[[0, -1]]
    even = np.linspace(low, high, POINTS // 2)
    inner = logit(np.linspace(_expit(low), _expit(high), POINTS // 2 + 2)[1:-1])
    return np.sort(np.concatenate([even, inner]))


def _bands(model: LogitPolynomial, fit: Fit, x: np.ndarray, drops: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the fitted curve at these logits and, of shape (drops, 2, x), the ends of its regions of likelihood."""
    basis = model.at(x)[:, : fit.coefficient.size]
    ends = np.empty((len(drops), 2, x.size))
    for i, drop in enumerate(drops):
        for side, sign in enumerate((-1, 1)):
            end = None  # the end at the logit before is near
            for j, direction in enumerate(basis):
                end = model.farthest(fit, sign * direction, drop, end)
                ends[i, side, j] = x[j] + direction @ end
    return x + basis @ fit.coefficient, ends


def _raw(model: LogitPolynomial, fit: Fit) -> np.ndarray:
    """Return the coefficients of the powers of the logit of the prediction."""
    at = np.linspace(model.logit[0], model.logit[-1], fit.coefficient.size)
    value = at + model.at(at)[:, : fit.coefficient.size] @ fit.coefficient
    return np.polynomial.Polynomial.fit(at, value, at.size - 1).convert().coef


def _expit(x: np.ndarray) -> np.ndarray:
    """Return probabilities from logits."""
    from scipy.special import expit

    return expit(x)
