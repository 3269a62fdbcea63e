"""How often does the test conclude that an error is within a margin if it is just at the margin?

And how often does it conclude so for a calibrated model?

The promise of `equivalence_test` by bins: whatever the outcome probabilities, a margin that is exceeded is claimed with
a probability of at most 5 %. It is asked where that is hardest, at the boundary: in one bin or in all of them the mean
outcome probability is off by exactly the margin. Predictions are the same in every data set, because the promise is
given them.

By a measure the margin is the measure's population value. The claim is as good as the upper end of its interval, and is
asked for without the p-value, which does not decide it. How often a calibrated model is claimed promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat import generators
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study, plot
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

from .parts.fixed_predictions import FixedPredictions, quantiles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20340
LEVEL = 0.05


@dataclass(frozen=True)
class Claim:
    """Asks whether the margin is claimed: 1 or 0."""

    measure: str
    margin: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answer."""
        if self.measure == "bins":
            return [cs.equivalence_test(data, margin=self.margin, confidence_level=1 - LEVEL, **self.options).claimed]
        high = cs.confidence_interval(
            data, measure=self.measure, confidence_level=1 - 2 * LEVEL, rng=rng, **self.options
        ).high
        return [high <= self.margin]


@dataclass(frozen=True)
class Case:
    """Data sets of one kind and size, and what is asked of each."""

    question: str
    label: str
    generator: Any
    n: int
    claim: Claim
    replicates: int


def part(n: int, number: int, parts: int = 5) -> np.ndarray:
    """Return which of n ascending predictions are in one of equal parts."""
    return np.arange(n) * parts // n == number


def at_the_boundary(n: int) -> Iterator[tuple[str, FixedPredictions, Claim]]:
    """Return outcome probabilities whose mean is off by exactly the margin in one bin, or in all."""
    from scipy.stats import beta, uniform

    v, rare, middle, top = quantiles(n, uniform), quantiles(n, beta(1, 99)), part(n, 2), part(n, 4)
    tenth, half = Claim("bins", 0.1), np.arange(n) % 2
    yield "one fifth", FixedPredictions(v, v + 0.1 * middle), tenth
    upwards = np.where(v < 0.6, 0.1, -0.1)
    yield "every fifth", FixedPredictions(v, v + upwards), tenth
    mean = v[middle].mean() + 0.1  # of probabilities of 1 and of others
    unequal = np.where(half, 1.0, (mean - half[middle].mean()) / (1 - half[middle].mean()))
    yield "one fifth, unequal within", FixedPredictions(v, np.where(middle, unequal, v)), tenth
    yield "one tenth, 10 bins", FixedPredictions(v, v + 0.1 * part(n, 4, 10)), Claim("bins", 0.1, {"n_bins": 10})
    yield "one score", FixedPredictions(np.full(n, 0.3), np.full(n, 0.4)), tenth
    alone = np.where(np.arange(n) == 0, LEVEL, 0.0)
    yield "one score, one row alone", FixedPredictions(np.full(n, 0.1 + LEVEL / n), alone), tenth
    yield "rare, top fifth too low", FixedPredictions(rare, rare + 0.02 * top), Claim("bins", 0.02)
    shrunk = rare * (1 - 0.02 / rare[top].mean() * top)
    yield "rare, top fifth too high", FixedPredictions(rare, shrunk), Claim("bins", 0.02)


def miscalibrated() -> dict[str, Any]:
    """Return populations, among them rare outcomes, and groups that rival each other for the largest sum."""
    return {
        "temperature 1.5": generators.temperature(1.5),
        "two rival groups": generators.domain((0.5, 0.5), (0.3, 0.8), (0.2, 0.9)),
        "rare, a third of the truth": generators.domain((0.5, 0.3, 0.2), (0.006, 0.012, 0.03), (0.002, 0.004, 0.01)),
        "rare, three times the truth": generators.domain((0.5, 0.3, 0.2), (0.002, 0.004, 0.01), (0.006, 0.012, 0.03)),
    }


def calibrated() -> dict[str, tuple[Any, tuple[float, ...]]]:
    """Return calibrated models and margins for them."""
    from scipy.stats import beta

    return {
        "uniform": (generators.calibrated(), (0.1, 0.05, 0.02)),
        "prevalence .1": (generators.calibrated(beta(1, 9)), (0.1, 0.05)),
        "prevalence .01": (generators.calibrated(beta(1, 99)), (0.02, 0.01)),
    }


def cases(quick: bool) -> list[Case]:
    """Return all that is asked."""
    numbers = [200, 1000] if quick else [200, 1000, 10_000]
    found = [
        Case("size", label, rows, n, claim, 20 if quick else 10_000)
        for n in numbers
        for label, rows, claim in at_the_boundary(n)
    ]
    drawn = {"n_resamples": 39 if quick else 199}
    for (label, model), by, n in product(miscalibrated().items(), ("ece", "ks"), numbers[:2]):
        claim = Claim(by, model.truth(by), drawn)
        found.append(Case("size", label, model, n, claim, 10 if quick else 1000))
    many = [200, 1000] if quick else [200, 500, 1000, 2000, 5000, 10_000, 50_000]
    for label, (model, margins) in calibrated().items():
        for margin, n in product(margins, many):
            claim = Claim("bins", margin)
            found.append(Case("power", f"{label}, {margin:g}", model, n, claim, 20 if quick else 500))
    for by, n in product(("ece", "ks"), many[1:2] if quick else (500, 1000, 5000)):
        found.append(
            Case("power", "uniform, 0.05", generators.calibrated(), n, Claim(by, 0.05, drawn), 10 if quick else 100)
        )
    return found


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count the claims of each case."""
    import pandas as pd

    return pd.DataFrame([counted(case, n_jobs) for case in cases(quick)])


def counted(case: Case, n_jobs: int | None) -> dict[str, Any]:
    """Return one row of the table."""
    groups = [(case.label, case.n)]
    cells = Cells(groups, {case.label: case.generator}, case.replicates, SEED, case.claim, ["claimed"])
    claimed = compute(cells, None, n_jobs, f"{case.question}, {case.label}, {case.n}").ravel() == 1
    return {
        "question": case.question,
        "generator": case.label,
        "n": case.n,
        "measure": case.claim.measure,
        "method": "equivalence",
        "margin": case.claim.margin,
        "level": LEVEL,
        "replicates": case.replicates,
        **rate_of("claims", claimed),
    }


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cases at the boundary that are claimed more often than the level allows."""
    boundary = table[table["question"] == "size"]
    return more_often(boundary, boundary["claims"], LEVEL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw claims at the boundary, by bins and by measures, and claims of calibrated models."""
    found = table.assign(generator=table["generator"].str.replace(", ", ",\n"))
    boundary, bins = found["question"] == "size", found["measure"] == "bins"
    return {
        "bins": plot(found[boundary & bins]),
        "measures": plot(found[boundary & ~bins]),
        "power": plot(found[~boundary]),
    }


study = Study(
    question="How often does the test conclude that an error is within a margin if it is just at the margin?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
