"""The page of the study of rows in clusters has the tables that the stored table gives."""

import functools
import re

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT

from calibstat.papers.parts.promises import more_often
from simulations import dependent_rows as study
from simulations.parts import norms_of_clusters as norms


@functools.cache
def stored():
    return pd.read_csv(PROJECT / "simulations" / "results" / "dependent_rows.csv", comment="#", low_memory=False)


def written(first, numbers, write):
    """A row of a table of the page."""
    return f"| {first} | {' | '.join('' if np.isnan(each) else write(each) for each in numbers)} |"


def percent(digits):
    return lambda rate: f"{int(rate * 100 * 10**digits + 0.5 + 1e-9) / 10**digits:.{digits}f} %"


def points(rate):
    return f"{100 * rate:.1f}"


def worst_by_clusters(rows, of=study.worst_side):
    return of(rows).groupby(rows["clusters"]).max()


def rows_of(question, method, starts="", measure=None):
    table = stored()
    found = table[(table["question"] == question) & (table["method"] == method)]
    found = found[found["case"].str.startswith(starts)]
    return found if measure is None else found[found["measure"] == measure]


def table_of_the_class():
    both = worst_by_clusters(rows_of("class", "observed"), lambda rows: rows["rate"])
    yield written("one side", worst_by_clusters(rows_of("class", "observed")), percent(2))
    yield written("both sides", both, percent(2))
    yield written("Student's t, one side", worst_by_clusters(rows_of("class", "t")), percent(2))


def table_of_widths():
    for case, widths in study.width_over_t(stored()).iterrows():
        rows = rows_of("normal sums", "t", case)
        t = worst_by_clusters(rows[rows["case"] == case])
        yield written(case, widths, lambda each: f"{each:.2f}") + f" {percent(1)(t[200])}, {percent(1)(t[730])} |"


def table_of_power():
    lost = study.power_lost(stored())
    for sizes in study.BRIER_SIZES:
        for method, told in (("observed", "power lost"), ("rows", 'power lost, `unseen="rows"`')):
            yield written(f"{sizes}: {told}", lost.loc[sizes, method], points)
        for method, told in (("observed", "misses"), ("t", "misses of Student's t")):
            yield written(f"{sizes}: {told}", worst_by_clusters(rows_of("differences", method, sizes)), percent(1))


OUTSIDE = {
    "a kind expected 3 times": "a kind expected 3 times",
    "a kind expected 2 times": "a kind expected twice",
    "a kind expected 1 times": "a kind expected once",
    "rows alike in 3": "rows alike in 36 or 37 % of the clusters, single events in others",
    "one cluster in 50": "one cluster in 50 at a risk of .98",
    "7 %": "7 % of the clusters without events",
    "no events in 5": "clusters without events, 5 expected, very unequal sizes",
    "outbreaks": "outbreaks in 5 expected clusters, very unequal sizes",
    "sizes go": "large clusters have the higher risk",
    "gamma risks": "smooth risks, sd .94 of their mean",
    "law: exponential": "exponential sums",
    "law: gamma .5": "gamma sums, shape .5",
    "law: log-normal 1": "log-normal sums",
    "law: Pareto 3": "Pareto sums, exponent 3",
}


def table_of_what_is_outside():
    for starts, told in OUTSIDE.items():
        pairs = [worst_by_clusters(rows_of("outside", method, starts)).reindex(study.GROUPS) for method in METHODS]
        cells_of_row = ["" if np.isnan(a) else f"{points(a)}, {points(b)}" for a, b in zip(*pairs, strict=True)]
        yield f"| {told} | {' | '.join(cells_of_row)} |"


METHODS = "observed", "t"


