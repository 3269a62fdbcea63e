"""What --lens means, and which measures can be put to what a lens shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from calibstat.cli.input_files import listed, plain_spelling
from calibstat.data import lenses
from calibstat.data.lenses import ClassWise, Lens
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures import MEASURES, MulticlassMeasure
from calibstat.measures.registry import everyday_measures, find_measure, is_affordable, multiclass_measures


@dataclass(frozen=True)
class View:
    """Data and how they are looked at.

    Attributes
    ----------
    data : Sample or Predictions
        Outcomes and predictions of one event, or of several classes.
    lens : Lens, ClassWise or None
        What is looked at; None is left to the measure.
    reduce : {None, "mean", "max"}
        How the classes become one number, if each is looked at by itself.
    """

    data: Sample | Predictions
    lens: Lens | ClassWise | None = None
    reduce: str | None = None

    @property
    def each_class(self) -> bool:
        """Whether each class is looked at by itself."""
        return isinstance(self.lens, ClassWise)

    @cached_property
    def whole_vectors(self) -> Predictions | None:
        """The predictions of all classes that the lens shows, or None if it shows one event or each by itself."""
        if not isinstance(self.data, Predictions) or not isinstance(self.lens, Lens):
            return None
        seen = self.lens(self.data)
        return seen if isinstance(seen, Predictions) else None

    def settings(self, measure: str) -> dict[str, Any]:
        """Return what the verbs of the package are given for a measure."""
        lens = self.lens
        of_vectors = issubclass(MEASURES[measure], MulticlassMeasure)
        if not of_vectors and lens is None and isinstance(self.data, Predictions):
            lens = lenses.name_class(1, self.data.names) if self.data.n_classes == 2 else lenses.top_label
        return {"measure": measure, "lens": lens, "reduce": self.reduce}

    def everyday_measures(self) -> list[str]:
        """Name the measures that can be put to what is seen, but for those that are costly on so many rows."""
        return [name for name in self.all_measures() if is_affordable(name, self.data.n)]

    def left_out(self) -> list[str]:
        """Name the measures that would be put to fewer rows of what is seen."""
        return [name for name in self.all_measures() if not is_affordable(name, self.data.n)]

    def all_measures(self) -> list[str]:
        """Name the measures that can be put to a few rows of what is seen."""
        if self.whole_vectors is None:
            return everyday_measures()
        return [name for name in multiclass_measures() if is_affordable(name, 1)]

    def check(self, measures: Sequence[str]) -> None:
        """Raise a ValueError if a measure cannot be put to what is seen."""
        shows_vectors = self.whole_vectors is not None
        for name in measures:
            found = find_measure(name, {})
            of_vectors = isinstance(found, MulticlassMeasure)
            if of_vectors and isinstance(self.data, Sample):
                raise ValueError(f"expected several columns for --prob with measure {name!r}, found one")
            if of_vectors and self.lens is not None and not shows_vectors:
                raise ValueError(
                    f"expected --lens {either(lenses.spellings(shows_classes=True))}, or none, with measure {name!r}, "
                    f"which is of whole vectors; found {self.lens}"
                )
            if found.multiclass() is None and shows_vectors:
                raise ValueError(
                    f"expected --lens {either(lenses.spellings(shows_classes=False))}, or none, with measure {name!r}, "
                    f"which is of one event; found {self.lens}, with which go {', '.join(multiclass_measures())}"
                )


def view(data: Sample | Predictions, lens: str | None, measures: Sequence[str] = (), reduce: str | None = None) -> View:
    """Understand what the options say, and check that the measures can be put to it."""
    if lens is not None and not isinstance(data, Predictions):
        raise ValueError(f"expected several columns for --prob with --lens {lens}, found one")
    seen = read_lens(lens, data.names) if isinstance(data, Predictions) and lens is not None else None
    if reduce is not None and not isinstance(seen, ClassWise):
        raise ValueError(f"expected --lens class_wise with --reduce {reduce}, found {lens or 'no lens'}")
    found = View(data, seen, reduce)
    found.check(measures)
    return found


def read_lens(text: str, names: Sequence[str]) -> Lens | ClassWise:
    """Return the lens that a text such as top_k:2 or groups:cat+dog,hen describes."""
    family, _, argument = text.partition(":")
    if text in lenses.LENSES:
        return lenses.LENSES[text]
    if family in lenses.FAMILIES and argument:
        return lenses.FAMILIES[family].read(argument, names, partial(class_number, names=names))
    raise ValueError(f"expected a lens, {either(lenses.spellings())}; found {text!r}")


def either(texts: Sequence[str]) -> str:
    """Write alternatives: a, b or c."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


def class_number(text: str, names: Sequence[str]) -> int:
    """Return the number of a class from its name, or from its number if no name is a number."""
    if text in names:
        return names.index(text)
    spelt = [plain_spelling(name) for name in names]
    if spelt.count(plain_spelling(text)) == 1:
        return spelt.index(plain_spelling(text))
    numbers = not any(name.isdigit() for name in spelt)
    if numbers and text.isdigit() and int(text) < len(names):
        return int(text)
    also = f" or their numbers from 0 to {len(names) - 1}" if numbers else ""
    raise ValueError(f"expected names of classes ({listed(names)}){also} in --lens, found {text!r}")
