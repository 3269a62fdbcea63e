"""The command `calibstat test`: one test or several, of rows, of each class, or of rows in clusters or with weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibstat.cli.answers import Answer
from calibstat.cli.option_groups import takes_groups
from calibstat.cli.options import File, Label, LensText, Prob, Resamples, Seed, SideOfTest, StopAfter, Tests
from calibstat.cli.printed_tables import table_of_classes, table_of_tests
from calibstat.cli.reading import Reading
from calibstat.cli.row_columns import RowColumns, read_with_columns
from calibstat.cli.terminal import about, notes_beside, one_line_errors, with_progress

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.cli.answers import Detail
    from calibstat.cli.class_report import ClassFindings
    from calibstat.cli.findings import Finding
    from calibstat.data.checked_rows import Data

HOW_LARGE = "Ask how large the error is: calibstat interval, with the same rows."
ON_OTHER_ROWS = "Recalibrate on other rows: calibstat recalibrate."
WATCH_THEM = "Use the predictions, and watch them: calibstat monitor."
MORE_ROWS = "Collect more rows if an error of {} points would matter to you: calibstat sample-size says how many."
WHICH_GROUPS = (
    "Recalibrate on other rows: calibstat recalibrate; or ask for which groups: calibstat audit, with --by and "
    "--side {side}."
)
NOT_NONE = "This does not show that there are none; more rows would say more."
MEAN_HEADING = "All classes together, by the mean:"


@takes_groups
def check(
    file: File,
    label: Label,
    prob: Prob,
    reading: Reading,
    columns: RowColumns,
    measure: Tests = None,
    lens: LensText = None,
    n_resamples: Resamples = None,
    stop_after: StopAfter = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="The largest ECE that is called small. Default: 0.02, less of a rare outcome."),
    ] = None,
    side: SideOfTest = None,
    rng: Seed = 0,
) -> Answer:
    """Test whether outcomes could be draws from the predictions."""
    with one_line_errors():
        from calibstat.cli import findings
        from calibstat.cli.lens_syntax import view
        from calibstat.data.words.side import check_side
        from calibstat.inference.designs.design_of import design_of
        from calibstat.inference.power.detectable_effect import detectable_effect
        from calibstat.output import wording as words
        from calibstat.reporting.report_measures import beside

        data, rows, how = read_with_columns(file, label, prob, reading, columns)
        design = design_of(rows)
        asked_side: dict[str, Any] = {"side": check_side(side)}
        names = measure or [design.usual_measure(**asked_side)]
        seen = view(data, lens, names)
        draws = {"n_resamples": n_resamples, "stop_after": stop_after, "margin": margin, "rng": rng, **asked_side}
        parts: list[str | Table] = []
        details, results = list[Any](), dict[str, object]()
        if seen.each_class:
            of_measures, parts, details, results = check_classes(rows, names, draws)
        else:
            of_measures = with_progress(names, lambda name: findings.assess(rows, **seen.settings(name), **draws))
        whole = [each for each in of_measures if each.bound.info.for_tests_only or side is not None]
        sizes = [each for each in of_measures if each not in whole]
        parts += [findings.say_together(of_measures)] if len(of_measures) > 1 else []
        for each in whole:
            of = seen.settings(each.bound.name)
            ask = partial(detectable_effect, rows.through(of["lens"]), **beside(of), rng=0, n_jobs=-1)
            effect = cache(ask) if design.sections.has_detectable_effect and side is None else None
            answer, rest = findings.say_whole(each.test, effect)
            results |= {} if effect is None else {"detectable_effect": effect}
            parts += answer
            details += rest
        say = findings.say_test if columns.folds is None else findings.say_folds
        parts += [table_of_tests(sizes)] if len(sizes) > 1 else map(say, sizes)
        details += [x.test.details for x in sizes] if len(sizes) < 2 else [*map(say, sizes), *findings.say_nulls(sizes)]
        described = about(data, how)
        parts += [*dict.fromkeys(note for each in of_measures for note in notes_beside(each.test.note, described))]
        results = {each.bound.name: each.test for each in of_measures} | results
        caution = words.NO_PROOF + words.units(columns.cluster is not None)
        return Answer(parts, described, caution, details, results=results, next_step=_next_step(of_measures))


def _next_step(of_measures: Sequence[Finding]) -> str:
    """Say what to do, by the size of the error where a test has it; else how to find it."""
    from calibstat.inference.size_of_error import LOW, next_step, points

    side = of_measures[0].test.side
    if side is not None:
        return WHICH_GROUPS.format(side=side) if min(each.test.pvalue for each in of_measures) <= LOW else NOT_NONE
    sized = [(each.test, each.test.size) for each in of_measures if each.test.size is not None]
    if not sized:
        return HOW_LARGE
    test, size = sized[0]
    if size.is_small:
        return WATCH_THEM if test.pvalue > LOW else next_step(test.pvalue, size)
    return ON_OTHER_ROWS if test.pvalue <= LOW else MORE_ROWS.format(points(size.high, math.ceil))


def check_classes(
    rows: Data, names: list[str], draws: dict[str, Any]
) -> tuple[list[Finding], list[str | Table], list[Detail], dict[str, object]]:
    """Test each class; return the findings for the mean over all, and of classes what to print, details and tests."""
    from calibstat.cli.class_report import assess_classes

    of_measures = with_progress(names, lambda name: assess_classes(rows, name, **draws))
    nulls = [f"Null hypothesis for each class: {each.of_classes.null_hypothesis}" for each in of_measures]
    parts = [*(part for each in of_measures for part in class_by_class(each)), MEAN_HEADING]
    results: dict[str, object] = {each.bound.name: each.test for each in of_measures}
    return [each.overall for each in of_measures], parts, [*dict.fromkeys(nulls)], results


def class_by_class(classes: ClassFindings) -> list[str | Table]:
    """Return what to print of the tests of the classes: the answer, the table, and what drove them."""
    from calibstat.cli.class_report import say_classes

    return [classes.test.answer, table_of_classes(classes), *say_classes(classes)]
