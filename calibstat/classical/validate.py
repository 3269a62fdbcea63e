"""The numbers that reports of clinical prediction models give, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.classical.binary_input import between, binary_input, open_rows
from calibstat.classical.cox import cox, in_the_large
from calibstat.classical.local_regression import SMOOTHER, local_curve
from calibstat.classical.robust_line import Numbers, robust_line
from calibstat.data.checked_rows import Models, OneModel, Outcomes, RowArguments, as_data
from calibstat.data.checks import check_level
from calibstat.data.data_notes import auc
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import NamedLens
from calibstat.data.observations import BinaryData
from calibstat.data.sample import Sample
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.equivalence import smallest_mean
from calibstat.inference.unit_rows import UnitRows
from calibstat.measures.losses import Brier
from calibstat.result import NotedResult

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]
TITLES = {
    "observed": "mean outcome",
    "predicted": "mean prediction",
    "ratio": "O/E, observed / expected",
    "in_the_large": "calibration in the large",
    "intercept": "intercept",
    "slope": "slope",
    "ici": "ICI, mean smoothed error",
    "e50": "E50, its median",
    "e90": "E90, its 90 % quantile",
    "emax": "Emax, its largest",
    "brier": "Brier score",
    "scaled_brier": "scaled Brier score",
    "auc": "AUC",
}
SHARES = np.array([0.5, 0.9])  # of the rows, whose errors are below E50 and E90
ROUNDING = 1e-12  # of a share of the weight
PERFECT = {"ratio": 1.0, "in_the_large": 0.0, "intercept": 0.0, "slope": 1.0}


@dataclass(frozen=True, eq=False)
class Validation(NotedResult):
    """Result of `validate`.

    Attributes
    ----------
    observed, predicted : float
        Mean outcome and mean prediction.
    ratio : float
        Observed over expected number of events, O/E; 1 if calibrated.
    in_the_large, intercept, slope : float
        Of Cox's logistic recalibration: the intercept if the slope is 1, then both; 0, 0 and 1 if calibrated.
        Intercept and slope are nan if all predictions are equal, through which there is no line.
    ici, e50, e90, emax : float
        Mean, median, 90 % quantile and maximum over the rows of the absolute difference of the smoothed frequency of
        events and the prediction. They are above 0 by noise alone, also if calibrated.
    brier, scaled_brier : float
        The Brier score b, and 1 - b / (o (1 - o)) with o the mean outcome: 0 for always predicting o, 1 for perfect
        predictions; nan if only one outcome was observed.
    auc : float
        Probability that a row with outcome 1 has a larger prediction than one with outcome 0, ties counting half: 1/2
        if all predictions are equal. Of more than two classes outcome 1 is that the most likely class is observed.
    intervals : dict
        The interval of each number that has one, by its name: `observed`, `ratio`, `in_the_large`, `intercept`,
        `slope`, `brier`; without `intercept` and `slope` if these are nan.
    confidence_level : float
        The confidence level of the intervals.
    smoother : str
        How the curve was smoothed.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, events : int
        Rows, and those with outcome 1, whatever their weights.
    drawn : str
        What the intervals take as independent: "rows", or clusters, with their number and sizes.
    """

    observed: float
    predicted: float
    ratio: float
    in_the_large: float
    intercept: float
    slope: float
    ici: float
    e50: float
    e90: float
    emax: float
    brier: float
    scaled_brier: float
    auc: float
    intervals: dict[str, Interval]
    confidence_level: float
    smoother: str
    lens: NamedLens
    n: int
    events: int
    drawn: str = "rows"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each number: its estimate, interval and value if calibrated."""
        import pandas as pd

        nothing = (np.nan, np.nan)
        rows = [
            (title, getattr(self, name), *self.intervals.get(name, nothing), PERFECT.get(name, np.nan))
            for name, title in TITLES.items()
        ]
        return pd.DataFrame(rows, columns=["number", "estimate", "low", "high", "calibrated"], index=list(TITLES))

    def __str__(self) -> str:
        of = "" if self.drawn == "rows" else f" in {self.drawn}"
        level = f"{100 * self.confidence_level:.4g} % intervals"
        lines = [f"{self.n} rows{of}, {self.events} events, {self.lens}; {level}."]
        for name, title in TITLES.items():
            ends = "  ({:.3g} to {:.3g})".format(*self.intervals[name]) if name in self.intervals else ""
            wished = f"  {PERFECT[name]:g} if calibrated" if name in PERFECT else ""
            value = getattr(self, name)
            if name in ("intercept", "slope") and np.isnan(value):
                ends, wished = "  needs predictions that differ", ""
            lines.append(f"{title:<25} {value:8.4f}{ends}{wished}")
        return "\n".join([*lines, f"Smoothed by {self.smoother}."])


