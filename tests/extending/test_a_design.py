"""A design from outside of the package: rows that were drawn within strata whose shares in the population are known."""

from dataclasses import dataclass

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.designs.independent import Independent
from calibstat.inference.rows_of_results import Rows
from calibstat.study.study_tables import most_rejections


@dataclass(frozen=True, eq=False)
class Strata(Rows):
    """Rows of strata, as results say it."""

    strata: int

    def __str__(self):
        return f"{self.n:,} rows, drawn within {self.strata} strata of known shares"


class Stratified(Independent):
    """The test keeps predictions and weights, and is exact; the interval counts how strata differ, and is long."""

    word = "strata"
    interval_methods = ("honest",)

    def described(self, n, weight=None):
        return Strata(n, self.data.strata)


class StratifiedRows(cs.Data):
    """Outcomes and predictions with the stratum of each row, and the share of each stratum in the population."""

    design = Stratified

    def __init__(self, y_true, y_prob, *, stratum, shares, **about):
        names, of_row, rows = np.unique(stratum, return_inverse=True, return_counts=True)
        if unknown := set(names.tolist()) ^ set(shares):
            raise ValueError(f"expected a share of each stratum and no other, found {sorted(unknown)}")
        self.strata = len(names)
        weight = np.array([shares[name] for name in names.tolist()]) / rows
        super().__init__(y_true, y_prob, sample_weight=weight[of_row] * of_row.size, **about)


def drawn(seed, wrong=0.0):
    """150 rows of each of two strata; villages are predicted too low by `wrong`."""
    random = np.random.default_rng(seed)
    village = np.arange(300) >= 150
    p = random.random(300) * (1 - wrong)
    return (random.random(300) < p + wrong * village).astype(int), p, np.where(village, "village", "town")


def test_verbs_answer_for_it():
    y, p, stratum = drawn(1, wrong=0.3)
    rows = StratifiedRows(y, p, stratum=stratum, shares={"town": 0.9, "village": 0.1})
    test, interval = (ask(rows, measure="ks", rng=1) for ask in (cs.calibration_test, cs.confidence_interval))
    assert str(test.rows) == str(interval.rows) == "300 rows, drawn within 2 strata of known shares"
    weight = {"sample_weight": np.where(stratum == "town", 0.9, 0.1)}  # of which only ratios matter
    assert test.pvalue == cs.calibration_test(y, p, measure="ks", rng=1, **weight).pvalue
    with pytest.raises(ValueError, match="expected a method of rows with strata=, one of honest; found 'bca'"):
        cs.confidence_interval(rows, measure="ks", method="bca")
    with pytest.raises(ValueError, match=r"expected a share of each stratum and no other, found \['village'\]"):
        StratifiedRows(y, p, stratum=stratum, shares={"town": 1})


@pytest.mark.slow
def test_intervals_cover_the_error_of_the_population_and_not_of_the_sample():
    """Villages are wrong by .3 everywhere: the sum of all residuals, and so the error by `ks`, is .1 * .3."""
    missed = {}
    for town in (0.9, 0.5):
        shares, sets = {"town": town, "village": 1 - town}, (drawn(seed, wrong=0.3) for seed in range(60))
        rows = (StratifiedRows(y, p, stratum=stratum, shares=shares) for y, p, stratum in sets)
        found = [cs.confidence_interval(each, measure="ks", n_resamples=39, rng=1) for each in rows]
        missed[town] = sum(not each.low <= 0.03 <= each.high for each in found)
    assert missed[0.9] <= most_rejections(0.05, 60, 1e-4) < missed[0.5]
