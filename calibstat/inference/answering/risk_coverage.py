"""Risk and coverage: how often a model is wrong that answers only the share of rows of which it is most confident."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level, is_number
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.inference.answering.answered_rows import AnsweredRows, decided_at
from calibstat.inference.answering.risk_area import risk_area
from calibstat.inference.answering.shown_threshold import least_rows, shown_threshold
from calibstat.inference.designs.question_of_rows import Reason, question
from calibstat.output.wording import level_text, percent
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd

CURVE_POINTS = 200  # of the curve, at most
INDEPENDENT_ROWS = {
    "cluster": Reason(
        "its bound is for rows that are independent, and rows of a cluster may be wrong together",
        "ask about one row of each cluster",
    ),
    "sample_weight": Reason(
        "its bound is for counts of rows, not for sums of weights",
        "give rows that count equally, or counts of repeated rows as a cs.Sample",
    ),
}


@dataclass(frozen=True, eq=False)
class RiskCoverage(NotedResult):
    """Result of `risk_coverage`.

    Attributes
    ----------
    coverage : ndarray, shape (T,)
        Shares of the rows that are answered, ascending to 1: all of them if there are few, else some 200, evenly.
    confidence : ndarray, shape (T,)
        The confidence from which on so many are answered.
    error, calibrated, perfect : ndarray, shape (T,)
        The share of these answers that is wrong; the same on average if the model were calibrated with these
        predictions; and the same if the wrong answers were the least confident ones.
    area, low, high : float
        The error on average over all shares answered (the area under the curve), and the ends of its interval.
    calibrated_area, perfect_area : float
        The area if the model were calibrated with these predictions, and in perfect order.
    max_error : float or None
        The largest error that was asked for; None if none was.
    threshold : float or None
        The smallest confidence from which on at most `max_error` of the answers are shown to be wrong; None if this is
        shown of no confidence, or none was asked for.
    answered, observed : float or None
        The share of these rows with at least this confidence, and how many of them are wrong; None likewise.
    least_rows : int or None
        The least number of rows of which anything can be shown of this `max_error`; None without it.
    decide_at : float or None
        From which probability on outcome 1 is predicted; None if the most likely class is.
    confidence_level : float
        The confidence level of the interval, and of what is said of the threshold.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    """

    coverage: np.ndarray
    confidence: np.ndarray
    error: np.ndarray
    calibrated: np.ndarray
    perfect: np.ndarray
    area: float
    low: float
    high: float
    calibrated_area: float
    perfect_area: float
    max_error: float | None
    threshold: float | None
    answered: float | None
    observed: float | None
    least_rows: int | None
    decide_at: float | None
    confidence_level: float
    lens: NamedLens
    n: int

    @property
    def headline(self) -> tuple[str, ...]:
        """The area and the ends of its interval."""
        return "area", "low", "high"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each point of the curve."""
        import pandas as pd

        columns = ("coverage", "confidence", "error", "calibrated", "perfect")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    @property
    def answer(self) -> str:
        """The threshold that is shown, in a sentence; without `max_error` the area."""
        if self.max_error is None:
            return f"{self._area} ({level_text(self.confidence_level)} interval)."
        most, level = percent(self.max_error), level_text(self.confidence_level)
        if self.threshold is None or self.answered is None or self.observed is None:
            few = self.least_rows is not None and self.n < self.least_rows
            why = f": it takes {self.least_rows:,} rows" if few else ""
            shown = f"from which on at most {most} of the answers are wrong ({level} confidence)"
            return f"No confidence is shown {shown}{why}."
        return (
            f"Answer from confidence {settled(self.threshold):.4g} on ({percent(self.answered)} of the rows): at most "
            f"{most} of these answers are wrong ({level} confidence; observed {_per_cent(self.observed)})."
        )

    @property
    def _area(self) -> str:
        ends = f"{_per_cent(self.low)} to {_per_cent(self.high)}"
        return f"On average over all shares answered, {_per_cent(self.area)} of the answers are wrong ({ends})"

    def __str__(self) -> str:
        decided = "" if self.decide_at is None else f", predicted from {self.decide_at:g} on"
        all_rows = f"{percent(float(self.error[-1]))} of all answers are wrong: {self.lens}{decided}"
        beside = f"{_per_cent(self.calibrated_area)} if calibrated, {_per_cent(self.perfect_area)} in perfect order"
        first = [] if self.max_error is None else [self.answer]
        return "\n".join([*first, f"{self._area}; {beside}.", f"{all_rows}, n = {self.n:,}."])