class ValidateArguments(RowArguments, total=False):
    """The arguments of `validate` beside outcomes and predictions."""

    confidence_level: float
    clip: float | None
    cluster: ArrayLike | None
    sample_weight: ArrayLike | None


@overload
def validate(
    y_true: OneModel, y_prob: ArrayLike | None = None, **arguments: Unpack[ValidateArguments]
) -> Validation: ...
@overload
def validate(y_true: Models, y_prob: None = None, **arguments: Unpack[ValidateArguments]) -> Answers[Validation]: ...
@overload
def validate(
    y_true: ArrayLike, y_prob: Mapping[str, Any], **arguments: Unpack[ValidateArguments]
) -> Answers[Validation]: ...
def validate(
    y_true: Outcomes,
    y_prob: Predicted = None,
    *,
    confidence_level: float = 0.95,
    clip: float | None = None,
    lens: AnyLens = None,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **unknown: Never,
) -> Validation | Answers[Validation]:
    """Return the numbers that reports of clinical prediction models give.

    Parameters
    ----------
    y_true, y_prob, sample_weight, labels, pos_label
        As for `estimate`; of rows on which the model was neither fitted nor chosen.
    confidence_level : float
        Of the intervals, between 0 and 1.
    clip : float, optional
        For the intercept and the slope alone, predictions are moved into [clip, 1 - clip]. By default a prediction of
        exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.
    cluster : array_like, shape (n,), optional
        The cluster of each row, such as a patient or a centre: intervals take clusters as independent, and not rows.
        The estimates do not depend on clusters.

    Returns
    -------
    Validation
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described, outcomes are separated so that there is no intercept or slope (`cox` says
        when), there are fewer than two rows, or an argument is wrong.

    Notes
    -----
    No null hypothesis: these are estimates; `calibration_test` tests, and `confidence_interval` bounds errors.
    The intervals: of the mean outcome by Clopper and Pearson, for the average probability of these rows given their
    predictions (Hoeffding 1956; rows may differ), and O/E is it over the mean prediction; of intercepts and slope by
    profile likelihood, approximate; of the Brier score the honest one of `confidence_interval`. ICI and its relatives
    have none: they are never 0, and a bootstrap interval of them misses a calibrated model.
    The smoothed curve: local linear regression with tricube weights on the nearest 75 % of the rows, computed at 1000
    of the distinct predictions at most and read off between them; of more than 10,000 distinct predictions neighbours
    are put together. Other packages smooth by quadratics, or by splines, and give other numbers for the same rows.
    With `sample_weight` every number is of rows that count by their weights; E50 and E90 are then the smallest errors
    that at least 50 % and 90 % of the weight do not exceed. With weights or clusters the intervals are for the
    population that the rows, or clusters, are an independent sample of: of the mean outcome the one of a weighted mean
    of whole clusters, of O/E all ratios r for which the mean of outcome - r * prediction may be 0, of intercepts and
    slope a jackknife that leaves out one cluster, or row, at a time, with Student's quantile (infinite where one
    cluster alone tells the slope), and of the Brier score the honest one.
    Cost: one sort, and 1000 passes over the distinct predictions, or over 10,000 groups of them.

    References
    ----------
    Cox 1958, doi:10.1093/biomet/45.3-4.562; Cleveland 1979, doi:10.1080/01621459.1979.10481038; Fieller 1954 (ratios of
    means), doi:10.1111/j.2517-6161.1954.tb00159.x; Bell, McCaffrey 2002 (jackknife of clusters), Survey Methodology 28;
    Austin, Steyerberg 2019 (ICI, E50, E90), doi:10.1002/sim.8281; Steyerberg et al. 2010 (scaled Brier score),
    doi:10.1097/EDE.0b013e3181c30fb2.

    Examples
    --------
    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2.0).sample(5000, rng=1)  # every logit twice too large
    >>> result = cs.validate(y, p)
    >>> round(result.slope, 1), [round(end, 2) for end in result.intervals["slope"]]
    (0.5, [0.44, 0.5])
    >>> round(result.ratio, 2), result.ici > 0.05
    (0.98, True)
    """
    data = as_data(
        validate,
        y_true,
        y_prob,
        unknown,
        lens=lens,
        cluster=cluster,
        sample_weight=sample_weight,
        labels=labels,
        pos_label=pos_label,
    )
    if isinstance(data, Models):
        return ask_each(validate, data, locals())
    check_level("confidence_level", confidence_level)
    seen, sample = binary_input(data, "validation")
    units = UnitRows.of(seen, data.unit)
    of_means, line = (
        _of_counts(seen, sample, clip, confidence_level)
        if units is None
        else _of_units(seen, units, clip, confidence_level)
    )
    total, positive = float(sample.count.sum()), float(sample.positives.sum())
    observed, predicted = positive / total, float(sample.count @ sample.value) / total
    error = np.abs(local_curve(sample) - sample.value)
    brier = Brier().estimate(sample)
    estimate = {"intercept": np.nan, "slope": np.nan} | {name: number for name, (number, _) in line.items()}
    ici, e50, e90 = _over_rows(error, sample)
    return Validation(
        observed=observed,
        predicted=predicted,
        ratio=observed / predicted,
        in_the_large=estimate["in_the_large"],
        intercept=estimate["intercept"],
        slope=estimate["slope"],
        ici=ici,
        e50=e50,
        e90=e90,
        emax=float(error.max()),
        brier=brier,
        scaled_brier=1 - brier / (observed * (1 - observed)) if 0 < positive < total else float("nan"),
        auc=auc(sample.count, sample.positives)[0],
        intervals=of_means | {name: ends for name, (_, ends) in line.items()},
        confidence_level=confidence_level,
        smoother=SMOOTHER,
        lens=seen.lens,
        n=int(sample.n) if units is None else units.rows.n_rows,
        events=int(positive if units is None else units.rows.outcome.sum()),
        drawn="rows" if units is None else units.drawn,
        **seen.annotations(),
    )


