"""The options of all measures, as editors and type checkers know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np

from calibstat.bounds.curves.curve_shapes import Shape
from calibstat.data.checked_rows import AboutRows
from calibstat.measures.bins import Strategy
from calibstat.measures.bregman import Bregman


class OptionsOfFits(TypedDict, total=False):
    """The options of fits in bins, in cells and by kernels, which `decompose` has too."""

    bandwidth: float | None
    clip: float | None
    kernel: str
    min_size: int
    n_bins: int | str | None
    strategy: Strategy
    threshold: float | str


class OptionsBesideWidth(OptionsOfFits, total=False):
    """The options of all measures except a width, which is an argument of `sample_size` itself."""

    binning: str
    block_size: int | str
    class_conditional: bool
    class_weight: Sequence[float] | None
    distance: str
    divergence: str
    estimator: str
    functions: int | Sequence[Callable[[np.ndarray], np.ndarray]]
    grid: int
    max_prob: bool
    norm: str | float
    penalty: str
    precision: float
    rate: float
    refit: bool
    region: str
    score: str | Bregman
    shape: str | Shape | None
    statistic: str
    ties: str
    variant: str


class MeasureOptions(OptionsBesideWidth, total=False):
    """The options of all measures of calibstat; a function takes the options of the measure that it is given.

    A measure of one's own has others, which run and are unknown to type checkers: give the measure itself, as in
    ``measure=Mine(power=2)``.
    """

    width: float


class RowsAndOptions(AboutRows, MeasureOptions, total=False):
    """Words about rows and the options of all measures, as functions of a measure take them beside their arguments."""


class RowsAndOptionsOfFits(AboutRows, OptionsOfFits, total=False):
    """Words about rows, and the options of the methods of `decompose`."""
