"""The commands `summarize`, `decompose`, `sharpness`, `validate` and `net-benefit`: models described, not tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from calibstat.cli.answers import Answer
from calibstat.cli.options import File, Label, LensText, Level, Models, Seed, WeightColumn
from calibstat.cli.printed_tables import table
from calibstat.cli.reading import Reading, takes_reading
from calibstat.cli.terminal import about_models, one_line_errors, written

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.classical.validate import Validation
    from calibstat.inference.summarize import Summary

Picture = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also draw it, such as into picture.png.")]


@takes_reading
def summarize_models(
    file: File, label: Label, prob: Models, reading: Reading, level: Level = 0.95, rng: Seed = 0
) -> Answer:
    """Tabulate accuracy, calibration errors and scores of models."""
    with one_line_errors():
        from calibstat import summarize
        from calibstat.output.wording import ROWS, number

        y, models, how = _read(file, label, prob, reading)
        found = summarize(y, models, confidence_level=level, rng=rng, n_jobs=-1)
        grid = table("Measure", *(f">{name}" for name in found.names))
        for k, (measure, of) in enumerate(zip(found.measures, found.subjects, strict=True)):
            ends = [*zip(found.low[:, k], found.high[:, k], strict=True)]
            grid.add_row(measure, *map(number, found.estimate[:, k]))
            grid.add_row(Text(f"  of {of}", "dim"), *(_interval(low, high) for low, high in ends))
        said = [_smallest(found, "ece"), _smallest(found, "brier")]
        return Answer([" ".join(said), grid, *found.warnings], about_models(len(y), found.names, how), ROWS)


@takes_reading
def decompose_scores(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    score: Annotated[str, typer.Option("--score", help="brier, log_loss or spherical.")] = "brier",
    lens: LensText = None,
    weight: WeightColumn = None,
) -> Answer:
    """Part a proper score into miscalibration and the rest.

    The rest is discrimination and uncertainty.
    """
    with one_line_errors():
        from calibstat import decompose
        from calibstat.cli.input_files import read_units
        from calibstat.output.wording import HELD_OUT, number

        y, models, how = _read(file, label, prob, reading)
        units = read_units(file, None, weight)
        found = _each(models, lens, y, lambda p, seen: decompose(y, p, score=score, lens=seen, **units))
        grid = table("Model", f">{score}", ">miscalibration", ">discrimination", ">uncertainty")
        for name, each in found.items():
            grid.add_row(name, *map(number, (each.score, each["mcb"], each["dsc"], each["unc"])))
        name, best = min(found.items(), key=lambda each: each[1]["mcb"])
        smallest = f"The smallest miscalibration is that of {name}: " if len(found) > 1 else "Miscalibration is "
        said: list[str | Table] = [
            f"{smallest}{number(best['mcb'])} of its {score} of {number(best.score)}.",
            grid,
            f"{score} = miscalibration - discrimination + uncertainty.",
            *([best.note] if weight is not None else []),
        ]
        return Answer(said, about_models(len(y), [*models], how), HELD_OUT)


@takes_reading
def show_sharpness(
    file: File, label: Label, prob: Models, reading: Reading, lens: LensText = None, out: Picture = None
) -> Answer:
    """Set calibration error beside sharpness, in a proper score."""
    with one_line_errors():
        from calibstat import sharpness
        from calibstat.output.wording import HELD_OUT

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: sharpness(y, p, lens=seen))
        return Answer([*_lines(found), *_drawn(found, out)], about_models(len(y), [*models], how), HELD_OUT)


@takes_reading
def validate_models(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    lens: LensText = None,
    level: Level = 0.95,
) -> Answer:
    """Give the numbers of clinical validation.

    O/E, intercept and slope, ICI, Brier score, AUC, with intervals.
    """
    with one_line_errors():
        from calibstat import validate
        from calibstat.output.wording import ROWS, number, percent

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
        said = [_say_validation(each, name if len(found) > 1 else "") for name, each in found.items()]
        curve = f"The curve of ICI and its relatives: {smoother}."
        return Answer(["\n".join(said), grid], about_models(len(y), [*models], how), ROWS, [curve])


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
) -> Answer:
    """Weigh true against false positives: a decision curve."""
    with one_line_errors():
        from calibstat import net_benefit
        from calibstat.output.wording import ROWS, number, percent

        y, models, how = _read(file, label, prob, reading)
        found = _each(models, lens, y, lambda p, seen: net_benefit(y, p, threshold, confidence_level=level, lens=seen))
        parts: list[str | Table] = _lines(found)
        if threshold:
            grid = table("Threshold", "Model", ">Net benefit", f">{percent(level)} interval", ">Acting on all")
            for k, at in enumerate(threshold):
                for name, each in found.items():
                    ends = f"{number(each.low[k])} to {number(each.high[k])}"
                    grid.add_row(f"{at:g}", name, number(each.model[k]), ends, number(each.everyone[k]))
            parts.append(grid)
        return Answer([*parts, *_drawn(found, out)], about_models(len(y), [*models], how), ROWS)


def _smallest(found: Summary, measure: str) -> str:
    """Say which model has the smallest value of a measure."""
    from calibstat.output.wording import number, percent
    from calibstat.reporting.sentences import ends

    k = found.measures.index(measure)
    i = int(np.argmin(found.estimate[:, k]))
    whose = f"The smallest {measure} is that of {found.names[i]}:" if len(found.names) > 1 else f"{measure} is"
    interval = f"{percent(found.confidence_level)} interval {ends(found.low[i, k], found.high[i, k])}"
    return f"{whose} {number(found.estimate[i, k])} ({interval})."


def _say_validation(found: Validation, name: str) -> str:
    """Say whether the two numbers that are 1 of a calibrated model have 1 in their intervals."""
    texts, inside = [], []
    for field, title in (("ratio", "O/E"), ("slope", "slope")):
        low, high = found.intervals[field]
        texts.append(f"{title} {getattr(found, field):.2f} ({low:.2f} to {high:.2f})")
        inside += [title] if low <= 1 <= high else []
    where = {0: "neither interval includes 1", 2: "both intervals include 1"}
    said = where.get(len(inside), f"of the two intervals only that of {' '.join(inside)} includes 1")
    return f"{f'{name}: ' * bool(name)}{' and '.join(texts)}; {said}."


def _interval(low: float, high: float) -> Text:
    """Write the ends of an interval, or nothing if there is none."""
    from calibstat.output.wording import number

    return Text("" if np.isnan(low) else f"{number(low)} to {number(high)}", "dim")


def _read(file: Path, label: str, prob: list[str], reading: Reading) -> tuple[np.ndarray, dict[str, np.ndarray], str]:
    from calibstat.cli.input_files import read_models

    return read_models(file, label, prob, reading)


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


def _drawn(found: Mapping[str, Any], out: Path | None) -> list[str]:
    """Save the picture, and say where."""
    if out is None:
        return []
    from calibstat import plot

    figure: Any = plot(found if len(found) > 1 else next(iter(found.values()))).figure
    figure.savefig(out)
    return [written(out.parent, [out])]
