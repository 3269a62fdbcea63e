"""Rating grades: portfolios of loans, how defaults may differ from the grades, and rules that find a grade too low.

Jeffreys' test finds a grade if the probability that its default rate is at most the predicted one, given the defaults
and the prior Beta(1/2, 1/2), is at most the level. The exact binomial test finds it if as many defaults are so
improbable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.study.engine import Models
from calibstat.study.stored_rows import Row

from .kinds_of_predictions import log_odds_of, logistic

LEVEL = 0.05
JEFFREYS, BINOMIAL, AUDIT, OMNIBUS = "Jeffreys", "binomial", "audit", "omnibus"
RULES = (JEFFREYS, "Jeffreys, Bonferroni", "binomial, Bonferroni", "audit, a grade", AUDIT, OMNIBUS, "mean")
BY_GRADE = RULES[:5]  # the audit finds a grade, or the whole portfolio, which is a group too
PROMISED = RULES[2:]  # that at most 5 % of right portfolios are found
GRADES, LOANS = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), (50, 200, 500, 1000, 5000)  # of one grade


@dataclass(frozen=True)
class Portfolio:
    """Default rates of grades, how many loans each has, and how the true rates differ: by factors or in log-odds."""

    label: str
    rate: tuple[float, ...]
    loans: tuple[int, ...]
    error: str = ""
    factor: tuple[float, ...] = ()
    shift: float = 0.0

    @property
    def n(self) -> int:
        """The number of loans."""
        return sum(self.loans)

    @property
    def true_rate(self) -> np.ndarray:
        """The true default rate of each grade."""
        rate = np.array(self.rate)
        if self.shift:
            return logistic(log_odds_of(rate) + self.shift)
        return rate * np.array(self.factor) if self.factor else rate

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw defaults, with predictions and grades; `n` is the number of loans."""
        n, random = drawing(n, rng)
        grade = np.repeat(np.arange(len(self.loans)), self.loans)
        defaults = (random.random(n) < self.true_rate[grade]).astype(np.int64)
        return defaults, {"prediction": np.array(self.rate)[grade], "grade": grade}


SEVEN = Portfolio("7 grades", (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2), (300, 400, 500, 500, 400, 200, 100))
FIVE = Portfolio("5 grades", (0.002, 0.006, 0.015, 0.04, 0.12), (1500, 2500, 2000, 1200, 800))


def portfolios(quick: bool) -> Iterator[Portfolio]:
    """Return portfolios whose grades are right, and ones with errors."""
    few = [SEVEN] if quick else [SEVEN, FIVE]
    yield from few
    half, third = 0.5, 2 / 3
    yield replace(SEVEN, error="all log-odds up by 0.4", shift=0.4)
    if quick:
        return
    yield replace(SEVEN, error="grade 0.01 times 2.5", factor=(1, 1, 1, 2.5, 1, 1, 1))
    yield replace(SEVEN, error="grade 0.003 times 5", factor=(1, 1, 5, 1, 1, 1, 1))
    yield replace(SEVEN, error="upper 3 times 1.5, others halved", factor=(half,) * 4 + (1.5,) * 3)
    yield replace(SEVEN, error="lowest 4 times 2.5, upper / 1.5", factor=(2.5,) * 4 + (third,) * 3)
    yield replace(FIVE, error="all log-odds up by 0.2", shift=0.2)
    yield replace(FIVE, error="grade 0.015 times 1.7", factor=(1, 1, 1.7, 1, 1))
    yield replace(FIVE, error="grade 0.002 times 4", factor=(4, 1, 1, 1, 1))
    yield replace(FIVE, error="upper 2 times 1.3, others halved", factor=(half,) * 3 + (1.3,) * 2)
    yield replace(FIVE, error="lowest 3 times 1.7, upper / 1.5", factor=(1.7,) * 3 + (third,) * 2)


@dataclass(frozen=True)
class Rules:
    """Asks every rule whether it finds a grade too low, or any prediction."""

    n_resamples: int = 199

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers, 1 or 0, in the order of `RULES`."""
        import pandas as pd

        y, columns = data
        p, grade = columns["prediction"], columns["grade"]
        defaults, loans = np.bincount(grade, y), np.bincount(grade)
        rate = np.bincount(grade, p) / loans
        adjusted = LEVEL / loans.size
        jeffreys, binomial = jeffreys_pvalue(defaults, loans, rate), binomial_pvalue(defaults, loans, rate)
        given: dict[str, Any] = {"side": "under", "n_resamples": self.n_resamples, "rng": rng}
        audit = cs.audit(y, p, pd.DataFrame({"grade": grade.astype(str)}), **given)
        whole = [cs.calibration_test(y, p, measure=each, **given).pvalue <= LEVEL for each in (OMNIBUS, "mean")]
        of_grades = [(jeffreys <= LEVEL).any(), (jeffreys <= adjusted).any(), (binomial <= adjusted).any()]
        flagged = audit.pvalue_adjusted <= LEVEL  # the first group is all rows
        return [float(found) for found in (*of_grades, flagged[1:].any(), flagged.any(), *whole)]


def jeffreys_pvalue(defaults: np.ndarray, loans: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the posterior probability that the default rate is at most the predicted one."""
    from scipy.special import betainc

    return np.asarray(betainc(defaults + 0.5, loans - defaults + 0.5, rate))


def binomial_pvalue(defaults: np.ndarray, loans: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the probability of as many defaults."""
    from scipy.special import bdtrc

    return np.where(defaults > 0, bdtrc(np.maximum(defaults, 1) - 1, loans, rate), 1.0)


def level_of_one_grade(rule: str, rate: float, loans: int, level: float = LEVEL) -> float:
    """Return the probability that a right grade is found, by adding up over all numbers of defaults."""
    from scipy.stats import binom

    pvalue = jeffreys_pvalue if rule.startswith(JEFFREYS) else binomial_pvalue
    defaults = np.arange(loans + 1)
    found = pvalue(defaults, np.array(loans), np.array(rate)) <= level
    return float(binom.pmf(defaults[found], loans, rate).sum())


def enumerated() -> Iterator[Row]:
    """Yield the levels of one grade, and of all grades of a portfolio, by Jeffreys' and by the binomial test."""

    def row(question: str, label: str, n: int, rule: str, rate: float) -> Row:
        told = {"question": question, "generator": label, "n": n, "side": "under", "measure": "by grade"}
        return told | {"method": rule, "level": LEVEL, "replicates": 0, "rate": rate}

    for (rate, loans), rule in product(product(GRADES, LOANS), (JEFFREYS, BINOMIAL)):
        yield row("one grade", f"grade {rate:g}", loans, rule, level_of_one_grade(rule, rate, loans))
    for portfolio, rule in product((SEVEN, FIVE), RULES[:3]):
        level = LEVEL if rule == JEFFREYS else LEVEL / len(portfolio.loans)
        grades = zip(portfolio.rate, portfolio.loans, strict=True)
        none = np.prod([1 - level_of_one_grade(rule, *grade, level) for grade in grades])
        yield row("all grades", portfolio.label, portfolio.n, rule, float(1 - none))
