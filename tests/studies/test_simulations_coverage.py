"""The study of coverage: its hard cells, its real populations, and the interval of Sun et al."""

import numpy as np
import pytest
from simulation_files import study_file, study_part

import calibstat as cs

coverage = study_file("coverage")
hard, sun, finite = (study_part(name) for name in ("hard_cells", "sun", "finite_populations"))


def test_rivals_by_hand():
    # half predicted .1 and never happening add -.05; the others, too low by .2, take the sum to .05
    assert hard.rivals(1000, 0).truth("ks") == pytest.approx(0.05)
    assert hard.rivals(1000, 0).truth("kuiper") == pytest.approx(0.1)
    unit = np.sqrt(0.24 / 500)
    assert hard.rivals(1000, 1).truth("ks") == pytest.approx(0.05 + unit / 2)


def test_certain_groups_by_hand():
    # a quarter adds .25 * .05 and three quarters take .75 * .3 sqrt(.24 / 750) from it: partial sums from the lowest
    step = 0.75 * 0.3 * np.sqrt(0.24 / 750)
    assert hard.certain_high(1000).truth("ks") == pytest.approx(max(step, 0.0125 - step))
    step = 0.82 * 0.3 * np.sqrt(0.09 / 820)
    assert hard.certain_low(1000).truth("ks") == pytest.approx(max(0.18 * 0.06, 0.0108 - step))


def test_rare_outcomes_by_hand():
    found = hard.rare()
    assert found["rare .001, calibrated"].is_calibrated
    assert found["rare .01, a third"].truth("ece") == pytest.approx(0.01 * 2 / 3, rel=1e-4)


def test_few_events_by_hand():
    found = hard.few_events(200)
    assert [population.is_calibrated for population in found.values()] == [True, False, True]
    assert found["2 events, predicted half"].truth("ks") == pytest.approx(0.01 - 0.005)
    y, p = found["2 events and 2 non-events"].sample(100_000, 1)
    assert (y[p < 0.5].sum(), (1 - y[p > 0.5]).sum()) == pytest.approx((1000, 1000), rel=0.15)  # 500 times as many rows


def test_waves_and_ends_by_hand():
    assert hard.at_ends().truth("ece") == pytest.approx(0.8 * 0.002)
    # |.95 min(v, 1 - v) sin(15 pi v)| is .95 times 1/4 times 2/pi on average, up to the waves' number
    assert hard.waves().truth("ece", n_bins=None) == pytest.approx(0.95 / 4 * 2 / np.pi, rel=0.02)


def test_rival_classes_by_hand():
    classes = hard.rival_classes(1000, 0).truth("ece", lens="class_wise")
    assert classes == pytest.approx([0.05, 0.05, 0.05])
    y, p = hard.rival_classes(1000, 0).sample(20_000, 1)
    assert np.bincount(y) / y.size == pytest.approx([0.525, 0.275, 0.2], abs=0.02)
    assert set(p[:, 0]) == {0.9, 0.05}


def test_real_populations_are_the_rows_of_the_data():
    for name, rows in zip(finite.REAL, (569, 569, 1797), strict=True):
        found = finite.population(name)
        assert len(found.chance) == rows
        assert set(found.chance) == {0.0, 1.0}
        assert finite.RealRows(name).truth("ece") == pytest.approx(cs.estimate(found.chance, found.prediction))
    y, p = finite.RealRows(finite.REAL[0]).sample(300, 1)
    assert set(p) <= set(finite.population(finite.REAL[0]).prediction)
    assert y.shape == (300,)


def test_the_squared_error_of_sun_et_al_is_unbiased_by_pairs():
    """It is the mean over bins of products of residuals of two different rows, n_b times: the plain sum over pairs."""
    y, p = cs.generators.shift(2).sample(80, 1)
    found = sun.sun_interval(cs.Sample.from_rows(y, p), n_bins=5)
    place = np.searchsorted(np.arange(6) / 5, p)
    total = 0.0
    for b in range(1, 6):
        u = (y - p)[place == b]
        pairs = [u[i] * u[j] for i in range(u.size) for j in range(u.size) if i != j]
        total += sum(pairs) / (u.size - 1)
    assert found.estimate**2 == pytest.approx(total / y.size)


def test_the_interval_of_sun_et_al_by_hand():
    # one bin, 100 rows predicted .5, 90 happen: mean residual .4, mean square .25
    found = sun.sun_interval(cs.Sample.from_counts([0.5], [100], [90]), n_bins=1)
    squared = (100 * 0.16 - 0.25) / 99  # (n mean² - mean square) / (n - 1)
    spread = np.sqrt((4 * 0.16 * 0.25 - 3 * 0.4**4 - 0.4**4) / 100)  # 4 mean² square - 3 mean⁴ - (mean²)²
    assert squared > 4 * spread  # so the plain normal interval
    assert found.estimate == pytest.approx(np.sqrt(squared))
    assert found.low == pytest.approx(np.sqrt(squared - 1.959964 * spread))
    assert found.high == pytest.approx(np.sqrt(squared + 1.959964 * spread))


def test_the_interval_of_sun_et_al_near_calibration():
    # 52 of 100 happen: mean residual .02, and the squared error is estimated below 0: both ends are at the root of
    # what the spread adds
    found = sun.sun_interval(cs.Sample.from_counts([0.5], [100], [52]), n_bins=1)
    spread = np.sqrt((4 * 0.0004 * 0.25 - 4 * 0.02**4) / 100)
    assert found.estimate == 0
    assert found.low == 0
    assert found.high == pytest.approx(np.sqrt(1.959964 * spread))
    # 60: (1 - .25) / 99 = .0076, above 1.645 times its spread under calibration, sqrt(2 * 100 / 99) / 4 / 100 = .0036
    found = sun.sun_interval(cs.Sample.from_counts([0.5], [100], [60]), n_bins=1)
    squared, spread = 0.75 / 99, np.sqrt((4 * 0.01 * 0.25 - 4 * 0.1**4) / 100)
    assert squared < 2 * 1.644854 * spread
    assert found.low == pytest.approx(np.sqrt(max(squared - 1.644854 * spread, 0)))


def test_rows_of_what_is_no_grid_are_like_those_of_grids():
    found = coverage.of_sun("calibrated", cs.generators.calibrated(), 100, 10)
    label, case = next(iter(hard.few_clusters().items()))
    clustered = coverage.of_clusters(label, case, coverage.Recipe("Clusters", "ks"), 10)
    grid = cs.study.run("coverage", {"c": cs.generators.calibrated()}, 50, ["ks"], replicates=2, seed=1, n_resamples=19)
    assert set(grid) == set(found)
    assert set(grid) - set(clustered) == {"mean_estimate", "sd_estimate", "floored"}
    assert clustered["n"] == 15
    assert clustered["covered"] == 10 - clustered["missed_below"] - clustered["missed_above"]
    assert found["truth"] == 0
