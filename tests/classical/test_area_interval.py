"""DeLong's interval beside pROC, beside a double loop, and how often it misses."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from val_prob_rows import FOLDER, NAMES, stored

import calibstat as cs
from calibstat.classical.area_interval import area_interval
from calibstat.data.data_notes import auc


def interval(y, p, level=0.95):
    sample = cs.Sample.from_rows(y, p)
    counts = sample.count, sample.positives
    return area_interval(*counts, auc(*counts)[0], level)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_interval_of_proc(name):
    of_r = pd.read_csv(FOLDER / "numbers.csv", comment="#").query("rows == @name").set_index("quantity").value
    assert interval(*stored(name)) == pytest.approx((of_r["AUC.low"], of_r["AUC.high"]), abs=1e-10)


def slow(y, p, level):
    """DeLong's interval by all pairs of an event and another row."""
    pairs = np.sign(p[y == 1][:, None] - p[y == 0]) / 2 + 0.5
    variance = pairs.mean(axis=1).var(ddof=1) / (y == 1).sum() + pairs.mean(axis=0).var(ddof=1) / (y == 0).sum()
    reach = norm.ppf((1 + level) / 2) * np.sqrt(variance)
    return np.clip([pairs.mean() - reach, pairs.mean() + reach], 0, 1)


@pytest.mark.parametrize("level", [0.8, 0.999])
def test_it_is_the_one_of_all_pairs(level):
    random = np.random.default_rng(1)
    for _ in range(20):
        y, p = random.integers(0, 2, 25), random.integers(0, 8, 25) / 8
        assert interval(y, p, level) == pytest.approx(tuple(slow(y, p, level)))


@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 0, 0, 1], [0.1, 0.4, 0.6, 0.5]),
        ([1, 1, 1, 0], [0.1, 0.4, 0.6, 0.5]),
        ([0, 0, 1, 1], [0.3] * 4),
        ([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.8]),
    ],
    ids=["one event", "one other row", "all equal", "separated"],
)
def test_there_is_none_where_the_variance_is_not_known(y, p):
    assert interval(y, p) is None


def test_it_misses_in_about_5_percent():
    """At 95 %, 400 data sets; a false alarm in 1 of 1000. The twin is an interval at 80 %."""
    random = np.random.default_rng(1)
    truth = norm.cdf(1 / np.sqrt(2))  # of scores N(1, 1) of 40 events and N(0, 1) of 60 other rows
    y = np.repeat([1, 0], [40, 60])
    missed = {0.95: 0, 0.8: 0}
    for _ in range(400):
        p = norm.cdf(y + random.normal(size=100))
        for level in missed:
            low, high = interval(y, p, level)
            missed[level] += not low <= truth <= high
    most = cs.study.most_rejections(0.07, 400, 1e-3)  # approximate: a nominal 5 % may be 7 %
    assert missed[0.95] <= most < missed[0.8]
