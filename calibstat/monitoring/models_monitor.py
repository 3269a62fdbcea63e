"""A monitor of several models on the same rows: one for each, which share the probability of a false alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import AboutRows, Models, named, no_models
from calibstat.data.checks import quoted, short
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.monitoring.by_segment import check_segments
from calibstat.monitoring.monitor import Monitor
from calibstat.monitoring.monitor_status import MonitorStatus
from calibstat.monitoring.period import PeriodSummary, summarize
from calibstat.monitoring.period_labels import Label
from calibstat.monitoring.period_log import PeriodLog, one_at_a_time
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ModelsSummary:
    """The rows of a period, or of a part of them, summed up for a `ModelsMonitor`.

    Make one with `ModelsMonitor.summarize`. Summaries of parts (shards) of a period add up with ``+``, in any order,
    and go to JSON and back with `to_dict` and `from_dict`.

    Attributes
    ----------
    models : mapping from str to PeriodSummary
        The summary of each model, by its name.
    """

    models: Mapping[str, PeriodSummary]

    @classmethod
    def of(cls, models: Mapping[str, PeriodSummary]) -> Self:
        """Return the summaries by name."""
        return cls(MappingProxyType(dict(models)))

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, ModelsSummary):
            return NotImplemented
        if {*self.models} != {*other.models}:
            raise ValueError(f"expected summaries of the same models, found {[*self.models]} and {[*other.models]}")
        return type(self).of({name: summary + other.models[name] for name, summary in self.models.items()})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the summaries as a dict, since a read-only mapping can be neither pickled nor copied."""
        return type(self).of, (dict(self.models),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelsSummary) and self.to_dict() == other.to_dict()

    def to_dict(self) -> dict[str, dict[str, list[int]]]:
        """Return the summary of each model by its name, ready for JSON."""
        return {name: summary.to_dict() for name, summary in self.models.items()}

    @classmethod
    def from_dict(cls, models: object) -> Self:
        """Return the summary of `to_dict`; a ValueError if it cannot have written it."""
        if not isinstance(models, dict) or not models:
            raise ValueError(f"expected the summary of each model, found {short(models)}")
        return cls.of(named(PeriodSummary.from_dict, models))

    def __repr__(self) -> str:
        return f"ModelsSummary({', '.join(f'{name}: {summary!r}' for name, summary in self.models.items())})"


