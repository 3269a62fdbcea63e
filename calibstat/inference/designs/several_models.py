"""The base of designs of several models: how their rows came about, and how they are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from calibstat.data.checked_rows import Data, named
from calibstat.data.checks import check_level, is_among, short, unknown_name
from calibstat.inference.comparing.differences import ComparedModels, Pairs, Way, pairs_of
from calibstat.inference.comparing.differences import same_order as rows_in_same_order
from calibstat.inference.comparing.squares import by_bootstrap
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Problem
from calibstat.inference.rows_of_results import Rows
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws

BOOTSTRAP, SWAP = "bootstrap", "swap"
ADJUSTMENTS = ("holm", "bh")
SQUARES: Mapping[str, Any] = MappingProxyType({"measure": "kernel_ce_squared", "bandwidth": 0.2})


@dataclass(frozen=True)
class HowToCompare:
    """The way to compare models: `method` is one of the design's, and `pairs` are of its models, by numbers."""

    method: str
    pairs: Pairs
    adjust: str
    confidence_level: float


@dataclass(frozen=True, eq=False)
class SeveralModels(ABC):
    """Several models whose rows came about in one way.

    Attributes
    ----------
    models : mapping from name to Data
        The models, or samples.
    called : str
        What they are called.
    paired : bool
        Whether all have the same rows.
    default : mapping
        The measure by default, and its options.
    methods : tuple of str
        The methods; the first is the default.
    one_way : str
        Why there is no method but one, for messages, with a place for the method that was found.
    """

    models: Mapping[str, Data]
    called: ClassVar[str] = "models"
    paired: ClassVar[bool] = True
    default: ClassVar[Mapping[str, Any]] = SQUARES
    methods: ClassVar[tuple[str, ...]] = (BOOTSTRAP,)
    one_way: ClassVar[str] = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.models)

    @property
    def first(self) -> Data:
        """The rows of the first model."""
        return self.models[self.names[0]]

    def how_to_compare(
        self, method: str | None, reference: str | None, adjust: str, confidence_level: float
    ) -> HowToCompare:
        """Return how models are compared; raise if there is no such way for these rows."""
        method = BOOTSTRAP if method is None else method
        if not is_among(method, (BOOTSTRAP, SWAP)):
            raise ValueError(f"expected method 'bootstrap' or 'swap', found {short(method)}")
        if not is_among(adjust, ADJUSTMENTS):
            raise ValueError(f"expected adjust 'holm' or 'bh', found {short(adjust)}")
        check_level("confidence_level", confidence_level)
        if method == SWAP and SWAP not in self.methods:
            raise ValueError(self.one_way.format(short(method)))
        if reference is not None and not is_among(reference, self.names):
            raise unknown_name("a reference", reference, self.names)
        own = method if method in self.methods else self.methods[0]
        return HowToCompare(own, pairs_of(self.names, reference), adjust, confidence_level)

    def found_measure(self, measure: str | Measure | type[Measure] | None, options: Mapping[str, Any]) -> Measure:
        """Return the measure that is asked for, by default that of these rows with its options."""
        if measure is not None:
            return find_measure(measure, options)
        own = dict(self.default)
        return find_measure(own.pop("measure"), {**own, **options})

    def compare(self, measure: Measure, how: HowToCompare, draws: Draws) -> Comparison:
        """Return the comparison of the models by a measure."""
        compared = self.pose(measure, draws)
        differences = self.way(compared, how.method).differences(how.pairs, 1 - how.confidence_level)
        rows, used = self.described(compared, differences.n, how), compared.first.measure
        return Comparison(
            **differences.fields(self.names, how.pairs, used.bounds, how.adjust),
            method=how.method,
            paired=self.paired,
            confidence_level=how.confidence_level,
            null_hypothesis=self.null(compared, how.method, rows),
            measure=used.named,
            lens=compared.first.lens,
            n_resamples=draws.n,
            rows=rows,
            same_order=tuple(self.same_order(compared, *pair) for pair in how.pairs),
            note=self.note(compared, how, rows),
            effective_n=compared.first.view.effective_n,
            **self.further(compared),
        )

    def further(self, compared: ComparedModels) -> Mapping[str, Any]:
        """Return further fields of the comparison; none for most rows."""
        return {}

    def pose(self, measure: Measure, draws: Draws) -> ComparedModels:
        """Pose the problem of each model; an error names the model."""
        problems = [*named(lambda data: posed(data, measure), self.models).values()]
        return ComparedModels(self.names, problems, draws, paired=self.paired)

    def way(self, compared: ComparedModels, method: str) -> Way:
        """Return the way to compare the models."""
        return by_bootstrap(compared)

    @abstractmethod
    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        """Return what results say of the rows, of which each model has so many."""

    def null(self, compared: ComparedModels, method: str, rows: Rows) -> str:
        """Return the null hypothesis of each pair."""
        return equal_measures(compared, self.called)

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        """Return what is to be noted; nothing of most rows."""
        return ""

    def same_order(self, compared: ComparedModels, a: int, b: int) -> bool:
        """Whether a proper score of two models on the same outcomes differs by their calibration alone."""
        return False


def posed(data: Data, measure: Measure) -> Problem:
    """Return the problem of a measure on the rows of a model; raise if they are a summary."""
    problem = problem_of(data, measure)
    problem.view.check_rows()
    return problem


def equal_measures(compared: ComparedModels, called: str = "models", sampled: str = "") -> str:
    """Return the null hypothesis that measures are equal; `sampled` says what the rows are of their population."""
    held = ", over the cells that these rows make" if compared.first.holds_cells(always=True) else ""
    return f"the measure is the same for both {called} in the population{sampled}{held}"


def in_same_order(compared: ComparedModels, a: int, b: int) -> bool:
    """Whether a proper score of two models on the same rows of one event differs by their calibration alone."""
    one, other = compared.problems[a], compared.problems[b]
    if not one.measure.is_proper or one.view.kind != "binary" or not compared.same_outcomes:
        return False
    return rows_in_same_order(*(each.view.one_event().float_rows()[1] for each in (one, other)))
