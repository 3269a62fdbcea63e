"""Audits of samples against audits of their rows, in cells and out of them, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from more_than import more_than
from scipy.stats import binom

import calibstat as cs

N = 4000
Y, P = cs.generators.calibrated().sample(N, rng=1)
SITE, YEAR = np.array(["a", "b", "c"])[np.arange(N) % 3], 2020 + np.arange(N) // 3 % 2
WRONG = (SITE == "b") & (YEAR == 2021)
FRAME = pd.DataFrame({"y": Y, "p": np.where(WRONG, P**2, P).round(2), "site": SITE, "year": YEAR})
EXACT = ("rows", "predicted", "observed", "error", "low", "high", "root")


def of_rows(frame, columns, **options):
    """The audit of the rows, with texts as features."""
    features = pd.DataFrame({name: frame[name].astype(str) for name in columns})
    return cs.audit(frame["y"], frame["p"], features, rng=1, **options)


@pytest.mark.parametrize("by", [["site"], ["site", "year"]])
@pytest.mark.parametrize("shape", [False, True])
def test_rows_and_samples_agree(by, shape):
    samples = cs.Sample.from_frame(FRAME, "y", "p", by=by if len(by) > 1 else by[0])
    found = cs.audit_samples(samples, by, shape=shape, n_resamples=199, rng=1)
    expected = of_rows(FRAME, by, shape=shape, n_resamples=199)
    assert found.names == expected.names
    for name in EXACT:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-12), name
    assert found.beyond.pvalue == pytest.approx(expected.beyond.pvalue, rel=1e-6, nan_ok=True)
    # other draws of the same distribution: 199 of each, so that five standard errors are at most .25
    assert np.abs(found.pvalue - expected.pvalue).max() < 0.25
    assert {"site = b"} <= {found.names[k] for k in found.found}


def small_p_values(curve):
    """Whether each of 300 data sets with these outcome probabilities has an adjusted p-value of at most .1."""
    for seed in range(300):
        random = np.random.default_rng(seed)
        p = random.choice([0.1, 0.3, 0.6], 90)
        y, site = random.random(90) < curve(p), random.integers(0, 3, 90)
        samples = {int(k): cs.Sample.from_rows(y[site == k], p[site == k]) for k in np.unique(site)}
        found = cs.audit_samples(samples, "site", min_rows=1, n_resamples=99, rng=seed)
        yield found.pvalue_adjusted.min() <= 0.1


def test_the_level_is_exact_and_errors_are_found():
    """The smallest adjusted p-value is exact; limits miss a probability of .1 in less than 1e-4."""
    low, high = binom.ppf([5e-5, 1 - 5e-5], 300, 0.1)
    assert low <= sum(small_p_values(lambda p: p)) <= high
    assert more_than(high, small_p_values(lambda p: p + 0.1))


def test_cells_change_little():
    frame = pd.DataFrame({"y": Y, "p": np.where(SITE == "b", P**2, P), "site": SITE})
    exact, cells = (
        cs.audit_samples(cs.Sample.from_frame(frame, "y", "p", by="site", cells=c), "site", n_resamples=99, rng=1)
        for c in ("distinct", None)
    )
    for name in ("rows", "observed"):
        assert getattr(cells, name) == pytest.approx(getattr(exact, name), rel=1e-12)
    assert cells.predicted == pytest.approx(exact.predicted, abs=1e-9)
    assert cells.root == pytest.approx(exact.root, rel=1e-3)


def test_predictions_of_a_cell_share_their_mean():
    """Two sites in the cell (.2, .2 + 1/153,600]: rows 1 and 3 at .200001 and .200005 have the mean .200004."""
    from calibstat.inference.auditing.audit_samples import _shared

    shared = _shared(np.array([0.1, 0.200001, 0.200005]), np.array([5.0, 1.0, 3.0]))
    assert shared == pytest.approx([0.1, 0.200004, 0.200004], abs=1e-15)


ONE = cs.Sample.from_rows(Y[:50], P[:50])


@pytest.mark.parametrize(
    ("samples", "columns", "message"),
    [
        ({}, "site", "expected samples, a mapping from key to Sample, found dict of length 0"),
        ([ONE], "site", "expected samples, a mapping from key to Sample, found list of length 1"),
        ({"a": (Y, P)}, "site", "expected a Sample of counted rows for .*'a'.*, found tuple of length 2"),
        ({"a": ONE}, ["site", "year"], "expected keys of 2 values, one for each of .*site.*, found .*'a'"),
        ({("a", 1): ONE}, ["site", "site"], "expected different names of columns, found"),
        ({1: ONE, "1": ONE}, "site", "expected keys that differ as texts, found"),
        ({"a": ONE}, [], "expected different names of columns, found"),
        (
            {"a": cs.Sample.from_rows(Y[:50], P[:50], np.full(50, 0.5))},
            "site",
            "expected a Sample of counted rows for .*, found weights that are not whole numbers",
        ),
    ],
)
def test_what_is_refused(samples, columns, message):
    with pytest.raises(ValueError, match=message):
        cs.audit_samples(samples, columns)


def test_columns_that_are_no_names():
    with pytest.raises(ValueError, match="expected different names of columns, found True"):
        cs.audit_samples({"a": cs.Sample.from_rows([0, 1], [0.2, 0.4])}, columns=True)
