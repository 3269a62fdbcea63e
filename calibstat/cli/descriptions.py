"""The commands `summarize`, `decompose`, `sharpness`, `validate` and `net-benefit`: models described, not tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from calibstat.cli.options import File, Label, LensText, Level, Models, Seed
from calibstat.cli.printed_tables import table
from calibstat.cli.reading import Reading, takes_reading
from calibstat.cli.terminal import one_line_errors, say, written

if TYPE_CHECKING:
    from rich.table import Table

Picture = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also draw it, such as into picture.png.")]


@takes_reading
def summarize_models(
    file: File, label: Label, prob: Models, reading: Reading, level: Level = 0.95, rng: Seed = 0
) -> None:
    """Tabulate accuracy, calibration errors and proper scores of models, with intervals."""
    with one_line_errors():
        from calibstat import summarize
        from calibstat.output.wording import number

        y, models, how = _read(file, label, prob, reading)
        found = summarize(y, models, confidence_level=level, rng=rng, n_jobs=-1)
        grid = table("Measure", *(f">{name}" for name in found.names))
        for k, (measure, of) in enumerate(zip(found.measures, found.subjects, strict=True)):
            ends = [*zip(found.low[:, k], found.high[:, k], strict=True)]
            grid.add_row(measure, *map(number, found.estimate[:, k]))
            grid.add_row(Text(f"  of {of}", "dim"), *(_interval(low, high) for low, high in ends))
        say(*_about(y, models, how), grid, *found.warnings)


@takes_reading
def decompose_scores(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    score: Annotated[str, typer.Option("--score", help="brier, log_loss or spherical.")] = "brier",
    lens: LensText = None,
) -> None:
    """Part a proper score into miscalibration, discrimination and uncertainty."""
    with one_line_errors():
        from calibstat import decompose
        from calibstat.output.wording import number

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: decompose(y, p, score=score, lens=seen))
        grid = table("Model", f">{score}", ">miscalibration", ">discrimination", ">uncertainty")
        for name, each in found.items():
            grid.add_row(name, *map(number, (each.score, each["mcb"], each["dsc"], each["unc"])))
        say(*_about(y, models, how), grid, f"{score} = miscalibration - discrimination + uncertainty.")


@takes_reading
def show_sharpness(
    file: File, label: Label, prob: Models, reading: Reading, lens: LensText = None, out: Picture = None
) -> None:
    """Set calibration error beside sharpness, in a proper score."""
    with one_line_errors():
        from calibstat import sharpness

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: sharpness(y, p, lens=seen))
        say(*_about(y, models, how), *_lines(found))
        _draw(found, out)


@takes_reading
def validate_models(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    lens: LensText = None,
    level: Level = 0.95,
) -> None:
    """Give the numbers of clinical validation: O/E, intercept and slope, ICI, Brier score, AUC."""
    with one_line_errors():
        from calibstat import validate
        from calibstat.output.wording import number, percent

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: validate(y, p, confidence_level=level, lens=seen))
        frames = {name: each.to_frame() for name, each in found.items()}
        first = next(iter(frames.values()))
        grid = table(f"Number, {percent(level)} interval", ">If calibrated", *(f">{name}" for name in frames))
        for row, (title, wished) in enumerate(zip(first["number"], first["calibrated"], strict=True)):
            lines = [frame.iloc[row] for frame in frames.values()]
            grid.add_row(title, "" if np.isnan(wished) else f"{wished:g}", *(number(line.estimate) for line in lines))
            if not np.isnan(lines[0].low):
                grid.add_row("", "", *(_interval(line.low, line.high) for line in lines))
        smoother = next(iter(found.values())).smoother
        say(*_about(y, models, how), grid, f"The curve of ICI and its relatives: {smoother}.")


@takes_reading
def show_net_benefit(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    threshold: Annotated[
        list[float] | None,
        typer.Option("--threshold", help="Probability from which on one acts; may be repeated. Default: .01 to .99."),
    ] = None,
    lens: LensText = None,
    level: Level = 0.95,
    out: Picture = None,
) -> None:
    """Weigh true against false positives, threshold by threshold (a decision curve)."""
    with one_line_errors():
        from calibstat import net_benefit
        from calibstat.output.wording import number, percent

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: net_benefit(y, p, threshold, confidence_level=level, lens=seen))
        parts: list[str | Table] = _lines(found)
        if threshold:
            grid = table("Threshold", "Model", ">Net benefit", f">{percent(level)} interval", ">Acting on all")
            for k, at in enumerate(threshold):
                for name, each in found.items():
                    ends = f"{number(each.low[k])} to {number(each.high[k])}"
                    grid.add_row(f"{at:g}", name, number(each.model[k]), ends, number(each.everyone[k]))
            parts = [grid]
        say(*_about(y, models, how), *parts)
        _draw(found, out)


def _interval(low: float, high: float) -> Text:
    """Write the ends of an interval, or nothing if there is none."""
    from calibstat.output.wording import number

    return Text("" if np.isnan(low) else f"{number(low)} to {number(high)}", "dim")


def _read(file: Path, label: str, prob: list[str], reading: Reading) -> tuple[np.ndarray, dict[str, np.ndarray], str]:
    from calibstat.cli.input_files import read_models

    return read_models(file, label, prob, reading)


def _about(y: np.ndarray, models: Mapping[str, np.ndarray], how: str) -> list[str]:
    """Describe the data."""
    return [f"{len(y):,} rows, {len(models)} model{'s' * (len(models) != 1)}. {how}".strip()]


def _each(
    models: Mapping[str, np.ndarray], lens: str | None, y: np.ndarray, ask: Callable[[np.ndarray, Any], Any]
) -> dict[str, Any]:
    """Ask about each model, through the lens that the text describes."""
    from calibstat.cli.lens_syntax import view
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample

    found = {}
    for name, p in models.items():
        data = Predictions.from_rows(y, p) if p.ndim == 2 else Sample.from_rows(y, p)
        found[name] = ask(p, view(data, lens).lens)
    return found


def _lines(found: Mapping[str, Any]) -> list[str | Table]:
    """Return what each result says, under the name of its model if there are several."""
    return [f"{name}: {each}" if len(found) > 1 else str(each) for name, each in found.items()]


def _draw(found: Mapping[str, Any], out: Path | None) -> None:
    """Save the picture."""
    if out is None:
        return
    from calibstat import plot

    figure: Any = plot(found if len(found) > 1 else next(iter(found.values()))).figure
    figure.savefig(out)
    say(written(out.parent, [out]))
