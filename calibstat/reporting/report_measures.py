"""The measures of a report, and what each is a measure of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.bounds.absolute_norms import TooFewRowsInCells
from calibstat.data.checked_rows import Data
from calibstat.data.lenses import AnyLens, ClassWise, Lens, OfEachClass, find_lens
from calibstat.data.named_lens import UNSAID, NamedLens
from calibstat.digits import settled
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.estimate import estimate
from calibstat.inference.honest_ends import NoInterval
from calibstat.measures.kinds.registry import MEASURES, is_affordable
from calibstat.output.wording import number
from calibstat.result import Result

COMPARED = ("kernel_ce", "brier")  # the error that `compare` squares by default, and a score that rewards sharpness
REPORT_SCORES = (COMPARED[1], "log_loss")
OF_ALL_CLASSES = "canonical_ce"  # the primary error through a lens that shows several classes


@dataclass(frozen=True, eq=False)
class Measured(Result):
    """A measure of a model, with its honest interval if one is known.

    Attributes
    ----------
    measure : str
        The name of the measure.
    title : str
        Its name in prose.
    lens : NamedLens
        The outcome whose probability was predicted; without words where no interval is known.
    estimate, low, high : float
        The measure on the data, and the ends of its interval: nan where none is known.
    if_calibrated : float or None
        What a calibrated model would show on these rows; None where it is not known.
    remark : str
        Why the estimate lies outside the interval and why the high end is not lower; empty if neither is so.
    """

    measure: str
    title: str
    lens: NamedLens
    estimate: float
    low: float
    high: float
    if_calibrated: float | None = None
    remark: str = ""

    def __str__(self) -> str:
        interval = "" if math.isnan(self.low) else f" [{settled(self.low):.4g}, {settled(self.high):.4g}]"
        return f"{self.title}: {settled(self.estimate):.4g}{interval}{f'. {self.remark}' if self.remark else ''}"


def shows_several(lens: AnyLens) -> bool:
    """Whether a lens shows several events; no lens shows one."""
    seen = None if lens is None else find_lens(lens)
    return isinstance(seen, OfEachClass) or (isinstance(seen, Lens) and seen.names is not None)


def questions(
    n_classes: int, lens: AnyLens, errors: Sequence[str], *, jointly: bool = True
) -> dict[str, dict[str, Any]]:
    """Return the arguments of functions for each measure of a report, the primary one first.

    If `jointly`, scores of more than two classes are of all classes together, unless a lens shows something else.
    """
    seen = None if lens is None else find_lens(lens)
    each_class = isinstance(seen, OfEachClass)
    if not each_class and shows_several(lens):
        return {name: {"measure": name, "lens": lens} for name in (OF_ALL_CLASSES, *REPORT_SCORES)}
    one_number = "class_wise_mean" if isinstance(seen, ClassWise) else lens
    jointly = jointly and (each_class or (lens is None and n_classes > 2))
    named = [name for name in errors if not (each_class and name == COMPARED[0])]  # not compared over classes
    asked = {name: {"measure": name, "lens": one_number} for name in named}
    return asked | {name: {"measure": name, "lens": "canonical" if jointly else lens} for name in REPORT_SCORES}


def affordable(asked: dict[str, dict[str, Any]], n: float) -> dict[str, dict[str, Any]]:
    """Return the measures that so many rows allow; the primary one always."""
    first = next(iter(asked))
    return {name: each for name, each in asked.items() if name == first or is_affordable(name, n)}


def compared(asked: dict[str, dict[str, Any]], by_error: bool = True) -> list[dict[str, Any]]:
    """Return how models are compared: as `compare` does by default, or by the primary error, and by a score."""
    error, score = COMPARED
    first = asked[error] | {"measure": None} if error in asked else next(iter(asked.values()))
    return [first, asked[score]] if by_error else [asked[score]]


def beside(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments beside the rows, which hold the lens."""
    return {name: value for name, value in asked.items() if name != "lens"}


def measured(
    data: Data, asked: dict[str, Any], settings: dict[str, Any], interval: ConfidenceInterval | None
) -> Measured:
    """Return a measure with its honest `interval`, made here if it is not given; with none if none is known."""
    name, seen = asked["measure"], data.through(asked["lens"])
    if interval is None:
        with suppress(NoInterval, TooFewRowsInCells):
            interval = confidence_interval(seen, **beside(asked), **settings)
    if interval is None:
        value = float(np.mean([estimate(each.as_independent(), **beside(asked)) for each in seen.repeats]))
        return Measured(name, _title(name), UNSAID, value, float("nan"), float("nan"))
    ends = interval.low, interval.high, interval.if_calibrated
    remark = " ".join(each for each in (interval.of_curves(number), interval.remark(number)) if each)
    return Measured(name, _title(name), interval.lens, interval.estimate, *ends, remark)


def _title(name: str) -> str:
    """Return the name of a measure in prose, with the bandwidth of a kernel, because models are compared by another."""
    bandwidth = getattr(MEASURES[name](), "laplace_bandwidth", None)
    return f"{MEASURES[name].info.title}{'' if bandwidth is None else f' (bandwidth={bandwidth:g})'}"
