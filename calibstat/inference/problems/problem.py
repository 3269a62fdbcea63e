"""The base class of problems: a measure together with data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import ComparableInterval, Interval
from calibstat.bounds.mean_interval import RowLosses
from calibstat.bounds.residual_tables import Order, RowTable, TableOfRows
from calibstat.bounds.tables_of_classes import TablesOfClasses
from calibstat.data.clusters import OBSERVED, Unseen
from calibstat.data.named_lens import NamedLens
from calibstat.data.views import View
from calibstat.inference.deviation import Deviation
from calibstat.inference.p_values import Compared
from calibstat.inference.problems.clustered_rows import ClusteredRows
from calibstat.inference.problems.resample import Resampler
from calibstat.inference.smaller_than_chance import is_small
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Bracket
from calibstat.resampling import Clusters, Draws, GivenPredictions, Labels, Pairs, Stream
from calibstat.resampling.schemes import OfRows


class Posed(Protocol):
    """The source of draws of an interval: a problem of independent rows, or rows in clusters."""

    @property
    def n(self) -> int | float:
        """Number of rows."""
        ...

    def statistic(self) -> Any:
        """Return the measure: one number, or one for each class."""
        ...

    def drawer_of_labels(self) -> Callable[[Draws], np.ndarray]:
        """Return what draws the statistic of labels that are drawn independently from the predictions."""
        ...

    def null_draws(self, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the statistic under calibration by each way to draw it: the largest p-value of them counts.

        `labels` are the estimates of `drawer_of_labels`, if they are known.
        """
        ...

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the statistic of every resample of the observations."""
        ...

    def honest(self) -> Interval:
        """Return the honest interval."""
        ...

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Leave out one row of every distinct kind; return how many rows are of that kind, and the statistics."""
        ...


