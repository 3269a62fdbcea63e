"""The base of monitors: periods fed in turn, a restart, and a state that is saved and loaded."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

from calibstat.data.checks import arguments_of, is_whole, refuse_unknown, short
from calibstat.inference.designs.question_of_rows import ROW_WORDS
from calibstat.monitoring.period_labels import Label, as_label, new_label, same_days, wider
from calibstat.monitoring.saved_state import Origin, one_feeder, read_state, refuse_a_change, write_state
from calibstat.result import Result

S = TypeVar("S")
T = TypeVar("T")
P = ParamSpec("P")
Log = TypeVar("Log", bound="PeriodLog[Any]")


def one_at_a_time(method: Callable[Concatenate[Log, P], T]) -> Callable[Concatenate[Log, P], T]:
    """Let one thread at a time read or change a monitor: a reader never meets a period that is half added."""

    @wraps(method)
    def alone(self: Log, *args: P.args, **named: P.kwargs) -> T:
        with self._lock:
            return method(self, *args, **named)

    return alone


class PeriodLog(ABC, Generic[S]):
    """The summaries of periods in the order in which they were fed, and where new runs began.

    They are the whole state: a loaded monitor is fed all of them again, which gives the same numbers to the last bit.
    """

    kinds: ClassVar[tuple[str, ...]]  # as saved: the first is written, the others were before
    _summaries: ClassVar[Any]

    def __init__(self) -> None:
        self._periods: dict[Label, S] = {}
        self._holding: dict[str, Label] = {}  # months and weeks, each with a period that shares days with it
        self._starts = [0]  # the number of periods before each run
        self._origin: Origin | None = None
        self._lock = threading.RLock()

    @one_at_a_time
    def __getstate__(self) -> dict[str, Any]:
        """Pickle and copy all but the lock, in a state of its own: other threads go on feeding this monitor."""
        return deepcopy({name: value for name, value in vars(self).items() if name != "_lock"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self._lock = threading.RLock()

    @property
    @one_at_a_time
    def periods(self) -> tuple[Label, ...]:
        """The periods fed so far, in turn; a date as text."""
        return tuple(self._periods)

    @one_at_a_time
    def summary(self, period: object) -> S:
        """Return the summary of a period that was fed."""
        label = as_label(period)
        if label not in self._periods:
            raise ValueError(f"expected a period that was fed, found {short(period)}")
        return self._periods[label]

    @one_at_a_time
    def restart(self) -> None:
        """Begin a new run, as of a new model: the promise holds for each run by itself. Earlier periods stay known."""
        self._starts.append(len(self._periods))
        self._begin()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file, whole or not at all; a file that is there is replaced.

        Raises
        ------
        ValueError
            If another writer has changed the file since this monitor was loaded from it or saved to it.
        """
        with one_feeder(path), self._lock:
            refuse_a_change(self._origin, Origin.of(path))
            write_state(path, self.kinds[0], self.to_state())
            self._origin = Origin.of(path)

    @one_at_a_time
    def to_state(self) -> dict[str, Any]:
        """Return all that is saved, ready for JSON."""
        periods = [[label, self._to_json(summary)] for label, summary in self._periods.items()]
        return self._settings() | {"starts": [*self._starts], "periods": periods}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the monitor of a saved state; going on gives the same numbers as without the interruption.

        Raises
        ------
        ValueError
            If the file is not the saved state of such a monitor, or two of its periods share a day.
        """
        origin, state = Origin.of(path), read_state(path, *cls.kinds)
        try:
            monitor = cls._of_state(state)
        except ValueError as error:
            raise ValueError(f"{error}; in {os.fspath(path)!r}") from None
        monitor._origin = origin
        return monitor

    @classmethod
    def _of_state(cls, state: dict[str, Any]) -> Self:
        """Return the monitor of what was saved."""
        periods, starts = state.pop("periods"), state.pop("starts", None)
        whole = isinstance(starts, list) and bool(starts) and starts[0] == 0 and all(is_whole(s, 0) for s in starts)
        if not whole or sorted(starts) != starts or starts[-1] > len(periods):
            raise ValueError(f"expected the numbers of periods before each run, found {short(starts)}")
        monitor = cls._of_settings({k: v for k, v in state.items() if k not in ("kind", "version")})
        for i, entry in enumerate(periods):
            if not isinstance(entry, list) or len(entry) != 2:
                raise ValueError(f"expected a period and its summary, found {short(entry)}")
            for _ in range(starts[1:].count(i)):
                monitor.restart()
            other = same_days(as_label(entry[0]), monitor._periods, monitor._holding)
            if other is not None:  # versions before 0.2 took two spellings of a date for two periods
                j = monitor.periods.index(other)
                raise ValueError(
                    f"expected periods that share no day, found {short(periods[j][0])} and {short(entry[0])}, the "
                    f"periods {j + 1} and {i + 1}: give one of them another name in the file, as in "
                    f'"{other} (again)", and both count as before'
                )
            monitor._feed(entry[0], cls._from_json(entry[1]))
        for _ in range(starts[1:].count(len(periods))):
            monitor.restart()
        return monitor

    @one_at_a_time
    def _feed(self, period: object, summary: S) -> None:
        """Take a summary as the next period."""
        label = new_label(period, self._periods, self._holding, len(self._periods))
        self._add(label, summary)
        self._periods[label] = summary
        self._holding |= dict.fromkeys(wider(label), label)

    def _summary_of(self, given: object, beside: Mapping[str, Any]) -> S:
        """Return a summary as `update` was given it, or the one of rows with what is said beside them."""
        known = {*arguments_of(self.update), *ROW_WORDS}
        refuse_unknown(self.update, [name for name in beside if name not in known])
        if not isinstance(given, self._summaries):
            return self.summarize(given, **beside)
        if any(each is not None for each in beside.values()):
            raise ValueError("expected a summary alone, found further data beside it")
        return cast("S", given)

    def _since_restart(self) -> tuple[tuple[Label, ...], list[S]]:
        """The periods of the present run, and their summaries."""
        first = self._starts[-1]
        return self.periods[first:], list(self._periods.values())[first:]

    @abstractmethod
    def summarize(self, *rows: Any, **about: Any) -> S:
        """Return the summary of a period, or of a part of one."""

    @abstractmethod
    def update(self, *rows: Any, **about: Any) -> Result:
        """Feed a period and return what there is to say after it."""

    @abstractmethod
    def status(self) -> Result:
        """Return what there is to say after the latest period, about the time since the last `restart`."""

    def __str__(self) -> str:
        return str(self.status())

    @abstractmethod
    def _begin(self) -> None:
        """Begin a run."""

    @abstractmethod
    def _add(self, label: Label, summary: S) -> None:
        """Check a summary and add it to the present run; where it raises nothing has changed."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""

    @classmethod
    @abstractmethod
    def _of_settings(cls, settings: dict[str, Any]) -> Self:
        """Return a new monitor of these settings."""

    @staticmethod
    @abstractmethod
    def _to_json(summary: S) -> Any:
        """Return a summary ready for JSON."""

    @staticmethod
    @abstractmethod
    def _from_json(entry: object) -> S:
        """Return the summary; a ValueError if it is none."""
