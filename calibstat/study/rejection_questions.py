"""Questions about rejection rates of tests: size and power."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from calibstat.inference.calibration_tests import calibration_test
from calibstat.study.engine import Data
from calibstat.study.question import Question, Row, of_one_model, rate_of


class Power(Question):
    """The rate at which each test rejects."""

    name = "power"
    method_choices = ("labels", "both")
    default_level = 0.05

    @property
    def columns(self) -> list[str]:
        """One p-value for each measure and scheme."""
        return [f"{measure} | {method}" for measure, method in product(self.measures, self.methods)]

    def ask(self, data: Data, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values; of a test of each class the smallest that is adjusted for their number."""
        rows = of_one_model(data)
        tests = [
            calibration_test(rows, measure=name, resample=method, n_resamples=self.n_resamples, rng=rng, **options)
            for (name, options), method in product(self.measures.values(), self.methods)
        ]
        return [float(each.pvalue if each.classes is None else each.classes.pvalue_holm.min()) for each in tests]

    def rows(self, answers: np.ndarray) -> Iterator[Row]:
        """Count the rejections."""
        pairs = list(product(self.measures, self.methods))
        for (group, (generator, n)), (k, (measure, method)) in product(enumerate(self.groups), enumerate(pairs)):
            rejected = answers[:, group, k] <= self.level
            yield {**self.fixed(generator, n, measure, method), **rate_of("rejections", rejected)}


class Size(Power):
    """The rate at which each test rejects calibrated predictions."""

    name = "size"

    def check(self) -> None:
        """Raise if a generator is not calibrated."""
        super().check()
        for label, generator in self.generators.items():
            if not getattr(generator, "is_calibrated", False):
                raise ValueError(f"expected calibrated generators, found {label!r}, where one asks for power")
