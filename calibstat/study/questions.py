"""What a study asks of each data set, and what its rows say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, ClassVar

import numpy as np

from calibstat.data.lenses import one_class
from calibstat.data.observations import BinaryData, ClassWiseData, MulticlassData, observe
from calibstat.data.sample import Sample
from calibstat.inference.calibration_test import ClassWiseTestResult, calibration_test
from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.estimate import estimate
from calibstat.measures.base import Measure
from calibstat.measures.binary_kinds import Statistic
from calibstat.measures.registry import MEASURES, find_measure
from calibstat.study.engine import Data

ROUNDING = 1e-12  # a truth of 0 may come out as 1e-17
OF_THE_VERBS = ("lens", "reduce")  # settings of a measure that are not its own options
NOISE = 2.0  # standard errors below which a bias cannot be told from 0 and has no logarithm worth a slope

Row = dict[str, Any]


@dataclass(frozen=True)
class Question(ABC):
    """A grid with a question put to it. `answers` below has the shape (replicates, groups, columns)."""

    generators: Mapping[str, Any]
    n: list[int]
    measures: Mapping[str, tuple[str, dict[str, Any]]]
    methods: list[str]
    replicates: int
    n_resamples: int
    level: float

    name: ClassVar[str]
    method_choices: ClassVar[tuple[str, ...]]  # the first is the default
    default_level: ClassVar[float] = 0.95

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Generators and numbers of rows, as every table lists them."""
        return list(product(self.generators, self.n))

    @property
    def columns(self) -> list[str]:
        """Names of the answers of one data set."""
        return list(self.measures)

    @property
    def modules(self) -> list[str]:
        """Names of the modules that register the measures."""
        return sorted({MEASURES[name].__module__ for name, _ in self.measures.values()})

    def check(self) -> None:  # noqa: B027 (most questions can be put to every grid)
        """Raise if the question makes no sense for this grid."""

    @abstractmethod
    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Answer for one data set."""

    def truths_of(self, data: Data, generator: str) -> list[float]:
        """Return the truths that depend on the data set."""
        return []

    @abstractmethod
    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Summarise the answers of all data sets."""

    def fixed(self, generator: str, n: int, measure: str, method: str) -> Row:
        """Return the columns with which every row begins."""
        return {
            "question": self.name,
            "generator": generator,
            "n": n,
            "measure": measure,
            "method": method,
            "level": self.level,
            "replicates": self.replicates,
        }

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population value of every measure by every generator."""
        for label, generator in self.generators.items():
            if not hasattr(generator, "truth"):
                raise ValueError(f"expected truth(measure, **options) of generator {label!r}, found none")
        return {
            (label, measure): generator.truth(name, **options)
            for label, generator in self.generators.items()
            for measure, (name, options) in self.measures.items()
        }


class Power(Question):
    """How often does each test reject?"""

    name = "power"
    method_choices = ("labels", "both")
    default_level = 0.05

    @property
    def columns(self) -> list[str]:
        """One p-value for each measure and scheme."""
        return [f"{measure} | {method}" for measure, method in product(self.measures, self.methods)]

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values; of a test of each class the smallest that is adjusted for their number."""
        found = [
            calibration_test(data, measure=name, resample=method, n_resamples=self.n_resamples, rng=rng, **options)
            for (name, options), method in product(self.measures.values(), self.methods)
        ]
        return [
            float(each.pvalue_holm.min() if isinstance(each, ClassWiseTestResult) else each.pvalue) for each in found
        ]

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the rejections."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            rejected = answers[:, group, k] <= self.level
            yield {**self.fixed(generator, n, measure, method), **_share("rejections", rejected)}


class Size(Power):
    """How often does each test reject what is calibrated?"""

    name = "size"

    def check(self) -> None:
        """Raise if a generator is not calibrated."""
        for label, generator in self.generators.items():
            if not getattr(generator, "is_calibrated", False):
                raise ValueError(f"expected calibrated generators, found {label!r}, where one asks for power")


