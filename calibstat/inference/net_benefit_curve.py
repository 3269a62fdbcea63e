"""Net benefit over thresholds: whether acting on a model does more good than acting on all rows, or on none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import as_numbers, check_level, short
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.sample import Sample
from calibstat.data.single_precision import edges_for
from calibstat.digits import settled, writer
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.unit_rows import UnitRows
from calibstat.measures.net_benefit import NetBenefit
from calibstat.output.visible_text import aligned
from calibstat.output.wording import level_text
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = 99  # by default: .01 to .99
MOST_THRESHOLDS = 12  # of the table that is printed; of more thresholds it has the round ones
ROUND = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, eq=False)
class NetBenefitCurve(NotedResult):
    """Result of `net_benefit`.

    Attributes
    ----------
    threshold : ndarray, shape (T,)
        Probabilities at and above which to act, ascending.
    model, low, high : ndarray, shape (T,)
        The net benefit of acting by the model, in true positives per row, and its interval, each at its threshold.
    everyone : ndarray, shape (T,)
        The net benefit of acting on all rows; of acting on none it is 0.
    confidence_level : float
        The confidence level of each interval.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    drawn : str
        What the intervals take as independent: "rows", or clusters, with their number and sizes.
    """

    threshold: np.ndarray
    model: np.ndarray
    low: np.ndarray
    high: np.ndarray
    everyone: np.ndarray
    confidence_level: float
    lens: NamedLens
    n: int
    drawn: str = "rows"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each threshold."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in ("threshold", "model", "low", "high", "everyone")})

    @property
    def answer(self) -> str:
        """Return where acting by the model is better than acting on all rows and on none."""
        better = self.model > np.maximum(self.everyone, 0)
        ends = self.threshold[better]
        other = "better than acting on all rows"
        if better.size == 1:
            where = f"is {'' if ends.size else 'not '}{other} and on none at the threshold {self.threshold[0]:g}"
        elif ends.size:
            shares = f"{ends.size} of {better.size} thresholds, the lowest {ends[0]:g} and the highest {ends[-1]:g}"
            where = f"is {other} and on none at {shares}"
        else:
            where = f"is nowhere {other} or on none, at {better.size} thresholds"
        return f"Acting by the model {where}."

    @property
    def in_table(self) -> tuple[int, ...]:
        """The places of the thresholds of which a table is printed: all, or of many the round ones."""
        few = self.threshold.size <= MOST_THRESHOLDS
        return tuple(k for k, t in enumerate(self.threshold) if few or np.isclose(t, ROUND).any())

    def __str__(self) -> str:
        of = "" if self.drawn == "rows" else f" in {self.drawn}"
        interval = f"{level_text(self.confidence_level)} interval"
        write, lines = writer(".4f"), [("threshold", "net benefit", interval, "acting on all")]
        for k in self.in_table:
            ends = f"{write(self.low[k])} to {write(self.high[k])}"
            lines.append((f"{settled(self.threshold[k]):g}", write(self.model[k]), ends, write(self.everyone[k])))
        about = f"Net benefit by threshold, {self.lens}, n = {self.n}{of}."
        return "\n".join([self.answer, *aligned(lines) * (len(lines) > 1), about])


@question("sample_weight", "cluster")
def net_benefit(
    rows: Data,
    /,
    thresholds: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> NetBenefitCurve:
    """Return the net benefit of acting on predictions, threshold by threshold (a decision curve).

        >>> import calibstat as cs
        >>> curve = cs.net_benefit([1, 0, 0, 1], [0.9, 0.3, 0.1, 0.1], [0.2, 0.5])
        >>> curve.model, curve.everyone
        (array([0.1875, 0.25  ]), array([0.375, 0.   ]))

    Parameters
    ----------
    y_true, y_prob, sample_weight, labels, pos_label
        As for `estimate`.
    thresholds : array_like, shape (T,), optional
        Probabilities between 0 and 1, ascending, at and above which to act. Default: 0.01, 0.02, ..., 0.99.
    confidence_level : float
        Of the interval at each threshold, between 0 and 1.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.
    cluster : array_like, shape (n,), optional
        The cluster of each row, such as a patient or a centre: intervals take clusters as independent, and not rows.
        The curves do not depend on clusters.

    Returns
    -------
    NetBenefitCurve
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the thresholds are not ascending between 0 and 1, the data are not as described (the first offending row is
        named) or are a `Sample` with real-valued weights, or the lens has no binary outcome.

    Notes
    -----
    At threshold t a false positive weighs t / (1 - t) true positives, because one who acts from t on is indifferent
    there; net benefit is the share of true positives less the weighted share of false ones. No null hypothesis is
    tested; each interval is the honest one of `confidence_interval` for this mean and stands alone, so do not choose a
    threshold by it. To compare two models at one threshold: ``compare(y, models, measure=NetBenefit(threshold=t))``.
    A calibrated model never does worse than acting on all rows or on none, whatever the threshold; a miscalibrated one
    may. With weights rows count by them, and the interval is for the population in which they do. Cost: one sort,
    whatever the number of thresholds; with weights or clusters also a few passes over the rows for each threshold.

    References
    ----------
    Vickers, Elkin 2006, Decision curve analysis, doi:10.1177/0272989X06295361.
    """
    threshold = checked_thresholds(thresholds)
    check_level("confidence_level", confidence_level)
    view = rows.view().one_event("net benefit")
    design = design_of(rows)
    sample, units = view.counted("net benefit"), UnitRows.of(view, design.unit, design.unseen)
    points = (
        _of_counts(sample, threshold, confidence_level)
        if units is None
        else _of_units(units, threshold, confidence_level)
    )
    model, low, high = (read_only(column.copy()) for column in np.array(list(points)).T)
    rate = float(sample.positives.sum() / sample.count.sum())
    return NetBenefitCurve(
        threshold=threshold,
        model=model,
        low=low,
        high=high,
        everyone=read_only(rate - (1 - rate) * threshold / (1 - threshold)),
        confidence_level=confidence_level,
        lens=view.lens,
        n=int(sample.n) if units is None else units.rows.n_rows,
        drawn="rows" if units is None else units.drawn,
        **(view.annotations() if units is None else units.annotated(view, confidence_level)),
    )


Point = tuple[float, float, float]  # the net benefit at a threshold, and the ends of its interval


def _of_counts(sample: Sample, threshold: np.ndarray, confidence_level: float) -> Iterator[Point]:
    """Yield the net benefit of independent rows at each threshold."""
    for t, part in zip(threshold.tolist(), _divided(sample, threshold), strict=True):
        found = confidence_interval(part, measure=NetBenefit(threshold=t), confidence_level=confidence_level)
        yield found.estimate, found.low, found.high


def _of_units(units: UnitRows, threshold: np.ndarray, confidence_level: float) -> Iterator[Point]:
    """Yield the net benefit of rows with weights or in clusters at each threshold."""
    rows, miss = units.rows, (1 - confidence_level) / 2
    for measure in (NetBenefit(threshold=t) for t in threshold.tolist()):
        negative, positive = measure.loss(rows.prediction)
        benefit = np.where(rows.outcome == 1, positive, negative)
        estimate = units.mean(measure.name, benefit, measure.bounds).estimate
        yield estimate, *units.ends(measure.name, benefit, measure.bounds, miss)


def _divided(sample: Sample, threshold: np.ndarray) -> Iterator[Sample]:
    """Yield for each threshold its two kinds of rows: those below it, on which nobody acts, and the others.

    The net benefit depends on nothing else.
    """
    first = np.searchsorted(sample.value, edges_for(sample.value, threshold))
    below = [np.concatenate(([0.0], np.cumsum(part)))[first] for part in (sample.count, sample.positives)]
    above = [part.sum() - less for part, less in zip((sample.count, sample.positives), below, strict=True)]
    counts, positives = (np.stack(pair, axis=1) for pair in zip(below, above, strict=True))
    for t, count, positive in zip(threshold, counts, positives, strict=True):
        yield Sample.from_counts([0.0, t], count, positive)


def checked_thresholds(thresholds: ArrayLike | None) -> np.ndarray:
    """Return the thresholds, or those by default."""
    if thresholds is None:
        return read_only(np.arange(1, THRESHOLDS + 1) / (THRESHOLDS + 1))
    grid = as_numbers(thresholds)
    if grid.ndim != 1 or grid.size == 0 or not np.all((grid > 0) & (grid < 1)) or np.any(np.diff(grid) <= 0):
        raise ValueError(f"expected ascending thresholds between 0 and 1, found {short(thresholds)}")
    return read_only(grid)
