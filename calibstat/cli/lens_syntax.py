"""The syntax of --lens, and the measures that each lens allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from calibstat.cli.input_files import plain_spelling
from calibstat.cli.options import either
from calibstat.data import lenses
from calibstat.data.checked_rows import Models
from calibstat.data.lenses import ClassWise, Lens, OfEachClass
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.validation import n_columns
from calibstat.measures import MEASURES, MulticlassMeasure
from calibstat.measures.kinds.registry import find_measure, multiclass_measures
from calibstat.output.wording import listed


@dataclass(frozen=True)
class View:
    """Data and the lens they are seen through.

    Attributes
    ----------
    data : Sample or Predictions
        Binary or multiclass outcomes and predictions.
    lens : Lens, OfEachClass or None
        The lens; None for the default of the measure.
    """

    data: Sample | Predictions
    lens: Lens | OfEachClass | None = None

    @property
    def each_class(self) -> bool:
        """Whether each class is assessed by itself."""
        return isinstance(self.lens, ClassWise)

    @cached_property
    def canonical(self) -> Predictions | None:
        """The predictions of all classes of the lens, or None if the lens is binary or class-wise."""
        if not isinstance(self.data, Predictions) or not isinstance(self.lens, Lens):
            return None
        seen = self.lens(self.data)
        return seen if isinstance(seen, Predictions) else None

    def settings(self, measure: str) -> dict[str, Any]:
        """Return the arguments of public functions for a measure."""
        lens = self.lens
        multiclass = issubclass(MEASURES[measure], MulticlassMeasure)
        if not multiclass and lens is None and isinstance(self.data, Predictions):
            lens = lenses.name_class(1, self.data.names) if self.data.n_classes == 2 else lenses.top_label
        return {"measure": measure, "lens": lens}

    def check(self, measures: Sequence[str]) -> None:
        """Raise a ValueError if a measure does not fit the lens."""
        is_canonical = self.canonical is not None
        for name in measures:
            found = find_measure(name, {})
            multiclass = isinstance(found, MulticlassMeasure)
            if multiclass and isinstance(self.data, Sample):
                raise ValueError(f"expected several columns for --prob with measure {name!r}, found one")
            if multiclass and self.lens is not None and not is_canonical:
                raise ValueError(
                    f"expected --lens {either(lenses.spellings(shows_classes=True))}, or none, with measure {name!r}, "
                    f"which is a multiclass measure; found {self.lens}"
                )
            if found.multiclass() is None and is_canonical:
                raise ValueError(
                    f"expected --lens {either(lenses.spellings(shows_classes=False))}, or none, with measure {name!r}, "
                    f"which is a binary measure; found {self.lens}, for which there are "
                    f"{', '.join(multiclass_measures())}"
                )


def view(data: Sample | Predictions, lens: str | None, measures: Sequence[str] = ()) -> View:
    """Read the lens, and check that the measures fit it."""
    if lens is not None and not isinstance(data, Predictions):
        raise ValueError(f"expected several columns for --prob with --lens {lens}, found one")
    seen = read_lens(lens, data.names) if isinstance(data, Predictions) and lens is not None else None
    shown = View(data, seen)
    shown.check(measures)
    return shown


def view_of_models(models: Models, lens: str | None, measures: Sequence[str] = ()) -> View | None:
    """Read the lens of models of several classes likewise; None of a column of probabilities for each model."""
    given = models.rows
    if given.y_prob is not None and n_columns(given.y_prob) > 1:
        return view(given.predictions, lens, measures)
    if lens is not None:
        raise ValueError(f"expected several columns of probabilities for --lens {lens}, found one for each model")
    return None


def lens_of_models(models: Models, lens: str | None) -> Lens | OfEachClass | None:
    """Read the lens of models."""
    seen = view_of_models(models, lens)
    return None if seen is None else seen.lens


def read_lens(text: str, names: Sequence[str]) -> Lens | OfEachClass:
    """Return the lens that a text such as top_k:2 or groups:cat+dog,hen describes."""
    family, _, argument = text.partition(":")
    if text in lenses.LENSES:
        return lenses.LENSES[text]
    if family in lenses.LENS_FAMILIES and argument:
        return lenses.LENS_FAMILIES[family].read(argument, names, partial(class_number, names=names))
    raise ValueError(f"expected a lens, {either(lenses.spellings())}; found {text!r}")


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
