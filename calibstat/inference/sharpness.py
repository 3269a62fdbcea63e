"""Calibration-sharpness diagrams as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.data import lenses
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_whole
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.views import BinaryView, ClassWiseView, MulticlassView, View
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.sharpness_errors import LossRows, standard_errors
from calibstat.measures.bregman import Bregman
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.regression_ce import (
    LEAST_SHARE,
    RegressionCE,
    density_scale,
    find_divergence,
    kernel_sums,
)
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class CalibrationSharpness(Result):
    """Result of `sharpness`: the calibration-sharpness diagram as numbers.

    Attributes
    ----------
    grid : ndarray, shape (n_points,)
        Predictions, evenly spaced from 0 to 1.
    curve : ndarray, shape (n_points,)
        The calibration curve there: frequency of outcome 1 near the prediction; nan where there are no rows near it.
    gap : ndarray, shape (n_points,)
        The pointwise sharpness gap, at least 0: the divergence near the prediction that no recalibration of it could
        remove; nan where there are no rows near it. "Near" is by the kernel reflected at 0 and 1, as for the density.
    density : ndarray, shape (n_points,)
        Kernel density of the predictions. The kernel is reflected at 0 and 1, so that its integral over [0, 1] is 1.
    calibration_error : float
        The `regression_ce` of the same divergence, kernel and bandwidth.
    total_divergence : float
        Mean divergence of the outcomes from the predictions; of the vectors if several classes were predicted.
    sharpness_gap : float
        Total divergence minus calibration error. The part of that name in `decompose`, method "sharpness", leaves out
        what smoothing adds.
    divergence : {"brier", "log_loss"}
        The divergence.
    kernel : {"gaussian", "epanechnikov"}
        The kernel.
    bandwidth : float
        Its bandwidth.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int or float
        Rows, or total weight.
    standard_error : dict or None
        The standard errors of "calibration_error", "sharpness_gap" and "total_divergence"; None for rows with weights
        and for a single row. Near a calibration error of 0 they say little: there the estimate is biased upwards, and
        its size is noise.
    """

    grid: np.ndarray
    curve: np.ndarray
    gap: np.ndarray
    density: np.ndarray
    calibration_error: float
    total_divergence: float
    sharpness_gap: float
    divergence: str
    kernel: str
    bandwidth: float
    lens: NamedLens
    n: int | float
    standard_error: dict[str, float] | None = None

    @property
    def headline(self) -> tuple[str, ...]:
        """The calibration error, the sharpness gap and their sum."""
        return "calibration_error", "sharpness_gap", "total_divergence"

    def written(self, name: str, form: str) -> str:
        """Return one of the three numbers, with its standard error behind "±" where it is known."""
        number = f"{settled(getattr(self, name)):{form}}"
        if self.standard_error is None:
            return number
        return f"{number} ± {settled(self.standard_error[name]):{form}}"

    @property
    def low(self) -> np.ndarray:
        """Lower edge of the band of length density times gap that is centred on the curve, cut off at 0."""
        return np.maximum(self.curve - self.density * self.gap / 2, 0)

    @property
    def high(self) -> np.ndarray:
        """Upper edge of the band, which may lie above 1."""
        return self.curve + self.density * self.gap / 2

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each point of the grid."""
        import pandas as pd

        columns = ("grid", "curve", "gap", "density", "low", "high")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    def __str__(self) -> str:
        return (
            f"Calibration error {self.written('calibration_error', '.4g')} and sharpness gap "
            f"{self.written('sharpness_gap', '.4g')}, together {self.written('total_divergence', '.4g')}"
            f"{'' if self.standard_error is None else ' (± standard error)'}.\n{self._units}\n"
            f"Divergence: {self.divergence}; {self.kernel} kernel, bandwidth {settled(self.bandwidth):.4g}, "
            f"{self.lens}, n = {settled(self.n):.10g}."
        )

    @property
    def _units(self) -> str:
        """In which units the numbers are, and how the calibration error is read."""
        if self.divergence != "brier":
            return "They are differences of log losses, not of probabilities."
        return (
            f"They are squared differences of probabilities. The root of the calibration error, "
            f"{settled(math.sqrt(self.calibration_error)):.4g}, is a difference of probabilities: the root mean "
            "square of "
            "frequency minus prediction, the frequency by kernel regression."
        )


