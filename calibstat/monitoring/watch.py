"""One model in a monitor: the evidence against it since the last restart, its gap, and where an alarm is from."""

from __future__ import annotations

import math
import sys
from array import array
from typing import NamedTuple

import numpy as np

from calibstat.data.checks import check_level, is_number, short
from calibstat.data.null_hypothesis import EVENT_NULL, Null
from calibstat.data.words.side import TOO, Side, check_side
from calibstat.in_order import first_largest, is_larger
from calibstat.monitoring.confidence_sequence import ConfidenceSequence
from calibstat.monitoring.directions import DIRECTIONS_OF
from calibstat.monitoring.evidence import Run, start_probabilities
from calibstat.monitoring.monitor_status import ALL_ROWS, MonitorStatus, Onset
from calibstat.monitoring.other_rows_watch import OtherRowsWatch
from calibstat.monitoring.period import RATIO_UNIT, UNIT, UNITS, PeriodSummary
from calibstat.monitoring.period_labels import Label

RANGE = 0.9  # share of the evidence that the range of likely starts has brought
GIVEN = "the predictions and all earlier periods"
ROW_AFTER_ROW = Null(f"{GIVEN} and rows", ("every outcome is 1 with its predicted probability",))
NULL: dict[Side | None, str] = {
    None: f"In every period, given {GIVEN}: {EVENT_NULL}",
    **{side: f"In every period, {ROW_AFTER_ROW.of_side(side)}" for side in TOO},
}
STATED: dict[Side | None, tuple[bool, bool]] = {  # the ends of the gap, low and high, that a side is about
    None: (True, True),
    "over": (False, True),
    "under": (True, False),
}


class _Peak(NamedTuple):
    """The largest evidence of a run: the periods before the run, those up to it, and the stream that it is from."""

    before: int
    end: int
    stream: int
    log_evidence: float


