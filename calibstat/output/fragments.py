"""The parts of pages about results: words, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import nan
from typing import TYPE_CHECKING, Any

from calibstat.digits import settled
from calibstat.output.html import render, svg_markup
from calibstat.output.said_once import said_once
from calibstat.output.visible_text import is_aligned

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 30  # rows of a table of a result
WHOLE = 14  # rows of a table that is not parted in print
FEW_LETTERS = 1500  # of a section that is not parted in print


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    header : sequence of str
        The names of the columns; one that begins with > is aligned to the right.
    rows : sequence of sequences of str
        The cells.
    note : str
        What is said below it.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def is_short(self) -> bool:
        """Whether it stays on one page in print."""
        return len(self.rows) <= WHOLE


@dataclass(frozen=True)
class Picture:
    """A picture, and what it shows in words.

    Attributes
    ----------
    svg : str
        The drawing.
    caption : str
        The text below it.
    wide : bool
        Whether it takes the whole width, as a picture of many panels does.
    """

    svg: str
    caption: str = ""
    wide: bool = False

    @property
    def markup(self) -> Any:
        """The drawing, as a template takes it."""
        return svg_markup(self.svg)


@dataclass(frozen=True)
class Section:
    """A section of a page: a heading, paragraphs, pictures, tables and small print, in this order.

    Attributes
    ----------
    title : str
        The heading; empty for none.
    words : sequence of str
        Paragraphs.
    pictures : sequence of Picture
        Side by side where there is room.
    tables : sequence of Table
        Below each other.
    notes : sequence of str
        Paragraphs of small print.
    kind : {"", "answer", "detail", "fold"}
        What stands out, what steps back, and what is shown if it is asked for.
    """

    title: str
    words: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    kind: str = ""

    @property
    def is_short(self) -> bool:
        """Whether it stays on one page in print."""
        letters = sum(map(len, (*self.words, *self.notes)))
        return not self.pictures and len(self.tables) < 2 and letters < FEW_LETTERS and self.has_short_tables

    @property
    def has_short_tables(self) -> bool:
        """Whether all of its tables stay on one page."""
        return all(table.is_short for table in self.tables)

    @property
    def blocks(self) -> list[tuple[bool, list[str]]]:
        """The paragraphs, of which lines of a printed table make one together; whether each is a table."""
        return [(table, [*lines]) for table, lines in groupby(self.words, is_aligned)]

    @property
    def classes(self) -> str:
        """The classes of its element."""
        return " ".join(filter(None, (self.kind, "whole" if self.is_short else "")))


def sections_of(title: str, answer: Sequence[str], words: str, frame: pd.DataFrame, svg: str = "") -> list[Section]:
    """Return what is shown of a result: its answer, its picture and the table of its rows; the rest is folded."""
    rows, one = [table_of(frame)] if frame.size else [], len(frame) == 1
    told = words.splitlines()
    rest = [] if told == list(answer) else told
    shown = Section(title, answer, [Picture(svg)] if svg else [], [] if one else rows)
    if not rest and not (one and rows):
        return [shown]
    return [shown, Section("Details", rest, tables=rows if one else [], kind="fold")]


def sections_of_models(
    answers: Mapping[str, str], folded: Iterable[Section], table: Table | None, svg: str
) -> list[Section]:
    """Return what is shown of several models: the answer of each, one picture and one table; then what is folded."""
    pictures = [Picture(svg, wide=True)] if svg else []
    return [Section("", said_once(answers), pictures, [] if table is None else [table]), *folded]


def fold(name: str, words: str, frame: pd.DataFrame) -> Section:
    """Return what is shown of one of several models if it is asked for."""
    return Section(name, words.splitlines(), tables=[table_of(frame)] if frame.size else [], kind="fold")


def table_of_models(rows: Mapping[str, Mapping[str, float]]) -> Table:
    """Return a table with a row for each model."""
    columns = [*dict.fromkeys(column for row in rows.values() for column in row)]
    header = ["model", *(f">{name}" for name in columns)]
    return Table(header, [[name, *(cell(row.get(column, nan)) for column in columns)] for name, row in rows.items()])


def page_of(sections: Iterable[Section]) -> str:
    """Return sections as a piece of HTML."""
    return render("fragment.html", sections=list(sections))


def table_of(frame: pd.DataFrame) -> Table:
    """Return a data frame as a table, of which one row becomes one column, and many rows are cut."""
    if len(frame) == 1:
        known = [(str(name).removeprefix(">"), cell(value)) for name, value in frame.iloc[0].items()]
        return Table(("", ">"), [(name, text) for name, text in known if text and text != "None"])
    numbers = ["" if kind.kind in "OU" else ">" for kind in frame.dtypes]
    header = [mark + str(name) for mark, name in zip(numbers, frame.columns, strict=True)]
    rows = [[cell(value) for value in row] for row in frame.head(LONGEST).itertuples(index=False)]
    rest = len(frame) - LONGEST
    return Table(header, rows, f"and {rest:,} more rows: to_frame() has all" if rest > 0 else "")


def cell(value: object) -> str:
    """Write an entry of a table: of numbers four digits, and nothing where one is missing."""
    if isinstance(value, float):
        return "" if value != value else f"{settled(value):.4g}"
    return str(value)