def table_of_outcomes():
    for method, told in (("observed", "the rule"), ("t", "Student's t"), ("CR2", "CR2"),
                         ("clusters", '`unseen="clusters"`'), ("bootstrap", "bootstrap of clusters")):  # fmt: skip
        for measure in ("mean", "O/E"):
            rows = rows_of("outcomes", method, measure=measure)
            if len(rows):
                worst = worst_by_clusters(rows).reindex(study.GROUPS)
                yield written(f"{told}, {'mean outcome' if measure == 'mean' else measure}", worst, percent(1))


def table_of_norms():
    for measure in (*norms.MEASURES, "difference of kernel_ce_squared"):
        for word in norms.WORDS:
            rows = rows_of("norms", word, measure=measure)
            sides = [rows[side].max() / study.DATA_SETS_OF_NORMS for side in ("missed_below", "missed_above")]
            yield written(
                f'`{measure}`, `unseen="{word}"`'.replace("`difference of ", "difference of `"), sides, percent(1)
            )


def table_of_high_ends():
    for measure in norms.MEASURES:
        for alike in norms.ALIKE:
            case = f"calibrated, {alike:.0%} alike"
            both = [rows_of("norms", word, case, measure).set_index("clusters")["median_high"] for word in norms.WORDS]
            pairs = [f"{a:.3f}, {b:.3f}" for a, b in zip(*both, strict=True)]
            yield f"| `{measure}`, {alike:.0%} alike | {' | '.join(pairs)} |".replace("%", " %")


def table_of_folds():
    for case in ("one repeat", "3 repeats"):
        for method, told in (("observed", "`compare`"), ("t", "Student's t")):
            rows = rows_of("folds", method, case).set_index("clusters")
            pairs = [f"{percent(1)(a / 200)}, {percent(1)(b / 200)}" for a, b in
                     zip(rows["missed_below"], rows["missed_above"], strict=True)]  # fmt: skip
            yield f"| {case}: {told} | {' | '.join(pairs)} |"


TABLES = [
    table_of_the_class,
    table_of_widths,
    table_of_power,
    table_of_what_is_outside,
    table_of_outcomes,
    table_of_norms,
    table_of_high_ends,
    table_of_folds,
]


@pytest.mark.parametrize("table", TABLES)
def test_the_page_has_the_tables(table):
    page = (PROJECT / "simulations" / "findings" / "dependent_rows.md").read_text(encoding="utf-8")
    rows = [re.sub(r"(?<=\s)\.(\d)", r"0.\1", row) for row in table()]  # the labels of the table have no 0
    assert len(rows) >= 3
    assert [each for each in rows if each not in page] == []


def beyond(question, method, **cells):
    """The number of cells that miss on a side in more data sets than the exact limit allows."""
    rows = rows_of(question, method, **cells)
    over = [more_often(rows, rows[side], 0.025).index for side in ("missed_below", "missed_above")]
    return len(over[0].union(over[1]))


def test_the_page_says_which_cells_are_beyond_the_exact_limit():
    page = " ".join((PROJECT / "simulations" / "findings" / "dependent_rows.md").read_text(encoding="utf-8").split())
    assert beyond("outcomes", "observed") == beyond("differences", "observed") == beyond("norms", "observed") == 0
    assert beyond("folds", "observed") == 0
    counts = [beyond("outcomes", method, measure="mean") for method in ("t", "CR2")]
    assert f"Student's interval is in {counts[0]}, because" in page
    assert f"the variance, in {counts[1]}." in page
    assert rows_of("differences", "clusters")["found"].max() == 0


def test_the_decision_has_the_numbers_of_the_table():
    path = PROJECT / "docs" / "evidence" / "decisions" / "0031-a-cluster-that-was-not-observed.md"
    page = " ".join(path.read_text(encoding="utf-8").split())
    counts = [beyond("outcomes", method, measure="mean") for method in ("CR2", "t")]
    assert f"in {counts[0]} of 288 cells of mean outcomes, Student's in {counts[1]}." in page
    worst = worst_by_clusters(rows_of("class", "observed")).max()
    assert f"36,000 populations of the class {worst:.4f} on a side".replace("0.", ".") in page
