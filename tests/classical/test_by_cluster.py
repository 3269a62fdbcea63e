"""The table of clusters of a validation: closed forms, numbers of each cluster alone, and how often its mean misses."""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta
from statsmodels.stats.meta_analysis import combine_effects

import calibstat as cs
from calibstat.classical.by_cluster_result import OF_EACH

pytestmark = pytest.mark.filterwarnings("ignore:.*clusters are few:UserWarning")
SETS, MISSES = 300, 0.05


def hospitals(k, m, spread, seed, mean=-1.3):
    """Outcomes, predictions and hospitals, whose effects on the log-odds are normal."""
    random = np.random.default_rng(seed)
    place = np.repeat(np.arange(k), m)
    at = random.normal(mean, 1.0, place.size)
    effect = spread * random.standard_normal(k)
    return (random.random(at.size) < expit(at + effect[place])).astype(int), expit(at), place


Y, P, PLACE = hospitals(12, 100, 0.5, 1)
NAMES = np.array([f"hospital {c}" for c in "LAKBJCIDHEGF"])
FOUND = pytest.fixture(scope="module", name="found")(lambda: cs.validate(Y, P, cluster=NAMES[PLACE]).by_cluster)


def test_each_cluster_has_the_numbers_of_its_rows_alone(found):
    assert found.names == tuple(sorted(NAMES))
    for c, name in enumerate(found.names):
        rows = NAMES[PLACE] == name
        alone = cs.validate(Y[rows], P[rows])
        assert (found.n[c], found.events[c], found.missing[c]) == (alone.n, alone.events, "")
        for each in ("ratio", "in_the_large", "slope"):
            assert getattr(found, each)[c] == pytest.approx(getattr(alone, each))
            assert tuple(getattr(found, f"{each}_interval")[c]) == pytest.approx(alone.intervals[each])
        assert found.difference[c] == pytest.approx(alone.observed - alone.predicted)
        assert found.difference_interval[c] == pytest.approx(np.array(alone.intervals["observed"]) - alone.predicted)


def test_one_cluster_by_hand():
    """Of 30 events in 100 rows with predictions 1/4, O/E is 30 / 25, within Clopper and Pearson's ends over 1/4."""
    y = np.repeat([1, 0, 1, 0], [30, 70, 20, 80])
    found = cs.validate(y, np.full(200, 0.25), cluster=np.repeat([2, 1], 100)).by_cluster
    assert found.names == (1, 2)  # in the order of labels
    assert found.ratio == pytest.approx([0.8, 1.2])
    ends = [beta.ppf(0.025, 30, 71) / 0.25, beta.ppf(0.975, 31, 70) / 0.25]
    assert found.ratio_interval[1] == pytest.approx(ends)
    assert found.in_the_large == pytest.approx(logit([0.2, 0.3]) - logit(0.25))
    assert np.isnan(found.slope).all()
    assert set(found.missing) == {"a slope needs predictions that differ, and do not separate the outcomes"}
    # the pooled outcome is 1/4, so that the variance of O/E is 1/4 * 3/4 * 100 / 25**2 = 0.03 of both: the sample
    # variance, 0.08, is 0.03 + tau²
    assert found.mean_ratio.mean == pytest.approx(1.0)
    assert found.mean_ratio.tau**2 == pytest.approx(0.05)
    assert np.isnan(found.mean_ratio.prediction_interval).all()


def test_the_mean_has_the_weights_of_one_recalibration_of_all_rows(found):
    whole = cs.validate(Y, P)
    chance = expit(whole.intercept + whole.slope * logit(P))
    sums = [np.bincount(PLACE, each)[np.argsort(NAMES)] for each in (Y, P, chance * (1 - chance))]
    oracle = combine_effects(sums[0] / sums[1], sums[2] / sums[1] ** 2, method_re="pm")
    assert found.mean_ratio.mean == pytest.approx(oracle.mean_effect_re, rel=1e-5)
    assert found.mean_ratio.tau == pytest.approx(np.sqrt(oracle.tau2), rel=1e-5)
    assert (found.ratio_of_rows, whole.ratio) == pytest.approx((whole.ratio, Y.sum() / P.sum()))
    large = found.mean_in_the_large
    assert large.mean == pytest.approx(found.in_the_large.mean(), abs=0.05)
    assert large.interval[0] < large.mean < large.interval[1]