REACH = {"gaussian": 9, "epanechnikov": 1}  # bandwidths beyond which a kernel adds nothing
TOP = lenses.top_label.named
Parts = tuple[Sample, np.ndarray, LossRows, NamedLens]  # summary, moved predictions, losses of rows, lens


@question()
def sharpness(
    rows: Data,
    /,
    *,
    divergence: str = "brier",
    kernel: str = "gaussian",
    bandwidth: float = 0.05,
    n_points: int = 201,
    clip: float | None = None,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> CalibrationSharpness:
    """Compute a calibration-sharpness diagram, which shows how calibrated and how sharp predictions are.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2).sample(10_000, rng=1)
    >>> result = cs.sharpness(y, p)
    >>> round(result.calibration_error, 3), round(result.sharpness_gap, 3), round(result.total_divergence, 3)
    (0.01, 0.168, 0.178)
    >>> round(result.standard_error["calibration_error"], 4), round(result.standard_error["sharpness_gap"], 4)
    (0.0008, 0.002)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    divergence : {"brier", "log_loss"}
        Squared distance of outcome and prediction, or negative log-likelihood of the outcome.
    kernel : {"gaussian", "epanechnikov"}
        The kernel of regression and density.
    bandwidth : float
        Its bandwidth, from 0.0001 to 1.
    n_points : int
        Number of evenly spaced predictions at which curve, gap and density are given, at least 2.
    clip : float, optional
        For "log_loss" only: predictions are moved into [clip, 1 - clip], `clip` below 1/2, in both numbers and the gap.
        By default none is moved, and one of exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome, or "canonical": then the outcome is whether the most likely class is observed, and
        the divergence compares the vectors. Default: outcome 1 of two classes, "canonical" of more.

    Returns
    -------
    CalibrationSharpness
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown or out of range, or
        the lens is "class_wise": use `lenses.one_class` for the diagram of one class.

    Notes
    -----
    With kernel weights that sum to 1 over the rows, the calibration curve at p is the weighted frequency m of outcome 1
    (hits of the most likely class), and the pointwise sharpness gap is the weighted mean divergence of outcomes from
    predictions minus d(m, h), h the weighted mean of the predictions. It is at least 0 on every sample. For several
    classes the calibration error belongs to the confidence, a lower bound on the error of the vectors, while the total
    divergence is of the vectors.

    Where the kernel weights of all rows, 1 for a row at that point, sum to less than .01, curve and gap are nan. Near 0
    and 1 the curve leans to where the rows are. Standard errors hold the noise of the rows alone. See the page
    "Calibration and sharpness". Cost: one sort and two passes.

    References
    ----------
    Chidambaram, Ge 2024, Reassessing How to Compare and Improve the Calibration of Machine Learning Models,
    arXiv:2406.04068.
    """
    error = RegressionCE(divergence=divergence, kernel=kernel, bandwidth=bandwidth, clip=clip)
    phi = find_divergence(divergence)
    check_whole("n_points", n_points, 2)
    view = rows.view()
    view = rows.through(lenses.canonical).view() if view.lens == TOP else view
    sample, predicted, losses, shown = _parts(view, phi, clip)
    counted = sample.kind == "counts"
    total = float(losses.of_predictions.sum() / sample.count.sum())
    calibration_error = error.evaluate(*sample.arrays)
    return CalibrationSharpness(
        **_curves(np.linspace(0, 1, int(n_points)), sample, predicted, losses.of_predictions, error),
        calibration_error=calibration_error,
        total_divergence=total,
        sharpness_gap=total - calibration_error,
        divergence=divergence,
        kernel=kernel,
        bandwidth=float(bandwidth),
        lens=shown,
        n=sample.n,
        standard_error=standard_errors(losses, sample.value, predicted, phi, kernel, bandwidth) if counted else None,
    )


def _parts(view: View, phi: Bregman, clip: float | None) -> Parts:
    """Return what a diagram is made of: of one event, or of several classes jointly."""

    def binary(view: BinaryView) -> Parts:
        sample = view.sample
        predicted = phi.inside(sample.value, clip, view.row_predictions)
        return sample, predicted, _of_outcomes(sample, predicted, phi), view.lens

    def canonical_parts(view: MulticlassView) -> Parts:
        phi.inside(view.predictions.largest, clip)
        sample, rows = _of_top_label(view.predictions, phi, clip)
        whole = view.lens == lenses.canonical.named
        shown = TOP if whole else replace(TOP, title=f"{lenses.top_label} of {view.lens}")
        return sample, phi.inside(sample.value, clip), rows, shown

    def class_wise(view: ClassWiseView) -> Parts:
        raise ValueError(f"expected a binary or canonical lens, such as one_class(k); found {view.lens}")

    return view.choose(binary, canonical_parts, class_wise)


def _curves(
    grid: np.ndarray, sample: Sample, predicted: np.ndarray, loss: np.ndarray, error: RegressionCE
) -> dict[str, np.ndarray]:
    """Return the points of a grid with curve, gap and density there."""
    kernel, bandwidth, phi = error.kernel, error.bandwidth, find_divergence(error.divergence)
    value, count, positives = sample.arrays
    weight = np.stack((count, positives, count * predicted, loss))
    rows, hits = kernel_sums(grid, value, weight[:2], kernel, bandwidth)
    inside = _reflected_sums(grid, value, weight, kernel, bandwidth)
    density = inside[0] / (count.sum() * density_scale(kernel, bandwidth))
    row = 1.0 if sample.kind == "counts" else count.min()
    rows[rows < LEAST_SHARE * row] = np.nan
    curve = np.clip(hits / rows, 0, 1)
    inside[0, np.isnan(rows)] = np.nan
    _, frequency, mean, divergence_near = inside / inside[0]
    gap = divergence_near - phi.loss(np.clip(frequency, 0, 1), np.clip(mean, predicted[0], predicted[-1]))
    columns = {"grid": grid, "curve": curve, "gap": np.maximum(gap, 0), "density": density}  # below by rounding only
    return {name: read_only(column) for name, column in columns.items()}


def _reflected_sums(
    grid: np.ndarray, value: np.ndarray, weight: np.ndarray, kernel: str, bandwidth: float
) -> np.ndarray:
    """Return kernel-weighted sums at points evenly spaced from 0 to 1, the kernel reflected at 0 and 1.

    So no weight leaks out of [0, 1], where all predictions are. A point has one image in each interval
    [j, j + 1], and an even grid the grid moved by j, in reverse order if j is odd.
    """
    reach = math.ceil(REACH[kernel] * bandwidth)
    length = 2 * reach + 1
    points = np.concatenate([grid + (reach + j) for j in range(-reach, reach + 1)])
    sums = kernel_sums(points / length, (value + reach) / length, weight, kernel, bandwidth / length)
    parts = sums.reshape(len(weight), length, grid.size)
    reflected = np.sum([parts[:, reach + j, :: 1 - 2 * (j % 2)] for j in range(-reach, reach + 1)], axis=0)
    return np.maximum(reflected, 0)  # below by rounding only


def _of_outcomes(sample: Sample, predicted: np.ndarray, phi: Bregman) -> LossRows:
    """Return the rows with outcome 0 and with outcome 1 at each distinct prediction."""
    count = np.stack((sample.count - sample.positives, sample.positives))
    cell = np.broadcast_to(np.arange(predicted.size), count.shape)
    outcome = np.broadcast_to(np.array([[0.0], [1.0]]), count.shape)
    full = count > 0
    loss = phi.loss(outcome[full], predicted[cell[full]])
    return LossRows(cell[full], outcome[full], loss, count[full])


def _of_top_label(predictions: Predictions, phi: Bregman, clip: float | None) -> tuple[Sample, LossRows]:
    """Return the hits of the most likely class, and the divergence of the vectors of each row."""
    confidence = predictions.largest
    hit = predictions.top == predictions.label
    sample = Sample.from_rows(hit, confidence)
    chance = predictions.prob[np.arange(predictions.n), predictions.label]
    mean: Any = find_measure(phi.name, {} if clip is None else {"clip": clip})
    phi.inside(chance, clip)
    loss = mean.vector_loss(predictions.prob, predictions.label)
    cell = np.searchsorted(sample.value, confidence)
    return sample, LossRows(cell, hit.astype(np.float64), loss, np.ones(cell.size))
