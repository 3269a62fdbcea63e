"""Commands that describe models: `summarize`, `skill`, `decompose`, `sharpness`, `validate`, `net-benefit` and more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from calibstat.cli.answers import Answer
from calibstat.cli.large.parts import need_other_file
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import (
    ClusterColumn,
    File,
    Label,
    LensText,
    Level,
    Models,
    Seed,
    UnseenClusters,
    WeightColumn,
)
from calibstat.cli.printed_tables import table
from calibstat.cli.reading import Reading
from calibstat.cli.row_columns import RowColumns, read_models_with_columns
from calibstat.cli.terminal import about_models, one_line_errors, written
from calibstat.digits import settled
from calibstat.in_order import first_smallest

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.classical.by_cluster_result import ByCluster
    from calibstat.classical.validation_result import Validation
    from calibstat.inference.summarize import Summary


BY_CHANCE = "Ask whether so much miscalibration could be chance: calibstat test, with the same rows."
COMPARE_TWO = "Compare two models by one of these numbers: calibstat compare, with --prob for each and --measure."
ProperScore = Annotated[str, typer.Option("--score", help="brier, log_loss or spherical.")]
Picture = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also draw it, such as into picture.png.")]


@takes_groups
def summarize_models(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measures",
            metavar="NAME",
            help="accuracy, ece, average_ce, adaptive_calibration_error, smooth_ece, auc, log_loss, brier, or another "
            "of 'calibstat measures'; may be repeated, or with commas. Default: of these eight all but those that take "
            "more than a minute.",
        ),
    ] = None,
    level: Level = 0.95,
    rng: Seed = 0,
) -> Answer:
    """Tabulate accuracy, calibration errors and scores of models."""
    with one_line_errors():
        from calibstat import summarize
        from calibstat.inference.summarize import left_out_in_words
        from calibstat.output.wording import ROWS, number

        models, how = read_models_with_columns(file, label, prob, reading)
        asked = None if measures is None else [name.strip() for each in measures for name in each.split(",")]
        summary = summarize(models, measures=asked, confidence_level=level, rng=rng, n_jobs=-1)
        grid = table("Measure", *(f">{name}" for name in summary.names))
        for k, (measure, of) in enumerate(zip(summary.measures, summary.subjects, strict=True)):
            ends = [*zip(summary.low[:, k], summary.high[:, k], strict=True)]
            grid.add_row(measure, *map(number, summary.estimate[:, k]))
            grid.add_row(Text(f"  of {of}", "dim"), *(_interval(low, high) for low, high in ends))
        sentences = [_smallest(summary, name) for name in ("ece", "brier") if name in summary.measures]
        sentences = sentences or [_values_of_first(summary)]
        rest = [left_out_in_words(summary.left_out, "--measures {}")] if summary.left_out else []
        about = about_models(models, how)
        said: list[str | Table] = [" ".join(filter(None, (summary.answer, *sentences))), grid, *rest, *summary.warnings]
        step = COMPARE_TWO if len(summary.names) > 1 else BY_CHANCE
        return Answer(said, about, ROWS, results={"summary": summary}, next_step=step)


@takes_groups
def show_skill(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="COLUMN|RATE",
            help="Column of the reference's probabilities, or one rate for all rows. Default: the mean outcome.",
        ),
    ] = None,
    score: ProperScore = "brier",
    lens: LensText = None,
    level: Level = 0.95,
    cluster: ClusterColumn = None,
    unseen: UnseenClusters = None,
    weight: WeightColumn = None,
) -> Answer:
    """Compute skill over the base rate, or over a reference."""
    with one_line_errors():
        from calibstat import skill_score
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import CLUSTERS, ROWS

        columns = RowColumns(cluster=cluster, weight=weight, unseen=unseen)
        rate = None if reference is None else _as_rate(reference)
        beside = [] if reference is None or rate is not None or reference in prob else [reference]
        models, how = read_models_with_columns(file, label, [*prob, *beside], reading, columns)
        forecast: Any = rate if reference is None or rate is not None else models[reference].rows.y_prob
        asked = models.some(*(name for name in models if name not in beside))
        asks_for: dict[str, Any] = {"score": score, "lens": lens_of_models(asked, lens), "confidence_level": level}
        answers = skill_score(asked, reference=forecast, **asks_for)
        caution = CLUSTERS if cluster is not None else ROWS
        step = "Ask how much of the loss is miscalibration: calibstat decompose, with the same rows."
        return Answer(_lines(answers), about_models(asked, how), caution, results=answers, next_step=step)


@takes_groups
def decompose_scores(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    score: ProperScore = "brier",
    lens: LensText = None,
    weight: WeightColumn = None,
) -> Answer:
    """Decompose a proper score into three parts.

    They are miscalibration, discrimination and uncertainty.
    """
    with one_line_errors():
        from calibstat import decompose
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import HELD_OUT, number

        models, how = read_models_with_columns(file, label, prob, reading, RowColumns(weight=weight))
        decompositions = decompose(models, score=score, lens=lens_of_models(models, lens))
        grid = table("Model", f">{score}", ">miscalibration", ">discrimination", ">uncertainty")
        for name, each in decompositions.items():
            grid.add_row(name, *map(number, (each.score, each["mcb"], each["dsc"], each["unc"])))
        name, best = [*decompositions.items()][first_smallest([each["mcb"] for each in decompositions.values()])]
        smallest = f"{name} has the smallest miscalibration: " if len(decompositions) > 1 else "Miscalibration is "
        parts: list[str | Table] = [
            f"{smallest}{number(best['mcb'])} of its {score} of {number(best.score)}.",
            grid,
            f"{score} = miscalibration - discrimination + uncertainty.",
            *([best.note] if weight is not None else []),
        ]
        return Answer(parts, about_models(models, how), HELD_OUT, results=decompositions, next_step=BY_CHANCE)


@takes_groups
def show_sharpness(
    file: File, label: Label, prob: Models, reading: Reading, lens: LensText = None, out: Picture = None
) -> Answer:
    """Set calibration error beside sharpness, in a proper score."""
    with one_line_errors():
        from calibstat import sharpness
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import HELD_OUT

        models, how = read_models_with_columns(file, label, prob, reading)
        answers = sharpness(models, lens=lens_of_models(models, lens))
        about = about_models(models, how)
        parts = [*_lines(answers), *_drawn(answers, out, file)]
        return Answer(parts, about, HELD_OUT, results=answers, next_step=BY_CHANCE)


@takes_groups
def validate_models(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    lens: LensText = None,
    level: Level = 0.95,
    cluster: ClusterColumn = None,
    unseen: UnseenClusters = None,
    weight: WeightColumn = None,
) -> Answer:
    """Compute the numbers of clinical validation.

    O/E, intercept and slope, ICI, Brier score and AUC with intervals; R², D, U, Q.
    """
    with one_line_errors():
        from calibstat import validate
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import CLUSTERS, ROWS, number, percent

        models, how = read_models_with_columns(
            file, label, prob, reading, RowColumns(cluster=cluster, weight=weight, unseen=unseen)
        )
        validations = validate(models, lens=lens_of_models(models, lens), confidence_level=level)
        frames = {name: each.to_frame() for name, each in validations.items()}
        first = next(iter(frames.values()))
        grid = table(f"Number, {percent(level)} interval", ">If calibrated", *(f">{name}" for name in frames))
        for row, (title, wished) in enumerate(zip(first["number"], first["calibrated"], strict=True)):
            lines = [frame.iloc[row] for frame in frames.values()]
            grid.add_row(title, "" if np.isnan(wished) else f"{wished:g}", *(number(line.estimate) for line in lines))
            if not all(np.isnan(line.low) for line in lines):
                grid.add_row("", "", *(_interval(line.low, line.high) for line in lines))
            if not all(np.isnan(line.pvalue) for line in lines):
                grid.add_row("", "", *(_pvalue(line.pvalue) for line in lines))
        smoother = next(iter(validations.values())).smoother
        of_models = [(each, name if len(validations) > 1 else "") for name, each in validations.items()]
        sentences = [_say_validation(each, name) for each, name in of_models]
        of_clusters = [part for each, name in of_models for part in _by_cluster(each.by_cluster, name)]
        curve = f"The curve of ICI and its relatives: {smoother}."
        one = next(iter(validations.values()))
        notes = [one.note] if one.note and (weight is not None or cluster is not None) else []
        about = about_models(models, how)
        caution = CLUSTERS if cluster is not None else ROWS
        parts: list[str | Table] = ["\n".join([*one.cautions, *sentences]), grid, *of_clusters, *notes]
        step = "Ask at which thresholds it is worth acting by the model: calibstat net-benefit, with the same rows."
        return Answer(parts, about, caution, [curve], results=validations, next_step=step)


@takes_groups
def show_net_benefit(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    threshold: Annotated[
        list[float] | None,
        typer.Option("--threshold", help="Act from this probability on; may be repeated. Default: 0.01 to 0.99."),
    ] = None,
    lens: LensText = None,
    level: Level = 0.95,
    out: Picture = None,
    cluster: ClusterColumn = None,
    unseen: UnseenClusters = None,
    weight: WeightColumn = None,
) -> Answer:
    """Compute net benefit at thresholds (decision curve)."""
    with one_line_errors():
        from calibstat import net_benefit
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import CLUSTERS, ROWS, number, percent

        models, how = read_models_with_columns(
            file, label, prob, reading, RowColumns(cluster=cluster, weight=weight, unseen=unseen)
        )
        curves = net_benefit(models, None, threshold, lens=lens_of_models(models, lens), confidence_level=level)
        of_models = {name: f"{name}: " if len(curves) > 1 else "" for name in curves}
        parts: list[str | Table] = [f"{of_models[name]}{each.answer}" for name, each in curves.items()]
        grid = table("Threshold", "Model", ">Net benefit", f">{percent(level)} interval", ">Acting on all")
        first = next(iter(curves.values()))
        for k in first.in_table:
            for name, each in curves.items():
                ends = f"{number(each.low[k])} to {number(each.high[k])}"
                grid.add_row(
                    f"{settled(each.threshold[k]):g}", name, number(each.model[k]), ends, number(each.everyone[k])
                )
        parts += [grid] * (len(first.in_table) > 0)
        about = about_models(models, how)
        caution = CLUSTERS if cluster is not None else ROWS
        notes = [first.note] if cluster is not None else []
        parts += [*filter(None, notes), *_drawn(curves, out, file)]
        step = "Choose the threshold by what acting costs and saves, and not by where these numbers are largest."
        return Answer(parts, about, caution, results=curves, next_step=step)


@takes_groups
def show_risk_coverage(
    file: File,
    label: Label,
    prob: Models,
    reading: Reading,
    max_error: Annotated[
        float | None,
        typer.Option("--max-error", help="Find a confidence from which on at most this share of answers is wrong."),
    ] = None,
    decide_at: Annotated[
        float | None,
        typer.Option("--decide-at", help="Outcome 1 is predicted from this probability on; 0: always. Default: 0.5."),
    ] = None,
    lens: LensText = None,
    level: Level = 0.95,
    out: Picture = None,
) -> Answer:
    """Compute how often models are wrong that may abstain."""
    with one_line_errors():
        from calibstat import risk_coverage
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.output.wording import ROWS

        models, how = read_models_with_columns(file, label, prob, reading)
        curves = risk_coverage(
            models,
            max_error=max_error,
            decide_at=decide_at,
            confidence_level=level,
            lens=lens_of_models(models, lens),
        )
        parts = [*_lines(curves), *_drawn(curves, out, file)]
        step = (
            "Choose --max-error before you look at these numbers: its confidence does not hold if it is chosen by them."
        )
        return Answer(parts, about_models(models, how), ROWS, results=curves, next_step=step)


def _smallest(summary: Summary, measure: str) -> str:
    """Say which model has the smallest value of a measure."""
    from calibstat.output.wording import number, percent
    from calibstat.reporting.sentences import ends

    k = summary.measures.index(measure)
    i = int(first_smallest(summary.estimate[:, k]))
    whose = f"{summary.names[i]} has the smallest {measure}:" if len(summary.names) > 1 else f"{measure} is"
    interval = f"{percent(summary.confidence_level)} interval {ends(summary.low[i, k], summary.high[i, k])}"
    return f"{whose} {number(summary.estimate[i, k])} ({interval})."


def _values_of_first(summary: Summary) -> str:
    """Say the first measure of each model."""
    from calibstat.output.wording import number

    values = zip(summary.names, summary.estimate[:, 0], strict=True)
    return " ".join(f"{summary.measures[0]} is {number(value)} for {name}." for name, value in values)


def _say_validation(validation: Validation, name: str) -> str:
    """Say whether numbers that are 1 of a calibrated model have 1 in their intervals, and which are missing."""
    texts, inside = [], []
    for field, title in (("ratio", "O/E"), ("slope", "slope")):
        if field in validation.intervals:
            low, high = validation.intervals[field]
            texts.append(
                f"{title} {settled(getattr(validation, field)):.2f} ({settled(low):.2f} to {settled(high):.2f})"
            )
            inside += [title] if low <= 1 <= high else []
    if len(texts) == 1:
        missing = f"and the slope {validation.missing['slope']}"
        verdict = f"the interval {'includes' if inside else 'does not include'} 1, {missing}"
    else:
        where = {0: "neither interval includes 1", 2: "both intervals include 1"}
        verdict = where.get(len(inside), f"of the two intervals only the one of {' '.join(inside)} includes 1")
    from calibstat.classical.validation_result import TITLES

    why: dict[str, list[str]] = {}
    for field, reason in validation.missing.items():
        why.setdefault(reason, []).append(TITLES.get(field, "table by cluster").split(",")[0])
    missing = "".join(f" Missing: {', '.join(titles)} ({reason})." for reason, titles in why.items())
    return f"{f'{name}: ' * bool(name)}{' and '.join(texts)}; {verdict}.{missing}"


def _by_cluster(found: ByCluster | None, model: str) -> list[str | Table]:
    """Return the means over clusters and over rows, and a table of the first clusters; nothing without clusters."""
    if found is None:
        return []
    from calibstat.classical.by_cluster_result import MOST_PRINTED, short_name

    def of_cluster(number: float, ends: np.ndarray) -> tuple[str, Text]:
        """Write a number and its interval, or nothing."""
        low, high = (f"{settled(end):.2f}" for end in ends)
        return ("", Text()) if np.isnan(number) else (f"{settled(number):.2f}", Text(f"{low} to {high}", "dim"))

    grid = table("Cluster", ">Rows", ">Events", ">Expected", ">O/E", ">Interval", ">Slope", ">Interval")
    for c, name in enumerate(found.names[:MOST_PRINTED]):
        sums = f"{found.n[c]:,}", f"{found.events[c]:,}", f"{settled(found.expected[c]):.1f}"
        ratio = of_cluster(found.ratio[c], found.ratio_interval[c])
        grid.add_row(short_name(name), *sums, *ratio, *of_cluster(found.slope[c], found.slope_interval[c]))
    more = len(found.names) - MOST_PRINTED
    others = [f"and {more:,} more clusters: --format json has all."] * (more > 0)
    return [f"{f'{model}: ' * bool(model)}{found.answer}", grid, *others]


def _pvalue(pvalue: float) -> Text:
    """Write a p-value, or nothing if there is none."""
    from calibstat.output.wording import number

    return Text("" if np.isnan(pvalue) else f"p = {number(pvalue)}", "dim")


def _interval(low: float, high: float) -> Text:
    """Write the ends of an interval, or nothing if there is none."""
    from calibstat.output.wording import number

    return Text("" if np.isnan(low) else f"{number(low)} to {number(high)}", "dim")


def _as_rate(text: str) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def _lines(answers: Mapping[str, Any]) -> list[str | Table]:
    """Return what each result says, under the name of its model if there are several."""
    return [f"{name}: {each}" if len(answers) > 1 else str(each) for name, each in answers.items()]


def _drawn(answers: Mapping[str, Any], out: Path | None, file: Path) -> list[str]:
    """Save the picture, and say where; raise if that is the file that was read."""
    if out is None:
        return []
    need_other_file(file, out)
    from calibstat import plot

    figure: Any = plot(answers if len(answers) > 1 else next(iter(answers.values()))).figure
    figure.savefig(out)
    return [written(out.parent, [out])]