def _of_counts(
    seen: BinaryData, sample: Sample, clip: float | None, confidence_level: float
) -> tuple[dict[str, Interval], Numbers]:
    """Return the intervals of the means of independent rows, and the numbers of Cox's recalibration."""
    open_sample = between(seen, sample, clip, "validation")
    events, n = sample.positives.sum(), sample.count.sum()
    predicted = float(sample.count @ sample.value) / float(n)
    low, rest = smallest_mean(np.array([events, n - events]), np.array([n, n]), (1 - confidence_level) / 2).tolist()
    brier = confidence_interval(sample, measure=Brier(), confidence_level=confidence_level)
    of_means = {
        "observed": (low, 1 - rest),
        "ratio": (low / predicted, (1 - rest) / predicted),
        "brier": (brier.low, brier.high),
    }
    if open_sample.value.size == 1:
        return of_means, {"in_the_large": in_the_large(open_sample, confidence_level, "validation")}
    line = cox(open_sample, held_out=True, confidence_level=confidence_level)
    return of_means, {
        "in_the_large": (line.in_the_large, line.in_the_large_interval),
        "intercept": (line.intercept, line.intercept_interval),
        "slope": (line.slope, line.slope_interval),
    }


def _of_units(
    seen: BinaryData, units: UnitRows, clip: float | None, confidence_level: float
) -> tuple[dict[str, Interval], Numbers]:
    """Return the same of rows with weights or in clusters."""
    miss, rows = (1 - confidence_level) / 2, units.rows
    of_means = {
        "observed": units.ends("mean outcome", rows.outcome, (0.0, 1.0), miss),
        "ratio": units.ratio("O/E", miss),
        "brier": units.ends("brier", (rows.outcome - rows.prediction) ** 2, (0.0, 1.0), miss),
    }
    return of_means, robust_line(open_rows(seen, rows, clip, "validation"), units.unit, miss)


def _over_rows(error: np.ndarray, sample: Sample) -> tuple[float, float, float]:
    """Return mean, median and 90 % quantile over the rows of an error of each distinct prediction.

    Of rows with weights no quantile lies between two errors.
    """
    if sample.weighted is None:
        of_rows = np.repeat(error, sample.count.astype(np.int64))
        e50, e90 = np.quantile(of_rows, SHARES).tolist()
        return float(of_rows.mean()), e50, e90
    order = np.argsort(error, kind="stable")
    weight = np.cumsum(sample.count[order])
    e50, e90 = error[order][np.searchsorted(weight, SHARES * weight[-1] * (1 - ROUNDING))].tolist()
    return float(sample.count @ error / weight[-1]), e50, e90