class _OfTruths(Question):
    """A question about covering the truth, which may be that over the cells that a data set makes."""

    def check(self) -> None:
        """Raise if a truth is not known."""
        _ = self.truths

    @property
    def truth_columns(self) -> list[str]:
        """Names of the truths of one data set, which come after its answers."""
        return [f"{measure} | truth" for measure in self.measures]

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population value of every measure; nan where it depends on the cells that a data set makes."""
        found = {}
        for (label, generator), (measure, (name, options)) in product(self.generators.items(), self.measures.items()):
            moves = bound_to(name, options).makes_cells
            found[label, measure] = np.nan if moves else generator.truth(name, **options)
        return found

    def truths_of(self, data: Data, generator: str) -> list[float]:
        """Return the population value of every measure, over the cells that these data make."""
        found = []
        for measure, (name, options) in self.measures.items():
            truth = self.truths[generator, measure]
            found.append(_held_truth(self.generators[generator], data, name, options) if np.isnan(truth) else truth)
        return found

    def truths_in(self, answers: np.ndarray, measure: str) -> np.ndarray:
        """Return the truth for each data set of a group."""
        return answers[:, list(self.measures).index(measure) - len(self.measures)]


class Coverage(_OfTruths):
    """How often does each interval cover the truth?"""

    name = "coverage"
    method_choices = ("honest", "percentile", "basic", "bca")

    @property
    def columns(self) -> list[str]:
        """Two ends and the estimate for each measure and method."""
        parts = product(self.measures, self.methods, ("low", "high", "estimate"))
        return [*(" | ".join(part) for part in parts), *self.truth_columns]

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the intervals and estimates."""
        arguments: dict[str, Any] = {"n_resamples": self.n_resamples, "confidence_level": self.level, "rng": rng}
        found = [
            confidence_interval(data, measure=name, method=method, **arguments, **options)
            for (name, options), method in product(self.measures.values(), self.methods)
        ]
        return [part for interval in found for part in (interval.low, interval.high, interval.estimate)]

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the misses on each side."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            low, high, estimate = answers[:, group, 3 * k : 3 * k + 3].T
            truth = self.truths_in(answers[:, group], measure)
            below, above = truth < low - ROUNDING, truth > high + ROUNDING
            misses = {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
            means = {"mean_width": float((high - low).mean()), "mean_estimate": float(estimate.mean())}
            share = _share("covered", ~(below | above))
            yield {**self.fixed(generator, n, measure, method), "truth": _mean_truth(truth), **share, **misses, **means}


def bound_to(name: str, options: Mapping[str, Any]) -> Any:
    """Return a measure with its options, without what is said to the verb."""
    return find_measure(name, {option: value for option, value in options.items() if option not in OF_THE_VERBS})


def _mean_truth(truth: np.ndarray) -> float:
    """Average truths; the same ones without rounding."""
    return float(truth.mean()) if np.ptp(truth) else float(truth[0])


def _held_truth(generator: Any, data: Data, name: str, options: Mapping[str, Any]) -> float:
    """Return the population value of a measure over the cells that these data make."""
    measure = bound_to(name, options)
    if isinstance(data, tuple):  # each model over the cells that its own predictions make
        samples_of = {model: Sample.from_rows(data[0], p) for model, p in data[1].items()}
        own = {model: _held(measure, each).options for model, each in samples_of.items()}
        return float(generator.truth(name, held=own))
    said = {option: value for option, value in options.items() if option in OF_THE_VERBS}
    lens, reduce = said.get("lens"), said.get("reduce")

    def of_event(seen: BinaryData) -> float:
        return float(generator.truth(name, **said, **_held(measure, seen.sample).options))

    def of_classes(seen: ClassWiseData) -> float:
        held = [_held(measure, sample).options for sample in seen.samples()]
        truths = np.array([generator.truth(name, lens=one_class(k), **each) for k, each in enumerate(held)])
        return float(truths.max() if reduce == "max" else truths.mean())

    def of_vectors(seen: MulticlassData) -> float:
        raise ValueError(f"expected a measure of one event or of every class over held cells, found {name!r}")

    return observe(data, None, lens=lens).choose(of_event, of_vectors, of_classes)


def _held(measure: Measure, sample: Sample) -> Measure:
    """Return the measure over the cells that a sample makes."""
    return measure.held(sample.value, sample.count) if isinstance(measure, Statistic) else measure


class Comparison(_OfTruths):
    """How often does each comparison of two models find a difference, and does its interval cover the true one?"""

    name = "comparison"
    method_choices = ("bootstrap", "swap")
    default_level = 0.05

    @property
    def columns(self) -> list[str]:
        """A p-value and two ends for each measure and method."""
        parts = product(self.measures, self.methods, ("pvalue", "low", "high"))
        return [*(" | ".join(part) for part in parts), *self.truth_columns]

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values and intervals of the first pair."""
        y, models = data  # type: ignore[misc]
        arguments: dict[str, Any] = {"n_resamples": self.n_resamples, "confidence_level": 1 - self.level, "rng": rng}
        found = [
            compare(y, models, measure=name, method=method, **arguments, **options)
            for (name, options), method in product(self.measures.values(), self.methods)
        ]
        return [float(part[0]) for each in found for part in (each.pvalue, each.low, each.high)]

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the rejections, and the misses on each side where there are intervals."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            pvalue, low, high = answers[:, group, 3 * k : 3 * k + 3].T
            truth = self.truths_in(answers[:, group], measure)
            row = {**self.fixed(generator, n, measure, method), "truth": _mean_truth(truth)}
            row |= _share("rejections", pvalue <= self.level + ROUNDING)
            if method == "bootstrap":
                row["missed_below"] = int((truth < low - ROUNDING).sum())
                row["missed_above"] = int((truth > high + ROUNDING).sum())
                row["mean_width"] = float((high - low).mean())
            yield row


class _OfEstimates(Question):
    """A question about the estimates themselves: nothing is resampled."""

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the estimates."""
        return [estimate(data, measure=name, **options) for name, options in self.measures.values()]

    def fixed(self, generator: str, n: int, measure: str, method: str) -> Row:
        """Return the columns with which every row begins; there is no level."""
        row = super().fixed(generator, n, measure, method)
        del row["level"]
        return row


class _WhereKnown(_OfEstimates):
    """A question that is of use also where no truth is known."""

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population values; nan where none is known, and then mean and sd are still of use."""
        found = {}
        for (label, generator), (measure, (name, options)) in product(self.generators.items(), self.measures.items()):
            try:
                found[label, measure] = generator.truth(name, **options)
            except NotImplementedError:
                found[label, measure] = np.nan
        return found


class Bias(_WhereKnown):
    """How far from the truth are the estimates, and how far do they scatter?"""

    name = "bias"
    method_choices = ("plug-in",)

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Average."""
        for (group, (generator, n)), (k, measure) in product(enumerate(self.groups), enumerate(self.measures)):
            truth = self.truths[generator, measure]
            row, estimate = self.fixed(generator, n, measure, "plug-in"), answers[:, group, k]
            with np.errstate(invalid="ignore"):  # between two infinite estimates
                found = np.quantile(estimate, (0.05, 0.5, 0.95)).tolist()
            quantiles = zip(("q05", "q50", "q95"), found, strict=True)
            yield {**row, "truth": truth, **_errors(estimate, truth), **dict(quantiles)}


class Consistency(_OfEstimates):
    """At which power of n do the errors vanish?"""

    name = "consistency"
    method_choices = ("rmse", "sd", "bias")

    def check(self) -> None:
        """Raise if a slope over n is not defined."""
        if len(set(self.n)) < 3:
            raise ValueError(f"expected at least 3 numbers of rows to see an order of convergence, found {self.n}")
        _ = self.truths

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Regress the logarithm of each error on log n. The order is minus the slope: 1/2 for most estimates."""
        x = np.log(self.n)
        slope = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        by_generator = answers.reshape(len(answers), len(self.generators), len(self.n), -1)
        for (g, generator), (k, measure) in product(enumerate(self.generators), enumerate(self.measures)):
            truth = self.truths[generator, measure]
            found = [_errors(by_generator[:, g, i, k], truth) for i in range(len(self.n))]
            for method in self.methods:
                error, se = (np.array([abs(each[method + part]) for each in found]) for part in ("", "_se"))
                if np.all(error > NOISE * se):
                    order, order_se = -float(slope @ np.log(error)), float(np.hypot.reduce(slope * se / error))
                else:
                    order, order_se = np.nan, np.nan
                row = self.fixed(generator, max(self.n), measure, method)
                yield {**row, "n_from": min(self.n), "truth": truth, "order": order, "order_se": order_se}


class Ranking(_WhereKnown):
    """Do measures put models in the same order?"""

    name = "ranking"
    method_choices = ("spearman", "kendall")

    def check(self) -> None:
        """Raise if there is no order to compare."""
        if len(self.generators) < 2:
            raise ValueError(f"expected at least 2 generators to put in order, found {list(self.generators)}")

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Correlate the models' ranks by two measures, and by a measure and its own truth, in every replicate."""
        by_n = answers.reshape(len(answers), len(self.generators), len(self.n), -1)
        truth = np.array([[self.truths[g, m] for g in self.generators] for m in self.measures])
        for (i, n), method in product(enumerate(self.n), self.methods):
            models = by_n[:, :, i].transpose(2, 0, 1)  # measures, replicates, generators
            codes = [_ORDER[method](each) for each in models]
            true_codes = [_ORDER[method](each[None]) for each in truth]
            against = [(a, b, codes[a], codes[b]) for a, b in combinations(range(len(codes)), 2)]
            own = [(a, None, codes[a], true_codes[a]) for a in range(len(codes))]
            for a, b, one, other in [*own, *against]:
                row = self.fixed("all", n, list(self.measures)[a], method)
                row["against"] = "its truth" if b is None else list(self.measures)[b]
                correlation = (one * other).sum(axis=-1)
                defined = correlation[~np.isnan(correlation)]
                mean = float(defined.mean()) if defined.size else np.nan
                row |= {"generators": len(self.generators), "undefined": correlation.size - defined.size}
                yield {**row, "correlation": mean, "correlation_se": _standard_error(defined)}


def _rank_code(values: np.ndarray) -> np.ndarray:
    """Return unit vectors whose products are Spearman's correlations."""
    from scipy.stats import rankdata

    return _unit(rankdata(values, axis=-1) - (values.shape[-1] + 1) / 2)


def _sign_code(values: np.ndarray) -> np.ndarray:
    """Return unit vectors whose products are Kendall's tau-b."""
    first, second = np.triu_indices(values.shape[-1], 1)
    return _unit(np.sign(values[..., first] - values[..., second]))


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return np.divide(vectors, length, out=np.full_like(vectors, np.nan), where=length > 0)  # all tied: no order


_ORDER = {"spearman": _rank_code, "kendall": _sign_code}


@np.errstate(invalid="ignore")
def _errors(estimate: np.ndarray, truth: float) -> dict[str, float]:
    """Return mean, bias, sd and root mean squared error, each with its Monte Carlo standard error.

    With an infinite estimate the mean is infinite, and how far estimates scatter is nan.
    """
    mean, mean_se = float(estimate.mean()), _standard_error(estimate)
    variance, variance_se = _mean_square(estimate - mean)
    squared, squared_se = _mean_square(estimate - truth)
    found = {"mean": (mean, mean_se), "bias": (mean - truth, mean_se + 0 * truth)}
    # the delta method: an error of the square is 2 sd times an error of the root
    for name, square, se in (("sd", variance, variance_se), ("rmse", squared, squared_se)):
        root = float(np.sqrt(square))
        found[name] = root, 0.0 if root == 0 else se / (2 * root)
    return {key: value for name, (v, se) in found.items() for key, value in ((name, v), (f"{name}_se", se))}


def _mean_square(deviation: np.ndarray) -> tuple[float, float]:
    square = deviation**2
    return float(square.mean()), _standard_error(square)


def _standard_error(values: np.ndarray) -> float:
    """Return the standard error of a mean; nan from a single replicate, which says nothing of its error."""
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else np.nan


def _share(name: str, happened: np.ndarray) -> Row:
    """Return how often something happened, as a number, a rate and the exact limits of the rate."""
    from statsmodels.stats.proportion import proportion_confint

    number = int(happened.sum())
    low, high = proportion_confint(number, happened.size, method="beta")
    return {name: number, "rate": number / happened.size, "low": float(low), "high": float(high)}


QUESTIONS: Mapping[str, type[Question]] = {
    question.name: question for question in (Size, Power, Coverage, Comparison, Bias, Consistency, Ranking)
}
