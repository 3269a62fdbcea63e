"""Which lens the command line looks through, and which measures can be put to what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from calibstat.cli.input_files import listed, plain
from calibstat.data import lenses
from calibstat.data.lenses import LENSES, ClassWise, Lens
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.registry import MEASURES, everyday_measures, find_measure, is_affordable

POSSIBLE = f"{', '.join(LENSES)}, one_class:NAME, top_k:2 or groups:NAME+NAME,NAME"


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
        if MEASURES[measure].of == "events" and lens is None and isinstance(self.data, Predictions):
            lens = one_class(1, self.data.names) if self.data.n_classes == 2 else lenses.top_label
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
        return [name for name in of_vectors() if is_affordable(name, 1)]

    def check(self, measures: Sequence[str]) -> None:
        """Raise a ValueError if a measure cannot be put to what is seen."""
        shows_vectors = self.whole_vectors is not None
        for name in measures:
            entry = find_measure(name, {}).measure
            if entry.of == "vectors" and isinstance(self.data, Sample):
                raise ValueError(f"expected several columns for --prob with measure {name!r}, found one")
            if entry.of == "vectors" and self.lens is not None and not shows_vectors:
                raise ValueError(
                    f"expected --lens canonical, groups or top_k, or none, with measure {name!r}, which is of whole "
                    f"vectors; found {self.lens}"
                )
            if entry.of == "events" and entry.vectors is None and shows_vectors:
                raise ValueError(
                    f"expected --lens top_label, class_wise or one_class:NAME, or none, with measure {name!r}, which "
                    f"is of one event; found {self.lens}, with which go {', '.join(of_vectors())}"
                )


def of_vectors() -> list[str]:
    """Name the measures that can be put to whole vectors."""
    return [name for name, entry in MEASURES.items() if entry.of == "vectors" or entry.vectors is not None]


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
    kind, _, rest = text.partition(":")
    if text in LENSES:
        return LENSES[text]
    if kind == "one_class" and rest:
        return one_class(class_number(rest, names), names)
    if kind == "top_k" and rest.isdigit():
        return replace(lenses.top_k(int(rest)), name=f"top_k:{int(rest)}")
    if kind == "groups" and rest:
        return groups([[class_number(name, names) for name in group.split("+")] for group in rest.split(",")], names)
    raise ValueError(f"expected a lens, {POSSIBLE}; found {text!r}")


def class_number(text: str, names: Sequence[str]) -> int:
    """Return the number of a class from its name, or from its number if no name is a number."""
    if text in names:
        return names.index(text)
    spelt = [plain(name) for name in names]
    if spelt.count(plain(text)) == 1:
        return spelt.index(plain(text))
    numbers = not any(name.isdigit() for name in spelt)
    if numbers and text.isdigit() and int(text) < len(names):
        return int(text)
    also = f" or their numbers from 0 to {len(names) - 1}" if numbers else ""
    raise ValueError(f"expected names of classes ({listed(names)}){also} in --lens, found {text!r}")


def one_class(k: int, names: Sequence[str]) -> Lens:
    """Return the lens that looks at whether a class happens, and calls it by its name."""
    return replace(lenses.one_class(k), name=f"one_class:{names[k]}", null=lenses.null_of_class(names[k]))


def groups(partition: Sequence[Sequence[int]], names: Sequence[str]) -> Lens:
    """Return the lens that adds up the probabilities of classes, and calls them by their names."""
    flat = [k for group in partition for k in group]
    for k, name in enumerate(names):
        if flat.count(k) != 1:
            found = f"class {name} in {flat.count(k)} of them" if flat.count(k) else f"class {name} in none"
            raise ValueError(f"expected every class in one of the groups, found {found}")
    if len(partition) < 2:
        raise ValueError("expected two or more groups, with commas between them, found one")
    text = ",".join("+".join(names[k] for k in group) for group in partition)
    return replace(lenses.groups(partition), name=f"groups:{text}")
