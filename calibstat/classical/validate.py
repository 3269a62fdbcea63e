"""The numbers that reports of clinical prediction models give, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.classical.binary_input import between, binary_input
from calibstat.classical.cox import cox, in_the_large
from calibstat.classical.local_regression import SMOOTHER, local_curve
from calibstat.data.checked_rows import Models, OneModel, Outcomes, RowArguments, as_data
from calibstat.data.checks import check_level
from calibstat.data.data_notes import auc
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import NamedLens
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.equivalence import smallest_mean
from calibstat.measures.losses import Brier
from calibstat.result import Result

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
PERFECT = {"ratio": 1.0, "in_the_large": 0.0, "intercept": 0.0, "slope": 1.0}


@dataclass(frozen=True, eq=False)
class Validation(Result):
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
        Rows, and those with outcome 1.
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
        lines = [f"{self.n} rows, {self.events} events, {self.lens}; {100 * self.confidence_level:.4g} % intervals."]
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
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **unknown: Never,
) -> Validation | Answers[Validation]:
    """Return the numbers that reports of clinical prediction models give.

    Parameters
    ----------
    y_true, y_prob, labels, pos_label
        As for `estimate`; of rows on which the model was neither fitted nor chosen.
    confidence_level : float
        Of the intervals, between 0 and 1.
    clip : float, optional
        For the intercept and the slope alone, predictions are moved into [clip, 1 - clip]. By default a prediction of
        exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

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
    Cost: one sort, and 1000 passes over the distinct predictions, or over 10,000 groups of them.

    References
    ----------
    Cox 1958, doi:10.1093/biomet/45.3-4.562; Cleveland 1979, doi:10.1080/01621459.1979.10481038; Austin, Steyerberg
    2019 (ICI, E50, E90), doi:10.1002/sim.8281; Steyerberg et al. 2010 (scaled Brier score),
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
    data = as_data(validate, y_true, y_prob, unknown, lens=lens, labels=labels, pos_label=pos_label)
    if isinstance(data, Models):
        return ask_each(validate, data, locals())
    check_level("confidence_level", confidence_level)
    seen, sample = binary_input(data, "validation")
    open_sample = between(seen, sample, clip, "validation")
    intercept = slope = float("nan")
    of_line: dict[str, Interval] = {}
    if open_sample.value.size > 1:
        line = cox(open_sample, held_out=True, confidence_level=confidence_level)
        large, large_interval = line.in_the_large, line.in_the_large_interval
        intercept, slope = line.intercept, line.slope
        of_line = {"intercept": line.intercept_interval, "slope": line.slope_interval}
    else:
        large, large_interval = in_the_large(open_sample, confidence_level, "validation")
    n, events = int(sample.n), int(sample.positives.sum())
    observed, predicted = events / n, float(sample.count @ sample.value) / n
    miss = (1 - confidence_level) / 2
    low, rest = smallest_mean(np.array([events, n - events]), np.array([n, n]), miss).tolist()
    error = np.repeat(np.abs(local_curve(sample) - sample.value), sample.count.astype(np.int64))
    brier = confidence_interval(sample, measure=Brier(), confidence_level=confidence_level)
    return Validation(
        observed=observed,
        predicted=predicted,
        ratio=observed / predicted,
        in_the_large=large,
        intercept=intercept,
        slope=slope,
        ici=float(error.mean()),
        e50=float(np.quantile(error, 0.5)),
        e90=float(np.quantile(error, 0.9)),
        emax=float(error.max()),
        brier=brier.estimate,
        scaled_brier=1 - brier.estimate / (observed * (1 - observed)) if 0 < events < n else float("nan"),
        auc=auc(sample.count, sample.positives)[0],
        intervals={
            "observed": (low, 1 - rest),
            "ratio": (low / predicted, (1 - rest) / predicted),
            "in_the_large": large_interval,
            **of_line,
            "brier": (brier.low, brier.high),
        },
        confidence_level=confidence_level,
        smoother=SMOOTHER,
        lens=seen.lens,
        n=n,
        events=events,
    )
