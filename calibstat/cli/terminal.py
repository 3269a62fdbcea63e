"""Prints paragraphs, tables, errors of one line and progress to a terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from calibstat.cli.class_report import ClassFindings
    from calibstat.cli.report import Finding
    from calibstat.inference.compare import Comparison

T = TypeVar("T")
PATIENCE = 1.0  # seconds before a progress bar is worth showing


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what is wrong with the input into one line on standard error and exit code 2."""
    try:
        yield
    except OSError as error:
        fail(f"{error.strerror or error}: {str(error.filename)!r}")
    except (ValueError, NotImplementedError, ModuleNotFoundError) as error:
        fail(str(error))


def fail(text: str) -> NoReturn:
    """Print one line on standard error and leave with exit code 2."""
    typer.echo(f"calibstat: {visible(' '.join(text.split()))}", err=True)
    raise typer.Exit(2) from None


CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return text in which control characters, which could command a terminal, are written as in code.

    All but the newline; those that turn the direction of writing are among them, and the parts of file names that are
    no text, which cannot be printed.
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class VisibleTable(Table):
    """A table that writes control characters in its cells as in code."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        """Add a row."""
        super().add_row(*(self._visible(cell) for cell in cells), **settings)

    @staticmethod
    def _visible(cell: Any) -> Any:
        if isinstance(cell, Text) and CONTROL.search(cell.plain):
            return Text(visible(cell.plain), style=cell.style)
        return visible(cell) if isinstance(cell, str) else cell


def console() -> Console:
    """Standard output, without colouring every number."""
    return Console(highlight=False)


def say(*parts: str | Table, style: str = "") -> None:
    """Print paragraphs and tables, each followed by an empty line."""
    out = console()
    for part in parts:
        if isinstance(part, str):
            out.print(visible(part), style=style, markup=False)
        else:
            out.print(part, markup=False)
        out.print()


def table(*columns: str) -> Table:
    """Make a plain table; a column whose name begins with > is aligned to the right."""
    grid = VisibleTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in columns:
        grid.add_column(visible(name.lstrip(">")), justify="right" if name[0] == ">" else "left", overflow="fold")
    return grid


def table_of_findings(models: Mapping[str, Sequence[Finding]], level: float = 0.95) -> Table:
    """Make the table of findings: estimate, honest interval and p-value of each measure, model by model."""
    from calibstat.cli.report import interval_text
    from calibstat.cli.wording import number, p_text, percent

    grid = table("Measure", ">Estimate", f">{percent(level)} interval", ">p")
    for name, found in models.items():
        if len(models) > 1:
            grid.add_section()
            grid.add_row(Text(name, style="bold"))
        for each in found:
            row = (number(each.estimate), interval_text(each.interval), p_text(each.test.pvalue))
            grid.add_row(each.title, *row)
    if any(each.interval is None for found in models.values() for each in found):
        grid.caption = "–: no interval is known that covers near calibration"
        grid.caption_justify = "left"
    return grid


def table_of_tests(found: Sequence[Finding]) -> Table:
    """Make the table of tests: each value and what it would be of a calibrated model."""
    from calibstat.cli.report import usual
    from calibstat.cli.wording import number, p_text

    grid = table("Measure", ">Value", ">If calibrated", "19 times in 20", ">p")
    for each in found:
        grid.add_row(each.title, number(each.estimate), *usual(each), p_text(each.test.pvalue))
    return grid


def table_of_classes(found: ClassFindings) -> Table:
    """Make the table of classes: how often each happened, the value of the measure and the p-values."""
    from calibstat.cli.wording import number, p_text

    grid = table("Class", ">Happened", f">{found.title}", ">p", ">p (Holm)")
    estimate, test = found.estimate, found.test
    for k in found.shown():
        p, holm = p_text(test.pvalue[k]), p_text(test.pvalue_holm[k])
        grid.add_row(Text(str(test.names[k])), f"{found.happened[k]:,}", number(estimate[k]), p, holm)
    return grid


def table_of_measures() -> Table:
    """Make the table of all measures, those of one event first."""
    from calibstat.measures import MEASURES

    grid = table("Name", "Measure, options with their defaults", "Range", "Interval")
    for of, title in (("events", "Of one event"), ("vectors", "Of whole vectors")):
        grid.add_section()
        grid.add_row(Text(title, style="bold"))
        for name, entry in MEASURES.items():
            if entry.of == of:
                low, high = entry.bounds
                options = Text("\n".join(f"{option}={default!r}" for option, default in entry.options.items()), "dim")
                about = Text("\n").join([Text(entry.title), *([options] if options else [])])
                grid.add_row(name, about, f"{low:g} to {high:g}", "honest" if entry.bind({}).honest else "–")
    for column in grid.columns:
        column.no_wrap = not str(column.header).startswith("Measure")
    return grid


def written(folder: Path, paths: Sequence[Path]) -> str:
    """Say what was written where."""
    return f"Written to {folder}: {', '.join(path.name for path in paths)}."


def with_progress(names: Sequence[str], ask: Callable[[str], T]) -> list[T]:
    """Ask for each name in turn, with a progress bar once that has taken a second."""
    from rich.progress import Progress

    began, answers = time.monotonic(), []
    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=len(names))
    try:
        for done, name in enumerate(names):
            bar.update(task, description=name, completed=done)
            if time.monotonic() - began > PATIENCE and bar.console.is_terminal:
                bar.start()
            answers.append(ask(name))
    finally:
        if bar.live.is_started:
            bar.stop()
    return answers


def table_of_models(found: Comparison) -> Table:
    """Make the table of what each model has."""
    from calibstat.cli.wording import number

    grid = table("Model", f">{found.measure}")
    for name, estimate in zip(found.names, found.estimates, strict=True):
        grid.add_row(name, number(estimate))
    return grid


def table_of_pairs(found: Comparison) -> Table:
    """Make the table of differences."""
    from calibstat.cli.wording import number, p_text, percent

    several = len(found.pairs) > 1
    adjusted = [f">p ({found.adjust.replace('holm', 'Holm').replace('bh', 'BH')})"] if several else []
    grid = table("Difference", ">Estimate", f">{percent(found.confidence_level)} interval", ">p", *adjusted)
    for i, (a, b) in enumerate(found.pairs):
        ends = "–" if found.method == "swap" else f"{number(found.low[i])} to {number(found.high[i])}"
        row = [f"{a} − {b}", number(found.difference[i]), ends, p_text(found.pvalue[i])]
        grid.add_row(*row, *([p_text(found.pvalue_adjusted[i])] if several else []))
    return grid
