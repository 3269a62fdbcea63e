"""Comparisons by exchanging two models at random: against enumeration, exact, at their level."""

from itertools import product

import numpy as np
import pytest
from compared_models import several_classes, two_models
from more_than import more_than
from scipy.stats import binom

import calibstat as cs
from calibstat.inference.comparing.swap import _swapped_by_none
from calibstat.measures.kinds.registry import everyday_measures
from calibstat.resampling import ModelPair


def all_permutations(y, p, q, measure, unit):
    """The difference after each of the 2**units permutations."""
    for exchanged in product((False, True), repeat=unit.max() + 1):
        other = np.array(exchanged)[unit]
        one, two = np.where(other, q, p), np.where(other, p, q)
        yield cs.estimate(y, one, measure=measure) - cs.estimate(y, two, measure=measure)


@pytest.mark.parametrize("measure", ["kernel_ce", "ks", "mcb", "brier", "post_processing_gap"])
@pytest.mark.parametrize("members", [1, 2])
def test_permutations_against_enumeration(measure, members):
    """The p-value tends to the share of all permutations, and is off by no more than sampling allows."""
    y, p, q = two_models(8, seed=3)
    unit = np.arange(8) // members
    everything = np.abs(list(all_permutations(y, p, q, measure, unit)))
    share = np.mean(everything >= everything[0] - 1e-12)
    cluster = None if members == 1 else np.array(list("dcba"))[unit]
    arguments = {"measure": measure, "method": "swap", "cluster": cluster, "n_resamples": 1999, "rng": 1}
    found = cs.compare(y, {"p": p, "q": q}, **arguments)
    extreme = found.pvalue[0] * 2000 - 1
    assert binom.cdf(extreme, 1999, share) > 1e-5
    assert binom.sf(extreme - 1, 1999, share) > 1e-5
    assert np.isnan(found.low).all()


@pytest.mark.parametrize("measure", ["ks", "mcb"])
def test_the_permutation_test_is_exact(measure):
    """Over all 2**n equally likely data sets, P(p <= a) <= a for the p-value from all permutations."""
    y, p, q = two_models(7, seed=1)
    values = np.abs(list(all_permutations(y, p, q, measure, np.arange(7))))
    pvalue = np.array([np.mean(values >= v - 1e-12) for v in values])
    for a in np.unique(pvalue):
        assert np.mean(pvalue <= a) <= a + 1e-12


@pytest.mark.parametrize("measure", everyday_measures())
def test_every_measure_has_a_permutation_test(measure):
    """Also where a prediction occurs in one of the two models alone, so that the other has no row there."""
    y, p, q = two_models(30, ties=False)
    found = cs.compare(y, {"p": p, "q": q}, measure=measure, method="swap", n_resamples=19, rng=1)
    expected = [cs.estimate(y, v, measure=measure) for v in (p, q)]
    assert found.estimates == pytest.approx(expected, abs=1e-12)
    value, cell = np.unique([p, q], return_inverse=True)
    cell = cell.reshape(2, -1).T
    bound = cs.MEASURES[measure]()
    label = np.column_stack((y, y))
    observed = _swapped_by_none(ModelPair(cell, label, value.size), lambda *s: bound.evaluate(value, *s))
    parts = [bound.evaluate(*cs.Sample.from_rows(y, v).arrays) for v in (p, q)]
    assert observed == pytest.approx(parts[0] - parts[1], abs=1e-9)


def test_the_permutation_test_keeps_its_level_and_finds_what_is_there():
    """Two models that see different halves of the covariates; then one of them is over-confident."""

    def rejections(other):
        for seed in range(300):
            y, p, q = two_models(60, seed)
            found = cs.compare(y, {"p": p, "q": other(q)}, measure="ks", method="swap", n_resamples=19, rng=seed)
            yield found.pvalue[0] <= 0.1

    limit = binom.isf(1e-5, 300, 0.1)
    assert sum(rejections(lambda q: q)) <= limit
    assert more_than(limit, rejections(lambda q: np.clip(q**4 / (q**4 + (1 - q) ** 4), 1e-9, 1)))


def test_the_permutation_test_needs_one_event():
    y, p, q = several_classes()
    with pytest.raises(ValueError, match="a binary outcome for method 'swap'"):
        cs.compare(y, {"p": p, "q": q}, measure="brier", lens="canonical", method="swap")
    with pytest.raises(ValueError, match="no honest comparison"):
        cs.compare(y, {"p": p, "q": q}, lens="class_wise")
