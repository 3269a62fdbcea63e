"""Decision loss over thresholds: what somebody loses by acting on predictions as if they were calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.residual_tables import RowTable
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.sample import Sample
from calibstat.data.single_precision import edges_for
from calibstat.digits import settled
from calibstat.in_order import first_largest, without_rounding
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.net_benefit_curve import checked_thresholds
from calibstat.inference.unit_rows import UnitRows
from calibstat.output.wording import level_text
from calibstat.resampling.rng import Rng
from calibstat.result import NotedResult, read_only

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class DecisionLossCurve(NotedResult):
    """Result of `decision_loss`; all gains are per row, in the unit of `gain` and `cost`.

    Attributes
    ----------
    threshold : ndarray, shape (T,)
        Probabilities at and above which somebody acts, ascending.
    loss, high : ndarray, shape (T,)
        What they would gain by acting from the best other threshold on, and its upper bound.
    better : ndarray, shape (T,)
        The best other threshold on these rows; the same one where no other is better, and infinite where it is best
        never to act.
    largest, low, largest_high : float
        The largest loss at any threshold, and the ends of its interval.
    own : float
        The threshold of the one who asks, cost / (gain + cost); nan if no gain and cost were given.
    own_loss, own_high : float
        The loss at this threshold and its upper bound, nan likewise.
    stake : float
        Gain and cost together, in which all gains are counted; 1 if none were given.
    confidence_level : float
        The confidence level of the interval; each upper bound holds with the same level on its side.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    drawn : str
        What the bounds take as independent: "rows", or clusters, with their number and sizes.
    """

    threshold: np.ndarray
    loss: np.ndarray
    high: np.ndarray
    better: np.ndarray
    largest: float
    low: float
    largest_high: float
    own: float
    own_loss: float
    own_high: float
    stake: float
    confidence_level: float
    lens: NamedLens
    n: int
    drawn: str = "rows"

    @property
    def headline(self) -> tuple[str, ...]:
        """The largest gain and the ends of its interval."""
        return "largest", "low", "largest_high"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each threshold."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in ("threshold", "loss", "high", "better")})

    def __str__(self) -> str:
        of = "" if self.drawn == "rows" else f" in {self.drawn}"
        stake = f", with gain and cost together {self.stake:g}" if self.stake != 1 else ""
        loss = f"{settled(self.own_loss):.3g}, at most {settled(self.own_high):.3g}"
        own = "" if np.isnan(self.own) else f" At threshold {settled(self.own):.3g} the gain is {loss}."
        return (
            f"Other thresholds gain at most {settled(self.largest_high):.3g} per case for any decision maker{stake} "
            f"({level_text(self.confidence_level)} confidence).\n"
            f"The largest gain is estimated as {settled(self.largest):.3g} ({settled(self.low):.3g} to "
            f"{settled(self.largest_high):.3g}).{own}\nLosses by threshold, {self.lens}, n = {self.n}{of}."
        )


@question("sample_weight", "cluster")
def decision_loss(
    rows: Data,
    /,
    thresholds: ArrayLike | None = None,
    *,
    gain: float | None = None,
    cost: float | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> DecisionLossCurve:
    """Return what anyone could gain by acting on predictions from another threshold on than their own.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(2).sample(1000, rng=1)
        >>> found = cs.decision_loss(y, p, [0.2, 0.5], gain=900, cost=100, rng=1)
        >>> found.loss.round(1), found.high.round(1)
        (array([5.8, 9.5]), array([16.9, 19.1]))
        >>> found.own, round(found.own_high, 1), round(found.largest_high, 1)
        (0.1, 18.5, 29.9)

    Parameters
    ----------
    y_true, y_prob, sample_weight, labels, pos_label
        As for `estimate`.
    thresholds : array_like, shape (T,), optional
        Probabilities between 0 and 1, ascending, of the curve. Default: 0.01, 0.02, ..., 0.99.
    gain, cost : float, optional
        What it brings to act on a row with outcome 1, and what it costs to act on one with outcome 0, both above 0 and
        in one unit of your own, such as money or years of life; both, or neither. Losses are then in this unit. Your
        own threshold is cost / (gain + cost); others are taken to have as much at stake in all.
    confidence_level : float
        Between 0 and 1.
    n_resamples : int, optional
        As for `confidence_interval`; the upper bounds need none.
    rng, n_jobs
        As for `calibration_test`.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.
    cluster : array_like, shape (n,), optional
        The cluster of each row, such as a patient or a centre: bounds take clusters as independent, and not rows.

    Returns
    -------
    DecisionLossCurve
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the thresholds are not ascending between 0 and 1, one of gain and cost is given without the other or not
        above 0, the data are not as described (the first offending row is named), are a `Sample` with real-valued
        weights, or the lens has no binary outcome.

    Notes
    -----
    Somebody is indifferent between acting and not where the probability of outcome 1 is t, their cost as a share of
    gain and cost. If predictions are calibrated they do best to act from t on. The loss at t is what they would gain by
    acting from another threshold on instead, the same for all rows. The largest loss over all t is the measure
    `decision_loss`; its interval is that of `confidence_interval`. Each upper bound of the curve is the largest score
    bound of any fixed other threshold, so that the search for the best needs no correction. It is valid for its
    threshold alone; `largest_high` is valid for all thresholds together. The best other threshold was chosen on these
    rows, so its estimated gain is too large. Cost: one sort, then one pass for each threshold; and the interval.

    References
    ----------
    Hu, Wu 2024, Predict to minimize swap regret for all payoff-bounded tasks, arXiv:2404.13503, on gains of decision
    makers as a measure of calibration.
    """
    threshold, stake = checked_thresholds(thresholds), _checked_stake(gain, cost)
    check_level("confidence_level", confidence_level)
    view = rows.view().one_event("decision loss")
    design = design_of(rows)
    sample, units = view.counted("decision loss"), UnitRows.of(view, design.unit, design.unseen)
    own = np.nan if cost is None else cost / stake
    asked = threshold if np.isnan(own) else np.append(threshold, own)
    tail = (1 - confidence_level) / 2
    points = np.array([_at(t, sample, units, tail) for t in asked.tolist()]).T
    loss, high, better = points * np.array([[stake], [stake], [1.0]])
    found = confidence_interval(
        rows,
        measure="decision_loss",
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        rng=rng,
        n_jobs=n_jobs,
    )
    curve = slice(0, threshold.size)
    return DecisionLossCurve(
        threshold=threshold,
        loss=read_only(loss[curve].copy()),
        high=read_only(high[curve].copy()),
        better=read_only(better[curve].copy()),
        largest=stake * found.estimate,
        low=stake * found.low,
        largest_high=stake * found.high,
        own=own,
        own_loss=np.nan if np.isnan(own) else float(loss[-1]),
        own_high=np.nan if np.isnan(own) else float(high[-1]),
        stake=stake,
        confidence_level=confidence_level,
        lens=view.lens,
        n=int(sample.n) if units is None else units.rows.n_rows,
        drawn="rows" if units is None else units.drawn,
        **(view.annotations() if units is None else units.annotated(view, confidence_level)),
    )


def _at(t: float, sample: Sample, units: UnitRows | None, tail: float) -> tuple[float, float, float]:
    """Return the loss at a threshold, its upper bound and the best other threshold.

    A lower threshold gains y - t on each row with a prediction between it and t. A higher threshold loses y - t on
    each row with a prediction between t and it.

    Statement and argument: docs/evidence/proofs/decision-loss.md.
    """
    first = int(np.searchsorted(sample.value, edges_for(sample.value, t)))
    below, above = _nearest_first(t, first, sample, units)
    begun, ceased = below.prefixes(), above.prefixes()
    tail_bound = below.tail_bound(tail)
    bounds = (
        begun.total + tail_bound.reach(begun.variance, begun.third),
        -ceased.total + tail_bound.reach(ceased.variance, -ceased.third),
    )
    high = min(max(float(each.max()) for each in bounds) / below.n, 1.0)
    gains = np.concatenate([begun.total[first:0:-1], -ceased.total]) / below.n  # of acting from each prediction on
    best = int(first_largest(without_rounding(gains)))
    if best == first:
        return 0.0, high, t
    return float(gains[best]), high, float(np.append(sample.value, np.inf)[best])


def _nearest_first(t: float, first: int, sample: Sample, units: UnitRows | None) -> tuple[Moments, Moments]:
    """Return the moments of y - t at the predictions below a threshold, the `first` ones, and at those above."""
    if units is None:
        negatives = sample.count - sample.positives
        x, xx, xxx = (sample.positives * (1 - t) ** k + negatives * (-t) ** k for k in (1, 2, 3))
        moments = SeparableMoments.of_powers(x, xx, xxx, float(sample.n))
        backwards = slice(first - 1, None, -1) if first else slice(0)
        return moments.of_cells(backwards), moments.of_cells(slice(first, None))
    place = units.rows.cell
    return _at_distance(t, first - 1 - place, units), _at_distance(t, place - first, units)


def _at_distance(t: float, distance: np.ndarray, units: UnitRows) -> Moments:
    """Return the moments of y - t at each distance that is not negative, of rows with weights or in clusters."""
    rows, inside = units.rows, distance >= 0
    return RowTable(
        cell=np.where(inside, distance, 0),
        residual=np.where(inside, rows.outcome - t, 0.0),
        prediction=rows.prediction,
        cells=max(int(distance.max()) + 1, 1),
        sample_weight=rows.weight,
        unit=units.unit,
    ).moments


def _checked_stake(gain: float | None, cost: float | None) -> float:
    """Return gain and cost together, 1 if neither is given."""
    if gain is None and cost is None:
        return 1.0
    for name, given in (("gain", gain), ("cost", cost)):
        if not (isinstance(given, Real) and 0 < given < np.inf):
            raise ValueError(f"expected a gain and a cost above 0, found {name}={given!r}")
    assert gain is not None
    assert cost is not None
    return float(gain + cost)
