"""A monitor after the latest period: of each model the alarm, its likely start, and the gap with its sequence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.data.words.side import MORE_EVENTS, OTHER, TOO, Side
from calibstat.digits import settled
from calibstat.inference.one_side import events_in_words
from calibstat.inference.problems.impossible_rows import impossible_in_words
from calibstat.inference.size_of_error import points
from calibstat.monitoring.period_labels import Label
from calibstat.output.wording import level_text, number_of
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

ALL_ROWS = "all rows"
LARGEST_LOG = 700  # of a number, or of 1 over it, that float64 holds with all of its digits


@dataclass(frozen=True, eq=False)
class Onset(Result):
    """The likely source of the evidence of an alarm: a description, without a promise.

    Attributes
    ----------
    start, low, high : int or str
        The most likely first period of the deviation, and the range of starts that brought 90 % of the evidence.
    end : int or str
        The period of the largest evidence, up to which all of this is computed.
    direction : str
        The direction that brought most of it.
    segment : str
        The segment with the largest share of the evidence, or "all rows".
    rows : int
        Rows there from the most likely start to `end`.
    predicted, observed : float
        Their mean prediction and frequency of outcome 1.
    """

    start: Label
    low: Label
    high: Label
    end: Label
    direction: str
    segment: str
    rows: int
    predicted: float
    observed: float

    def __str__(self) -> str:
        span = f" (90 % range {self.low} to {self.high})" if self.low != self.high else ""
        where = "" if self.segment == ALL_ROWS else f" in segment {self.segment}"
        return (
            f"Likely start: period {self.start}{span}{where}: {self.direction}. To period {self.end}: {self.rows:,} "
            f"row{'s' * (self.rows != 1)}, predicted {settled(self.predicted):.3g}, observed "
            f"{settled(self.observed):.3g}."
        )


@dataclass(frozen=True, eq=False)
class OtherRows(Result):
    """The rows that are predicted neither 0 nor 1, as a monitor of these rows alone would say it.

    Attributes
    ----------
    first_impossible : int or str
        The period of the first row that was predicted to be impossible and happened.
    log_evidence : float
        The natural logarithm of the evidence after the latest period.
    pvalue : float or None
        The p-value valid at any time; None with `arl`.
    alarm_period : int, str or None
        The period of the latest alarm by these rows.
    """

    first_impossible: Label
    log_evidence: float
    pvalue: float | None
    alarm_period: Label | None

    def __str__(self) -> str:
        alarm = "there is no alarm" if self.alarm_period is None else f"the alarm is in period {self.alarm_period}"
        p = "" if self.pvalue is None else f", p = {settled(self.pvalue):.2g}"
        return f"without rows predicted 0 or 1 {alarm} (evidence {_exp_in_words(self.log_evidence, 3)}{p})"


@dataclass(frozen=True, eq=False)
class MonitorStatus(Result):
    """State of a `Monitor` after its latest period, since its last `restart`.

    Attributes
    ----------
    alarm : bool
        Whether an alarm was raised.
    alarm_period : int, str or None
        The period of the latest alarm.
    alarms : tuple of int or str
        The periods of all alarms; more than one only with `arl`, after which it starts again by itself.
    onset : Onset or None
        Where the evidence of the latest alarm is from.
    evidence : float
        The evidence against calibration after the latest period.
    threshold : float
        The evidence of an alarm: 1 / `alpha`, or `arl`.
    pvalue : float or None
        The p-value valid at any time, 1 / (largest evidence so far); None with `arl`.
    impossible : int
        Rows that were predicted to be impossible and happened: outcomes of probability 0; with a side those that are
        evidence for it.
    gap, gap_low, gap_high : float or None
        Mean true probability minus mean prediction over all rows: the observed frequency minus the mean prediction, and
        the ends of the confidence sequence. None before the first period; of side "over" `gap_low` is None, of "under"
        `gap_high`.
    confidence_level : float
        Of the confidence sequence, 1 - `alpha`.
    alpha : float
        As given to the monitor.
    arl : float or None
        As given to the monitor.
    rows : int
        Rows so far.
    periods : tuple of int or str
        The periods so far.
    count, mean_prediction, frequency : ndarray, shape (T,)
        Rows, mean prediction and observed frequency of outcome 1 in each of them.
    log_evidence : ndarray, shape (T,)
        The natural logarithm of the evidence after each of them.
    gaps, lows, highs : ndarray, shape (T,)
        The gap, and the ends of its confidence sequence, after each of them; nan for the end that a side does not have.
    null_hypothesis : str
        The null hypothesis, in one sentence.
    others : OtherRows or None
        What the rows predicted neither 0 nor 1 say by themselves, once something impossible has happened.
    side : {"over", "under"} or None
        As given to the monitor.
    """

    alarm: bool
    alarm_period: Label | None
    alarms: tuple[Label, ...]
    onset: Onset | None
    evidence: float
    threshold: float
    pvalue: float | None
    impossible: int
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    confidence_level: float
    alpha: float
    arl: float | None
    rows: int
    periods: tuple[Label, ...]
    count: np.ndarray
    mean_prediction: np.ndarray
    frequency: np.ndarray
    log_evidence: np.ndarray
    gaps: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    null_hypothesis: str
    others: OtherRows | None = None
    side: Side | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period: what it had, evidence, gap with its ends, and alarm."""
        import pandas as pd

        with np.errstate(over="ignore"):
            evidence = np.exp(self.log_evidence)
        columns = {"period": list(self.periods), "count": self.count, "mean_prediction": self.mean_prediction}
        columns |= {"frequency": self.frequency, "evidence": evidence, "gap": self.gaps, "gap_low": self.lows}
        alarms = set(self.alarms)
        columns |= {"gap_high": self.highs, "alarm": [period in alarms for period in self.periods]}
        return pd.DataFrame(columns)

    @property
    def promise(self) -> str:
        """The promise about false alarms, in one sentence."""
        if self.side is not None:
            right, fixed = f"if no prediction is {TOO[self.side]}", _fixed(self.side)
            if self.arl is None:
                return f"Chance of ever raising a false alarm, {right}: at most {100 * self.alpha:g} % {fixed}."
            periods = f"The mean number of periods between false alarms, {right}: at least {self.arl:g} {fixed}"
            return f"{periods}; in the long run one is certain."
        if self.arl is None:
            return f"Chance of ever raising a false alarm: at most {100 * self.alpha:g} %."
        return f"False alarms come on average at least {self.arl:g} periods apart; in the long run one is certain."

    @property
    def answer(self) -> str:
        """Whether there is an alarm, and how far outcomes and predictions lie apart in the mean, in one line."""
        if not self.periods:
            return "No period so far."
        alarm = f"No alarm in {number_of('period', len(self.periods))}."
        if self.alarm_period is not None:
            number = {label: i + 1 for i, label in enumerate(self.periods)}[self.alarm_period]
            nth = "" if self.alarm_period == number else f", number {number}"
            alarm = f"Alarm in period {self.alarm_period}{nth} of {len(self.periods):,}."
            if len(self.alarms) > 1:
                alarm += f" It is the latest of {len(self.alarms)} alarms."
        return f"{alarm} {self._gap_in_words if self.side is None else self._one_side_in_words(self.side)}"

    @property
    def _gap_in_words(self) -> str:
        assert self.gap is not None
        assert self.gap_low is not None
        assert self.gap_high is not None
        return (
            f"Over {number_of('row', self.rows)} the outcomes average {_aside(self.gap)} the predictions, "
            f"between {_aside(self.gap_low, math.floor)} and {_aside(self.gap_high, math.ceil)}."
        )

    def _one_side_in_words(self, side: Side) -> str:
        """Say what the evidence shows, which is about some predictions, and what the limit shows of their mean."""
        expected, observed = (self.count @ mean for mean in (self.mean_prediction, self.frequency))
        events = events_in_words(float(expected), float(observed))
        at_least = self._least(side)
        mean = f"; the mean prediction is at least {points(at_least, math.floor)} points {TOO[side]}" * (at_least > 0)
        # with `arl` a false alarm is certain in the long run: it shows nothing by itself
        shown = f"Some predictions are {TOO[side]}." if self.arl is None else f"Some predictions may be {TOO[side]}."
        if not self.alarm:
            # a limit that shows it may come before the alarm does
            none = f"It is not shown that any predictions are {TOO[side]}. " * (at_least <= 0)
            shown = f"{none}Predictions that are {TOO[OTHER[side]]} were not looked for."
        return f"{shown} Over {number_of('row', self.rows)}: {events}{mean}."

    def _least(self, side: Side) -> float:
        """By how much the mean prediction is at least too high, or too low; nothing is shown unless it is above 0."""
        end = self.gap_low if self.gap_high is None else self.gap_high
        assert end is not None
        return MORE_EVENTS[side] * end

    @property
    def next_step(self) -> str:
        """The advice what to do, in one sentence."""
        if not self.periods:
            return "Feed the rows of a period: update(y, p)."
        if self.onset is None:
            return "Go on: feed the rows of the next period."
        return (
            f"Ask how large the error is on the rows from period {self.onset.start} on: "
            "calibstat.calibration_test(y, p)."
        )

    def __str__(self) -> str:
        if not self.periods:
            return f"{self.answer} {self.promise}"
        lines = [self.answer]
        if self.onset is not None:
            lines.append(str(self.onset))
        lines.append(f"Next: {self.next_step}")
        if self.others is not None:
            where = f"{'' if self.impossible == 1 else 'the first '}in period {self.others.first_impossible}"
            lines.append(f"{impossible_in_words(self.impossible, where)}; {self.others}.")
        log_p = min(-float(np.max(self.log_evidence)), 0.0)
        p = "" if self.pvalue is None else f" Anytime-valid p-value: {_exp_in_words(log_p, 2)}."
        evidence = _exp_in_words(float(self.log_evidence[-1]), 3)
        lines.append(f"Evidence {evidence}; alarm threshold {self.threshold:g}.{p}")
        return "\n".join([*lines, *self._promises])

    @property
    def _promises(self) -> list[str]:
        """The promise about alarms, and the one about what is said of the mean."""
        if self.side is not None and self._least(self.side) <= 0:
            return [self.promise]
        either = 100 * (self.alpha + 1 - self.confidence_level)
        said = "range" if self.side is None else "limit"
        too = f" With a wrong {said} of the mean: at most {settled(either):.3g} %." if self.arl is None else ""
        right = (
            f"The {said} of the mean is right in all periods at once ({level_text(self.confidence_level)} confidence "
            "sequence); errors that cancel in the mean do not show in it."
        )
        return [f"{self.promise}{too}", right]


