"""How often do the approximate tests reject a calibrated model?

Labels-only tests are exact. The others on offer (the classical tests, the kernel test by its limit, the pairs
bootstrap, comparisons of two models) have p-values that are right for many rows. How many is "many" depends on
the prevalence, so the grid has few rows and rare outcomes. Nothing is promised: these are the rates to know before
one of these tests is used. A test that refuses a data set, because its statistic is not defined there, is not counted
as having rejected; its rate is of the data sets that it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat import generators
from calibstat.generators.simulator import drawing
from calibstat.study import Study, plot
from calibstat.study.engine import Cells, Models, compute

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20302
LEVEL = 0.05
TOO_FEW = 100  # data sets that a test takes, below which there is no rate

Test = Callable[..., float]  # the p-value of outcomes, predictions of each model, and a seed


def of_one_model(test: Callable[..., Any], **settings: Any) -> Test:
    """Return the p-value of a test of one model that draws nothing."""
    return lambda y, models, rng: test(y, models["model"], **settings).pvalue


def drawn(test: Callable[..., Any], n_resamples: int, **settings: Any) -> Test:
    """Return the p-value of a test of one model that draws."""
    return lambda y, models, rng: test(y, models["model"], rng=rng, n_resamples=n_resamples, **settings).pvalue


def difference(measure: str) -> Test:
    """Return the p-value of a comparison of two models, of whose level half is a whole number of resamples."""
    return lambda y, models, rng: cs.compare(y, models, measure=measure, rng=rng, n_resamples=79).pvalue.item()


ONE_MODEL: Mapping[str, Test] = {
    "spiegelhalter": of_one_model(cs.classical.spiegelhalter),
    "hosmer_lemeshow": of_one_model(cs.classical.hosmer_lemeshow, held_out=True),
    "cox": lambda y, models, rng: cs.classical.cox(y, models["model"], held_out=True).joint_test.pvalue,
    "calibration_belt": of_one_model(cs.classical.calibration_belt, held_out=True),
    "kolmogorov_smirnov": of_one_model(cs.classical.kolmogorov_smirnov),
    "kuiper": of_one_model(cs.classical.kuiper),
    "kernel_calibration_test, asymptotic": drawn(cs.classical.kernel_calibration_test, 99),
    "kernel_calibration_test, block": of_one_model(cs.classical.kernel_calibration_test, method="block"),
    "calibration_test, ece, rows and labels": drawn(cs.calibration_test, 99, measure="ece", resample="both"),
    "calibration_test, ks, rows and labels": drawn(cs.calibration_test, 99, measure="ks", resample="both"),
}
TWO_MODELS: Mapping[str, Test] = {
    f"compare, {name}": difference(name) for name in ("kernel_ce", "ks", "ece", "smooth_ce", "brier")
}
TESTS = {**ONE_MODEL, **TWO_MODELS}


@dataclass(frozen=True)
class OneModel:
    """A calibrated model by the name "model"."""

    family: Any

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw independent rows."""
        y, p = self.family.sample(n, rng)
        return y, {"model": p}


@dataclass(frozen=True)
class TooLowTooHigh:
    """Two models that predict one number for every row, one too low and one as much too high.

    Every norm of the residuals is the same for both, `prevalence * off`, and so is the Brier score.
    """

    prevalence: float
    off: float

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw independent rows."""
        n, random = drawing(n, rng)
        y = (random.random(n) < self.prevalence).astype(np.int64)
        return y, {sign: np.full(n, self.prevalence * (1 + s * self.off)) for sign, s in (("low", -1), ("high", 1))}


def models_of_one() -> dict[str, OneModel]:
    """Return calibrated models of three prevalences."""
    from scipy.stats import beta

    families = {
        "uniform": generators.calibrated(),
        "prevalence .1": generators.calibrated(beta(1, 9)),
        "prevalence .01": generators.calibrated(beta(1, 99)),
    }
    return {label: OneModel(family) for label, family in families.items()}


PAIRS = {
    "prevalence .5, 10% too low and too high": TooLowTooHigh(0.5, 0.1),
    "prevalence .02, 50% too low and too high": TooLowTooHigh(0.02, 0.5),
}


@dataclass(frozen=True)
class Ask:
    """Asks each test for its p-value; nan if it refuses."""

    tests: tuple[str, ...]

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values."""
        y, models = data
        return [self._pvalue(TESTS[name], y, models, rng) for name in self.tests]

    def _pvalue(self, test: Test, *arguments: Any) -> float:
        try:
            return float(test(*arguments))
        except ValueError:
            return np.nan


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask the tests of one model and those of two."""
    import pandas as pd

    n = [10, 100] if quick else [10, 100, 1000]
    rows = [*_rows(models_of_one(), tuple(ONE_MODEL), n, quick, n_jobs)]
    rows += _rows(PAIRS, tuple(TWO_MODELS), n[1:], quick, n_jobs)
    return pd.DataFrame(rows)


def _rows(
    models: Mapping[str, Any], tests: tuple[str, ...], n: list[int], quick: bool, n_jobs: int | None
) -> Iterator[dict[str, Any]]:
    from statsmodels.stats.proportion import proportion_confint

    replicates, groups = 20 if quick else 1000, list(product(models, n))
    cells = Cells(groups, models, replicates, SEED, Ask(tests), list(tests))
    answers = compute(cells, None, n_jobs, "approximate tests")
    for (g, (label, rows)), (k, name) in product(enumerate(groups), enumerate(tests)):
        pvalue = answers[:, g, k]
        taken = pvalue[~np.isnan(pvalue)]
        row = {"question": "size", "generator": label, "n": rows, "measure": name, "method": "approximate"}
        row |= {"level": LEVEL, "replicates": replicates, "refused": replicates - taken.size}
        row["rejections"] = int((taken <= LEVEL).sum())
        known = taken.size >= min(TOO_FEW, replicates // 4)
        low, high = proportion_confint(row["rejections"], taken.size, method="beta") if known else (np.nan, np.nan)
        row["rate"] = row["rejections"] / taken.size if known else np.nan
        yield row | {"low": float(low), "high": float(high)}


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the tests of one model, and the comparisons of two."""
    pairs = table["generator"].isin(PAIRS)
    names = table["generator"].str.replace(", ", ",\n")
    return {"": plot(table[~pairs]), "two_models": plot(table.assign(generator=names)[pairs])}


study = Study(
    question="How often do the approximate tests reject a calibrated model?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    figures=figures,
)
