"""Intervals where rows come in clusters: against slow recomputation, and beside intervals that ignore clusters."""

import numpy as np
import pytest
from posed_problem import pose
from scipy import stats
from scipy.special import ndtr

import calibstat as cs
from calibstat.inference.p_values import largest_p_value, p_value
from calibstat.inference.problems.calibrated_clusters import fewest_events
from calibstat.resampling import Draws, Stream, key_of
from calibstat.resampling.row_sums import signs
from calibstat.resampling.streams import first_state, word

FALSE_ALARM = 1e-4  # of each statistical check


def drawn_units(key, stream, replicate, units):
    """Which clusters a replicate draws: by each word two, its lower half times their number, then its upper one."""
    start = np.uint64(first_state(key, stream, replicate))
    words = [int(word(start, i)) for i in range((units + 1) // 2)]
    return [half * units >> 32 for w in words for half in (w & (2**32 - 1), w >> 32)][:units]


def numbered(*columns):
    """Clusters, the last column, numbered as they are drawn: in the order of what they hold, row by row."""
    *columns, unit = columns
    held = [sorted(zip(*(c[unit == u] for c in columns), strict=True)) for u in range(unit.max() + 1)]
    return np.argsort(sorted(range(len(held)), key=held.__getitem__))[unit]


def clustered(clusters, size, temperature, rng):
    """Rows of patients whose predictions are alike and whose outcomes depend on each other, each still calibrated."""
    v = np.repeat(rng.random(clusters), size)
    z = np.sqrt(0.6) * np.repeat(rng.standard_normal(clusters), size) + np.sqrt(0.4) * rng.standard_normal(v.size)
    y = (ndtr(z) < v).astype(int)  # uniform given v, so that P(y = 1 | v) = v
    odds = (v / (1 - v)) ** temperature
    return y, odds / (1 + odds), np.repeat(np.arange(clusters), size)


def test_percentiles_are_those_of_drawn_clusters():
    rng = np.random.default_rng(1)
    y, p, unit = clustered(40, 3, 1.5, rng)
    names = np.array([f"patient {u}" for u in unit])
    unit = numbered(y, p, unit)
    values = []
    for r in range(50):
        rows = np.concatenate([np.flatnonzero(unit == u) for u in drawn_units(key_of(7), Stream.ROWS, r, 40)])
        values.append(cs.estimate(y[rows], p[rows], measure="ks"))
    settings = {"measure": "ks", "n_resamples": 50, "rng": 7, "method": "percentile"}
    found = cs.confidence_interval(y, p, cluster=names, **settings)
    assert [found.low, found.high] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)


def percentiles(estimate, unit):
    """The percentiles of an estimate of rows over 20 draws of whole clusters, slowly."""
    drawn = [drawn_units(key_of(7), Stream.ROWS, r, unit.max() + 1) for r in range(20)]
    values = [estimate(np.concatenate([np.flatnonzero(unit == u) for u in units])) for units in drawn]
    return np.quantile(values, [0.025, 0.975])


SETTINGS = {"n_resamples": 20, "rng": 7, "method": "percentile"}


@pytest.mark.parametrize("measure", ["mcb", "smooth_ece", "ece_debiased", "kernel_ce_squared", "regression_ce"])
def test_any_measure_of_drawn_clusters(measure):
    y, p, unit = clustered(40, 3, 1.5, np.random.default_rng(1))
    y, p, unit = y[:-2], np.round(p[:-2], 2), numbered(y[:-2], np.round(p[:-2], 2), unit[:-2])  # the last has one row
    expected = percentiles(lambda rows: cs.estimate(y[rows], p[rows], measure=measure), unit)
    found = cs.confidence_interval(y, p, measure=measure, cluster=unit, **SETTINGS)
    assert [found.low, found.high] == pytest.approx(expected, abs=1e-9)
    again = cs.confidence_interval(y[::-1], p[::-1], measure=measure, cluster=7 - unit[::-1], **SETTINGS)
    assert (again.low, again.high, again.estimate) == (found.low, found.high, found.estimate)
    alone = cs.confidence_interval(y, p, measure=measure, **SETTINGS)
    assert (alone.low, alone.high) != (found.low, found.high)  # the planted fault: rows are not drawn one by one


def test_any_measure_of_drawn_clusters_with_weights():
    rng = np.random.default_rng(2)
    y, p, unit = clustered(40, 3, 1.5, rng)
    weight = rng.gamma(2, 1, y.size)
    unit = numbered(y, p, weight, unit)
    for measure in ("mcb", "smooth_ece"):

        def estimate(rows, measure=measure):
            return cs.estimate(y[rows], p[rows], measure=measure, sample_weight=weight[rows])

        found = cs.confidence_interval(y, p, measure=measure, sample_weight=weight, cluster=unit, **SETTINGS)
        assert [found.low, found.high] == pytest.approx(percentiles(estimate, unit), abs=1e-9)


@pytest.mark.parametrize(
    ("measure", "lens"),
    [
        ("ks", {"lens": "class_wise_max"}),
        ("mcb", {"lens": "class_wise_mean"}),
        ("skce", {}),
        ("gce", {"max_prob": False}),
    ],
)
def test_any_measure_of_classes_of_drawn_clusters(measure, lens):
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(90, 1)
    unit = numbered(y, *p.T, np.arange(90) // 4)

    def of_rows(rows):
        if not lens.get("lens", "").startswith("class_wise"):
            return cs.estimate(y[rows], p[rows], measure=measure, **lens)
        each = cs.estimate(y[rows], p[rows], measure=measure, lens="class_wise")
        return each.max() if lens["lens"] == "class_wise_max" else each.mean()

    found = cs.confidence_interval(y, p, measure=measure, cluster=unit, **lens, **SETTINGS)
    assert "\nCaution: only 23 clusters. Bootstrap intervals are too narrow below 30 clusters.\n" in str(found)
    assert [found.low, found.high] == pytest.approx(percentiles(of_rows, unit), abs=1e-9)
    assert found.estimand.endswith("in the population these 23 clusters of 2 to 4 rows are an independent sample of.")


def test_the_low_end_is_zero_where_signs_do_not_reject():
    rng = np.random.default_rng(2)
    lows = []
    for seed in range(30):
        y, p, unit = clustered(40, 4, 1 + seed / 15, rng)
        found = cs.confidence_interval(y, p, measure="kernel_ce", cluster=unit, n_resamples=199, rng=seed)
        value, place = np.unique(p, return_inverse=True)
        unit = numbered(y, p, unit)
        drawn = []
        for r in range(199):
            sign = 2.0 * signs(key_of(seed), Stream.SIGNS, r, 40) - 1
            residual = np.bincount(place, (y - p) * sign[unit]) / y.size
            drawn.append(np.sqrt(residual @ np.exp(-np.abs(value[:, None] - value)) @ residual))
        above = (1 + np.count_nonzero(np.array(drawn) >= found.estimate)) / 200
        assert found.low == 0 or above <= 0.025
        lows.append(found.low)
    assert 0 < np.count_nonzero(lows) < 30


def rare(clusters, size, rng):
    """A calibrated model of an event of chance .01 that all rows of a cluster have together: most data hold none."""
    unit = np.repeat(np.arange(clusters), size)
    return (rng.random(clusters) < 0.01)[unit].astype(int), np.full(unit.size, 0.01), unit


SETS = 60


def denials(pvalue, replicates=SETS):
    """How often this p-value of calibration is at most .025."""
    found = 0
    for r in range(replicates):
        y, p, unit = rare(50, 20, np.random.default_rng(r))
        found += pvalue(pose(y, p, "ks", {}).in_clusters(unit), Draws.of(r, 199)) <= 0.025
    return found


def test_no_event_in_clusters_is_no_evidence_with_the_planted_fault():
    """Signs keep the squares of the observed residuals, which are tiny where no event was observed."""
    most = stats.binom.isf(FALSE_ALARM, SETS, 0.025)
    assert denials(lambda posed, draws: largest_p_value(posed.statistic(), posed.null_draws(draws))[0]) <= most

    def by_signs(posed, draws):
        return p_value(posed.statistic(), posed.null_draws(draws)["signs of clusters"], "greater")

    assert denials(by_signs) > most


def test_few_events_are_counted_in_clusters():
    y, p, unit = rare(50, 20, np.random.default_rng(2))
    y[unit == 3] = 1
    found = cs.confidence_interval(y, p, measure="ks", cluster=unit, n_resamples=99, rng=1)
    assert found.few_events == f"outcome 1 was observed in {np.unique(unit[y == 1]).size} of 50 clusters"
    posed = pose(y, p, "ks", {}).in_clusters(unit)
    assert fewest_events(posed.table) == pytest.approx(
        0.5
    )  # clusters expected to have the event, if of one row: 50 times .01


def test_one_row_a_cluster_is_a_mean_with_its_usual_interval():
    """But for the hidden events: of 4000 clusters k times 4000 (1 - exp(-k / 4000)) / k, not k."""
    y, p = cs.generators.temperature(1.3).sample(4000, 3)
    alone = cs.confidence_interval(y, p, measure="brier")
    found = cs.confidence_interval(y, p, measure="brier", cluster=np.arange(4000), rng=1)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), rel=1e-4)