class Watch:
    """One model since the last restart of its monitor, with its own share of the promise; arguments as of `Monitor`."""

    def __init__(self, alpha: float, arl: float | None, side: Side | None = None) -> None:
        check_level("alpha", alpha)
        if 1 - alpha == 1:
            raise ValueError(f"expected alpha so large that 1 - alpha is less than 1, found {short(alpha)}")
        if arl is not None and not (is_number(arl) and 1 < arl <= sys.float_info.max):
            raise ValueError(f"expected arl to be a number of periods above 1, found {short(arl)}")
        self.alpha, self.arl = float(alpha), None if arl is None else float(arl)
        self.threshold = 1 / self.alpha if self.arl is None else self.arl
        self.side = check_side(side)
        self.regime = "false alarm" if self.arl is None else "run length"
        self.alarms: tuple[Label, ...] = ()
        self._log_evidence = array("d")
        self._gap = ConfidenceSequence(1 - self.alpha, sum(STATED[self.side]))
        self._sum = self._impossible = 0  # of the predictions, in units, and of outcomes that had probability 0
        self._predicted, self._frequency, self._mean = array("d"), array("d"), array("d")  # the last of all so far
        self._run: Run | None = None
        self._peak = _Peak(0, 0, 0, -math.inf)
        self._alarm_peak: _Peak | None = None  # the peak by which the latest alarm is dated
        self._others: OtherRowsWatch | None = None  # rows predicted neither 0 nor 1, once something impossible happened

    @property
    def evidence(self) -> float:
        """The evidence after the latest period."""
        return _exp(self._log_evidence[-1]) if self._log_evidence else 1.0 if self.arl is None else 0.0

    @property
    def pvalue(self) -> float | None:
        """The p-value valid at any time."""
        return None if self.arl is not None else min(1.0, _exp(-max(self._log_evidence, default=0.0)))

    def add(self, label: Label, summary: PeriodSummary, segments: tuple[str, ...]) -> bool:
        """Add a period with these segments in all, and return whether it raises an alarm."""
        if self._run is None:
            self._run, self._segments = Run(len(segments), self.regime, self.side), segments
        total = summary.total
        self._gap.add(total.rows, total.positives * UNITS - total.predicted, total.squares)
        self._sum += total.predicted
        self._impossible += total.impossible
        self._predicted.append(total.predicted * UNIT / total.rows)
        self._frequency.append(total.positives / total.rows)
        self._mean.append(self._sum / UNITS / self._gap.n)
        self._watch_others(label, summary, segments, self._run)
        log_evidence = self._run.add(_log_ratios(summary, segments))
        self._log_evidence.append(log_evidence)
        t = len(self._log_evidence)
        if self._run.t == 1 or is_larger(log_evidence, self._peak.log_evidence):
            stream = int(first_largest(self._run.log_streams + self._run.log_weights))
            self._peak = _Peak(t - self._run.t, t, stream, log_evidence)
        restarts = self.arl is not None
        if log_evidence >= math.log(self.threshold) and (restarts or not self.alarms):
            self.alarms += (label,)
            self._alarm_peak = self._peak
            if restarts:
                self._run = None
            return True
        if self.alarms and not restarts:
            self._alarm_peak = self._peak  # more periods may date it better
        return False

    def _watch_others(self, label: Label, summary: PeriodSummary, segments: tuple[str, ...], run: Run) -> None:
        """Add the period to the evidence of the rows predicted neither 0 nor 1; `run` is of all rows before it."""
        if self._others is None and summary.total.impossible:
            self._others = OtherRowsWatch(label, run, max(self._log_evidence, default=-math.inf), self.alarms)
        if self._others is not None:
            self._others.add(label, _log_ratios(summary, segments, of_others=True), self.threshold)

    def status(self, periods: tuple[Label, ...], summaries: list[PeriodSummary]) -> MonitorStatus:
        """Return what there is to say of this model after these periods, which are all that were added."""
        gaps, lows, highs = self._gap.ends(UNITS)
        rows, mean = self._gap.rows, np.array(self._mean)
        # the mean of true probabilities is one too
        ends = np.minimum(np.maximum(lows, -mean), gaps), np.maximum(np.minimum(highs, 1 - mean), gaps)
        low, high = (end if is_stated else np.full_like(end, np.nan)
                     for end, is_stated in zip(ends, STATED[self.side], strict=True))  # fmt: skip
        return MonitorStatus(
            alarm=bool(self.alarms),
            alarm_period=self.alarms[-1] if self.alarms else None,
            alarms=self.alarms,
            onset=self._onset(periods, summaries) if self.alarms else None,
            evidence=self.evidence,
            threshold=self.threshold,
            pvalue=self.pvalue,
            impossible=self._impossible,
            gap=_latest(gaps),
            gap_low=_latest(low),
            gap_high=_latest(high),
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
            lows=low,
            highs=high,
            null_hypothesis=NULL[self.side],
            others=None if self._others is None else self._others.status(),
            side=self.side,
        )

    def _onset(self, periods: tuple[Label, ...], summaries: list[PeriodSummary]) -> Onset:
        """Date the deviation by the periods from the start of the run to its largest evidence, where that is from."""
        assert self._alarm_peak is not None
        first, last, stream, _ = self._alarm_peak
        name = (ALL_ROWS, *self._segments)[stream]
        sums = [s.segments.get(name) if stream else None for s in summaries[first:last]]
        if not any(sums):  # all rows, or no row: with `arl`, bets that never meet one are held as well
            name, sums = ALL_ROWS, [s.total for s in summaries[first:last]]
        directions = DIRECTIONS_OF[self.side].each
        none = np.zeros(len(directions), dtype=np.int64)
        ratios = np.array([none if s is None else s.ratios for s in sums]) * RATIO_UNIT
        starts, shares = start_probabilities(ratios, self.regime, self.side)
        start, (low, high) = int(first_largest(starts)), _central(starts)
        likeliest, words = directions[int(first_largest(shares))], ""
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


def _log_ratios(summary: PeriodSummary, segments: tuple[str, ...], of_others: bool = False) -> np.ndarray:
    """Return the log-likelihood ratios of all rows and of each segment, 0 where a segment has no rows.

    With `of_others` these are of the rows predicted neither 0 nor 1, among all rows and in each segment.
    """
    parts = [summary.total, *(summary.segments.get(name) for name in segments)]
    nothing = np.zeros(summary.total.ratios.size)
    return np.array([nothing if s is None else s.log_ratios_of_others if of_others else s.log_ratios for s in parts])


def _central(share: np.ndarray) -> tuple[int, int]:
    """Return the ends of the range that leaves at most 5 % of the evidence on either side."""
    below, above = np.cumsum(share), np.cumsum(share[::-1])
    tail = (1 - RANGE) / 2
    first, last = (int(is_larger(sums, tail).argmax()) for sums in (below, above))
    return first, share.size - 1 - last


def _latest(values: np.ndarray) -> float | None:
    """Return the last of some values, None if there is none or it is not stated."""
    return float(values[-1]) if values.size and not np.isnan(values[-1]) else None


def _exp(x: float) -> float:
    """Return exp(x), infinite where float64 has no such number."""
    return math.exp(x) if x < 709 else math.inf
