"""A monitor of calibration over time: evidence that may be looked at after every period."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import AboutRows, OneModel
from calibstat.data.checks import check_level, is_number, quoted, short
from calibstat.data.lenses import AnyLens
from calibstat.data.null_hypothesis import EVENT_NULL
from calibstat.in_order import first_largest, is_larger
from calibstat.monitoring.by_segment import check_segments, saved_segments, segment_names
from calibstat.monitoring.confidence_sequence import ConfidenceSequence
from calibstat.monitoring.directions import DIRECTIONS
from calibstat.monitoring.evidence import Run, start_probabilities
from calibstat.monitoring.monitor_status import ALL_ROWS, MonitorStatus, Onset
from calibstat.monitoring.period import (
    RATIO_UNIT,
    UNIT,
    UNITS,
    PeriodSummary,
    summarize,
)
from calibstat.monitoring.period_labels import Label
from calibstat.monitoring.period_log import PeriodLog, one_at_a_time

if TYPE_CHECKING:
    import pandas as pd

RANGE = 0.9  # share of the evidence that the range of likely starts has brought
PERIODS_NULL = f"In every period, given the predictions and all earlier periods: {EVENT_NULL}"


class _Peak(NamedTuple):
    """The largest evidence of a run: the periods before the run, those up to it, and the stream that it is from."""

    before: int
    end: int
    stream: int
    log_evidence: float


class Monitor(PeriodLog[PeriodSummary]):
    """Monitor of calibration: fed one period after the other, it raises an alarm when calibration does not hold.

    Parameters
    ----------
    alpha : float
        The probability of ever raising a false alarm is at most this, at any number of periods; the confidence
        sequence of the gap has level 1 - `alpha`.
    arl : float, optional
        Promise a mean number of periods between false alarms, at least this, instead of a probability. Deviations are
        found sooner, it starts again by itself after each alarm, and in the long run a false alarm is certain.
    segments : sequence of str, optional
        The segments, if rows come with one. By default the segments of the first period. All rows together have half of
        the weight of the evidence, the segments share the other half equally.

    Attributes
    ----------
    alarm : bool
        Whether an alarm was raised, since the last `restart`.
    alarm_period : int, str or None
        The period of the latest alarm.
    alarms : tuple of int or str
        The periods of all alarms, in all runs.
    evidence : float
        The evidence against calibration after the latest period: of an alarm at least 1 / `alpha`, or `arl`.
    pvalue : float or None
        The p-value valid at any time, 1 / (largest evidence so far), at most 1; None with `arl`.
    periods : tuple of int or str
        The periods fed so far.

    Raises
    ------
    ValueError
        If `alpha` is not between 0 and 1, `arl` not a number above 1, or a segment has no name or the name of another.

    Notes
    -----
    Null hypothesis: in every period, given the predictions and all earlier periods, every outcome is 1 independently
    with its predicted probability. Predictions, numbers of rows and the mix of rows may drift. Then both promises are
    theorems [1]_ [2]_; the page on monitoring has their proofs.

    The evidence is a mixture over 34 directions (shifts, over- and under-confidence, quarters of the range) and over
    all periods in which the deviation may have begun. An update takes O(34 m) for m distinct predictions; the state is
    a few sums for each period and segment. ``save(path)`` writes it, ``Monitor.load(path)`` goes on from it,
    ``restart()`` begins a new run, and ``summary(period)`` returns what was fed.

    References
    ----------
    .. [1] Ville (1939), Étude critique de la notion de collectif.
    .. [2] Shin, Ramdas, Rinaldo (2022), E-detectors: a nonparametric framework for sequential change detection.
       arXiv:2203.03532

    Examples
    --------
    >>> import calibstat as cs
    >>> monitor = cs.Monitor()
    >>> for day in range(1, 61):
    ...     world = cs.generators.temperature(1 if day <= 40 else 1.5)
    ...     status = monitor.update(*world.sample(100, rng=day), period=day)
    ...     if status.alarm:
    ...         break
    >>> status.alarm_period
    45
    >>> status.onset.low, status.onset.high
    (37, 41)
    """

    kind, _summaries = "monitor", PeriodSummary

    def __init__(self, alpha: float = 0.05, arl: float | None = None, segments: Sequence[str] | None = None) -> None:
        check_level("alpha", alpha)
        if 1 - alpha == 1:
            raise ValueError(f"expected alpha so large that 1 - alpha is less than 1, found {short(alpha)}")
        if arl is not None and not (is_number(arl) and 1 < arl <= sys.float_info.max):
            raise ValueError(f"expected arl to be a number of periods above 1, found {short(arl)}")
        super().__init__()
        self.alpha, self.arl = float(alpha), None if arl is None else float(arl)
        self.segments = None if segments is None else segment_names(segments)
        self.alarms: tuple[Label, ...] = ()
        self._begin()

    @property
    def alarm(self) -> bool:
        """Whether an alarm was raised, since the last `restart`."""
        return self.alarm_period is not None

    @property
    @one_at_a_time
    def evidence(self) -> float:
        """The evidence against calibration after the latest period."""
        return _exp(self._log_evidence[-1]) if self._log_evidence else 1.0 if self.arl is None else 0.0

    @property
    @one_at_a_time
    def pvalue(self) -> float | None:
        """The p-value valid at any time."""
        return None if self.arl is not None else min(1.0, _exp(-max(self._log_evidence, default=0.0)))

    @property
    def threshold(self) -> float:
        """The evidence of an alarm."""
        return 1 / self.alpha if self.arl is None else self.arl

    def summarize(
        self,
        y_true: OneModel,
        y_prob: ArrayLike | None = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> PeriodSummary:
        """Return the summary of a period, or of a part (shard) of one; summaries of parts add up with ``+``.

        Parameters
        ----------
        y_true, y_prob, lens, **about
            As for `estimate`: rows, a `Sample`, `Predictions` or `Data`, seen through a lens that shows a binary
            outcome; `labels` or `pos_label` name the outcomes.
        segment : array_like, shape (n,), or str, optional
            The segment of each row, or of all.

        Raises
        ------
        ValueError
            If the data are no outcomes and probabilities of one model, there is no row, weights are not whole numbers,
            or a segment is missing.
        """
        found: PeriodSummary | Answers[PeriodSummary] = summarize(y_true, y_prob, segment, lens=lens, **about)
        if isinstance(found, Answers):
            raise ValueError(
                f"expected one model for a monitor, found Models of {quoted(found)}; several have a ModelsMonitor"
            )
        return found

    def update(
        self,
        y_true: OneModel | PeriodSummary,
        y_prob: ArrayLike | None = None,
        period: object = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> MonitorStatus:
        """Feed a period, when all of its outcomes are known, and return what there is to say after it.

        Parameters
        ----------
        y_true, y_prob, segment, lens, **about
            As for `summarize`; or `y_true` is a summary, and nothing else is given but the period.
        period : str, int or date, optional
            Its name, which must be new; by default its number. Periods count in the order in which they are fed. All
            spellings of a date are one name, and a month or week shares no day with another period.

        Returns
        -------
        MonitorStatus
            What `status` returns after this period.

        Raises
        ------
        ValueError
            As for `summarize`; if the period is known already; if there is a segment that is not one of those fixed
            beforehand, or none where there are segments. The monitor is then as before.
        """
        summary = self._summary_of(y_true, {"y_prob": y_prob, "segment": segment, "lens": lens, **about})
        with self._lock:
            self._feed(period, summary)
            return self.status()

    @one_at_a_time
    def status(self) -> MonitorStatus:
        """Return what there is to say after the latest period, about the time since the last `restart`."""
        periods, summaries = self._since_restart()
        return self._status(periods, summaries)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period since the last `restart`."""
        return self.status().to_frame()

    # --- one run ------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self.alarm_period: Label | None = None
        self._log_evidence = array("d")
        self._gap = ConfidenceSequence(1 - self.alpha)
        self._sum = self._impossible = 0  # of the predictions, in units, and of outcomes that had probability 0
        self._predicted, self._frequency, self._mean = array("d"), array("d"), array("d")  # the last of all so far
        self._run: Run | None = None  # made with the first period, which fixes the segments
        self._peak = _Peak(0, 0, 0, -math.inf)
        self._alarm_peak: _Peak | None = None  # the peak by which the latest alarm is dated

    def _add(self, label: Label, summary: PeriodSummary) -> None:
        segments = self.segments if self.segments is not None else summary.names
        check_segments(summary, segments)
        self.segments = segments
        if self._run is None:
            self._run = Run(len(segments), self._regime)
        total = summary.total
        self._gap.add(total.rows, total.positives * UNITS - total.predicted, total.squares)
        self._sum += total.predicted
        self._impossible += total.impossible
        self._predicted.append(total.predicted * UNIT / total.rows)
        self._frequency.append(total.positives / total.rows)
        self._mean.append(self._sum / UNITS / self._gap.n)
        log_evidence = self._run.add(_log_ratios(summary, segments))
        self._log_evidence.append(log_evidence)
        t = len(self._log_evidence)
        if self._run.t == 1 or is_larger(log_evidence, self._peak.log_evidence):
            stream = int(first_largest(self._run.log_streams + self._run.log_weights))
            self._peak = _Peak(t - self._run.t, t, stream, log_evidence)
        restarts = self.arl is not None
        if log_evidence >= math.log(self.threshold) and (restarts or not self.alarm):
            self.alarm_period = label
            self.alarms += (label,)
            self._alarm_peak = self._peak
            if restarts:
                self._run = None
        elif self.alarm and not restarts:
            self._alarm_peak = self._peak  # more periods may date it better

    @property
    def _regime(self) -> str:
        return "false alarm" if self.arl is None else "run length"

    def _status(self, periods: tuple[Label, ...], summaries: list[PeriodSummary]) -> MonitorStatus:
        known = set(periods)
        gaps, lows, highs = self._gap.ends(UNITS)
        rows, mean = self._gap.rows, np.array(self._mean)
        # the mean of true probabilities is one too
        lows, highs = np.minimum(np.maximum(lows, -mean), gaps), np.maximum(np.minimum(highs, 1 - mean), gaps)
        return MonitorStatus(
            alarm=self.alarm,
            alarm_period=self.alarm_period,
            alarms=tuple(label for label in self.alarms if label in known),
            onset=self._onset(periods, summaries) if self.alarm else None,
            evidence=self.evidence,
            threshold=self.threshold,
            pvalue=self.pvalue,
            impossible=self._impossible,
            gap=float(gaps[-1]) if periods else None,
            gap_low=float(lows[-1]) if periods else None,
            gap_high=float(highs[-1]) if periods else None,
            confidence_level=self._gap.level,
            alpha=self.alpha,
            arl=self.arl,
            rows=self._gap.n,
            periods=periods,
            count=np.diff(rows, prepend=0).astype(np.int64),
            mean_prediction=np.array(self._predicted),
            frequency=np.array(self._frequency),
            log_evidence=np.array(self._log_evidence),
            gaps=gaps,
            lows=lows,
            highs=highs,
            null_hypothesis=PERIODS_NULL,
        )

    def _onset(self, periods: tuple[Label, ...], summaries: list[PeriodSummary]) -> Onset:
        """Date the deviation by the periods from the start of the run to its largest evidence, where that is from."""
        assert self._alarm_peak is not None
        assert self.segments is not None
        first, last, stream, _ = self._alarm_peak
        name = (ALL_ROWS, *self.segments)[stream]
        sums = [s.segments.get(name) if stream else None for s in summaries[first:last]]
        if not any(sums):  # all rows, or no row: with `arl`, bets that never meet one are held as well
            name, sums = ALL_ROWS, [s.total for s in summaries[first:last]]
        none = np.zeros(len(DIRECTIONS), dtype=np.int64)
        ratios = np.array([none if s is None else s.ratios for s in sums]) * RATIO_UNIT
        starts, directions = start_probabilities(ratios, self._regime)
        start, (low, high) = int(first_largest(starts)), _central(starts)
        likeliest, words = DIRECTIONS[int(first_largest(directions))], ""
        broken = [t for t, s in enumerate(sums) if s is not None and s.impossible]
        if broken:  # the first of them is all the evidence there can be
            start, low, high, words = broken[0], broken[0], broken[0], "outcomes of probability 0 were observed"
        start = min(start, max(t for t, s in enumerate(sums) if s is not None))
        since = [s for s in sums[start:] if s is not None]
        rows = sum(s.rows for s in since)
        predicted, observed = sum(s.predicted for s in since) * UNIT / rows, sum(s.positives for s in since) / rows
        words = words or likeliest.beside(observed - predicted, np.sum([s.ratios for s in since], axis=0))
        return Onset(
            start=periods[first + start],
            low=periods[first + low],
            high=periods[first + high],
            end=periods[last - 1],
            direction=words,
            segment=name,
            rows=rows,
            predicted=predicted,
            observed=observed,
        )

    # --- saved state --------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        segments = None if self.segments is None else list(self.segments)
        return {"alpha": self.alpha, "arl": self.arl, "segments": segments}

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        if set(settings) != {"alpha", "arl", "segments"}:
            raise ValueError(f"expected alpha, arl and segments, found {short(list(settings))}")
        monitor = cls(settings["alpha"], settings["arl"])
        monitor.segments = saved_segments(settings["segments"])
        return monitor

    @staticmethod
    def _to_json(summary: PeriodSummary) -> dict[str, list[int]]:
        return summary.to_dict()

    @staticmethod
    def _from_json(entry: object) -> PeriodSummary:
        return PeriodSummary.from_dict(entry)

    @one_at_a_time
    def __repr__(self) -> str:
        state = f"alarm in period {self.alarm_period}" if self.alarm else "no alarm"
        return f"Monitor({len(self._periods)} period{'s' * (len(self._periods) != 1)}, {state})"


def _log_ratios(summary: PeriodSummary, segments: tuple[str, ...]) -> np.ndarray:
    """Return the log-likelihood ratios of all rows and of each segment, 0 where a segment has no rows."""
    nothing = np.zeros(len(DIRECTIONS))
    parts = [summary.segments[name].log_ratios if name in summary.segments else nothing for name in segments]
    return np.array([summary.total.log_ratios, *parts])


def _central(share: np.ndarray) -> tuple[int, int]:
    """Return the ends of the range that leaves at most 5 % of the evidence on either side."""
    below, above = np.cumsum(share), np.cumsum(share[::-1])
    tail = (1 - RANGE) / 2
    first, last = (int(is_larger(sums, tail).argmax()) for sums in (below, above))
    return first, share.size - 1 - last


def _exp(x: float) -> float:
    """Return exp(x), infinite where float64 has no such number."""
    return math.exp(x) if x < 709 else math.inf
