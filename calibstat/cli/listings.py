"""The commands that list what can be named: measures and generators."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibstat.cli.answers import Answer
from calibstat.cli.printed_tables import table

if TYPE_CHECKING:
    from rich.table import Table

TRUTHS = (
    "truth",
    "curve",
    "conditional",
    "distance",
    "generator",
    "models",
)  # what generators have that says true values


@dataclass(frozen=True)
class Entry:
    """The text and the numbers of a listing for one name.

    Attributes
    ----------
    title : str
        One line.
    options : mapping
        Options with their defaults.
    cells : tuple of str
        The further columns of the table.
    facts : mapping
        What JSON has beside title and options.
    needs : tuple of str
        Parameters without a default.
    """

    title: str
    options: Mapping[str, object]
    cells: tuple[str, ...]
    facts: Mapping[str, object]
    needs: tuple[str, ...] = ()

    @property
    def json(self) -> dict[str, object]:
        """Everything but the texts of the table."""
        return {"title": self.title, **self.facts, "options": dict(self.options)}


def listing(
    what: str, columns: tuple[str, ...], sections: Mapping[str, Mapping[str, Entry]], *notes: str, next_step: str
) -> Answer:
    """List names below the titles of their sections, and say what the columns mean."""
    from rich.text import Text

    grid = table("Name", what, *columns)
    for title, entries in sections.items():
        grid.add_section()
        grid.add_row(Text(title, style="bold"))
        for name, entry in entries.items():
            given = [*entry.needs, *(f"{option}={default!r}" for option, default in entry.options.items())]
            about = Text("\n").join([Text(entry.title), *([Text("\n".join(given), "dim")] if given else [])])
            grid.add_row(name, about, *entry.cells)
    for column in grid.columns:
        column.no_wrap = column.header != what
    said: list[str | Table] = [grid, *notes]
    listed = {name: entry for entries in sections.values() for name, entry in entries.items()}
    return Answer(said, results={name: entry.json for name, entry in listed.items()}, next_step=next_step)


def list_measures() -> Answer:
    """List the measures and their options."""
    from calibstat.measures import MEASURES, Measure, MulticlassMeasure
    from calibstat.measures.kinds.registry import binary_measures, multiclass_measures

    def entry(measure: type[Measure]) -> Entry:
        low, high = measure.info.bounds
        cells = f"{low:g} to {high:g}", "honest" if measure().has_form else "–"
        return Entry(measure.info.title, measure.defaults(), cells, {"bounds": measure.info.bounds})

    def section(multiclass: bool) -> dict[str, Entry]:
        return {name: entry(m) for name, m in MEASURES.items() if issubclass(m, MulticlassMeasure) == multiclass}

    both = [name for name in binary_measures() if name in multiclass_measures()]
    return listing(
        "Measure, options with their defaults",
        ("Range", "Interval"),
        {"Binary measures": section(False), "Multiclass measures": section(True)},
        "Honest intervals cover near calibration too, if either outcome is observed at least ten times. For other "
        "intervals see --method.",
        "Binary measures use one predicted probability per row. Multiclass measures use the predicted probabilities of "
        "all classes together, without --lens or with canonical, groups or top_k; so do "
        f"{' and '.join(both)} with these lenses.",
        next_step="Ask by one of them: calibstat interval rows.csv --label y --prob p --measure ks.",
    )


def list_generators() -> Answer:
    """List the generators of data whose truth is known."""
    from calibstat.generators import GENERATORS, Generator, MulticlassGenerator

    def entry(generator: type[object], kind: str) -> Entry:
        given = inspect.signature(generator).parameters.values()
        needs = tuple(each.name for each in given if each.default is each.empty)
        options = {each.name: each.default for each in given if each.default is not each.empty}
        known = tuple(name for name in TRUTHS if hasattr(generator, name))
        title = str(inspect.getdoc(generator)).splitlines()[0]
        return Entry(title, options, ("\n".join(known),), {"kind": kind, "truths": known, "needs": needs}, needs)

    kinds = {"Binary": Generator, "Several classes": MulticlassGenerator, "Made of generators": object}
    sections: dict[str, dict[str, Entry]] = {kind: {} for kind in kinds}
    for name, generator in GENERATORS.items():
        kind = next(kind for kind, base in kinds.items() if issubclass(generator, base))
        sections[kind][name] = entry(generator, kind.lower())
    return listing(
        "Generator, parameters with their defaults",
        ("True values",),
        sections,
        "To draw outcomes and predictions: y, p = calibstat.generators.temperature(beta=2).sample(1000, rng=1). Other "
        "generators are called in the same way. Studies of measures take them: calibstat.study.run.",
        "Where true values are: truth gives the value of a measure in the population: of every binary measure, and "
        "of several classes through a lens or over fixed cells. curve and conditional give the probability of each "
        "outcome given the prediction. distance gives the true distance from calibration of a calibrated generator, or "
        "of one with at most 12 points. generator gives the generator of one period, and models "
        "gives one generator for each of several models of the same rows. Each has its own true values.",
        next_step="See what is found on such data: calibstat study lists the studies that are installed.",
    )
