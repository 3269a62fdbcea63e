"""The command `calibstat monitor`: periods of a file fed in the order of time, to be continued by the next call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.file_checks import need_input_kept
from calibstat.cli.options import File, Label, LensText
from calibstat.cli.reading import Reading, takes_reading
from calibstat.cli.terminal import one_line_errors, written

if TYPE_CHECKING:
    import numpy as np

    from calibstat.data.predictions import Predictions
    from calibstat.monitoring.brier_monitor import BrierMonitor
    from calibstat.monitoring.models_monitor import ModelsMonitor
    from calibstat.monitoring.monitor import Monitor

    AnyMonitor: TypeAlias = Monitor | ModelsMonitor | BrierMonitor


@takes_reading
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
    segment: Annotated[
        str | None, typer.Option("--segment", metavar="COLUMN", help="Column of the segment of each row.")
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="Largest probability of ever raising a false alarm. Default: 0.05."),
    ] = None,
    arl: Annotated[
        float | None,
        typer.Option(
            "--arl", metavar="PERIODS", help="Mean number of periods between false alarms, at least, instead."
        ),
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
) -> Answer:
    """Watch calibration over time, with an alarm.

    Its bound on false alarms is valid however often you check.
    """
    with one_line_errors():
        from calibstat.cli.features_and_periods import read_periods
        from calibstat.cli.input_files import read_column, read_models, read_rows
        from calibstat.monitoring.saved_state import one_feeder, write_state
        from calibstat.output import wording as words

        if alpha is not None and arl is not None:
            raise ValueError("expected --alpha or --arl, found both")
        open_monitor: Callable[[], tuple[AnyMonitor, Callable[[np.ndarray], Any]]]
        segments = None if segment is None else read_column(file, segment).to_numpy()
        if len(prob) == 1:
            data, how = read_rows(file, label, prob, reading)
            open_monitor = partial(_one_model, data, segments, lens, (alpha, arl), state)
        elif each and lens is None:
            y, models, how = read_models(file, label, prob, reading)
            open_monitor = partial(_each_model, y, models, segments, (alpha, arl), state)
        elif len(prob) == 2 and arl is None and lens is None:
            y, models, how = read_models(file, label, prob, reading)
            open_monitor = partial(_two_models, y, models, segments, alpha, state)
        else:
            found = f"it {len(prob)} times" if len(prob) != 2 else "--arl or --lens beside them"
            raise ValueError(
                f"expected --prob once, twice to compare two models alone, or --each to watch several; found {found}"
            )
        periods = read_periods(file, when)
        with nullcontext() if state is None else one_feeder(state):  # from reading the state until it is written
            monitor, summarize = open_monitor()
            known = _feed(monitor, {period: summarize(rows) for period, rows in periods.items()})
            if state is not None:
                write_state(state, monitor.kind, monitor.to_state())
        status: Any = monitor.status()
        n = sum(map(len, periods.values()))
        about = f"{file.name}: {n:,} rows in {len(periods):,} periods, {known:,} of them known already. {how}"
        sentences = [str(status), *([] if out is None else [written(out, _save(status, out, file))])]
        return Answer(sentences, words.Brief(about.strip()), words.PERIODS)


def _one_model(
    data: tuple[np.ndarray, np.ndarray] | Predictions,
    segments: np.ndarray | None,
    lens: str | None,
    regime: tuple[float | None, float | None],
    state: Path | None,
) -> tuple[Monitor, Callable[[np.ndarray], Any]]:
    """Return the monitor of one model, new or loaded, and the function that sums up the rows of a period."""
    from calibstat.cli.lens_syntax import view
    from calibstat.monitoring.monitor import Monitor

    if isinstance(data, tuple):
        if lens is not None:
            raise ValueError(f"expected several columns of probabilities for --lens {lens}, found one")
        (y, prob), seen = data, None
    else:
        y, prob, seen = data.label, data.prob, view(data, lens).lens
    monitor: Monitor = _opened(Monitor, (), regime, segments, state)

    def summarize(rows: np.ndarray) -> Any:
        of = None if segments is None else segments[rows]
        return monitor.summarize(y[rows], prob[rows], of, lens=seen)

    return monitor, summarize


def _opened(
    kind: Any,
    models: tuple[list[str], ...],
    regime: tuple[float | None, float | None],
    segments: np.ndarray | None,
    state: Path | None,
) -> Any:
    """Return a new monitor, of these models if it takes several, or the one whose state is there; raise if they differ.

    A regime is what was given of --alpha and --arl.
    """
    alpha, arl = regime
    if state is None or not state.exists():
        return kind(*models, alpha=0.05 if alpha is None else alpha, arl=arl, segments=_distinct(segments))
    monitor = kind.load(state)
    for name, wanted, found in (("--alpha", alpha, monitor.alpha), ("--arl", arl, monitor.arl)):
        if wanted is not None and wanted != found:
            raise ValueError(f"expected {name} {found} as in {str(state)!r}, found {wanted}")
    return monitor


def _distinct(segments: np.ndarray | None) -> list[str] | None:
    """Return the names of the segments of all rows; None without."""
    return None if segments is None else sorted(set(map(str, segments.tolist())))


def _each_model(
    y: np.ndarray,
    models: Mapping[str, np.ndarray],
    segments: np.ndarray | None,
    regime: tuple[float | None, float | None],
    state: Path | None,
) -> tuple[ModelsMonitor, Callable[[np.ndarray], Any]]:
    """Return the monitor of several models, new or loaded, and the function that sums up the rows of a period."""
    from calibstat.monitoring.models_monitor import ModelsMonitor

    _need_binary(models)
    monitor: ModelsMonitor = _opened(ModelsMonitor, ([*models],), regime, segments, state)
    if monitor.names != tuple(models):
        raise ValueError(f"expected {', '.join(monitor.names)} as in {str(state)!r}, found {', '.join(models)}")

    def summarize(rows: np.ndarray) -> Any:
        of = None if segments is None else segments[rows]
        return monitor.summarize(y[rows], {name: p[rows] for name, p in models.items()}, of)

    return monitor, summarize


def _need_binary(models: Mapping[str, np.ndarray]) -> None:
    if any(p.ndim == 2 for p in models.values()):
        raise ValueError("expected models of outcome 1, found several classes")


def _two_models(
    y: np.ndarray,
    models: Mapping[str, np.ndarray],
    segments: np.ndarray | None,
    alpha: float | None,
    state: Path | None,
) -> tuple[BrierMonitor, Callable[[np.ndarray], Any]]:
    """Return the monitor of two models, new or loaded, and the function that sums up the rows of a period."""
    from calibstat.monitoring.brier_monitor import BrierMonitor

    _need_binary(models)
    a, b = models.values()
    level = 0.95 if alpha is None else 1 - alpha
    monitor = BrierMonitor(level, names=[*models], segments=_distinct(segments))
    if state is not None and state.exists():
        monitor = BrierMonitor.load(state)
        if monitor.names != tuple(models) or (alpha is not None and monitor.confidence_level != level):
            known = f"{' and '.join(monitor.names)} at confidence level {monitor.confidence_level:g}"
            raise ValueError(f"expected {known} as in {str(state)!r}, found {' and '.join(models)} at {level:g}")

    def summarize(rows: np.ndarray) -> Any:
        return monitor.summarize(y[rows], a[rows], b[rows], None if segments is None else segments[rows])

    return monitor, summarize


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


def _save(status: Any, out: Path, file: Path) -> list[Path]:
    """Write the picture and the table of the periods, neither over the file that was read; return their paths."""
    from calibstat import plot
    from calibstat.output.csv_text import as_csv
    from calibstat.output.whole_folder import whole_folder

    saved = [out / "monitor.png", out / "monitor.csv"]
    need_input_kept(file, *saved)
    with whole_folder(out) as draft:
        figure: Any = plot(status).figure
        figure.savefig(draft / "monitor.png", dpi=150)
        (draft / "monitor.csv").write_text(as_csv(status.to_frame()), encoding="utf-8")
    return saved
