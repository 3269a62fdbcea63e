"""The command `calibstat report`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.audit_groups import By
from calibstat.cli.large.parts import need_other_file
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import File, Label, LensText, Level, Seed, SideOfTest
from calibstat.cli.reading import AS_WRITTEN, Reading
from calibstat.cli.row_columns import AS_THEY_ARE, RowColumns
from calibstat.cli.terminal import one_line_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibstat.data.checked_rows import Models
    from calibstat.inference.choosing.condition import Condition
    from calibstat.reporting.report_results import Report

Probs = Annotated[
    list[str],
    typer.Option(
        "--prob",
        metavar="COLUMN",
        help="Column of predicted probabilities of outcome 1; once for each model. Of several classes one pattern in "
        'quotes for each model, such as "p_*"; or every column, if they sum to 1 (logits: a pattern).',
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write: .html (one page to send), .json, .csv or .md."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="html, json, csv or md. Default: the suffix of --out. Without --out it goes to the screen."
    ),
]
FailIf = Annotated[
    list[str],
    typer.Option(
        "--fail-if",
        metavar="CONDITION",
        help="Exit with code 1 if a field of the result meets this, such as 'ece.low > 0.02'. May be repeated.",
    ),
]
FailUnless = Annotated[
    list[str],
    typer.Option(
        "--fail-unless",
        metavar="CONDITION",
        help="Exit with code 1 if a field of the result is shown not to meet this, such as 'ece.high <= 0.05', and "
        "with code 3 if the other end of its interval meets it: then these rows cannot tell. May be repeated.",
    ),
]


@dataclass(frozen=True)
class Conditions:
    """The conditions on fields of a report, which a command fails on.

    Attributes
    ----------
    fail_if, fail_unless : list of str
        What must not hold, and what has to be shown to hold.
    """

    fail_if: FailIf = field(default_factory=list)
    fail_unless: FailUnless = field(default_factory=list)

    def read(self) -> Judge:
        """Read the conditions now, before there is a report."""
        from calibstat.inference.choosing.condition import Condition
        from calibstat.reporting.fields_of_any_report import need_field

        wrong, needed = ([Condition.read(text) for text in texts] for texts in (self.fail_if, self.fail_unless))
        for each in (*wrong, *needed):
            need_field(each)
        return Judge(wrong, needed)


@dataclass(frozen=True)
class Judge:
    """Conditions that were read."""

    wrong: Sequence[Condition]
    needed: Sequence[Condition]

    def check(self, rows: Models) -> None:
        """Raise if the report of these rows leaves out a measure that a condition is about."""
        from calibstat.inference.designs.design_of import design_of
        from calibstat.reporting.fields_of_any_report import need_measure

        for each in (*self.wrong, *self.needed):
            need_measure(each, design_of(rows.first))

    def of(self, page: Report) -> tuple[list[str], list[str]]:
        """Return which conditions of a report failed, and which its rows cannot tell."""
        from calibstat.reporting.conditions import not_shown, sentences_of

        failed = [sentence for condition in self.wrong for sentence in sentences_of(condition, page)]
        asked = [not_shown(condition, page) for condition in self.needed]
        failed += [sentence for off, _ in asked for sentence in off]
        return failed, [sentence for _, cannot_tell in asked for sentence in cannot_tell]


@dataclass(frozen=True)
class WrittenPage:
    """The page that a report is written to.

    Attributes
    ----------
    out : Path or None
        The file.
    format, title : str or None
        The kind of file, and the heading.
    """

    out: Out = None
    format: Format = None
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading.")] = None


@takes_groups
def write_report(
    file: File,
    label: Label,
    prob: Probs,
    reading: Reading,
    columns: RowColumns,
    conditions: Conditions,
    written: WrittenPage,
    by: By = [],  # noqa: B006
    recalibrate: Annotated[
        bool, typer.Option("--recalibrate", help="Recalibrate on held-out folds; compare before and after.")
    ] = False,
    side: SideOfTest = None,
    lens: LensText = None,
    level: Level = 0.95,
    rng: Seed = 0,
) -> Answer:
    """Report on one or several models, on one page to send.

    Verdict, diagram, measures, classes, comparison and groups.
    """
    with one_line_errors():
        from calibstat import report
        from calibstat.cli.features_and_periods import read_features
        from calibstat.cli.input_files import models_of_many
        from calibstat.cli.lens_syntax import lens_of_models
        from calibstat.data.words.side import check_side
        from calibstat.output import wording as words
        from calibstat.reporting.formats import as_text, format_of

        out = written.out
        if out is not None:
            need_other_file(file, out)
        judge = conditions.read()
        form = format_of(out or Path(), written.format) if out or written.format else None
        plain = not (by or columns or recalibrate or lens)
        many = models_of_many(file, label, prob, reading) if plain else None
        rows, how = (many, "") if many else read(file, label, prob, reading, columns)
        judge.check(rows)
        page = report(
            rows,
            by=read_features(file, by) if by else None,
            recalibrate=recalibrate,
            side=check_side(side),
            lens=lens_of_models(rows, lens),
            title=f"Calibration of {', '.join(rows)} in {file.name}" if written.title is None else written.title,
            confidence_level=level,
            rng=rng,
            n_jobs=-1,
        )
        page = replace(page, command=command_line(), source=file.name)
        failed, unclear = judge.of(page)
        if form and not out:
            typer.echo(as_text(page, form), nl=False)
            return Answer(failed=failed, unclear=unclear)
        several = len(page.models) > 1
        sentences = [each.answer for each in page.comparisons.values()]
        sentences += [f"{name}. {each}" if several else str(each) for name, each in page.models.items()]
        sentences += page.notes
        sentences += [f"Written to {page.save(out, form)}."] if out else []
        caution = words.NO_PROOF + words.units(columns.cluster is not None)
        sentences.append(caution.short)
        details = [*map(str, page.comparisons.values()), *caution.full]
        data = words.Brief(f"{page.data} {how}".strip())
        return Answer(sentences, data, details=details, failed=failed, unclear=unclear)


def read(
    file: Path,
    label: str,
    prob: Sequence[str],
    reading: Reading = AS_WRITTEN,
    columns: RowColumns = AS_THEY_ARE,
) -> tuple[Models, str]:
    """Return models on the same rows, with the names of the classes if there are several, and how they were understood.

    Several plain columns are the classes of one model if most rows sum to 1, as for the other verbs.
    """
    from calibstat.cli.formats.chosen_columns import WILD, choose
    from calibstat.cli.input_files import columns_of, read_columns, read_data, read_models
    from calibstat.data.checked_rows import Models
    from calibstat.data.models import named_models
    from calibstat.data.predictions import Predictions

    there, words = columns_of(file), columns.words(file)
    if len(prob) > 1 and all(name in there or not WILD.search(name) for name in prob):
        chosen, _ = choose(there, label, prob)
        if reading.divide_by_sums or named_models(read_columns(file, label, chosen, text=True)[chosen]) is None:
            data, how = read_data(file, label, prob, reading)
            assert isinstance(data, Predictions)
            outcomes = [data.names[k] for k in data.label]
            return Models(outcomes, {", ".join(prob): data.prob}, labels=data.names, **words), how
    y, models, how = read_models(file, label, prob, reading)
    if next(iter(models.values())).ndim == 1:
        return Models(y, models, **words), how
    _, names = choose(there, label, [prob[0]])
    return Models([names[k] for k in y], models, labels=names, **words), how


def command_line() -> str:
    """Write the command as it was given."""
    return shlex.join(["calibstat", *sys.argv[1:]])
