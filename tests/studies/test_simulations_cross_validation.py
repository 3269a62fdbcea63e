"""The study of cross-validation: its recipe is that of the package, its limits and learners are what they say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binom, norm
from simulation_files import study_file, study_part

import calibstat as cs
from calibstat.inference.designs.folds.fold_comparison import variance_of_difference

study_module = study_file("cross_validation")
ends, folds, limits, learners = (
    study_part(name) for name in ("ends_in_the_limit", "fold_ends", "folds_in_the_limit", "learners")
)
FALSE_ALARM = 1e-4
NOMINAL = 0.025


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# --- the recipe -------------------------------------------------------------------------------------------------------


def rows_in_folds(seed, n=400, k=5):
    """Outcomes, predictions with ties, 0 and 1, and folds of one size."""
    random = np.random.default_rng(seed)
    p = random.beta(0.7, 1.0, n).round(2)
    return (random.random(n) < 0.1 + 0.7 * p).astype(int), p, random.permutation(n) % k


def test_errors_are_those_of_the_package():
    for seed in range(20):
        y, p, _ = rows_in_folds(seed, n=1 + 20 * seed)
        expected = [cs.estimate(y, p, measure=measure) for measure in ends.MEASURES]
        assert folds.errors(p, y - p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_ends_are_those_of_the_package(seed):
    """Up to the noise of the draws of both, 3 % of a quantile."""
    y, p, fold = rows_in_folds(seed)
    found = folds.upper_ends(np.random.default_rng(seed), y, p, fold, 3999)
    for measure, each in found.items():
        for method, high in (("triangle", each.triangle), ("mirror", each.mirror)):
            given = {"measure": measure, "folds": fold, "method": method, "n_resamples": 3999, "rng": seed}
            assert cs.confidence_interval(y, p, **given).high == pytest.approx(high, rel=0.03)
        assert each.as_is <= each.mirror <= each.triangle


def test_ends_and_variances_of_clusters_are_those_of_the_package():
    """Up to the noise of the draws of both, 5 % of a quantile."""
    y, p, _ = rows_in_folds(8)
    random = np.random.default_rng(8)
    unit = np.repeat(np.arange(400), random.integers(1, 8, 400))[:400]
    fold = (random.permutation(unit.max() + 1) % 5)[unit]
    rows = {"folds": fold, "cluster": cs.Clusters(unit, unseen="clusters"), "rng": 1}
    for measure, each in folds.upper_ends(random, y, p, fold, 1999, unit).items():
        high = cs.confidence_interval(y, p, measure=measure, n_resamples=1999, **rows).high
        assert high == pytest.approx(each.triangle, rel=0.05)
    theorem, _ = folds.fold_tests(random, y, p, fold, "ks", unit)
    assert cs.calibration_test(y, p, measure="ks", **rows).rows.pvalue_by_theorem == pytest.approx(theorem, abs=0.2)
    loss = random.normal(size=(3, 400)) + random.normal(size=400)[unit]
    three = [(random.permutation(unit.max() + 1) % 5)[unit] for _ in range(3)]
    _, within, between = folds.difference(loss, three, unit)
    assert within + between == pytest.approx(variance_of_difference(loss, three, unit))


def test_rows_of_clusters_are_copies_or_independent():
    cell = study_module.InClusters("interval", "Platt", 4000, 5, 1)
    rows = study_module.drawn(np.random.default_rng(1), cell, learners.OVER)
    size = np.bincount(rows.unit)
    assert set(size[:-1]) == {400, *range(1, study_module.MOST_ROWS + 1)}
    alike = np.array([np.ptp(rows.x[rows.unit == k]) == 0 for k in range(size.size)])
    assert alike[size == 1].all()
    assert abs(alike[size > 1].mean() - study_module.SHARE_OF_COPIES) < 4 * 0.5 / np.sqrt((size > 1).sum())
    copies = np.flatnonzero(alike)
    assert all(np.ptp(rows.y[rows.unit == k]) == 0 for k in copies)
    fold = rows.dealt(np.random.default_rng(2), 5)
    assert all(np.ptp(fold[rows.unit == k]) == 0 for k in range(size.size))


def test_multipliers_are_centred_in_folds_and_of_variance_1():
    fold = np.repeat([0, 1, 2], [2, 7, 11])
    sign = np.concatenate(list(folds.multipliers(np.random.default_rng(1), fold, 20_000)))
    for k in range(3):
        assert np.abs(sign[:, fold == k].sum(axis=1)).max() < 1e-4
    assert (sign**2).mean(axis=0) == pytest.approx(np.ones(20), abs=0.05)


def test_p_values_are_those_of_the_package():
    """The largest Monte Carlo standard error is that of 5 p at p = .1, with 999 draws .047 on each side."""
    y, p, fold = rows_in_folds(5)
    theorem, together = folds.fold_tests(np.random.default_rng(1), y, p, fold, "ks")
    test = cs.calibration_test(y, p, measure="ks", folds=fold, rng=1)
    assert test.rows.pvalue_by_theorem == pytest.approx(theorem, abs=0.2)
    assert float(test.rows.pvalue_of_rows[0]) == pytest.approx(together, abs=0.08)


def test_the_variance_of_a_difference_is_that_of_the_package():
    random = np.random.default_rng(3)
    loss = [random.normal(size=60) for _ in range(3)]
    fold = [random.permutation(60) % 5 for _ in range(3)]
    mean, within, between = folds.difference(loss, fold)
    assert mean == pytest.approx(np.mean(loss))
    assert within + between == pytest.approx(60 * variance_of_difference(np.array(loss), fold) / 60)
    alone = folds.difference(loss[:1], fold[:1])
    assert alone[2] == 0
    assert 2 * alone[1] == pytest.approx(variance_of_difference(np.array(loss[:1]), fold[:1]))


# --- limits -----------------------------------------------------------------------------------------------------------


def test_ends_in_the_limit_are_those_of_the_package_with_many_rows():
    """Cells of 1e9 rows and errors of the size of their noise, in units of one over the root of n."""
    random = np.random.default_rng(4)
    for m in (1, 3, 8):
        place = np.sort(random.permutation(15)[:m] + random.random(m) * 0.9 + 0.05) / 15
        share = random.dirichlet(np.full(m, 3))
        n = 1e9
        count = np.round(n * share)
        for size in (0.0, 2.0, 6.0):
            noise = np.sqrt(count * place * (1 - place))
            events = np.clip(np.round(count * place + size * noise * random.normal(size=m)), 0, count)
            sample = cs.Sample(place, count, events)
            seen = (events - count * place) / np.sqrt(n)
            for measure in ends.MEASURES:
                found = ends.Ends(measure, place, noise / np.sqrt(n)).as_is(seen[None])[0]
                # without the floor, the median if calibrated
                high = cs.MEASURES[measure]().interval(sample).high(NOMINAL) * np.sqrt(n)
                assert found == pytest.approx(high, rel=3e-3), (m, size, measure)


def limit_of(learner, cells=8, **parts):
    given = {
        "gap": np.full(cells, 0.1),
        "spread": np.zeros(cells),
        "start": np.zeros(cells),
        "off": np.zeros(cells),
        "features": np.eye(cells),
        "penalty": np.zeros(cells),
        "instruments": np.eye(cells),
        "factor": np.zeros(1),
        "matrix": np.eye(cells),
        "threshold": np.full(cells, 2.0),
        "jump": np.zeros(cells),
    }
    return limits.Limit(learner, 5, given | parts)


def misses(limit, measure, data_sets=4000):
    return limits.Misses().add(np.random.default_rng(6), limit, measure, data_sets, 7999)


def is_nominal(count, data_sets):
    """Whether a count is that of the nominal probability, which 7999 inner draws move by at most .006."""
    least = binom.ppf(FALSE_ALARM, data_sets, NOMINAL - 0.006)
    return least <= count <= cs.study.most_rejections(NOMINAL + 0.006, data_sets, FALSE_ALARM)


@pytest.mark.parametrize("measure", ["ece", "ks", "kernel_ce"])
def test_of_cell_means_nothing_is_seen_and_the_mirror_is_exact(measure):
    """S = 0 and T = ||G||: the mirror is the quantile of the noise, and so is the triangle."""
    found = misses(limit_of("cell means"), measure)
    assert found.mirror == found.triangle
    assert is_nominal(found.mirror, found.data_sets)
    if measure == "ece":
        assert found.as_is > cs.study.most_rejections(0.05, found.data_sets, FALSE_ALARM)


@pytest.mark.parametrize("measure", ["ece", "ks", "kernel_ce"])
def test_of_a_fixed_model_the_mirror_is_the_honest_end_or_longer(measure):
    """Nothing is fitted: rows are fresh."""
    found = misses(limit_of("any linear map", matrix=np.zeros((8, 8)), off=np.full(8, 3.0)), measure)
    limit = cs.study.most_rejections(NOMINAL + 0.006, found.data_sets, FALSE_ALARM)
    assert found.triangle <= found.mirror <= found.as_is <= limit


def test_the_mirror_breaks_where_a_learner_corrects_too_much():
    """A = 2 I: T = 2 ||G|| and S = -G, of which T less ||S|| is ||G||: the triangle is exact."""
    found = misses(limit_of("any linear map", matrix=2 * np.eye(8)), "ece", 1000)
    assert found.mirror > 0.1 * found.data_sets  # it misses more than a third, and .025 are promised
    assert is_nominal(found.triangle, found.data_sets)


def test_a_single_cell_by_hand():
    """One cell of spread 1, A = 2: T = 2 |G|, S = -G. The honest end of ks is |G| + 1.96, the mirror is not shorter.

    T is above |G| + 1.96 with probability 2 (1 - Phi(1.96)) = .05; the 97.5 % quantile of |G + Z| is at most |G| +
    2.24, so the mirror misses with a probability of .025 to .05, and the triangle with .025.
    """
    found = misses(limit_of("any linear map", cells=1, matrix=2 * np.eye(1)), "ks", 20_000)
    assert found.as_is <= cs.study.most_rejections(2 * norm.sf(ends.Z), 20_000, FALSE_ALARM)
    assert found.as_is > 0.04 * 20_000
    assert found.triangle <= found.mirror <= found.as_is
    assert is_nominal(found.triangle, 20_000)


def test_fits_are_symmetric_in_the_metric_of_the_noise_and_correct_at_most_fully():
    random = np.random.default_rng(7)
    for _ in range(50):
        limit = limits.random_limit(random, "efficient or penalised fit")
        matrix = limits.fit(limit.spread, *limits.scaled(limit.spread, limit.parts))
        metric = matrix * limit.spread**2
        assert metric == pytest.approx(metric.T, abs=1e-6 * np.abs(metric).max())
        values = np.linalg.eigvals(matrix).real
        assert values.min() > -1e-6
        assert values.max() < 1 + 1e-6
    matrix = np.linalg.solve(np.array([[1.0, 0.0], [0.5, 1.0]]), np.diag([1.0, 0.0]))  # oblique
    assert not np.allclose(matrix, matrix.T)


def test_the_limit_of_isotonic_regression_is_isotonic_regression():
    from sklearn.isotonic import isotonic_regression

    random = np.random.default_rng(8)
    spread = np.exp(random.normal(size=9))
    jump = random.random(9) * (random.random(9) < 0.4)
    seen = random.normal(size=(4, 3, 9))
    found = limits.isotonic(seen, spread, {"jump": jump})
    level = 8 * np.cumsum(jump) / spread.min()
    for i in range(4):
        for k in range(3):
            expected = isotonic_regression(seen[i, k] / spread**2 + level, sample_weight=spread**2)
            assert found[i, k] == pytest.approx((expected - level) * spread**2, abs=1e-9)


@pytest.mark.parametrize("learner", limits.LEARNERS)
def test_limits_can_be_drawn_and_changed(learner):
    random = np.random.default_rng(9)
    for _ in range(10):
        limit = limits.changed(random, limits.random_limit(random, learner))
        for error, seen in limit.draws(random, 3):
            assert error.shape == seen.shape == (3, limit.spread.size)
            assert np.isfinite(error).all()


# --- learners ---------------------------------------------------------------------------------------------------------


def test_logistic_regression_is_that_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(10)
    x = learners.RARE.draw(random, 500)
    y = (random.random(500) < learners.RARE.chance(x)).astype(int)
    for penalty, weight in ((1.0, None), (60.0, None), (1.0, "balanced")):
        expected = LogisticRegression(C=1 / penalty, class_weight=weight, tol=1e-10, max_iter=1000).fit(x, y)
        found = learners.logistic(random, x, y, penalty=penalty, balanced=weight is not None)
        assert found(x) == pytest.approx(expected.predict_proba(x)[:, 1], abs=1e-5)


def test_naive_bayes_is_that_of_scikit_learn():
    """But for .01 that is added to each standard deviation."""
    from sklearn.naive_bayes import GaussianNB

    random = np.random.default_rng(11)
    x = learners.RELATED.draw(random, 500)
    y = (random.random(500) < learners.RELATED.chance(x)).astype(int)
    found = learners.naive_bayes(random, x, y)(x)
    assert found == pytest.approx(GaussianNB().fit(x, y).predict_proba(x)[:, 1], abs=0.02)
    repeated = learners.naive_bayes(random, x, y, repeated=3)(x)
    expected = GaussianNB().fit(np.tile(x, 3), y).predict_proba(np.tile(x, 3))[:, 1]
    assert repeated == pytest.approx(expected, abs=0.05)


def test_a_calibrated_cut_has_the_true_means():
    random = np.random.default_rng(12)
    population = learners.Uniform()
    for _ in range(5):
        x = population.draw(random, 100)
        predict = learners.calibrated_cut(random, x, (random.random(100) < population.chance(x)).astype(int))
        grid = (np.arange(100_000)[:, None] + 0.5) / 100_000
        value, chance = predict(grid), population.chance(grid)
        for level in np.unique(value):
            assert chance[value == level].mean() == pytest.approx(level, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in learners.LEARNERS if name not in ("forest", "boosting")])
def test_learners_predict_probabilities(name):
    population, learner = learners.LEARNERS[name]
    random = np.random.default_rng(13)
    x = population.draw(random, 120)
    y = (random.random(120) < population.chance(x)).astype(int)
    predicted = learner(random, x, y)(population.draw(random, 50))
    assert predicted.shape == (50,)
    assert predicted.min() >= 0
    assert predicted.max() <= 1


def test_models_do_not_see_the_rows_that_they_predict():
    seen = []

    def learner(random, x, y):
        seen.append(x[:, 0])
        return lambda new: np.full(len(new), len(seen) / 10)

    x, fold = np.arange(12.0)[:, None], np.arange(12) % 3
    fits = study_module.cross_fitted(np.random.default_rng(1), learner, x, np.zeros(12, int), fold, x[:2])
    for k, rows in enumerate(seen):
        assert set(rows) == set(np.arange(12.0)[fold != k])
        assert (fits.prediction[fold == k] == (k + 1) / 10).all()
    assert fits.at_fresh.shape == (3, 2)


# --- the table --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick():
    return study_module.table(quick=True, n_jobs=1)


def test_a_small_table_keeps_its_promises_and_is_drawn(quick):
    assert set(quick["question"]) == {"interval", "repeats", "test", "difference", "limit"}
    assert study_module.violations(quick).empty
    assert set(study_module.figures(quick)) == {"", "limits", "widths"}


def test_broken_promises_are_found(quick):
    kept = {
        "missed_above": ("mirror", "histogram"),
        "missed_below": ("as_is", "histogram"),
        "rejections": ("twice the smaller", "always calibrated"),
    }
    for column, (method, generator) in kept.items():
        wrong = quick.copy()
        row = (wrong["method"] == method) & (wrong["generator"] == generator)
        row &= (column != "missed_below") | (wrong["measure"] != "ece")  # which has no low end with folds
        wrong.loc[row, ["replicates", column]] = 1000, 120
        found = study_module.violations(wrong)
        assert len(found) == row.sum()
        wrong.loc[row, column] = 50
        assert study_module.violations(wrong).empty
    unpromised = quick.copy()
    unpromised.loc[(quick["method"] == "mirror") & (quick["generator"] == "tree"), "missed_above"] = 3
    assert study_module.violations(unpromised).empty


def test_a_cell_has_the_same_numbers_each_time(tmp_path):
    cell = study_module.Cell("difference", "Platt", 60, 3, 2)
    once = study_module.asked(cell, None)
    assert study_module.asked(cell, tmp_path) == once
    assert study_module.asked(cell, tmp_path) == once
    assert len(list(tmp_path.glob("*.json"))) == 1


# --- slow -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["always calibrated", "logistic at its truth"])
def test_tests_of_calibrated_learners_keep_their_level(name):
    """And the smallest p-value of five folds, not multiplied, does not: it rejects 1 - .95**5 = .23."""
    cell = study_module.Cell("test", name, 100, 5, 600)
    rows = {
        row["method"]: row for row in study_module.of_tests(np.random.default_rng(14), cell) if row["measure"] == "ks"
    }
    most = cs.study.most_rejections(0.05, 600, FALSE_ALARM)
    assert rows["folds"]["rejections"] <= most
    assert rows["twice the smaller"]["rejections"] <= most
    population, learner = learners.LEARNERS[name]
    random = np.random.default_rng(15)
    least = 0
    for _ in range(200):
        x = population.draw(random, 100)
        y = (random.random(100) < population.chance(x)).astype(int)
        fold = study_module.Rows(x, y, None).dealt(random, 5)
        p = study_module.cross_fitted(random, learner, x, y, fold, x[:1]).prediction
        least += folds.fold_tests(random, y, p, fold, "ks")[0] <= 0.25  # five times the smallest
    assert least > cs.study.most_rejections(0.05, 200, FALSE_ALARM)


@pytest.mark.slow
def test_both_ends_hold_for_maps_and_the_one_of_fresh_rows_does_not():
    """Histogram maps fit all that `ece` sees: at n = 5000 the honest end of fresh rows misses often."""
    cell = study_module.Cell("interval", "histogram", 5000, 5, 120)
    rows = study_module.of_intervals(np.random.default_rng(16), cell)
    missed = {(row["measure"], row["method"]): row["missed_above"] for row in rows}
    most = cs.study.most_rejections(study_module.MOST_MISSES, 120, FALSE_ALARM)
    for measure in ends.MEASURES:
        assert missed[measure, "triangle"] <= missed[measure, "mirror"] <= most
    assert missed["ece", "as_is"] > missed["ece", "mirror"]


@pytest.mark.slow
def test_a_difference_with_the_variance_between_repeats_covers_and_the_one_within_folds_does_not():
    """Platt scaling of predictions that are calibrated already: what is left is rows times training rows."""
    cell = study_module.Cell("difference", "Platt of calibrated predictions", 200, 5, 400)
    missed = {row["method"]: row["misses"] for row in study_module.of_differences(np.random.default_rng(17), cell)}
    most = cs.study.most_rejections(0.05, 400, FALSE_ALARM)
    assert missed["within and between"] <= most
    assert missed["within folds"] > most
