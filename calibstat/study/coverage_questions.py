"""Questions about intervals: coverage of the true value, and of the true difference of two models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from calibstat.data.checked_rows import observe
from calibstat.data.lenses import one_class
from calibstat.data.sample import Sample
from calibstat.data.views import BinaryView, ClassWiseView, MulticlassView
from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.honest_ends import TooFewEvents
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import find_measure
from calibstat.study.engine import Data
from calibstat.study.question import Question, Row, of_one_model, rate_of

ROUNDING = 1e-12  # a truth of 0 may come out as 1e-17
VERB_SETTINGS = ("lens",)  # settings of a measure that are options of the verbs


class CoverageQuestion(Question):
    """A question about covering the true value, which may depend on the cells that a data set makes."""

    def check(self) -> None:
        """Raise if a truth is not known."""
        super().check()
        _ = self.truths

    @property
    def truth_columns(self) -> list[str]:
        """Names of the true values of one data set, which come after its answers."""
        return [f"{measure} | truth" for measure in self.measures]

    @cached_property
    def truths(self) -> dict[tuple[str, str], float]:
        """The population value of every measure; nan where it depends on the cells that a data set makes."""
        truths = {}
        for label, (measure, (name, options)) in product(self.generators, self.measures.items()):
            over_cells_of_data = bound_to(name, options).has_cells_of_data
            of_each = [np.nan if over_cells_of_data else truth(name, **options) for truth in self.truth_of_each(label)]
            truths[label, measure] = float(of_each[0] - sum(of_each[1:]))
        return truths

    def truth_of_each(self, label: str) -> list[Callable[..., float]]:
        """Return the functions that say population values, of one model, or of the two that are compared."""
        return [self.truth_of(label, model) for model in list(self.models[label])[:2]]

    def truths_of(self, data: Data, generator: str) -> list[float]:
        """Return the population value of every measure, over the cells that these data make."""
        truths = super().truths_of(data, generator)
        for measure, (name, options) in self.measures.items():
            truth = self.truths[generator, measure]
            if np.isnan(truth):
                truth = _truth_over_fixed_cells(self.truth_of_each(generator), data, name, options)
            truths.append(truth)
        return truths

    def truths_in(self, answers: np.ndarray, measure: str) -> np.ndarray:
        """Return the true value for each data set of a group."""
        return answers[:, list(self.measures).index(measure) - len(self.measures)]


class Coverage(CoverageQuestion):
    """The rate at which each interval covers the true value."""

    name = "coverage"
    method_choices = ("honest", "percentile", "basic", "bca")

    @property
    def columns(self) -> list[str]:
        """Two ends, the estimate and whether the high end is the floor, for each measure and method."""
        parts = product(self.measures, self.methods, ("low", "high", "estimate", "floored"))
        return [*(" | ".join(part) for part in parts), *self.truth_columns]

    def attempt(self, data: Data) -> None:
        """Raise if a measure has no interval by one of the methods, of any number of events."""
        for (name, options), method in self._asked:
            with suppress(TooFewEvents):
                self._interval(data, name, options, method, np.random.SeedSequence(0))

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the intervals and estimates; nan for data that an interval refuses, such as too few events."""
        numbers = []
        for (name, options), method in self._asked:
            try:
                interval = self._interval(data, name, options, method, rng)
                floored = interval.if_calibrated == interval.high
                numbers += [interval.low, interval.high, interval.estimate, float(floored)]
            except ValueError:
                numbers += [np.nan] * 4
        return numbers

    @property
    def _asked(self) -> Iterator[tuple[tuple[str, dict[str, Any]], str]]:
        return product(self.measures.values(), self.methods)

    def _interval(
        self, data: Data, name: str, options: dict[str, Any], method: str, rng: np.random.SeedSequence
    ) -> ConfidenceInterval:
        arguments: dict[str, Any] = {"n_resamples": self.n_resamples, "confidence_level": self.level, "rng": rng}
        return confidence_interval(of_one_model(data), measure=name, method=method, **arguments, **options)

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the misses on each side."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            low, high, estimate, floored = answers[:, group, 4 * k : 4 * k + 4].T
            truth = self.truths_in(answers[:, group], measure)
            below, above = truth < low - ROUNDING, truth > high + ROUNDING
            misses = {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
            given = ~np.isnan(low)
            misses |= {"refused": int((~given).sum()), "floored": int(floored[given].sum())}
            with np.errstate(invalid="ignore"):  # both ends may be infinite
                means = {"mean_width": _mean((high - low)[given]), "mean_estimate": _mean(estimate[given])}
                means["sd_estimate"] = float(estimate[given].std(ddof=1)) if given.sum() > 1 else np.nan
            share = rate_of("covered", ~(below | above))
            yield {**self.fixed(generator, n, measure, method), "truth": _mean_truth(truth), **share, **misses, **means}


class Comparison(CoverageQuestion):
    """The rates at which comparisons of two models find a difference, and their intervals cover the true one."""

    name = "comparison"
    method_choices = ("bootstrap", "swap")
    default_level = 0.05

    @property
    def takes_several(self) -> bool:
        """Two models on the same rows; of more the first two."""
        return True

    @property
    def columns(self) -> list[str]:
        """A p-value and two ends for each measure and method."""
        parts = product(self.measures, self.methods, ("pvalue", "low", "high"))
        return [*(" | ".join(part) for part in parts), *self.truth_columns]

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values and intervals of the first pair."""
        y, models = data  # type: ignore[misc]
        arguments: dict[str, Any] = {"n_resamples": self.n_resamples, "confidence_level": 1 - self.level, "rng": rng}
        comparisons = [
            compare(y, models, measure=name, method=method, **arguments, **options)
            for (name, options), method in product(self.measures.values(), self.methods)
        ]
        return [float(part[0]) for each in comparisons for part in (each.pvalue, each.low, each.high)]

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the rejections, and the misses on each side where there are intervals."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            pvalue, low, high = answers[:, group, 3 * k : 3 * k + 3].T
            truth = self.truths_in(answers[:, group], measure)
            row = {**self.fixed(generator, n, measure, method), "truth": _mean_truth(truth)}
            row |= rate_of("rejections", pvalue <= self.level + ROUNDING)
            if method == "bootstrap":
                row["missed_below"] = int((truth < low - ROUNDING).sum())
                row["missed_above"] = int((truth > high + ROUNDING).sum())
                row["mean_width"] = float((high - low).mean())
            yield row


def bound_to(name: str, options: Mapping[str, Any]) -> Measure:
    """Return a measure with its options, without the settings of the function."""
    return find_measure(name, {option: value for option, value in options.items() if option not in VERB_SETTINGS})


def _mean(values: np.ndarray) -> float:
    """Return the mean; nan of no value."""
    return float(values.mean()) if values.size else np.nan


def _mean_truth(truth: np.ndarray) -> float:
    """Return the mean of true values; if all are equal, that value without rounding."""
    return float(truth.mean()) if np.ptp(truth) else float(truth[0])


def _truth_over_fixed_cells(
    truths: Sequence[Callable[..., float]], data: Data, name: str, options: Mapping[str, Any]
) -> float:
    """Return the population value of a measure over the cells that these data make."""
    measure = bound_to(name, options)
    if isinstance(data, tuple):  # the first model less the second, each over the cells that its predictions make
        samples = [Sample.from_rows(data[0], p) for p in list(data[1].values())[:2]]
        cells = [_with_fixed_cells(measure, sample).options for sample in samples]
        first, second = (float(truth(name, **each)) for truth, each in zip(truths, cells, strict=True))
        return first - second
    (truth,) = truths
    settings = {option: value for option, value in options.items() if option in VERB_SETTINGS}

    def binary(seen: BinaryView) -> float:
        return float(truth(name, **settings, **_with_fixed_cells(measure, seen.sample).options))

    def class_wise(seen: ClassWiseView) -> float:
        fixed = [_with_fixed_cells(measure, sample).options for sample in seen.samples()]
        truths = np.array([truth(name, lens=one_class(k), **each) for k, each in enumerate(fixed)])
        return float(truths.max() if seen.reduce == "max" else truths.mean())

    def canonical(seen: MulticlassView) -> float:
        raise ValueError(f"expected a binary or class-wise measure over fixed cells, found {name!r}")

    return observe(data, None, lens=settings.get("lens")).choose(binary, canonical, class_wise)


def _with_fixed_cells(measure: Measure, sample: Sample) -> Measure:
    """Return the measure over the cells that a sample makes."""
    return measure.with_fixed_cells(sample.value, sample.count) if isinstance(measure, Statistic) else measure