def test_a_cluster_without_events_stays_in_the_mean():
    y = np.where(PLACE == 4, 0, Y)
    found = cs.validate(y, P.round(1).clip(0.1, 0.9), cluster=PLACE).by_cluster  # with ties
    assert (found.ratio[4], found.missing[4]) == (0.0, "intercept and slope need both outcomes")
    assert np.isnan([found.in_the_large[4], found.slope[4]]).all()
    assert 0 < found.mean_ratio.mean < np.delete(found.ratio, 4).mean()
    assert "A dash: intercept and slope need both outcomes." in str(found)
    assert np.isnan(cs.validate(0 * y, P, cluster=PLACE).by_cluster.mean_ratio.mean)


def test_hospitals_and_patients_have_two_means():
    """The larger a hospital, the higher its O/E: patients see more events than hospitals do."""
    n = np.array([50, 50, 50, 50, 50, 5000])
    place = np.repeat(np.arange(6), n)
    y = np.concatenate([np.arange(m) < m * share for m, share in zip(n, [0.2] * 5 + [0.4], strict=True)]).astype(int)
    found = cs.validate(y, np.full(y.size, 0.2), cluster=place).by_cluster
    assert found.ratio_of_rows == pytest.approx((250 * 1 + 5000 * 2) / 5250)
    assert found.mean_ratio.mean < 1.5
    assert "mean over 6 clusters: 1." in str(found)
    assert f"which weighs every row alike: {found.ratio_of_rows:.3g} (" in str(found)


def test_what_has_no_table_says_why():
    weighted = cs.validate(Y, P, cluster=PLACE, sample_weight=1.0 + PLACE)
    assert (weighted.by_cluster, weighted.missing["by_cluster"]) == (None, "needs rows that count once")
    single = cs.validate(Y, P, cluster=np.arange(Y.size))
    assert single.missing["by_cluster"] == "needs at most 1,000 clusters, of 2 rows or more on average"
    assert cs.validate(Y, P).by_cluster is None
    few = cs.validate(Y[::10], P[::10], cluster=PLACE[::10]).by_cluster.mean_in_the_large
    assert few.missing == "needs 10 events, and 10 rows without, a cluster on average"


def test_labels_and_rows_in_any_order(found):
    order = np.random.default_rng(2).permutation(Y.size)
    again = cs.validate(cs.Models(Y[order], {"m": P[order]}, cluster=NAMES[PLACE][order]))["m"].by_cluster
    assert again.to_frame().equals(found.to_frame())
    days = np.datetime64("2026-01-01") + PLACE.astype("timedelta64[D]")
    assert cs.validate(Y, P, cluster=days).by_cluster.names[:2] == ("2026-01-01", "2026-01-02")
    assert found.to_frame().columns[4:7].tolist() == ["ratio", "ratio_low", "ratio_high"]
    assert all(not getattr(found, each).flags.writeable for each in OF_EACH)
    many = cs.validate(Y, P, cluster=np.arange(Y.size) % 50).by_cluster
    assert "and 30 more clusters: to_frame() has all." in str(many)


# --- how often the interval of the mean over hospitals misses ---------------------------------------------------------

AT, CHANCE = np.polynomial.hermite_e.hermegauss(60)  # the mean over normal risks, and over hospitals, by quadrature
CHANCE = CHANCE / CHANCE.sum()
EXPECTED = CHANCE @ expit(AT - 1.3)
TRUTH = CHANCE @ [CHANCE @ expit(AT - 1.3 + 0.3 * each) for each in AT] / EXPECTED


SEEDS = range(1000, 1000 + SETS)
MOST = cs.study.most_rejections(MISSES, SETS, 1e-3)


@cache
def means():
    """The mean over 12 hospitals of 33 patients each, 8 of them with the event, and its interval, of each data set."""
    data = (hospitals(12, 33, 0.3, seed) for seed in SEEDS)
    return [cs.validate(y, p, cluster=place).by_cluster.mean_ratio for y, p, place in data]


def test_the_mean_over_hospitals_is_missed_no_more_than_it_may():
    assert sum(not each.interval[0] <= TRUTH <= each.interval[1] for each in means()) <= MOST


def test_an_interval_that_is_too_short_is_noticed():
    """The planted fault: half of the interval."""
    assert sum(abs(TRUTH - each.mean) > (each.interval[1] - each.mean) / 2 for each in means()) > MOST