@dataclass(frozen=True, eq=False)
class ModelsStatus(Result):
    """State of a `Monitor` of several models after its latest period, since its last `restart`.

    Attributes
    ----------
    models : dict of MonitorStatus
        The state of each model by its name. Its `alpha`, or `arl`, is what this model alone is promised.
    alarmed : tuple of str
        The models with an alarm.
    alpha : float
        As given to the monitor, for all models together.
    arl : float or None
        As given to the monitor.
    side : {"over", "under"} or None
        As given to the monitor.
    """

    models: dict[str, MonitorStatus]
    alarmed: tuple[str, ...]
    alpha: float
    arl: float | None
    side: Side | None = None

    @property
    def alarm(self) -> bool:
        """Whether an alarm was raised for any model."""
        return bool(self.alarmed)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each model and period; the column "model" names the model."""
        import pandas as pd

        return pd.concat([each.to_frame().assign(model=name) for name, each in self.models.items()], ignore_index=True)

    @property
    def promise(self) -> str:
        """The promise about false alarms of all models together, in one sentence."""
        if self.side is not None:
            models, fixed = f"models with no prediction that is {TOO[self.side]}", _fixed(self.side)
            if self.arl is None:
                return f"Chance of ever raising an alarm for {models}: at most {100 * self.alpha:g} % {fixed}."
            return f"The mean number of alarms for {models} is at most one in {self.arl:g} periods {fixed}."
        if self.arl is None:
            return f"Chance that any calibrated model ever gets an alarm: at most {100 * self.alpha:g} %."
        return f"Calibrated models together get on average at most one alarm in {self.arl:g} periods."

    def __str__(self) -> str:
        which = f"Alarm for {', '.join(self.alarmed)}" if self.alarmed else "No alarm"
        of_models = [f"{name}\n" + "\n".join(f"  {line}" for line in str(each).splitlines())
                     for name, each in self.models.items()]  # fmt: skip
        return "\n".join([f"{which}; {len(self.models)} models. {self.promise}", *of_models])


def _fixed(side: Side) -> str:
    """Say that a promise is about a side that was chosen before the outcomes were known."""
    return f"(side fixed beforehand: {side})"


def _aside(gap: float, rounded: Callable[[float], float] = round) -> str:
    """Write how far a mean lies above or below another, in points of a percentage."""
    size = points(abs(gap), lambda units: abs(rounded(math.copysign(units, gap))))
    return f"{size} points {'above' if gap >= 0 else 'below'}"


def _exp_in_words(log: float, digits: int) -> str:
    """Write exp(log) with so many digits; two and the power of ten from 1000, also of what float64 cannot hold."""
    if math.isinf(log):
        return "∞" if log > 0 else "0"
    if abs(log) < LARGEST_LOG:
        number = math.exp(log)
        return f"{settled(number):.{digits}g}" if number < 999.5 else f"{settled(number):.1e}"
    power = math.floor(log / math.log(10))
    first = round(settled(math.exp(log - power * math.log(10))), 1)
    return f"{settled(first):.1f}e{power:+d}" if first < 10 else f"1.0e{power + 1:+d}"
