"""The command `calibstat monitor`: periods of a file fed in the order of time, to be continued by the next call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.large.parts import naming, need_other_file, parts_of
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import File, Label, LensText, RefusedClusters, SideOfTest
from calibstat.cli.reading import Reading
from calibstat.cli.terminal import late_bar, one_line_errors, written

if TYPE_CHECKING:
    import numpy as np

    from calibstat.monitoring.brier_monitor import BrierMonitor
    from calibstat.monitoring.monitor import Monitor
    from calibstat.monitoring.monitor_status import ModelsStatus, MonitorStatus

    AnyMonitor: TypeAlias = Monitor | BrierMonitor
    Summarize: TypeAlias = Callable[[Any, np.ndarray, np.ndarray | None], Any]  # of a monitor, rows and their segments


RECALIBRATE = (
    "Ask how large the error is since the change: calibstat test, of the rows of these periods. If it matters, "
    "recalibrate with them, and watch the new predictions with a new file of --state."
)
GO_ON = "When the next period is over give the same command with its rows, and with --state to go on."
Settings: TypeAlias = dict[str, Any]  # what was given of --alpha, --arl and --side


@dataclass(frozen=True)
class Promised:
    """The promise of a monitor, and the side that it watches.

    Attributes
    ----------
    alpha, arl : float or None
        The probability of a false alarm, or the mean number of periods between them.
    side : str or None
        The side that is watched alone.
    """

    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Largest probability of ever raising a false alarm. Default: 0.05."),
    ] = None
    arl: Annotated[
        float | None,
        typer.Option(
            "--arl", metavar="PERIODS", help="Mean number of periods between false alarms, at least, instead."
        ),
    ] = None
    side: SideOfTest = None


@takes_groups
def monitor_stream(
    file: File,
    label: Label,
    prob: Annotated[
        list[str],
        typer.Option(
            "--prob",
            metavar="COLUMN",
            help="Column of predicted probabilities of outcome 1, or of several classes a pattern in quotes for their "
            "columns. A second --prob compares the Brier scores of two models; with --each they are watched.",
        ),
    ],
    when: Annotated[
        str, typer.Option("--when", metavar="COLUMN", help="Column of periods: dates (2026-11-22), or whole numbers.")
    ],
    reading: Reading,
    promised: Promised,
    segment: Annotated[
        str | None, typer.Option("--segment", metavar="COLUMN", help="Column of the segment of each row.")
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Watch the calibration of each of several models, in place of comparing two.")
    ] = False,
    lens: LensText = None,
    state: Annotated[
        Path | None,
        typer.Option("--state", metavar="FILE", help="Continue from this file if it exists, and save the state to it."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the picture and a table of the periods.")
    ] = None,
    fail_on_alarm: Annotated[
        bool,
        typer.Option(
            "--fail-on-alarm",
            help="Exit with code 1 on an alarm, after printing and saving; with --arl, on one in the periods that are "
            "new.",
        ),
    ] = False,
    cluster: RefusedClusters = None,
) -> Answer:
    """Watch calibration over time, with an alarm.

    Its bound on false alarms is valid however often you check.
    """
    with one_line_errors():
        from calibstat.cli.features_and_periods import moment, read_periods
        from calibstat.inference.designs.question_of_rows import not_taken
        from calibstat.monitoring.period import SUMMARIZE
        from calibstat.monitoring.saved_state import one_feeder, write_state
        from calibstat.output import wording as words

        if cluster is not None:
            raise not_taken(SUMMARIZE[None], "cluster")
        settings = {name: value for name, value in vars(promised).items() if value is not None}
        _check_promise(settings, fail_on_alarm, len(prob) == 2 and not each)
        open_monitor, read = _chosen(prob, label, reading, settings, lens, state, each)
        parts, n, periods = parts_of(file), 0, dict[int | str, Any]()
        with (
            nullcontext() if state is None else one_feeder(state),  # from reading the state until it is written
            late_bar(len(parts)) as show,
        ):
            names = None if segment is None else _distinct(_segments(part, segment) for part in parts)
            summarize, how = read(parts[0])
            monitor = open_monitor(names)
            for number, part in enumerate(parts):  # of several files one is in memory at a time
                show(number, part.name)
                with naming(part, parts):
                    summarize, how = read(part) if number else (summarize, how)
                    of = None if segment is None else _segments(part, segment)
                    for period, at in read_periods(part, when).items():
                        n += len(at)
                        summary = summarize(monitor, at, None if of is None else of[at])
                        periods[period] = periods[period] + summary if period in periods else summary
            before = set(monitor.periods)
            known = _feed(monitor, {period: periods[period] for period in sorted(periods, key=moment)})
            if state is not None:
                write_state(state, monitor.kinds[0], monitor.to_state())
        status: Any = monitor.status()
        counts = f"{words.number_of('row', n)} in {words.number_of('period', len(periods))}"
        about = f"{file.name}: {counts}, {known:,} of them known already. {how}"
        sentences = [str(status), *([] if out is None else [written(out, _save(status, out, file))])]
        failed = _alarms(status, before) if fail_on_alarm else []
        then: dict[str, Any] = {
            "next_step": RECALIBRATE if getattr(status, "alarm", False) else GO_ON,
            "failed": failed,
        }
        return Answer(sentences, words.Brief(about.strip()), words.PERIODS, results={"monitor": status}, **then)


def _check_promise(settings: Settings, fail_on_alarm: bool, is_comparison: bool) -> None:
    """Raise if two promises about false alarms are asked for, or of a comparison an alarm or a side."""
    if {"alpha", "arl"} <= {*settings}:
        raise ValueError("expected --alpha or --arl, found both")
    if is_comparison and fail_on_alarm:
        raise ValueError("expected --fail-on-alarm with one model, or with --each; a comparison raises no alarm")
    if is_comparison and "side" in settings:
        raise ValueError(
            "expected --side with one model, or with --each; a comparison of two asks which Brier score is smaller, "
            "not whether predictions are too high or too low"
        )


def _chosen(
    prob: list[str], label: str, reading: Reading, settings: Settings, lens: str | None, state: Path | None, each: bool
) -> tuple[Callable[[list[str] | None], AnyMonitor], Callable[[Path], tuple[Summarize, str]]]:
    """Return the function that opens the monitor, given the segments, and the one that reads a file for it."""
    if len(prob) == 1:
        return partial(_watch, (), settings, state), partial(_one_model, label, prob, reading, lens)
    if each and lens is None:
        return partial(_watch, tuple(prob), settings, state), partial(_each_model, label, prob, reading)
    if len(prob) == 2 and "arl" not in settings and lens is None:
        return partial(_watch_two, prob, settings.get("alpha"), state), partial(_two_models, label, prob, reading)
    found = f"it {len(prob)} times" if len(prob) != 2 else "--arl or --lens beside them"
    raise ValueError(
        f"expected --prob once, twice to compare two models alone, or --each to watch several; found {found}"
    )


def _one_model(label: str, prob: list[str], reading: Reading, lens: str | None, part: Path) -> tuple[Summarize, str]:
    """Return the function that sums up rows of a file for a monitor, and how their outcomes were understood."""
    from calibstat.cli.input_files import read_rows
    from calibstat.cli.lens_syntax import view

    data, how = read_rows(part, label, prob, reading)
    if isinstance(data, tuple):
        if lens is not None:
            raise ValueError(f"expected several columns of probabilities for --lens {lens}, found one")
        (y, p), seen = data, None
    else:
        y, p, seen = data.label, data.prob, view(data, lens).lens

    def summarize(monitor: Monitor, rows: np.ndarray, segment: np.ndarray | None) -> Any:
        return monitor.summarize(y[rows], p[rows], segment, lens=seen)

    return summarize, how


def _each_model(label: str, prob: list[str], reading: Reading, part: Path) -> tuple[Summarize, str]:
    """Return the same of several models, each watched by itself."""
    y, models, how = _several_models(label, prob, reading, part)

    def summarize(monitor: Monitor, rows: np.ndarray, segment: np.ndarray | None) -> Any:
        return monitor.summarize(y[rows], {name: p[rows] for name, p in models.items()}, segment)

    return summarize, how


def _two_models(label: str, prob: list[str], reading: Reading, part: Path) -> tuple[Summarize, str]:
    """Return the same of two models that are compared."""
    y, models, how = _several_models(label, prob, reading, part)
    a, b = models.values()

    def summarize(monitor: BrierMonitor, rows: np.ndarray, segment: np.ndarray | None) -> Any:
        return monitor.summarize(y[rows], a[rows], b[rows], segment)

    return summarize, how


def _several_models(
    label: str, prob: list[str], reading: Reading, part: Path
) -> tuple[np.ndarray, dict[str, np.ndarray], str]:
    """Read the outcomes and the predictions of several models from a file; raise if they are of several classes."""
    from calibstat.cli.input_files import read_models

    y, models, how = read_models(part, label, prob, reading)
    if any(p.ndim == 2 for p in models.values()):
        raise ValueError("expected models of outcome 1, found several classes")
    return y, models, how


def _segments(part: Path, segment: str) -> np.ndarray:
    """Return the segment of each row of a file."""
    from calibstat.cli.input_files import read_column

    return read_column(part, segment).to_numpy()


def _distinct(segments: Iterable[np.ndarray]) -> list[str]:
    """Return the names of the segments of all rows."""
    return sorted({str(name) for each in segments for name in each.tolist()})


def _watch(models: tuple[str, ...], settings: Settings, state: Path | None, segments: list[str] | None) -> Monitor:
    """Return a new monitor, or the one whose state is there if it is the same; of one model there are no names."""
    from calibstat.monitoring.monitor import Monitor

    if state is None or not state.exists():
        return Monitor(segments=segments, **settings)
    monitor = Monitor.load(state)
    for name, found in settings.items():
        known = getattr(monitor, name)
        if known != found:
            expected = f"no --{name}" if known is None else f"--{name} {known}"
            raise ValueError(f"expected {expected} as in {str(state)!r}, found {found}")
    if monitor.models not in (None, models):
        known, asked = (", ".join(names or ()) or "one model" for names in (monitor.models, models))
        raise ValueError(f"expected {known} as in {str(state)!r}, found {asked}")
    return monitor


def _watch_two(models: list[str], alpha: float | None, state: Path | None, segments: list[str] | None) -> BrierMonitor:
    """Return the monitor of the difference of two models, new or loaded."""
    from calibstat.monitoring.brier_monitor import BrierMonitor

    level = 0.95 if alpha is None else 1 - alpha
    monitor = BrierMonitor(level, names=models, segments=segments)
    if state is not None and state.exists():
        monitor = BrierMonitor.load(state)
        if monitor.names != tuple(models) or (alpha is not None and monitor.confidence_level != level):
            known = f"{' and '.join(monitor.names)} at confidence level {monitor.confidence_level:g}"
            raise ValueError(f"expected {known} as in {str(state)!r}, found {' and '.join(models)} at {level:g}")
    return monitor


def _feed(monitor: AnyMonitor, periods: Mapping[int | str, Any]) -> int:
    """Feed the periods that are new, which have to come after those known; return how many were known."""
    from calibstat.cli.features_and_periods import moment

    before = monitor.periods
    latest = max((moment(period) for period in before), default=-math.inf)
    known = 0
    for period, summary in periods.items():
        if period in before:
            known += 1
            if summary != monitor.summary(period):
                raise ValueError(f"expected the rows of period {period} as they were fed before, found others")
        elif moment(period) < latest:
            raise ValueError(f"expected new periods after {before[-1]}, the latest that was fed; found {period}")
        else:
            monitor.update(summary, period=period)
    return known


def _alarms(status: MonitorStatus | ModelsStatus, before: set[int | str]) -> list[str]:
    """Say of each model with an alarm in which period; of one that starts again by itself not if it was known before.

    With a bound on the chance of ever raising one, the first alarm stands until another monitor is begun.
    """
    of_models = getattr(status, "models", {"": status})
    return [
        f"there is an alarm{f' for {name}' * bool(name)} in period {each.alarm_period}"
        for name, each in of_models.items()
        if each.alarm and (status.arl is None or each.alarm_period not in before)
    ]


def _save(status: Any, out: Path, file: Path) -> list[Path]:
    """Write the picture and the table of the periods, neither over the file that was read; return their paths."""
    from calibstat import plot
    from calibstat.output.csv_text import as_csv
    from calibstat.output.whole_folder import whole_folder

    saved = [out / "monitor.png", out / "monitor.csv"]
    need_other_file(file, *saved)
    with whole_folder(out) as draft:
        figure: Any = plot(status).figure
        figure.savefig(draft / "monitor.png", dpi=150)
        (draft / "monitor.csv").write_text(as_csv(status.to_frame()), encoding="utf-8")
    return saved
