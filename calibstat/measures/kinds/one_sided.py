"""One side of a measure: a statistic of predictions that are too high alone, or too low alone."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.data.views import forbidden
from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.in_order import first_largest
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Binned, OfResiduals, Statistic
from calibstat.measures.kinds.named_measure import NamedMeasure

# of each measure, by its own class: what is derived from it may fall where an outcome rises
_FORMS: dict[type[Measure], type[OneSided]] = {}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # `Measure` has both
class OneSided(Statistic):
    """One side of a measure: of predictions too high it never rises with an outcome 1, of too low ones never falls.

    Its test is then exact for the null hypothesis that no prediction is too high (or too low), however low (or high)
    they are. Statement and proof: the page "One side", theorem 1. A subclass says which measure it is one side `of`.
    """

    whole: Statistic
    side: Side

    def __init_subclass__(cls, of: type[Statistic] | None = None) -> None:
        super().__init_subclass__()
        if of is not None:
            _FORMS[of] = cls

    @property
    def sign(self) -> float:
        """The sign of the residuals that are evidence."""
        return MORE_EVENTS[self.side]

    @property
    def named(self) -> NamedMeasure:
        return self.whole.named

    def estimate(self, sample: Sample) -> float:
        """Return the statistic; infinite if an outcome that this side forbids was observed."""
        value, count, positives = sample.arrays
        return np.inf if forbidden(value, positives, count - positives, self.side).any() else super().estimate(sample)

    @abstractmethod
    def largest(self, sample: Sample) -> slice | None:
        """Return which distinct predictions, neighbours, have the largest deviation to this side.

        None if it looks at all rows together alone.
        """


def one_side_of(measure: Measure, side: Side) -> OneSided:
    """Return one side of a measure; raise if it is not known to have one."""
    form = _FORMS.get(type(measure))
    if form is None:
        known = [each.name for each in _FORMS]
        found = f"another measure of the name {measure.name!r}" if measure.name in known else repr(measure.name)
        raise ValueError(
            f"expected a measure with one side, {', '.join(known)}, beside side={side!r}; found {found}, of which it "
            "is not known that it never rises, or never falls, with an outcome 1"
        )
    return form(whole=measure, side=side)  # type: ignore[arg-type]  # all of these are statistics


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)  # `Measure` has both
class OneSidedCells(OneSided, Binned):
    """One side of a measure over cells that depend on the predictions alone."""

    whole: Binned

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return self.whole.cells(value, count)

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.asarray(self.of_residual(count, value)(residual))

    def of_residual(self, count: np.ndarray, value: np.ndarray) -> OfResiduals:
        """Return the measure of the residuals to this side, with 0 in place of the others."""
        of = self.whole.of_residual(count, value)
        return lambda residual: of(np.maximum(self.sign * residual, 0.0))

    def largest(self, sample: Sample) -> slice | None:
        cell = self.cells(sample.value, sample.count)
        first, last = self.largest_cells(*cell_sums(cell, *sample.arrays))
        return slice(int(np.searchsorted(cell, first)), int(np.searchsorted(cell, last, "right")))

    def largest_cells(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> tuple[int, int]:
        """Return the first and the last of the cells with the largest deviation to this side."""
        cell = int(first_largest(np.where(count > 0, self.sign * residual, -np.inf)))
        return cell, cell
