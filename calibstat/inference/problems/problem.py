"""The base class of problems: a measure together with data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from calibstat import resampling
from calibstat.bounds.linear_form import Order, RowForm
from calibstat.data.named_lens import NamedLens
from calibstat.data.observations import Observations
from calibstat.inference.deviation import Deviation
from calibstat.inference.problems.clustered_problem import ClusteredProblem
from calibstat.inference.problems.drawable import Drawable
from calibstat.inference.smaller_than_chance import is_small
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Bracket
from calibstat.resampling import Draws, Labels, Pairs, Resampler, Stage
from calibstat.resampling.schemes import OfRows


@dataclass(frozen=True)
class Problem(Drawable):
    """A measure and data.

    `bootstraps` are the methods of intervals beside the honest one.
    """

    measure: Measure
    data: Observations
    bootstraps: ClassVar[tuple[str, ...]] = ("percentile", "basic")

    @property
    def lens(self) -> NamedLens:
        """The lens."""
        return self.data.lens

    @property
    def title(self) -> str:
        """The measure, and the lens unless the outcome is outcome 1."""
        return f"{self.measure}{self.lens.with_comma}"

    @abstractmethod
    def estimate(self) -> Any:
        """Return the measure: one number, or one for each class."""

    @abstractmethod
    def resampler(self, scheme: OfRows, stage: Stage) -> Resampler:
        """Return what draws the statistic of resamples; what all of them share is computed once."""

    def draw(self, scheme: OfRows, draws: Draws, stage: Stage) -> np.ndarray:
        """Return the statistic of every resample."""
        return self.resampler(scheme, stage)(draws)

    def draw_null(self, draws: Draws) -> np.ndarray:
        return self.draw(Labels(), draws, Stage.LABELS)

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        return self.draw(Pairs(), draws, Stage.ROWS)

    @abstractmethod
    def drawn_from(self, what: str) -> Problem:
        """Return the problem as `what` draws from it: summarised, or in an order that depends on what rows hold."""

    @abstractmethod
    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        """Return the measure, the number of rows, and the details of the measure."""

    @abstractmethod
    def holds_cells(self, always: bool) -> bool:
        """Whether the measure is that over cells which these rows make, or is if cells are `always` to stay."""

    @property
    @abstractmethod
    def is_honest(self) -> bool:
        """Whether an honest interval is known."""

    @property
    def has_bracket(self) -> bool:
        """Whether two measures are known that bracket this one."""
        return False

    def bracket(self) -> Bracket:
        """Return two measures that bracket this one."""
        raise NotImplementedError(f"no bracket is known for {self.title}")

    @property
    def is_one_number(self) -> bool:
        """Whether the measure is one number, and not one for each class."""
        return True

    @property
    def is_mean(self) -> bool:
        """Whether the measure is a mean of losses."""
        return self.measure.is_mean

    @property
    def laplace_bandwidth(self) -> float | None:
        """The bandwidth of the Laplace kernel if the measure is an error by it or its square, of one event; or None."""
        return None

    @property
    def is_coarse(self) -> bool:
        """Whether the measure bounds the error of the predictions from below."""
        return False

    @property
    def weight(self) -> np.ndarray | None:
        """The weights of the rows, as they were given; None without."""
        return None

    def contents(self) -> tuple[np.ndarray, ...]:
        """Return all that draws see of a row but its weight; nothing if the measure has no linear form by rows.

        Clusters and comparisons of models draw from that form.
        """
        return ()

    @property
    def takes_clusters(self) -> bool:
        """Whether the linear form by rows, if there is one, is also known for clusters."""
        return True

    def row_form(self, order: Order = slice(None)) -> RowForm:
        """Return the linear form by rows, in this order of the rows."""
        raise NotImplementedError(f"no form by rows is known for {self.title}")

    def deviation(self, draws: Draws) -> Deviation | None:
        """Return what drives the measure on these rows, or None if it does not say."""
        return None

    def deviations(self, classes: np.ndarray) -> Iterator[Deviation]:
        """Return what drives the measure of each of these classes, if it says so."""
        yield from ()

    def is_smaller_than_chance(self, statistic: float, null: np.ndarray, draws: Draws) -> bool:
        """Whether residuals are smaller than those of a calibrated model, given its draws of the statistic."""
        return is_small(statistic, null)

    def check_rows(self) -> None:
        """Raise unless rows can be told apart and hold outcomes and probabilities; K classes have been checked."""

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return outcomes and predictions for a permutation of two models."""
        raise ValueError(f"expected a lens that shows one event for method 'swap', found {self.lens}")

    def statistic_of(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """Return the measure of another binary sample."""
        raise NotImplementedError

    def in_clusters(self, unit: np.ndarray) -> ClusteredProblem | None:
        """Return the problem with its rows in clusters, numbered from 0, or None where none is known."""
        contents = self.contents()
        if not contents or not self.takes_clusters:
            return None
        order, unit_in_order = resampling.canonical_order(contents, unit, self.weight)
        assert unit_in_order is not None
        return ClusteredProblem(self.row_form(order).in_units(unit_in_order), unit_in_order)