@dataclass(frozen=True, eq=False)
class ModelsStatus(Result):
    """State of a `ModelsMonitor` after its latest period, since its last `restart`.

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
    """

    models: dict[str, MonitorStatus]
    alarmed: tuple[str, ...]
    alpha: float
    arl: float | None

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each model and period; the column "model" names the model."""
        import pandas as pd

        return pd.concat([each.to_frame().assign(model=name) for name, each in self.models.items()], ignore_index=True)

    @property
    def promise(self) -> str:
        """The promise about false alarms of all models together, in one sentence."""
        if self.arl is None:
            return f"Chance that any calibrated model ever gets an alarm: at most {100 * self.alpha:g} %."
        return f"Calibrated models together get on average at most one alarm in {self.arl:g} periods."

    def __str__(self) -> str:
        which = f"Alarm for {', '.join(self.alarmed)}" if self.alarmed else "No alarm"
        of_models = [f"{name}\n" + "\n".join(f"  {line}" for line in str(each).splitlines())
                     for name, each in self.models.items()]  # fmt: skip
        return "\n".join([f"{which}; {len(self.models)} models. {self.promise}", *of_models])


class ModelsMonitor(PeriodLog[ModelsSummary]):
    """Monitor of the calibration of several models on the same rows: a `Monitor` for each, which share one promise.

    Parameters
    ----------
    names : sequence of str
        The models.
    alpha : float
        The probability that any model that is calibrated ever gets an alarm is at most this; the confidence sequences
        of all gaps together have level 1 - `alpha`.
    arl : float, optional
        Promise instead that calibrated models together get at most one alarm in so many periods on average.
    segments : sequence of str, optional
        As for `Monitor`: of the evidence about each model all rows together have half of the weight, the segments share
        the other half equally.

    Attributes
    ----------
    monitors : dict of Monitor
        The monitor of each model, at `alpha` over the number of models, or `arl` times it; to be read, not fed.
    periods : tuple of int or str
        The periods fed so far.

    Raises
    ------
    ValueError
        If there are no names, two are the same, or an argument is not as `Monitor` expects.

    Notes
    -----
    Null hypothesis of each model: as of `Monitor`, for its own predictions. Each of m models ever gets a false alarm
    with probability of at most `alpha` / m, so any of them does with at most `alpha`, however the models depend on each
    other and whichever of them are miscalibrated. With `arl` the evidence of a model grows by at most 1 a period in the
    mean and an alarm takes m times `arl` of it: in t periods a calibrated model gets at most t / (m arl) alarms on
    average, and all of them together at most t / `arl`. ``save(path)`` writes the state, ``ModelsMonitor.load(path)``
    goes on from it, and ``restart()`` begins a new run of all models.

    Examples
    --------
    >>> import calibstat as cs
    >>> monitor = cs.ModelsMonitor(["old", "new"])
    >>> for day in range(1, 31):
    ...     y, p = cs.generators.calibrated().sample(100, rng=day)
    ...     status = monitor.update(y, {"old": p, "new": p**1.5}, period=day)
    >>> status.alarmed
    ('new',)
    """

    kind, _summaries = "monitor of models", ModelsSummary

    def __init__(
        self,
        names: Sequence[str],
        alpha: float = 0.05,
        arl: float | None = None,
        segments: Sequence[str] | None = None,
    ) -> None:
        several = isinstance(names, Sequence | np.ndarray) and not isinstance(names, str)
        if not several or not len(names) or len({str(name) for name in names}) < len(names):
            raise ValueError(f"expected the names of different models, found {short(names)}")
        Monitor(alpha, arl)  # raises if these are wrong
        super().__init__()
        self.alpha, self.arl = float(alpha), None if arl is None else float(arl)
        m = len(names)
        regime = (alpha / m, None if arl is None else arl * m)
        self.monitors = {str(name): Monitor(*regime, segments=segments) for name in names}

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return tuple(self.monitors)

    @property
    def segments(self) -> tuple[str, ...] | None:
        """The segments: None before the first period, unless they were given."""
        return next(iter(self.monitors.values())).segments

    @property
    @one_at_a_time
    def alarms(self) -> dict[str, Label]:
        """The period of the latest alarm of each model that has one, since the last `restart`."""
        found = {name: monitor.alarm_period for name, monitor in self.monitors.items()}
        return {name: period for name, period in found.items() if period is not None}

    def summarize(
        self,
        y_true: ArrayLike | Models,
        y_prob: Predicted = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> ModelsSummary:
        """Return the summary of a period, or of a part (shard) of one; summaries of parts add up with ``+``.

        Parameters
        ----------
        y_true, lens, **about
            As for `Monitor.summarize`; or `y_true` is `Models`.
        y_prob : mapping from name to array_like, or data frame
            The predictions of each model.
        segment : array_like, shape (n,), or str, optional
            The segment of each row, or of all.

        Raises
        ------
        ValueError
            As `Monitor.summarize`, with the name of the model, or if models have other names.
        """
        rows: tuple[Any, Any] = y_true, y_prob
        found: PeriodSummary | Answers[PeriodSummary] = summarize(*rows, segment, lens=lens, **about)
        if not isinstance(found, Answers):
            raise no_models(y_true if y_prob is None else y_prob)
        if {*found} != {*self.names}:
            raise ValueError(f"expected the models {quoted(self.names)}, found Models of {quoted(found)}")
        return ModelsSummary.of({name: found[name] for name in self.names})

    def update(
        self,
        y_true: ArrayLike | Models | ModelsSummary,
        y_prob: Predicted = None,
        period: object = None,
        segment: ArrayLike | None = None,
        *,
        lens: AnyLens = None,
        **about: Unpack[AboutRows],
    ) -> ModelsStatus:
        """Feed a period, when all of its outcomes are known, and return what there is to say after it.

        Parameters
        ----------
        y_true, y_prob, segment, lens, **about
            As for `summarize`; or `y_true` is a summary, and nothing else is given but the period.
        period : str, int or date, optional
            As for `Monitor.update`.

        Returns
        -------
        ModelsStatus
            What `status` returns after this period.

        Raises
        ------
        ValueError
            As for `summarize` and `Monitor.update`. The monitor is then as before.
        """
        summary = self._summary_of(y_true, {"y_prob": y_prob, "segment": segment, "lens": lens, **about})
        with self._lock:
            self._feed(period, summary)
            return self.status()

    @one_at_a_time
    def status(self) -> ModelsStatus:
        """Return what there is to say after the latest period, about the time since the last `restart`."""
        return ModelsStatus(
            models={name: monitor.status() for name, monitor in self.monitors.items()},
            alarmed=tuple(self.alarms),
            alpha=self.alpha,
            arl=self.arl,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each model and period since the last `restart`."""
        return self.status().to_frame()

    def _begin(self) -> None:
        for monitor in self.monitors.values():
            monitor.restart()

    def _add(self, label: Label, summary: ModelsSummary) -> None:
        if {*summary.models} != {*self.names}:
            raise ValueError(f"expected the models {quoted(self.names)}, found {quoted(summary.models)}")
        first = summary.models[self.names[0]].names
        for each in summary.models.values():  # before any monitor is fed: what raises here leaves all as they were
            check_segments(each, first if self.segments is None else self.segments)
            _ = each.total
        for name, monitor in self.monitors.items():
            monitor._feed(label, summary.models[name])

    def _settings(self) -> dict[str, Any]:
        segments = None if self.segments is None else list(self.segments)
        return {"names": list(self.names), "alpha": self.alpha, "arl": self.arl, "segments": segments}

    @classmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        if set(settings) != {"names", "alpha", "arl", "segments"}:
            raise ValueError(f"expected names, alpha, arl and segments, found {short(list(settings))}")
        segments = settings["segments"]
        return cls(settings["names"], settings["alpha"], settings["arl"], segments or None)

    @staticmethod
    def _to_json(summary: ModelsSummary) -> dict[str, dict[str, list[int]]]:
        return summary.to_dict()

    @staticmethod
    def _from_json(entry: object) -> ModelsSummary:
        return ModelsSummary.from_dict(entry)

    @one_at_a_time
    def __repr__(self) -> str:
        state = f"alarm for {', '.join(self.alarms)}" if self.alarms else "no alarm"
        periods = f"{len(self._periods)} period{'s' * (len(self._periods) != 1)}"
        return f"ModelsMonitor({periods}, {', '.join(self.names)}: {state})"
