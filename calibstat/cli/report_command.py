"""The command `calibstat report`."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.audit_groups import By
from calibstat.cli.large.parts import need_input_kept
from calibstat.cli.options import (
    ClusterColumn,
    File,
    FoldsColumn,
    Label,
    LensText,
    Level,
    Seed,
    WeightColumn,
)
from calibstat.cli.reading import AS_WRITTEN, Reading, takes_reading
from calibstat.cli.terminal import one_line_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

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


@takes_reading
def write_report(
    file: File,
    label: Label,
    prob: Probs,
    reading: Reading,
    out: Out = None,
    by: By = [],  # noqa: B006
    cluster: ClusterColumn = None,
    folds: FoldsColumn = None,
    weight: WeightColumn = None,
    recalibrate: Annotated[
        bool, typer.Option("--recalibrate", help="Recalibrate on held-out folds; compare before and after.")
    ] = False,
    lens: LensText = None,
    format: Format = None,
    fail_if: FailIf = [],  # noqa: B006
    fail_unless: FailUnless = [],  # noqa: B006
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The heading.")] = None,
    level: Level = 0.95,
    rng: Seed = 0,
) -> Answer:
    """Report on one or several models, on one page to send.

    Verdict, diagram, measures, classes, comparison and groups.
    """
    with one_line_errors():
        from calibstat import report
        from calibstat.cli.features_and_periods import read_features
        from calibstat.cli.input_files import models_of_many, read_units
        from calibstat.cli.lens_syntax import view
        from calibstat.data.predictions import Predictions
        from calibstat.inference.choosing.condition import Condition
        from calibstat.output import wording as words
        from calibstat.reporting.conditions import not_shown, sentences_of
        from calibstat.reporting.formats import as_text, format_of
        from calibstat.reporting.sentences import say_comparison

        if out is not None:
            need_input_kept(file, out)
        wrong, needed = ([Condition.read(text) for text in texts] for texts in (fail_if, fail_unless))
        form = format_of(out or Path(), format) if out or format else None
        plain = not (by or cluster or weight or folds or recalibrate or lens)
        many = models_of_many(file, label, prob, reading) if plain else None
        y: Any
        models: Any
        y, models, labels, how = (many, None, None, "") if many else read(file, label, prob, reading)
        if labels is None and lens is not None:
            raise ValueError(f"expected several columns of probabilities for --lens {lens}, found one for each model")
        classes = None
        if labels is not None:
            classes = replace(Predictions.from_rows(y, next(iter(models.values()))), names=tuple(labels))
        page = report(
            y if labels is None else [labels[k] for k in y],
            models,
            by=read_features(file, by) if by else None,
            **read_units(file, cluster, weight, folds),
            recalibrate=recalibrate,
            lens=None if classes is None else view(classes, lens).lens,
            labels=labels,
            title=f"Calibration of {', '.join(many or models)} in {file.name}" if title is None else title,
            confidence_level=level,
            rng=rng,
            n_jobs=-1,
        )
        page = replace(page, command=command_line(), source=file.name)
        failed = [sentence for condition in wrong for sentence in sentences_of(condition, page)]
        asked = [not_shown(condition, page) for condition in needed]
        failed += [sentence for off, _ in asked for sentence in off]
        unclear = [sentence for _, cannot_tell in asked for sentence in cannot_tell]
        if form and not out:
            typer.echo(as_text(page, form), nl=False)
            return Answer(failed=failed, unclear=unclear)
        several = len(page.models) > 1
        sentences = [say_comparison(each) for each in page.comparisons.values()]
        sentences += [f"{name}. {each}" if several else str(each) for name, each in page.models.items()]
        sentences += page.notes
        sentences += [f"Written to {page.save(out, form)}."] if out else []
        caution = words.NO_PROOF + words.units(cluster is not None)
        sentences.append(caution.short)
        details = [*map(str, page.comparisons.values()), *caution.full]
        data = words.Brief(f"{page.data} {how}".strip())
        return Answer(sentences, data, details=details, failed=failed, unclear=unclear)


def read(
    file: Path, label: str, prob: Sequence[str], reading: Reading = AS_WRITTEN
) -> tuple[np.ndarray, dict[str, Any], list[str] | None, str]:
    """Return outcomes, the predictions of each model, the names of the classes if there are several, and how.

    Several plain columns are the classes of one model if most rows sum to 1, as for the other verbs.
    """
    from calibstat.cli.input_files import WILD, choose, columns_of, read_columns, read_data, read_models
    from calibstat.data.models import named_models
    from calibstat.data.predictions import Predictions

    there = columns_of(file)
    if len(prob) > 1 and all(name in there or not WILD.search(name) for name in prob):
        columns, _ = choose(there, label, prob)
        if reading.divide_by_sums or named_models(read_columns(file, label, columns, text=True)[columns]) is None:
            data, how = read_data(file, label, prob, reading)
            assert isinstance(data, Predictions)
            return data.label, {", ".join(prob): data.prob}, [*data.names], how
    y, models, how = read_models(file, label, prob, reading)
    first = next(iter(models.values()))
    if first.ndim == 1:
        return y, models, None, how
    _, names = choose(there, label, [prob[0]])
    return y, models, names, how


def command_line() -> str:
    """Write the command as it was given."""
    return shlex.join(["calibstat", *sys.argv[1:]])
