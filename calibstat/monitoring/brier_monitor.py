"""Two models over time: a confidence sequence for the mean difference of their Brier scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import AboutRows, Data, Models
from calibstat.data.checks import check_level, short
from calibstat.inference.designs.question_of_rows import need_alone
from calibstat.monitoring.brier_status import BrierStatus
from calibstat.monitoring.by_segment import check_segments, saved_segments, segment_names
from calibstat.monitoring.confidence_sequence import ConfidenceSequence
from calibstat.monitoring.evidence import stream_weights
from calibstat.monitoring.monitor_status import ALL_ROWS
from calibstat.monitoring.pair_summary import PairSummary, summarize
from calibstat.monitoring.period import UNITS
from calibstat.monitoring.period_labels import Label
from calibstat.monitoring.period_log import PeriodLog, one_at_a_time

if TYPE_CHECKING:
    import pandas as pd


class BrierMonitor(PeriodLog[PairSummary]):
    """Comparison of two models over time: a confidence sequence for the mean difference of their Brier scores.

        >>> import calibstat as cs
        >>> monitor = cs.BrierMonitor()
        >>> for week in range(1, 31):
        ...     y, p = cs.generators.calibrated().sample(200, rng=week)
        ...     status = monitor.update(y, p, p**3, period=week)
        >>> status.better
        'A'

    Parameters
    ----------
    confidence_level : float
        The probability that the sequence is right after all periods at once is at least this.
    names : sequence of two str
        The models.
    segments : sequence of str, optional
        The segments, if rows come with one. By default the segments of the first period. The sequence of all rows may
        miss with half of the probability, the sequences of the segments share the other half equally.

    Attributes
    ----------
    periods : tuple of int or str
        The periods fed so far.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1, there are not two different names, or a segment has no name or the name of
        another.

    Notes
    -----
    The Brier score of a row is (prediction - outcome)^2. Covered is the mean, over the rows so far, of the expected
    difference in each row given its predictions and the past, which may drift [1]_. Rows of a period may depend on
    earlier periods, not on each other. The sequence is a theorem [2]_, at any number of looks. With segments there is
    one for each, and all are right at once, because the probabilities that they miss add up to 1 - `confidence_level`.
    ``save(path)`` writes the state, ``BrierMonitor.load(path)`` goes on from it, and ``restart()`` begins a new run. A
    smaller Brier score is not a smaller calibration error, because it rewards sharpness too: `compare` asks which model
    is better calibrated, once, on rows that are all there.

    References
    ----------
    .. [1] Choe, Ramdas (2023), Comparing sequential forecasters, Operations Research. arXiv:2110.00115
    .. [2] Fan, Grama, Liu (2015), Exponential inequalities for martingales with applications, doi:10.1214/EJP.v20-3496
    """

    kinds, _summaries = ("Brier monitor",), PairSummary

    def __init__(
        self,
        confidence_level: float = 0.95,
        names: Sequence[str] = ("A", "B"),
        segments: Sequence[str] | None = None,
    ) -> None:
        check_level("confidence_level", confidence_level)
        several = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str)
        if not several or len(names) != 2 or len({str(name) for name in names}) < 2:
            raise ValueError(f"expected the names of two different models, found {short(names)}")
        super().__init__()
        self.confidence_level = float(confidence_level)
        self.names = (str(names[0]), str(names[1]))
        self.segments = None if segments is None else segment_names(segments)
        self._begin()

    def summarize(
        self,
        y_true: ArrayLike | Models,
        prob_a: ArrayLike | None = None,
        prob_b: ArrayLike | None = None,
        segment: ArrayLike | None = None,
        **about: Unpack[AboutRows],
    ) -> PairSummary:
        """Return the summary of a period, or of a part (shard) of one; summaries of parts add up with ``+``.

        Parameters
        ----------
        y_true : array_like, shape (n,), or Models
            Outcomes: 0 and 1, or two values named by `labels` or `pos_label`. Or the `Models` of both names, and
            nothing else but `segment`.
        prob_a, prob_b : array_like, shape (n,) or (n, 2)
            Predicted probabilities of outcome 1 by both models.
        segment : array_like, shape (n,), or str, optional
            The segment of each row, or of all.
        **about
            As for `estimate`.

        Raises
        ------
        ValueError
            If the data are no outcomes and probabilities of equal length, there is no row, models have other names, or
            a segment is missing.
        """
        y_prob: Any = dict(zip(self.names, (prob_a, prob_b), strict=True))
        if isinstance(y_true, Data | Models):
            need_alone(y_true, {"prob_a": prob_a, "prob_b": prob_b})
            y_prob = None
        return summarize(y_true, y_prob, names=self.names, segment=segment, **about)

    def update(
        self,
        y_true: ArrayLike | Models | PairSummary,
        prob_a: ArrayLike | None = None,
        prob_b: ArrayLike | None = None,
        period: object = None,
        segment: ArrayLike | None = None,
        **about: Unpack[AboutRows],
    ) -> BrierStatus:
        """Feed a period, when all of its outcomes are known, and return what there is to say after it.

        Parameters
        ----------
        y_true, prob_a, prob_b, segment, **about
            As for `summarize`; or `y_true` is a summary, and nothing else is given but the period.
        period : str, int or date, optional
            Its name, which must be new; by default its number.

        Returns
        -------
        BrierStatus
            What `status` returns after this period.

        Raises
        ------
        ValueError
            As for `summarize`; if the period is known already; if there is a segment that is not one of those fixed
            beforehand, or none where there are segments. The monitor is then as before.
        """
        summary = self._summary_of(y_true, {"prob_a": prob_a, "prob_b": prob_b, "segment": segment, **about})
        with self._lock:
            self._feed(period, summary)
            return self.status()

    @one_at_a_time
    def status(self) -> BrierStatus:
        """Return what there is to say after the latest period, about the time since the last `restart`."""
        parts = {name: self._status(name, {}) for name in self.segments or ()}
        return self._status("", parts)

    def _status(self, segment: str, parts: dict[str, BrierStatus]) -> BrierStatus:
        """Return the confidence sequence of a segment, or of all rows for ""."""
        sequence, periods = self._of(segment)
        difference, low, high = sequence.ends(UNITS)
        out = (low > 0) | (high < 0)
        a, b = self.names
        return BrierStatus(
            difference=float(difference[-1]) if periods else None,
            low=float(low[-1]) if periods else None,
            high=float(high[-1]) if periods else None,
            decided_period=periods[int(np.argmax(out))] if out.any() else None,
            better=None if not periods or not out[-1] else a if high[-1] < 0 else b,
            names=self.names,
            confidence_level=self.confidence_level,
            level=sequence.level,
            rows=sequence.n,
            periods=tuple(periods),
            differences=difference,
            lows=low,
            highs=high,
            segment=segment or ALL_ROWS,
            segments=parts,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period since the last `restart`."""
        return self.status().to_frame()

    def _begin(self) -> None:
        self._sequences: dict[str, tuple[ConfidenceSequence, list[Label]]] = {}

    def _add(self, label: Label, summary: PairSummary) -> None:
        segments = self.segments if self.segments is not None else summary.names
        check_segments(summary, segments)
        self.segments = segments
        for name, sums in [("", summary.total), *((name, summary.segments[name]) for name in summary.names)]:
            sequence, periods = self._of(name)
            sequence.add(sums.rows, sums.brier_a - sums.brier_b, sums.squares)
            periods.append(label)

    def _of(self, segment: str) -> tuple[ConfidenceSequence, list[Label]]:
        """Return the sequence of a segment, or of all rows for "", which misses with its share of the probability."""
        if segment not in self._sequences:
            shares = (1 - self.confidence_level) * stream_weights(len(self.segments or ()))
            share = float(shares[-1 if segment else 0])
            self._sequences[segment] = ConfidenceSequence(1 - share), []
        return self._sequences[segment]

    def _settings(self) -> dict[str, Any]:
        segments = None if self.segments is None else list(self.segments)
        return {"confidence_level": self.confidence_level, "names": list(self.names), "segments": segments}

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        if set(settings) | {"segments"} != {"confidence_level", "names", "segments"}:
            raise ValueError(f"expected confidence_level, names and segments, found {short(list(settings))}")
        monitor = cls(settings["confidence_level"], settings["names"])
        monitor.segments = saved_segments(settings.get("segments"))  # of states saved before there were segments: None
        return monitor

    @staticmethod
    def _to_json(summary: PairSummary) -> dict[str, list[int]] | list[int]:
        return summary.to_dict() if summary.names else summary.total.to_list()

    @staticmethod
    def _from_json(entry: object) -> PairSummary:
        return PairSummary.from_dict(
            {"": entry} if isinstance(entry, list) else entry
        )  # a list before there were segments

    @one_at_a_time
    def __repr__(self) -> str:
        return f"BrierMonitor({len(self._periods)} period{'s' * (len(self._periods) != 1)}, {' and '.join(self.names)})"
