"""Shapes of calibration curves, under which the calibration error itself has an upper end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from calibstat.bounds.curves.linked_cells import LinkedCells
from calibstat.bounds.curves.monotone_limits import falls
from calibstat.bounds.curves.noise_in_cells import Grid
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.bounds.curves.separate_cells import Cells, SlopedCells, VaryingCells
from calibstat.data.sample import Sample


class Shape(ABC):
    """A statement about the calibration curve c(v) = P(Y = 1 | v)."""

    @abstractmethod
    def cells(self, runs: Runs, power: int, grid: Grid) -> Cells:
        """Return the programme that bounds errors over all curves of this shape."""

    @property
    @abstractmethod
    def condition(self) -> str:
        """The shape as a condition, in words that follow "if"."""

    def rejection(self, sample: Sample) -> str:
        """Say how the rows contradict the shape; nothing if they do not, or if no test is known."""
        return ""


@dataclass(frozen=True)
class NonDecreasing(Shape):
    """The outcome is never less likely at a higher prediction."""

    def cells(self, runs: Runs, power: int, grid: Grid) -> Cells:
        return LinkedCells(runs, power, grid)

    @property
    def condition(self) -> str:
        return "the outcome is never less likely at a higher prediction"

    def rejection(self, sample: Sample) -> str:
        return falls(sample)


@dataclass(frozen=True)
class Variation(Shape):
    """A calibration curve of which the deviation c(v) - v has at most this total variation.

        >>> import calibstat as cs
        >>> y, p = cs.generators.calibrated().sample(1000, rng=1)
        >>> result = cs.confidence_interval(y, p, measure="l1", shape=cs.Variation(0.5), rng=1)
        >>> result.low, result.high < 0.1
        (0.0, True)

    Parameters
    ----------
    most : float
        The largest sum of rises and falls of c(v) - v along the predictions, above 0. It is at most 2 if c does not
        decrease.

    Raises
    ------
    ValueError
        If it is not a number above 0.
    """

    most: float

    def __post_init__(self) -> None:
        if not (_is_number(self.most) and self.most > 0):
            raise ValueError(f"expected a total variation above 0, found {self.most!r}")

    def cells(self, runs: Runs, power: int, grid: Grid) -> Cells:
        return VaryingCells(runs, power, grid, float(self.most))

    @property
    def condition(self) -> str:
        return f"the calibration curve less the prediction has a total variation of at most {self.most:g}"


@dataclass(frozen=True)
class Slope(Shape):
    """A calibration curve of which the deviation c(v) - v changes by at most this much per unit of v.

        >>> import calibstat as cs
        >>> y, p = cs.generators.calibrated().sample(1000, rng=1)
        >>> result = cs.confidence_interval(y, p, measure="l1", shape=cs.Slope(1.0), rng=1)
        >>> result.low, round(result.high, 2)
        (0.0, 0.08)

    Parameters
    ----------
    most : float
        The largest absolute slope of c(v) - v, at least 0.

    Raises
    ------
    ValueError
        If it is not a number of at least 0.
    """

    most: float

    def __post_init__(self) -> None:
        if not (_is_number(self.most) and self.most >= 0):
            raise ValueError(f"expected a slope of at least 0, found {self.most!r}")

    def cells(self, runs: Runs, power: int, grid: Grid) -> Cells:
        return SlopedCells(runs, power, grid, float(self.most))

    @property
    def condition(self) -> str:
        return f"the calibration curve less the prediction changes by at most {self.most:g} per unit of the prediction"


SHAPES_HELP = "'nondecreasing', calibstat.Variation(0.5) or calibstat.Slope(1.0)"


def shape_of(shape: object) -> Shape:
    """Return the shape that is named or given; raise a ValueError that names all shapes if it is none."""
    if isinstance(shape, Shape):
        return shape
    if shape == "nondecreasing":
        return NonDecreasing()
    raise ValueError(f"expected a shape of the calibration curve, {SHAPES_HELP}, found {shape!r}")


def _is_number(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
