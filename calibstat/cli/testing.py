"""The command `calibstat test`: one test or several, of rows, of each class, or of rows in clusters or with weights."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from calibstat.cli.answers import Answer
from calibstat.cli.options import (
    ClusterColumn,
    File,
    FoldsColumn,
    Label,
    LensText,
    Prob,
    Reduce,
    Resamples,
    Seed,
    StopAfter,
    Tests,
    WeightColumn,
)
from calibstat.cli.printed_tables import table_of_classes, table_of_tests
from calibstat.cli.reading import Reading, takes_reading
from calibstat.cli.terminal import about, notes_beside, one_line_errors, with_progress

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.cli.answers import Detail
    from calibstat.cli.class_report import ClassFindings
    from calibstat.cli.findings import Finding
    from calibstat.cli.lens_syntax import View

MEAN_HEADING = "All classes together, by the mean:"


@takes_reading
def check(
    file: File,
    label: Label,
    prob: Prob,
    reading: Reading,
    measure: Tests = None,
    lens: LensText = None,
    reduce: Reduce = None,
    cluster: ClusterColumn = None,
    folds: FoldsColumn = None,
    weight: WeightColumn = None,
    n_resamples: Resamples = None,
    stop_after: StopAfter = None,
    rng: Seed = 0,
) -> Answer:
    """Test whether outcomes could be draws from the predictions."""
    with one_line_errors():
        from calibstat.cli import findings
        from calibstat.cli.input_files import in_units, read_with_units
        from calibstat.cli.lens_syntax import view
        from calibstat.inference.power.detectable_effect import DEFAULT, detectable_effect
        from calibstat.output import wording as words

        if cluster is not None and stop_after is not None:
            raise ValueError("expected --cluster without --stop-after, found both")
        data, (y, p), units, how = read_with_units(file, label, prob, reading, cluster, weight, folds)
        names = measure or [DEFAULT if folds is None else "kernel_ce"]
        say = findings.say_test if folds is None else findings.say_folds
        seen = view(data, lens, names, reduce)
        draws: dict[str, Any] = {"n_resamples": n_resamples, "stop_after": stop_after, "rng": rng, **units}
        results: dict[str, object] = {}
        parts: list[str | Table] = []
        details: list[Detail] = []
        if seen.each_class and reduce is None:
            of_measures, parts, details, results = check_classes(seen, names, draws)
        else:
            of_measures = with_progress(
                names, lambda name: findings.assess(y, y_prob=p, **seen.settings(name), **draws)
            )
        whole = [each for each in of_measures if each.bound.info.for_tests_only]
        sizes = [each for each in of_measures if not each.bound.info.for_tests_only]
        parts += [findings.say_together(of_measures)] if len(of_measures) > 1 else []
        for each in whole:
            asked = {**seen.settings(each.bound.name), "sample_weight": units.get("sample_weight")}
            effect = None if cluster else cache(partial(detectable_effect, y, p, **asked, rng=0, n_jobs=-1))
            answer, rest = findings.say_whole(each.test, effect)
            results |= {} if effect is None else {"detectable_effect": effect}
            parts += answer
            details += rest
        parts += [table_of_tests(sizes)] if len(sizes) > 1 else map(say, sizes)
        several = [*map(say, sizes), *findings.say_nulls(sizes)]
        details += several if len(sizes) > 1 else [each.test.details for each in sizes]
        described = about(data, how + in_units(units))
        parts += [*dict.fromkeys(note for each in of_measures for note in notes_beside(each.test.note, described))]
        results |= {each.bound.name: each.test for each in of_measures}
        return Answer(parts, described, words.NO_PROOF + words.units(cluster is not None), details, results=results)


def check_classes(
    seen: View, names: list[str], draws: dict[str, Any]
) -> tuple[list[Finding], list[str | Table], list[Detail], dict[str, object]]:
    """Test each class; return the findings for the mean over all, and of classes what to print, details and tests."""
    from calibstat.cli.class_report import assess_classes
    from calibstat.data.predictions import Predictions

    assert isinstance(seen.data, Predictions)
    data = seen.data
    of_measures = with_progress(names, lambda name: assess_classes(data, name, **draws))
    nulls = [f"Null hypothesis for each class: {each.test.null_hypothesis}" for each in of_measures]
    parts = [*(part for each in of_measures for part in class_by_class(each)), MEAN_HEADING]
    results: dict[str, object] = {f"{each.bound.name}.classes": each.test for each in of_measures}
    return [each.overall for each in of_measures], parts, [*dict.fromkeys(nulls)], results


def class_by_class(classes: ClassFindings) -> list[str | Table]:
    """Return what to print of the tests of the classes: the answer, the table, and what drove them."""
    from calibstat.cli.class_report import say_classes

    return [classes.test.answer, table_of_classes(classes), *say_classes(classes)]