def test_canonical_predictions():
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, 1)
    found = cs.confidence_interval(y, p, measure="brier", lens="canonical", cluster=np.arange(300) // 2, rng=1)
    assert found.low < found.estimate < found.high


def test_errors():
    y, p, unit = clustered(40, 2, 1, np.random.default_rng(3))
    for bad, match in (
        (unit[:-1], "one cluster a row"),
        (np.zeros(80), "at least 2 clusters"),
        (np.append(unit[:-1], np.nan), "missing clusters, found one at row 79"),
    ):
        with pytest.raises(ValueError, match=match):
            cs.confidence_interval(y, p, cluster=bad)
    with pytest.raises(
        ValueError, match=r"no honest interval with clusters .* ece_debiased; it has the methods percentile"
    ):
        cs.confidence_interval(y, p, cluster=unit, measure="ece_debiased")
    with pytest.raises(ValueError, match="no bca interval with clusters"):
        cs.confidence_interval(y, p, cluster=unit, method="bca")
    with pytest.raises(ValueError, match="Sample, in which rows cannot be told apart"):
        cs.confidence_interval(cs.Sample.from_rows(y, p), cluster=unit)


def coverage(measure, temperature, replicates, with_clusters):
    truth = cs.generators.temperature(temperature).truth(measure)
    covered = 0
    for r in range(replicates):
        y, p, unit = clustered(80, 6, temperature, np.random.default_rng([r, int(10 * temperature)]))
        cluster = unit if with_clusters else None
        found = cs.confidence_interval(y, p, measure=measure, cluster=cluster, n_resamples=199, rng=r)
        covered += found.low - 1e-12 <= truth <= found.high + 1e-12
    return covered


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 1.5])
@pytest.mark.parametrize("measure", ["ece", "ks", "kernel_ce", "smooth_ce", "brier"])
def test_coverage(measure, temperature):
    assert coverage(measure, temperature, 400, True) >= stats.binom.ppf(FALSE_ALARM, 400, 0.94)


@pytest.mark.slow
def test_ignoring_clusters_is_noticed():
    assert coverage("ece", 1.0, 200, False) < stats.binom.ppf(FALSE_ALARM, 200, 0.92)
