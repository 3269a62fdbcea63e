"""Printed tables: tests, classes, bins, models and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from calibstat.digits import settled
from calibstat.output.visible_text import CONTROL, visible

if TYPE_CHECKING:
    from calibstat.cli.class_report import ClassFindings
    from calibstat.cli.findings import Finding
    from calibstat.inference.comparison_results import Comparison
    from calibstat.inference.equivalence import Equivalence


class VisibleTable(Table):
    """A table that writes characters that show nothing as in code."""

    def add_row(self, *cells: object, **settings: Any) -> None:
        """Add a row."""
        super().add_row(*(self._visible(cell) for cell in cells), **settings)

    @staticmethod
    def _visible(cell: object) -> Any:
        if isinstance(cell, Text) and CONTROL.search(cell.plain):
            return Text(visible(cell.plain), style=cell.style)
        return visible(cell) if isinstance(cell, str) else cell


def table(*columns: str) -> Table:
    """Make a plain table; a column whose name begins with > is aligned to the right."""
    grid = VisibleTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        grid.add_column(visible(name.lstrip(">")), justify="right" if name[0] == ">" else "left", overflow="fold")
    return grid


def table_of_tests(findings: Sequence[Finding]) -> Table:
    """Make the table of tests: each value, and that to expect of a calibrated model."""
    from calibstat.cli.findings import usual
    from calibstat.output.wording import number, p_text

    grid = table("Measure", ">Value", ">If calibrated", "19 times in 20", ">p")
    for each in findings:
        grid.add_row(each.title, number(each.estimate), *usual(each), p_text(each.test.pvalue))
    if any(each.test.stopped for each in findings):
        grid.caption = "–: too few resamples were drawn to say"
        grid.caption_justify = "left"
    return grid


def table_of_classes(findings: ClassFindings) -> Table:
    """Make the table of classes: rows of each, as many as expected, how large its error is, and the p-values."""
    from calibstat.output.wording import number, p_text

    p_title = "p" if findings.bound is findings.error else f"p ({findings.bound.name})"
    grid = table("Class", ">Rows", ">Expected", f">{findings.title}", f">{p_title}", ">p (Holm)")
    estimate, test = findings.estimate, findings.of_classes
    for k in findings.shown():
        p, holm = p_text(test.pvalue[k]), p_text(test.pvalue_holm[k])
        rows = f"{findings.happened[k]:,}", f"{settled(findings.expected[k]):,.1f}"
        grid.add_row(Text(str(test.names[k])), *rows, number(estimate[k]), p, holm)
    return grid


LIMITS_OF = {None: "limits", "over": "low limit", "under": "high limit"}


def table_of_bins(equivalence: Equivalence) -> Table:
    """Make the table of bins: mean prediction, observed frequency, and limits of the mean outcome probability."""
    from calibstat.output.wording import number, percent

    limits_of = f"{percent(equivalence.confidence_level)} {LIMITS_OF[equivalence.side]}"
    grid = table("Predictions", ">Rows", ">Mean", ">Frequency", f">{limits_of}, each")
    for left, right, rows, mean, frequency, *limits in equivalence.to_frame().to_numpy():
        where, ends = f"{settled(left):.3g} to {settled(right):.3g}", " and ".join(map(number, limits))
        grid.add_row(where, f"{settled(rows):,.0f}", number(mean), number(frequency), ends)
    return grid


def table_of_models(comparison: Comparison) -> Table:
    """Make the table of estimates, model by model."""
    from calibstat.output.wording import number

    grid = table("Model", f">{comparison.measure}")
    for name, estimate in zip(comparison.names, comparison.estimates, strict=True):
        grid.add_row(name, number(estimate))
    return grid


def table_of_pairs(comparison: Comparison) -> Table:
    """Make the table of differences."""
    from calibstat.output.wording import number, p_text, percent

    several = len(comparison.pairs) > 1
    adjusted = [f">p ({comparison.adjust.replace('holm', 'Holm').replace('bh', 'BH')})"] if several else []
    grid = table("Difference", ">Estimate", f">{percent(comparison.confidence_level)} interval", ">p", *adjusted)
    for i, (a, b) in enumerate(comparison.pairs):
        ends = "–" if comparison.method == "swap" else f"{number(comparison.low[i])} to {number(comparison.high[i])}"
        row = [f"{a} − {b}", number(comparison.difference[i]), ends, p_text(comparison.pvalue[i])]
        grid.add_row(*row, *([p_text(comparison.pvalue_adjusted[i])] if several else []))
    return grid


def table_of_studies() -> Table:
    """Make the list of the studies that are installed: what each asks, of which data, and how long it takes."""
    from calibstat.progress import in_words
    from calibstat.study.study_file import installed_names, load_study

    grid = table("Study", "Question", "Data", ">Full run")
    for name in installed_names():
        study = load_study(name)
        hours = study.runtime_hours
        data = "simulated, or --data" if study.takes_data else "simulated"
        grid.add_row(name, study.question, data, "" if hours is None else in_words(3600 * hours))
    return grid
