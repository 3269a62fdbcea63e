"""The command `calibstat test`: one test or several, of rows, of each class, or of rows in clusters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.cli.options import (
    ClusterColumn,
    File,
    Label,
    LensText,
    Prob,
    Reduce,
    Resamples,
    Seed,
    StopAfter,
    Tests,
)
from calibstat.cli.printed_tables import table_of_classes, table_of_tests
from calibstat.cli.reading import Reading, takes_reading
from calibstat.cli.terminal import about, one_line_errors, say, with_progress

if TYPE_CHECKING:
    from rich.table import Table

    from calibstat.cli.class_report import ClassFindings
    from calibstat.cli.findings import Finding
    from calibstat.cli.lens_syntax import View

TOGETHER = "All classes together, by the mean:"


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
    n_resamples: Resamples = None,
    stop_after: StopAfter = None,
    rng: Seed = 0,
) -> None:
    """Test whether the outcomes could have been drawn from the predictions."""
    with one_line_errors():
        if cluster is not None:
            if stop_after is not None:
                raise ValueError("expected --cluster without --stop-after, found both")
            return check_clusters(file, label, prob, reading, measure, lens, reduce, cluster, n_resamples, rng)
        from calibstat.cli import findings
        from calibstat.cli.input_files import read_data
        from calibstat.cli.lens_syntax import view
        from calibstat.inference.detectable_effect import DEFAULT
        from calibstat.output import wording as words

        data, how = read_data(file, label, prob, reading)
        names = measure or [DEFAULT]
        seen = view(data, lens, names, reduce)
        draws: dict[str, Any] = {"n_resamples": n_resamples, "stop_after": stop_after, "rng": rng}
        said: list[str | Table] = []
        if seen.each_class and reduce is None:
            found, said = check_classes(seen, names, draws)
        else:
            found = with_progress(names, lambda name: findings.assess(data, **seen.settings(name), **draws))
        whole = [each for each in found if each.bound.info.for_tests_only]
        sizes = [each for each in found if not each.bound.info.for_tests_only]
        say(*about(data, how), *said, *(part for each in whole for part in findings.say_whole(each.test)))
        if sizes:
            say(table_of_tests(sizes), *findings.say_nulls(sizes), *map(findings.say_test, sizes))
        say(*([findings.say_together(found)] if len(found) > 1 else []))
        say(*words.CAUTIONS, style="dim")


def check_clusters(
    file: Path,
    label: str,
    prob: list[str],
    reading: Reading,
    measure: list[str] | None,
    lens: str | None,
    reduce: str | None,
    cluster: str,
    n_resamples: int | None,
    rng: int,
) -> None:
    """Test rows in clusters, and say the answers."""
    from calibstat import calibration_test
    from calibstat.cli.input_files import read_column, read_rows
    from calibstat.cli.lens_syntax import view
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample
    from calibstat.inference.sign_flip import OF_CLUSTERS
    from calibstat.output import wording as words

    rows, how = read_rows(file, label, prob, reading)
    data = rows if isinstance(rows, Predictions) else Sample.from_rows(*rows)
    names = measure or [OF_CLUSTERS]
    seen, unit = view(data, lens, names, reduce), read_column(file, cluster)
    y, p = (rows, None) if isinstance(rows, Predictions) else rows
    for name in names:
        draws: dict[str, Any] = {"cluster": unit, "n_resamples": n_resamples, "rng": rng, "n_jobs": -1}
        found = calibration_test(y, p, **seen.settings(name), **draws)
        say(*(about(data, how) if name == names[0] else []), found.answer, found.details)
    say(*words.CAUTIONS[:2], style="dim")


def check_classes(seen: View, names: list[str], draws: dict[str, Any]) -> tuple[list[Finding], list[str | Table]]:
    """Test each class; return the findings for the mean over all, and what to print for each class."""
    from calibstat.cli.class_report import assess_classes
    from calibstat.data.predictions import Predictions

    assert isinstance(seen.data, Predictions)
    data = seen.data
    found = with_progress(names, lambda name: assess_classes(data, name, **draws))
    return [each.overall for each in found], [*(part for each in found for part in class_by_class(each)), TOGETHER]


def class_by_class(found: ClassFindings) -> list[str | Table]:
    """Return what to print of the tests of the classes: the answer, the table, and what drove them."""
    from calibstat.cli.class_report import say_classes

    return [found.test.answer, table_of_classes(found), *say_classes(found)]
