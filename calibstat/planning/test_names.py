"""Every test whose power can be planned: by a measure, classical, or the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from calibstat import resampling
from calibstat.classical.calibration_belt import belt_pvalue, calibration_belt
from calibstat.classical.cox import cox
from calibstat.classical.cumulative_tests import kolmogorov_smirnov, kuiper
from calibstat.classical.hosmer_lemeshow import hosmer_lemeshow
from calibstat.classical.skce_tests import kernel_calibration_test
from calibstat.classical.spiegelhalter import spiegelhalter
from calibstat.classical.t_cal import over_scales, rank_of_smallest, ranks, t_cal
from calibstat.data.checks import is_among, short
from calibstat.data.lenses import AnyLens
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.inference.power.fixed_tests import FixedTest, MeasureTest, pose_predictions
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import MEASURES, find_measure
from calibstat.resampling import Draws, Labels, Stream

AnyTest: TypeAlias = str | Measure | type[Measure] | Callable[..., Any]
OfData = Callable[[Any], float]  # the p-value of a Sample, or of Predictions


@dataclass(frozen=True)
class OwnTest(FixedTest):
    """A test that has its p-value from each data set alone: classical or the user's own."""

    name: str
    pvalue: OfData

    @property
    def title(self) -> str:
        return self.name

    def pvalues(self, truth: np.ndarray, n_datasets: int) -> np.ndarray:
        draws = Draws(self.draws.key, n_datasets, self.draws.n_jobs)
        failed: list[ValueError] = []

        def of_data(data: Sample | Predictions) -> float:
            try:
                return float(self.pvalue(data))
            except ValueError as error:  # labels on which the test has no result, such as separated ones
                failed.append(error)
                return np.nan

        pvalues = self._drawn(truth, of_data, draws)
        if np.isnan(pvalues).all() and failed:
            raise failed[-1]
        return pvalues

    def _drawn(self, truth: np.ndarray, of_data: OfData, draws: Draws) -> np.ndarray:
        """Return a function of the data for every data set."""
        if self.count is not None:

            def of_counts(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
                return of_data(Sample(value, count, positives.copy()))

            sample = self.problem.view.counted("power")  # type: ignore[attr-defined]
            return resampling.draw(sample, Labels(truth), of_counts, draws, Stream.ALTERNATIVE)
        predictions: Predictions = self.problem.view.predictions  # type: ignore[attr-defined]

        def of_labels(labels: np.ndarray) -> np.ndarray:
            return np.array([of_data(replace(predictions, label=label.astype(np.int64))) for label in labels])

        return resampling.draw(predictions, Labels(truth), of_labels, draws, Stream.ALTERNATIVE)


@dataclass(frozen=True)
class TCalTest(FixedTest):
    """`t_cal`: the statistics under calibration are drawn once, and ranked with the statistics of each data set."""

    @property
    def title(self) -> str:
        return "t_cal"

    def _drawn(self, scheme: Labels, draws: Draws, stream: int) -> np.ndarray:
        """Return the statistics of all scales of every data set."""
        sample = self.problem.view.counted("power")  # type: ignore[attr-defined]
        return resampling.draw(sample, scheme, over_scales(sample)[1], draws, stream)

    @cached_property
    def null(self) -> np.ndarray:
        """The statistics of all scales of every resample under calibration."""
        return self._drawn(Labels(), self.draws, Stream.LABELS)

    def pvalues(self, truth: np.ndarray, n_datasets: int) -> np.ndarray:
        draws = Draws(self.draws.key, n_datasets, self.draws.n_jobs)
        drawn = self._drawn(Labels(truth), draws, Stream.ALTERNATIVE)
        return np.array([rank_of_smallest(ranks(np.concatenate([row[None], self.null]))) for row in drawn])


@dataclass(frozen=True)
class Classical:
    """A classical test: its p-value of a `Sample`, or of `Predictions` if it is of several classes jointly."""

    pvalue: OfData
    lens: str | None = None


# To plan with another test by name, add a line here. The names of limits differ from the names of the exact measures.
CLASSICAL: Mapping[str, Classical] = MappingProxyType(
    {
        "cox": Classical(lambda sample: cox(sample, held_out=True).joint_test.pvalue),
        "spiegelhalter": Classical(lambda sample: spiegelhalter(sample).pvalue),
        "hosmer_lemeshow": Classical(lambda sample: hosmer_lemeshow(sample, held_out=True).pvalue),
        "kolmogorov_smirnov": Classical(lambda sample: kolmogorov_smirnov(sample).pvalue),
        "kuiper_limit": Classical(lambda sample: kuiper(sample).pvalue),
        "calibration_belt": Classical(belt_pvalue),
        "kernel_calibration_test": Classical(lambda rows: kernel_calibration_test(rows, rng=0).pvalue, "canonical"),
    }
)
FUNCTIONS: Mapping[Callable[..., Any], str] = MappingProxyType(
    {
        cox: "cox",
        spiegelhalter: "spiegelhalter",
        hosmer_lemeshow: "hosmer_lemeshow",
        kolmogorov_smirnov: "kolmogorov_smirnov",
        kuiper: "kuiper_limit",
        calibration_belt: "calibration_belt",
        kernel_calibration_test: "kernel_calibration_test",
        t_cal: "t_cal",
    }
)


def check_options(test: AnyTest, options: Mapping[str, Any]) -> None:
    """Raise if a test is a measure that does not have these options."""
    if is_measure(test):
        find_measure(test, options)


def is_measure(test: AnyTest) -> TypeGuard[str | Measure | type[Measure]]:
    """Whether a test is that by a measure."""
    of_class = isinstance(test, type) and issubclass(test, Measure)
    return isinstance(test, Measure) or of_class or is_among(test, MEASURES)


def fixed_test(
    p: object, test: AnyTest, draws: Draws, *, lens: AnyLens = None, options: Mapping[str, Any] | None = None
) -> FixedTest:
    """Return a test of fixed predictions, by its name, its function, a measure, or a function of a `Sample`."""
    options = options or {}
    if is_measure(test):
        return MeasureTest(pose_predictions(p, test, options, lens=lens), draws)
    if options:
        raise ValueError(f"expected options of a measure alone, found {short(dict(options))} for test {short(test)}")
    name = FUNCTIONS.get(test, test) if callable(test) else test
    if callable(name):
        posed = pose_predictions(p, "brier", {}, lens=lens)
        return OwnTest(posed, draws, getattr(name, "__name__", "a function of the data"), _pvalue_of(name))
    if is_among(name, ("t_cal",)):
        return TCalTest(_binary(pose_predictions(p, "brier", {}, lens=lens), "t_cal"), draws)
    if not isinstance(name, str) or name not in CLASSICAL:
        raise ValueError(
            f"expected a test: a measure, one of {', '.join(MEASURES)}; or t_cal, {', '.join(CLASSICAL)}; or a "
            f"function of a Sample that returns a p-value; found {short(test)}"
        )
    classical = CLASSICAL[name]
    posed = pose_predictions(p, "brier", {}, lens=classical.lens if lens is None else lens)
    return OwnTest(posed if classical.lens else _binary(posed, name), draws, name, classical.pvalue)


def _binary(problem: Problem, name: str) -> Problem:
    problem.view.one_event(name)
    return problem


def _pvalue_of(test: Callable[[Any], Any]) -> OfData:
    """Return a user-defined test as a function that returns the p-value alone."""

    def pvalue(data: Sample | Predictions) -> float:
        result = test(data)
        return float(getattr(result, "pvalue", result))

    return pvalue
