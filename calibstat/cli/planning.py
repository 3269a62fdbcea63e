"""The commands `calibstat power` and `calibstat sample-size`: planning from predictions, without outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import File, LensText, Prob, Seed
from calibstat.cli.reading import Reading
from calibstat.cli.terminal import one_line_errors, written

if TYPE_CHECKING:
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample

Alternatives = Annotated[
    list[str] | None,
    typer.Option(
        "--alternative",
        metavar="NAME=NUMBER",
        help="What is true: temperature=1.4 (over-confidence), shift=0.3 (events more frequent than predicted; below 0 "
        "less frequent), or both with a comma. May be repeated.",
    ),
]
TestName = Annotated[
    str, typer.Option("--test", metavar="NAME", help="A measure, or a classical test such as cox or t_cal.")
]
TestLevel = Annotated[float, typer.Option("--level", help="The p-value up to which the test rejects.")]
Picture = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Picture of the curve, such as curve.png.")]
DataSets = Annotated[int, typer.Option("--n-datasets", help="Simulated data sets for each number of rows.")]


@takes_groups
def find_power(
    file: File,
    prob: Prob,
    reading: Reading,
    alternative: Alternatives = None,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", metavar="ROWS", help="Rows, drawn from the file; may be repeated. Default: these rows."),
    ] = None,
    test: TestName = "omnibus",
    lens: LensText = None,
    level: TestLevel = 0.05,
    n_datasets: DataSets = 1000,
    rng: Seed = 0,
    out: Picture = None,
) -> Answer:
    """Find how likely a test is to find a miscalibration.

    Without --alternative: which one it finds with a probability of 80 %.
    """
    with one_line_errors():
        from calibstat import detectable_effect, power

        data, seen = _data(file, prob, reading, lens)
        common = {"lens": seen, "level": level, "rng": rng, "n_jobs": -1}
        if not alternative:
            if n:
                raise ValueError("expected --alternative with --n, found none")
            answers: list[Any] = [detectable_effect(data, measure=test, **common)]
        else:
            rows = None if not n else n[0] if len(n) == 1 else n
            answers = [power(data, each, rows, test=test, n_datasets=n_datasets, **common) for each in alternative]
        step = "Ask how many rows find a miscalibration that matters: calibstat sample-size, with --alternative."
        return _answer(data, alternative, answers, out, step)


@takes_groups
def find_sample_size(
    file: File,
    prob: Prob,
    reading: Reading,
    alternative: Alternatives = None,
    power: Annotated[float, typer.Option("--power", help="The probability with which the test rejects.")] = 0.8,
    test: TestName = "omnibus",
    width: Annotated[
        float | None, typer.Option("--width", help="Rows for an interval of this width instead of a test.")
    ] = None,
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="With --width: o/e, slope, or a measure such as ece.")
    ] = "o/e",
    judge_share: Annotated[
        float | None,
        typer.Option("--judge-share", help="With --width: the share of the noise that a judge leaves; prints labels."),
    ] = None,
    judge_rows: Annotated[
        int | None, typer.Option("--judge-rows", help="With --judge-share: the rows with an answer of the judge.")
    ] = None,
    lens: LensText = None,
    level: TestLevel = 0.05,
    rng: Seed = 0,
    out: Picture = None,
) -> Answer:
    """Find how many rows a test or an interval needs.

    A test to find a miscalibration, an interval for its width.
    """
    with one_line_errors():
        from calibstat import sample_size

        data, seen = _data(file, prob, reading, lens)
        if width is None and not alternative:
            raise ValueError("expected --alternative, such as temperature=1.4, or --width; found neither")
        asked = {"power": power, "test": test, "width": width, "of": of, "lens": seen, "level": level}
        asked |= {"judge_share": judge_share, "judge_rows": judge_rows}
        known: list[str | None] = [*alternative] if alternative else [None]
        answers = [sample_size(data, each, rng=rng, n_jobs=-1, **asked) for each in known]
        return _answer(data, alternative, answers, out, "Collect so many rows, and ask once: calibstat report.")


def _data(file: Path, prob: list[str], reading: Reading, lens: str | None) -> tuple[Sample | Predictions, Any]:
    """Read the predictions and the lens."""
    from calibstat.cli.input_files import read_probabilities
    from calibstat.cli.lens_syntax import view

    data = read_probabilities(file, prob, reading)
    return data, view(data, lens).lens


def _answer(
    data: Sample | Predictions,
    alternatives: Sequence[str] | None,
    answers: Sequence[Any],
    out: Path | None,
    next_step: str,
) -> Answer:
    """Say what was found for each alternative, and where its picture was written to."""
    from calibstat.output.wording import Brief, number_of

    sentences = [*map(str, answers), *([] if out is None else [_drawn(answers, out)])]
    results = dict(zip(alternatives or ["answer"], answers, strict=True))
    rows = Brief(f"{number_of('row', data.n)} of predictions; outcomes are not looked at.")
    return Answer(sentences, rows, results=results, next_step=next_step)


def _drawn(answers: Sequence[Any], out: Path) -> str:
    """Save the picture of the only curve."""
    if len(answers) > 1:
        raise ValueError(f"expected one --alternative for a picture, found {len(answers)}")
    from calibstat import plot

    try:
        figure: Any = plot(answers[0]).figure
    except TypeError:
        raise ValueError("expected several --n, or sample-size, for a picture of a curve; found one number") from None
    figure.savefig(out)
    return written(out.parent, [out])
