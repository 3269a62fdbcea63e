"""A monitor of calibration over time: evidence that may be looked at after every period."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Unpack, cast

from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import AboutRows, Models, OneModel
from calibstat.data.checks import quoted, short
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.data.words.side import Side
from calibstat.monitoring.by_segment import check_segments, saved_segments, segment_names
from calibstat.monitoring.monitor_status import ModelsStatus, MonitorStatus
from calibstat.monitoring.period import SUMMARIZE, ModelsSummary, PeriodSummary, for_side
from calibstat.monitoring.period_labels import Label
from calibstat.monitoring.period_log import PeriodLog, one_at_a_time
from calibstat.monitoring.watch import Watch

Summary: TypeAlias = PeriodSummary | ModelsSummary

if TYPE_CHECKING:
    import pandas as pd

    class OneOrSeveral(PeriodSummary, ModelsSummary):  # type: ignore[misc]
        """To type checkers both: which of the two a summary is depends on `y_prob`."""

    class Status(MonitorStatus, ModelsStatus):
        """To type checkers both: which of the two a status is depends on what the monitor is fed."""

else:
    OneOrSeveral, Status = Summary, MonitorStatus | ModelsStatus


class Monitor(PeriodLog[OneOrSeveral]):
    """Monitor of calibration: fed one period after the other, it raises an alarm when calibration does not hold.

        >>> import calibstat as cs
        >>> monitor = cs.Monitor()
        >>> for day in range(1, 61):
        ...     world = cs.generators.temperature(1 if day <= 40 else 1.5)
        ...     status = monitor.update(*world.sample(100, rng=day), period=day)
        >>> status.alarm_period, status.onset.low, status.onset.high
        (45, 37, 41)

    Feed it one model, or several on the same rows. The first period fixes which; one promise covers all of them.

    Parameters
    ----------
    alpha : float
        Chance of ever raising a false alarm, at most, at any number of periods and for all models together; the
        confidence sequences of their gaps together have level 1 - `alpha`.
    arl : float, optional
        Promise a mean number of periods between false alarms, at least this, instead of a probability. It finds
        deviations sooner, starts again by itself after each alarm, and raises a false one in the long run.
    segments : sequence of str, optional
        The names of the segments, if each row has one; by default those found in the first period. Half of the weight
        of the evidence is for all rows together, and the segments share the other half equally.
    side : {"over", "under"}, optional
        Ask one side alone, fixed beforehand: are predictions too high ("over"), or too low ("under")?

    Attributes
    ----------
    alarm : bool
        Whether an alarm was raised, since the last `restart`.
    alarm_period : int, str or None
        The period of the latest alarm, of whichever model.
    alarms : tuple of int or str
        The periods of all alarms, in all runs.
    evidence : float
        After the latest period; of an alarm at least 1 / `alpha`, or `arl`. Of m models the largest of theirs, over m.
    pvalue : float or None
        The p-value valid at any time, 1 / (largest evidence so far), at most 1; None with `arl`.
    periods : tuple of int or str
        The periods fed so far.
    models : tuple of str or None
        The names of several models; empty of one, and None before the first period.

    Notes
    -----
    Null hypothesis: in every period, given the predictions and all earlier periods, every outcome is 1 independently
    with its predicted probability; for side "over" with at least ("under" at most) this probability, given earlier rows
    too. Predictions, numbers of rows and the mix of rows may drift. Both promises are theorems (Ville 1939; Shin,
    Ramdas, Rinaldo 2022, arXiv:2203.03532), also for several models, however they depend on each other.

    The evidence is a mixture over 34 directions (shifts, over- and under-confidence, quarters of the range; 18 for a
    side) and over all periods in which the deviation may have begun. ``save(path)`` writes the state,
    ``Monitor.load(path)`` goes on from it, ``restart()`` begins a new run, ``summary(period)`` returns what was fed.
    """

    kinds, _summaries = ("monitor", "monitor of models"), Summary

    def __init__(
        self,
        alpha: float = 0.05,
        arl: float | None = None,
        segments: Sequence[str] | None = None,
        side: Side | None = None,
    ) -> None:
        super().__init__()
        watch = Watch(alpha, arl, side)  # raises if these are wrong
        self.alpha, self.arl, self.side, self.threshold = watch.alpha, watch.arl, watch.side, watch.threshold
        self.segments = None if segments is None else segment_names(segments)
        self.models: tuple[str, ...] | None = None
        self.alarms: tuple[Label, ...] = ()
        self._watched = {"": watch}  # "" is one model
        self._begin()

    @property
    def alarm(self) -> bool:
        """Whether an alarm was raised, since the last `restart`."""
        return self.alarm_period is not None

    @property
    @one_at_a_time
    def evidence(self) -> float:
        """The evidence against calibration after the latest period."""
        return max(watch.evidence for watch in self._watched.values()) / len(self._watched)

    @property
    @one_at_a_time
    def pvalue(self) -> float | None:
        """The p-value valid at any time."""
        found = [watch.pvalue for watch in self._watched.values() if watch.pvalue is not None]
        return min(1.0, len(found) * min(found)) if found else None

    def summarize(
        self,
        y_true: OneModel | Models,
        y_prob: Predicted = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> OneOrSeveral:
        """Return the summary of a period, or of a part (shard) of one; summaries of parts add up with ``+``.

        Parameters
        ----------
        y_true, y_prob, lens, **about
            As for `estimate`: rows, a `Sample`, `Predictions`, `Data` or `Models`, seen through a lens that shows a
            binary outcome; `labels` or `pos_label` name the outcomes. Of several models `y_prob` is a mapping from name
            to predictions, or a data frame.
        segment : array_like, shape (n,), or str, optional
            The segment of each row, or of all.

        Raises
        ------
        ValueError
            If the data are no outcomes and probabilities, there is no row, weights are not whole numbers, or a segment
            is missing.
        """
        rows: tuple[Any, Any] = y_true, y_prob
        found: Summary | Answers[PeriodSummary] = SUMMARIZE[self.side](*rows, segment, lens=lens, **about)
        return cast("OneOrSeveral", ModelsSummary({**found}) if isinstance(found, Answers) else found)

    def update(
        self,
        y_true: OneModel | Models | Summary,
        y_prob: Predicted = None,
        period: object = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> Status:
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
            What `status` returns after this period; of several models a `ModelsStatus`.

        Raises
        ------
        ValueError
            As for `summarize`; if the period is known already; if the models are others than in the first period; if
            there is a segment that is not one of those fixed beforehand, or none where there are segments. The monitor
            is then as before.
        """
        summary = self._summary_of(y_true, {"y_prob": y_prob, "segment": segment, "lens": lens, **about})
        with self._lock:
            self._feed(period, summary)
            return self.status()

    @one_at_a_time
    def status(self) -> Status:
        """Return what there is to say after the latest period, about the time since the last `restart`."""
        periods, summaries = self._since_restart()
        found = {name: watch.status(periods, [summary.models[name] for summary in summaries])
                 for name, watch in self._watched.items()}  # fmt: skip
        alarmed = tuple(name for name, status in found.items() if status.alarm)
        several = ModelsStatus(found, alarmed, self.alpha, self.arl, self.side)
        return cast("Status", several if self.models else found[""])

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period since the last `restart`."""
        return self.status().to_frame()

    def _watches(self, models: Collection[str]) -> dict[str, Watch]:
        """Return what begins to watch each model, with its share of the promise."""
        m = len(models)
        arl = None if self.arl is None else self.arl * m
        return {name: Watch(self.alpha / m, arl, self.side) for name in models}

    def _begin(self) -> None:
        self.alarm_period: Label | None = None
        self._watched = self._watches(self._watched)

    def _add(self, label: Label, summary: OneOrSeveral) -> None:
        models = summary.models
        watched = self._watches(models) if self.models is None else self._watched
        if {*models} != {*watched}:
            raise ValueError(f"expected {_named(watched)}, as in the first period, found {_named(models)}")
        segments = next(iter(models.values())).names if self.segments is None else self.segments
        for each in models.values():  # before any is added: what raises here leaves all as they were
            if each.side != self.side:
                raise ValueError(
                    f"expected a summary {for_side(self.side)}, as this monitor was made, found one "
                    f"{for_side(each.side)}: summarize the rows with this monitor, or with one of the same side"
                )
            check_segments(each, segments)
            _ = each.total
        self.models, self.segments, self._watched = tuple(filter(None, watched)), segments, watched
        raised = [watch.add(label, models[name], segments) for name, watch in watched.items()]
        if any(raised):
            self.alarm_period = label
            self.alarms += (label,)

    # --- saved state --------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        segments = None if self.segments is None else list(self.segments)
        side = {} if self.side is None else {"side": self.side}  # states of both sides are as they were before
        return {"alpha": self.alpha, "arl": self.arl, "segments": segments, **side}

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        settings.pop("names", None)  # which `ModelsMonitor` saved; the first period has them too
        settings = {"side": None} | settings
        if set(settings) != {"alpha", "arl", "segments", "side"}:
            raise ValueError(f"expected alpha, arl, segments and side, found {short(list(settings))}")
        monitor = cls(settings["alpha"], settings["arl"], side=settings["side"])
        monitor.segments = saved_segments(settings["segments"])
        return monitor

    @staticmethod
    def _to_json(summary: Summary) -> dict[str, Any]:
        return {**summary.to_dict()}

    @staticmethod
    def _from_json(entry: object) -> OneOrSeveral:
        several = isinstance(entry, dict) and any(isinstance(each, dict) for each in entry.values())
        return cast("OneOrSeveral", (ModelsSummary if several else PeriodSummary).from_dict(entry))

    @one_at_a_time
    def __repr__(self) -> str:
        state = f"alarm in period {self.alarm_period}" if self.alarm else "no alarm"
        of = f" of {', '.join(self.models)}" if self.models else ""
        return f"Monitor({len(self._periods)} period{'s' * (len(self._periods) != 1)}{of}, {state})"


def _named(models: Iterable[str]) -> str:
    """Name models in an error."""
    return quoted(filter(None, models)) or "one model"
