"""The calibration error itself, not over bins, for calibration curves of a stated shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibstat.bounds.curves.curve_interval import CurveBound, CurveInterval, studied_exponent
from calibstat.bounds.curves.curve_shapes import SHAPES_HELP, Shape, shape_of
from calibstat.bounds.curves.runs_of_rows import Runs, cells_of
from calibstat.bounds.intervals import Interval
from calibstat.data.sample import Sample
from calibstat.measures.binned import ECE
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import Binned
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure

BLASIOK = "Błasiok, Gopalan, Hu, Nakkiran 2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886"


@dataclass(frozen=True, kw_only=True)
class CurveError(Binned):
    """The Lp norm of c(v) - v, with c the calibration curve; estimated over runs of neighbouring predictions."""

    shape: str | Shape | None = None
    power: ClassVar[int]

    def check(self) -> None:
        if self.shape is not None:
            shape_of(self.shape)

    def population_value(self, population: BinaryPopulation) -> float:
        return ECE(n_bins=None, norm=f"l{self.power}").population_value(population)

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return cells_of(value, count)

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return ECE(norm=f"l{self.power}").reduce(count, residual, value)

    @property
    def honest(self) -> Honest:
        return "" if self.shape is None else "proven"

    @property
    def why_no_interval(self) -> str:
        return (
            "without a shape of the calibration curve no upper end of the error itself is known below the largest one: "
            f"expected shape {SHAPES_HELP}"
        )

    @property
    def condition(self) -> str:
        return "" if self.shape is None else f", if {shape_of(self.shape).condition}"

    def interval(self, sample: Sample) -> Interval:
        runs = Runs.of(sample.value, sample.count)
        bound = CurveBound(sample, runs, shape_of(self.shape), self.power)
        return CurveInterval(self.binned(sample), bound, studied_exponent)

    def binned(self, sample: Sample) -> Interval:
        """Return the interval of the error over the runs."""
        raise NotImplementedError


@measure(
    "l1",
    title="Mean calibration error, without bins",
    formula=r"\mathbb{E}\,\bigl|\mathbb{E}[y \mid v] - v\bigr|",
    reference=BLASIOK,
    bounds=(0, 1),
    slow_above=0,
)
class L1(CurveError):
    """The mean distance of the outcome probability at a prediction from the prediction.

    Option: `shape`, what is said of the calibration curve: "nondecreasing", if the outcome is never less likely at a
    higher prediction, or `calibstat.Variation` or `calibstat.Slope` of the curve less the prediction. Without a shape
    there is an estimate, a test and no honest interval: a curve that moves up and down between any two predictions
    looks calibrated however many rows there are. There is no default, because the shape is an argument of the user's.

    The estimate is the error over runs of neighbouring predictions, about 2 n^(2/5), and is biased upwards. Where
    predictions repeat as often as in a run, each is a run, and the shape is hardly used. The high end of the interval
    holds for every curve of the shape: none of the bins of the estimate is in it.

    Cost: one sort; the high end takes seconds from 100,000 rows on.
    """

    power = 1

    def binned(self, sample: Sample) -> Interval:
        return Binned.interval(self, sample)