@dataclass(frozen=True)
class Problem(ABC):
    """A measure and data, from whose rows or clusters resamples are drawn."""

    measure: Measure
    view: View
    unit: np.ndarray | None = field(default=None, kw_only=True)  # the cluster of each row, of `with_unit`
    unseen: str = field(default=OBSERVED, kw_only=True)  # what is supposed of clusters that were not observed

    @property
    def lens(self) -> NamedLens:
        """The lens."""
        return self.view.lens

    @property
    def title(self) -> str:
        """The measure, and the lens unless the outcome is outcome 1."""
        return f"{self.measure}{self.lens.with_comma}"

    @abstractmethod
    def estimate(self) -> Any:
        """Return the measure: one number, or one for each class."""

    @abstractmethod
    def resampler(self, scheme: OfRows, stream: int) -> Resampler:
        """Return what draws the statistic of resamples; what all of them share is computed once."""

    def drawer_of_labels(self) -> Resampler:
        """Return what draws the statistic of labels given the predictions, the exact null distribution."""
        return self.resampler(Labels(), Stream.LABELS)

    def null_draws(self, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return these, or `labels` where they are known, by their name."""
        return {"labels": self.drawer_of_labels()(draws) if labels is None else labels}

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the statistic of every resample of the observations."""
        return self.resampler(Pairs() if self.unit is None else Clusters(self.unit), Stream.ROWS)(draws)

    @property
    @abstractmethod
    def n(self) -> int | float:
        """Number of rows."""

    @abstractmethod
    def statistic(self) -> Any:
        """Return the measure: one number, or one for each class."""

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Leave out one row of every distinct kind; return how many rows are of that kind, and the statistics."""
        raise NotImplementedError

    @abstractmethod
    def in_order(self, function: str) -> Problem:
        """Return the problem as a function draws from it: summarised, or in an order that depends on what rows hold."""

    @abstractmethod
    def with_chances(self, chance: np.ndarray) -> tuple[Problem, GivenPredictions]:
        """Return the problem as tests draw from it, and the scheme of outcomes from these chances of `Data.chances`."""

    @abstractmethod
    def with_unit(self, unit: np.ndarray) -> Problem:
        """Return the problem with its rows in an order that depends on what they hold, drawn in clusters `unit`."""

    @abstractmethod
    def honest(self) -> Interval:
        """Return the honest interval."""

    @abstractmethod
    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        """Return the measure, the number of rows, and the details of the measure."""

    @abstractmethod
    def holds_cells(self, always: bool) -> bool:
        """Whether the measure is that over cells which these rows make, or is if cells are `always` to stay."""

    @property
    @abstractmethod
    def _is_honest(self) -> bool:
        """Whether an honest interval is known."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of intervals that are known."""
        return *("honest",) * self._is_honest, "percentile", "basic"

    def bracket(self) -> Bracket:
        """Return two measures that bracket this one."""
        raise NotImplementedError(f"no bracket is known for {self.title}")

    @property
    def why_no_interval(self) -> str:
        """The reason why no honest interval or comparison is known, for messages; empty if none is given."""
        return self.measure.why_no_interval

    @property
    def is_one_number(self) -> bool:
        """Whether the measure is one number, and not one for each class."""
        return True

    @property
    def is_mean(self) -> bool:
        """Whether the measure is a mean of losses."""
        return self.measure.honest == "mean"

    @property
    def laplace_bandwidth(self) -> float | None:
        """The bandwidth of the Laplace kernel of an error, of its square or of a mean of squares; else None."""
        return None

    @property
    def is_coarse(self) -> bool:
        """Whether the measure bounds the error of the predictions from below."""
        return False

    @property
    @abstractmethod
    def weight(self) -> np.ndarray | None:
        """The weights of the rows, as they were given; None without."""

    @property
    def compares(self) -> bool:
        """Whether honest comparisons of models are known: of norms on sums of rows, and of means of losses."""
        return self.measure.honest in ("norm", "mean")

    @property
    def takes_clusters(self) -> bool:
        """Whether the honest interval is also known for clusters, if models compare."""
        return True

    @property
    def why_no_clusters(self) -> str:
        """The reason why no honest interval of clusters is known where one of rows is, for messages; empty if none."""
        return ""

    def sort_columns(self) -> tuple[np.ndarray, ...]:
        """Return all that draws of rows see of a row except its weight."""
        raise NotImplementedError(f"nothing is known by rows of {self.title}")

    def losses(self) -> RowLosses:
        """Return the losses of the rows, of a mean of losses."""
        raise NotImplementedError(f"{self.title} is not a mean of losses")

    def interval_of_rows(self, order: Order, unit: np.ndarray | None = None) -> tuple[ComparableInterval, TableOfRows]:
        """Return the interval on a table of the rows in this order, in clusters `unit` in this order, and the table."""
        raise NotImplementedError(f"nothing is known by rows of {self.title}")

    def deviation(self, draws: Draws | None) -> Deviation | None:
        """Return what drives the measure on these rows, or None if it does not say; directions are claimed by draws."""
        return None

    def deviations(self, classes: np.ndarray) -> Iterator[Deviation]:
        """Return what drives the measure of each of these classes, if it says so."""
        yield from ()

    def is_smaller_than_chance(self, statistic: float, null: np.ndarray, draws: Draws) -> bool:
        """Whether residuals are smaller than a calibrated model's, given its draws of the statistic."""
        return is_small(statistic, null)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """Return the measure of another binary sample."""
        raise NotImplementedError

    def compared_in_clusters(self, unit: np.ndarray, draws: Draws) -> dict[str, Compared] | None:
        """Return the measure of rows in clusters and its resamples under calibration, for each way to draw them.

        None where no test with clusters is known.
        """
        clusters = None if self.is_mean else self.in_clusters(unit)
        return None if clusters is None else clusters.compared(draws)

    def honest_in_clusters(self, unit: np.ndarray) -> ClusteredRows | None:
        """Return what the honest interval of the rows in clusters is made of, or None where none is known."""
        return self.in_clusters(unit)

    def in_clusters(self, unit: np.ndarray) -> ClusteredRows | None:
        """Return the measure of the rows in clusters, numbered from 0, or None where none is known."""
        if not (self.compares and self.takes_clusters):
            return None
        order, unit_in_order = resampling.canonical_order(self.sort_columns(), unit, self.weight)
        assert unit_in_order is not None
        if self.is_mean:
            losses = self.losses().take(order, unit_in_order, unseen_of(self, unit))
            return ClusteredRows(losses.estimate, losses.interval, losses.table, _only_sum)
        interval, table = self.interval_of_rows(order, unit_in_order)
        assert isinstance(table, RowTable | TablesOfClasses)
        return ClusteredRows(interval.estimate, interval, table, interval.value)

    def whole_clusters(self, unit: np.ndarray) -> Posed:
        """Return the rows in clusters, numbered from 0, for percentile intervals."""
        in_clusters = self.in_clusters(unit)
        return self.with_unit(unit) if in_clusters is None else in_clusters


def unseen_of(problem: Problem, unit: np.ndarray | None) -> Unseen | None:
    """Return what is supposed of absent clusters, where `unit` numbers those of the rows as given; None without."""
    return None if unit is None else Unseen(problem.unseen, problem.view.rarest(unit).count)


def _only_sum(theta: np.ndarray) -> Any:
    return theta[..., 0]
