"""Bins that share the rows of equal predictions, by exact fractions and by random cuts."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from gce_examples import SWITCHES, gce, many
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs

ADAPTIVE = [each for each in SWITCHES if each["binning"] == "adaptive"]


def by_fractions(prob, label, bins, max_prob, class_conditional, threshold, norm, binning="adaptive"):
    """Every bin takes whole rows and fractions of tied ones, one probability after the other."""
    n, classes = prob.shape
    top = prob.argmax(axis=1)
    error = 0.0
    for k in range(classes) if class_conditional else [None]:
        pairs = [
            (float(prob[i, j]), int(label[i] == j))
            for i in range(n)
            for j in range(classes)
            if prob[i, j] > threshold and k in (None, j) and (not max_prob or top[i] == j)
        ]
        size = len(pairs)
        ends = [int(np.ceil(float(Fraction(2 * b * size - bins, 2 * bins)))) for b in range(bins + 1)]
        first = 0
        parts = []
        for v in sorted({v for v, _ in pairs}):
            tied = [hit for value, hit in pairs if value == v]
            parts.append((first, first + len(tied), v, Fraction(sum(tied), len(tied))))
            first += len(tied)
        for start, end in pairwise(ends):
            share = [(max(min(b, end) - max(a, start), 0), v, rate) for a, b, v, rate in parts]
            gap = abs(float(sum(rows * (float(rate) - v) for rows, v, rate in share)))
            if end > start:
                error += gap / size if norm == "l1" else gap**2 / (end - start) / size
    error /= classes if class_conditional else 1
    return error if norm == "l1" else error**0.5


@pytest.mark.parametrize("switches", ADAPTIVE)
def test_by_exact_fractions(switches):
    prob, label = many(60, 4)
    for bins in (1, 3, 7, 100):
        found = gce(prob, label, ties="split", n_bins=bins, **switches)
        assert found == pytest.approx(by_fractions(prob, label, bins, **switches), abs=1e-12)


@pytest.mark.parametrize("switches", ADAPTIVE)
def test_without_ties_it_makes_no_difference(switches):
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(4), 90)
    label = rng.integers(0, 4, 90)
    for bins in (5, 7, 15):
        together = gce(prob, label, n_bins=bins, **switches)
        assert gce(prob, label, ties="split", n_bins=bins, **switches) == pytest.approx(together, abs=1e-12)


@given(st.integers(1, 20), st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=12))
def test_equal_bins_of_even_width_and_level_sets_are_as_they_were(bins, p):
    prob, label = np.column_stack((p, 1 - np.array(p))), np.arange(len(p)) % 2
    for options in ({"binning": "even", "n_bins": bins}, {"binning": "adaptive", "n_bins": None}):
        assert gce(prob, label, ties="split", **options) == gce(prob, label, **options)


def test_it_is_the_limit_of_random_cuts():
    """10,000 rows of three predictions, three bins: the middle one holds rows of two predictions."""
    rng = np.random.default_rng(3)
    p = np.repeat([0.2, 0.5, 0.8], [5000, 2000, 3000])
    y = (rng.random(10_000) < np.repeat([0.3, 0.4, 0.9], [5000, 2000, 3000])).astype(int)
    prob = np.column_stack((1 - p, p))
    options = {"binning": "adaptive", "n_bins": 3}
    cut = []
    for _ in range(20):
        order = rng.permutation(10_000)
        order = order[np.argsort(p[order], kind="stable")]
        parts = np.array_split(y[order] - p[order], 3)
        cut.append(sum(abs(part.sum()) for part in parts) / 10_000)
    split = gce(prob, y, ties="split", **options)
    assert split == pytest.approx(np.mean(cut), abs=0.002)
    assert abs(split - gce(prob, y, **options)) > 0.004


def test_the_family_and_every_verb_take_it():
    prob, label = many(80, 4)
    family = cs.gce_family(label, prob, ties="split")
    assert family.ties == "split"
    assert "n = 80, ties split" in str(family)
    for switches, value in zip(SWITCHES, family.value, strict=True):
        assert value == gce(prob, label, ties="split", **switches)
    options = {"measure": "gce", "binning": "adaptive", "ties": "split"}
    assert cs.estimate(label, prob, **options) == family["ACE"]
    assert 0 < cs.calibration_test(label, prob, **options, n_resamples=19, rng=1).pvalue <= 1
    with pytest.raises(ValueError, match="two bins may share the rows of one prediction"):
        cs.confidence_interval(label, prob, **options)
    for ask in (lambda: cs.gce_family(label, prob, ties="random"), lambda: gce(prob, label, ties="random")):
        with pytest.raises(ValueError, match="expected ties 'together' or 'split', found 'random'"):
            ask()