def _per_cent(share: float) -> str:
    return f"{settled(100 * share):.3g} %"


@question(because=INDEPENDENT_ROWS)
def risk_coverage(
    rows: Data,
    /,
    *,
    max_error: float | None = None,
    decide_at: float | None = None,
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> RiskCoverage:
    """Return how often a model is wrong that answers only where it is confident, share by share.

    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(2000, rng=1)
    >>> print(cs.risk_coverage(y, p, max_error=0.1).answer)
    Answer from confidence 0.8709 on (25 % of the rows): at most 10 % of these answers are wrong (95 % confidence;
    observed 7.06 %).

    Parameters
    ----------
    y_true, y_prob, labels, pos_label
        As for `estimate`. Rows count equally and are independent.
    max_error : float, optional
        The largest share of wrong answers that is acceptable, between 0 and 1, fixed before the outcomes are seen: asks
        for a confidence from which on there are at most so many.
    decide_at : float, optional
        Of one event: from which probability on outcome 1 is predicted, from 0 to 1. Default: 0.5. With 0 outcome 1 is
        always predicted: so where y says that an answer was right, and p how sure the model was of it.
    confidence_level : float
        Of the interval, and of what is said of the threshold, between 0 and 1.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    RiskCoverage
        `Answers`, a mapping from name to this, for several models, each at the full level.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), the lens has no binary outcome, `decide_at`
        is given of the most likely class, or an argument is out of range.

    Notes
    -----
    Confidence is the probability of the outcome that is predicted: the most likely class, or of one event outcome 1
    from `decide_at` on and outcome 0 below. The interval of the area is for new rows of the same population, to first
    order.

    Threshold: given the predictions, the probability that one is returned of which more than `max_error` of the answers
    to these rows are expected to be wrong is at most 1 - `confidence_level`. The same holds of new rows of the
    population if no two rows have the same confidence, and the error rises above `max_error` only once as more is
    answered. Exact binomial tests in a fixed sequence, begun at all, half, a quarter ... of the rows. A threshold that
    is not found is not shown to be too low. Cost: one sort, and a binomial tail for each confidence.

    References
    ----------
    Geifman, El-Yaniv 2017, Selective classification for deep neural networks, arXiv:1705.08500; Wiens 2003,
    doi:10.1002/pst.64; Angelopoulos and others 2021, Learn then test, arXiv:2110.01052; Hoeffding 1956,
    doi:10.1214/aoms/1177728178.
    """
    check_level("confidence_level", confidence_level)
    if max_error is not None:
        check_level("max_error", max_error)
    if decide_at is not None and not (is_number(decide_at) and 0 <= decide_at <= 1):
        raise ValueError(f"expected decide_at from 0 to 1, found {decide_at!r}")
    view = rows.view().one_event("risk and coverage")
    seen = AnsweredRows.of(view, decide_at)
    area, miss = risk_area(seen), 1 - confidence_level
    place = None if max_error is None else shown_threshold(seen, max_error, miss)
    kept = _spread(seen.answered)
    return RiskCoverage(
        coverage=read_only(seen.answered[kept] / seen.n),
        confidence=read_only(seen.confidence[kept]),
        error=read_only(seen.share[kept]),
        calibrated=read_only(seen.if_calibrated[kept]),
        perfect=read_only(seen.if_ordered[kept]),
        area=area.estimate,
        low=max(area.low(miss / 2), 0.0),
        high=min(area.high(miss / 2), 1.0),
        calibrated_area=seen.area(seen.if_calibrated),
        perfect_area=seen.area(seen.if_ordered),
        max_error=max_error,
        threshold=None if place is None else float(seen.confidence[place]),
        answered=None if place is None else float(seen.answered[place] / seen.n),
        observed=None if place is None else float(seen.share[place]),
        least_rows=None if max_error is None else least_rows(max_error, miss),
        decide_at=decided_at(view, decide_at),
        confidence_level=confidence_level,
        lens=view.lens,
        n=int(seen.n),
        **view.annotations(),
    )


def _spread(answered: np.ndarray) -> np.ndarray:
    """Return the places of points of the curve, all or some evenly spread over the shares, the last one among them."""
    if answered.size <= CURVE_POINTS:
        return np.arange(answered.size)
    at = np.arange(1, CURVE_POINTS + 1) * answered[-1] / CURVE_POINTS
    return np.unique(np.minimum(np.searchsorted(answered, at), answered.size - 1))
