"""Tests of equivalence by a measure of rows with weights or in clusters: they are the upper ends of intervals."""

import warnings

import numpy as np
import pytest

import calibstat as cs
from calibstat import equivalence_test

CENTRES = {"clusters": 60, "size": "geometric", "share": 0.3, "weights": "independent"}


def unequal_rows(family, rng):
    """Rows of one family in centres of unequal size, with weights, as arguments of a function."""
    y, p, cluster, weight = family.sample(400, rng=rng, **CENTRES)
    return cs.Data(y, p, cluster=cluster, sample_weight=weight)


@pytest.mark.parametrize("given", [("cluster",), ("sample_weight",), ("cluster", "sample_weight")])
@pytest.mark.parametrize("measure", ["ece", "ks"])
def test_the_limit_is_the_upper_end_of_such_rows(given, measure):
    y, p, cluster, weight = cs.generators.temperature(1.3).sample(400, rng=1, **CENTRES)
    rows = {name: {"cluster": cluster, "sample_weight": weight}[name] for name in given}
    settings = {"n_resamples": 39, "rng": 1, **rows}
    interval = cs.confidence_interval(y, p, measure=measure, confidence_level=0.9, **settings)
    for margin in (interval.high, np.nextafter(interval.high, 0)):
        found = equivalence_test(y, p, measure=measure, margin=margin, **settings)
        assert (found.limit, found.claimed) == (interval.high, margin == interval.high)
        assert (found.pvalue <= 0.05) == found.claimed
    assert ("clusters of" in found.null_hypothesis) == ("cluster" in given)
    assert found.effective_n == interval.effective_n
    assert (found.effective_n is None) == ("sample_weight" not in given)


def claims(margin_of_truth, data_sets):
    """How often an error is claimed to be at most its true size times a factor, at level .1."""
    family = cs.generators.temperature(1.5)
    margin = margin_of_truth * family.truth("ks")
    settings = {"measure": "ks", "margin": margin, "confidence_level": 0.9, "n_resamples": 39, "rng": 1}
    return sum(equivalence_test(unequal_rows(family, seed), **settings).claimed for seed in range(data_sets))


@pytest.mark.slow
def test_the_level_holds_in_centres_with_weights():
    assert claims(1, 200) <= cs.study.most_rejections(0.1, 200, 0.001)


@pytest.mark.slow
def test_a_far_larger_margin_is_claimed_too_often_for_this_limit():
    """A margin of six times the error is claimed in most data sets, so that the count above can be too large."""
    assert claims(6, 50) > cs.study.most_rejections(0.1, 50, 0.001)


@pytest.mark.parametrize(("rows", "kind"), [({"cluster": [1, 2]}, "clusters"), ({"sample_weight": [1, 2]}, "weights")])
def test_bins_take_neither_weights_nor_clusters(rows, kind):
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match=f"by bins, found {kind}: its proof bounds a number of events"),
    ):
        equivalence_test([0, 1], [0.2, 0.7], **rows)
