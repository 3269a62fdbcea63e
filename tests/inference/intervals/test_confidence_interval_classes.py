"""Honest intervals of several classes: the formula in plain numpy, its gate, and whether they cover."""

import numpy as np
import pytest
from class_examples import example
from likely_sums import high_of_rows, high_of_sums, k_of
from scipy import stats
from score_reach import score_reach

import calibstat as cs
from calibstat import resampling
from calibstat.bounds.intervals import CLASSES_STEP
from calibstat.data import lenses
from calibstat.generators import dirichlet
from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Pairs, Stream

from_rows = cs.Predictions.from_rows
CASES = {
    "mean": {"lens": "class_wise_mean"},
    "max": {"lens": "class_wise_max"},
    "mean, quantiles": {"lens": "class_wise_mean", "strategy": "quantile", "n_bins": 4},
    "max, few bins": {"lens": "class_wise_max", "n_bins": 3},
    "grid": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 4},
    "grid, l1": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 3, "distance": "l1"},
    "tree": {"measure": "canonical_ce", "min_size": 40},
    "groups": {"measure": "canonical_ce", "min_size": 40, "lens": lenses.groups([[0, 2], [1]])},
}
OVER_CLASSES = {"class_wise_mean": "mean", "class_wise_max": "max"}
# where the estimate is small
ONE_BIN = {
    "mean, one bin": {**CASES["mean"], "n_bins": 1},
    "max, one bin": {**CASES["max"], "n_bins": 1},
    "grid, one bin": {**CASES["grid"], "n_bins": 1},
}


def residuals_by_cell(name, prob, label, cut_on):
    """Residuals / n in the cells that `cut_on` makes: of each class (K, C) through class_wise, else of (C, K)."""
    case = {**CASES, **ONE_BIN}[name]
    n, classes = prob.shape
    residual = np.eye(classes)[label] - prob
    if case.get("lens") in OVER_CLASSES:
        options = {o: case[o] for o in ("strategy", "n_bins") if o in case}
        found = []
        for k in range(classes):
            value, row, count = np.unique(cut_on[:, k].astype(float), return_inverse=True, return_counts=True)
            cell = find_measure("ece", options).cells(value, count.astype(float))[row]
            found.append([residual[cell == b, k].sum() / n for b in range(15)])
        return np.array(found), OVER_CLASSES[case["lens"]]
    options = {o: case[o] for o in ("strategy", "n_bins", "min_size") if o in case}
    cell = find_measure("canonical_ce", options).cells(cut_on)
    return np.array([residual[cell == b].sum(axis=0) / n for b in range(cell.max() + 1)]), case.get("distance")


def error(theta, what):
    if what == "max":
        return np.abs(theta).sum(axis=1).max()
    if what == "mean":
        return np.abs(theta).sum(axis=1).mean()
    return np.abs(theta).sum() * (1 if what == "l1" else 0.5)


def cells_of_rows(name, prob):
    """Which entry of `residuals_by_cell` row i and class k add to, shape (n, K, 2)."""
    n, classes = prob.shape
    place = np.empty((n, classes, 2), int)
    case = {**CASES, **ONE_BIN}[name]
    if case.get("lens") not in OVER_CLASSES:
        options = {o: case[o] for o in ("strategy", "n_bins", "min_size") if o in case}
        place[:, :, 0] = find_measure("canonical_ce", options).cells(prob)[:, None]
        place[:, :, 1] = np.arange(classes)
        return place
    options = {o: case[o] for o in ("strategy", "n_bins") if o in case}
    for k in range(classes):
        value, row, count = np.unique(prob[:, k].astype(float), return_inverse=True, return_counts=True)
        place[:, k, 0] = k
        place[:, k, 1] = find_measure("ece", options).cells(value, count.astype(float))[row]
    return place


def transcription(name, predictions, alpha, n_resamples, rng):
    """Estimate, low end (not yet gated), high end, and how exact that is.

    Low is T - q(D), D = (||theta + kappa G*|| - ||theta||) / kappa.
    """
    prob, label = predictions.prob.astype(float), predictions.label
    n, classes = prob.shape
    theta, what = residuals_by_cell(name, prob, label, predictions.prob)
    estimate, kappa = error(theta, what), CLASSES_STEP
    place = cells_of_rows(name, predictions.prob)

    def statistic(rows, _):
        moved = np.zeros(theta.shape)
        residual = np.eye(classes)[label[rows]] - prob[rows]
        np.add.at(moved, (place[rows, :, 0], place[rows, :, 1]), residual / n)
        return (error(theta + kappa * (moved - theta), what) - estimate) / kappa

    steps = resampling.draw(predictions, Pairs(), statistic, Draws.of(rng, n_resamples), Stream.ROWS)
    rank = (1 - alpha / 2) * (n_resamples + 1)  # a whole number here, of the draw that one more exceeds at alpha / 2
    assert rank == int(rank)
    z = stats.norm.isf(alpha / 2)
    low = estimate - reach_below(np.sort(steps)[int(rank) - 1], row_sums(what, place, prob, label, theta), what, z)
    return estimate, low, *high_by_hand(what, place, prob, label, z)


def row_sums(what, place, prob, label, theta):
    """What each row adds to the sum with the signs of the data; of the maximum only in the worst class."""
    classes = prob.shape[1]
    weight = np.sign(theta)
    if what == "max":
        weight = weight * (np.arange(classes) == np.abs(theta).sum(axis=1).argmax())[:, None]
    residual = np.eye(classes)[label] - prob
    added = residual * weight[place[:, :, 0], place[:, :, 1]]
    return added.sum(axis=1) * {"mean": 1 / classes, "l1": 1.0, "max": 1.0}.get(what, 0.5)


def reach_below(drawn, row, what, z):
    """The larger of the reach of resamples and of the normal one, and what skewness adds to the latter."""
    size = {"max": 1.0, "mean": 2 / 3, "l1": 2.0}.get(what, 1.0)  # of three classes; half of 2 in total variation
    variance = (row**2).sum() - row.sum() ** 2 / row.size
    b = min((max(-((row - row.mean()) ** 3).sum(), 0) + 2 * size**3) / (variance + 2 * size**2), size)
    k = (2 * z**2 + 4) / 3
    skewness = b * k / 2 + np.sqrt(z**2 * variance + b**2 * k**2 / 4) - z * np.sqrt(variance)
    return max(drawn, z * np.sqrt(variance) / row.size) + skewness / row.size


def high_by_hand(what, place, prob, label, z):
    """The high end, and how exact it is: of the maximum that of the worst class, else from all sums of cells."""
    n, classes = prob.shape
    if what == "max":
        return max(high_of_rows(label == k, prob[:, k], place[:, k, 1], z) for k in range(classes))
    _, number = np.unique(place.reshape(-1, 2), axis=0, return_inverse=True)
    number, sums = number.reshape(n, classes), number.max() + 1
    x = np.zeros((n, sums))
    for i in range(n):
        for k in range(classes):
            x[i, number[i, k]] += (label[i] == k) - prob[i, k]
    largest = ((2 * (1 - prob[np.arange(n), label])) ** 2).sum()
    return high_of_sums(x, z, largest, {"mean": 1 / classes, "l1": 1.0}.get(what, 0.5), prob, number)


@pytest.mark.parametrize("name", [*CASES, *ONE_BIN])
@pytest.mark.parametrize("temperature", [1.0, 2.5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_against_a_transcription(name, temperature, dtype):
    label, prob = example(150, 3, seed=4, temperature=temperature, dtype=dtype)
    prob[:10] = np.eye(3)[0]
    predictions = from_rows(label, prob)
    seen = lenses.find_lens(CASES[name]["lens"])(predictions) if name == "groups" else predictions
    case = {**CASES, **ONE_BIN}[name]
    estimate, low, high, step = transcription(name, resampling.in_order(seen), 0.1, 79, 6)
    found = cs.confidence_interval(predictions, n_resamples=79, rng=6, confidence_level=0.9, **case)
    test = cs.calibration_test(predictions, n_resamples=79, rng=6, **{"measure": "ece", **case})
    assert found.estimate == pytest.approx(estimate, abs=1e-6 if dtype == np.float32 else 1e-12)
    assert found.high == pytest.approx(high, abs=step + (1e-6 if dtype == np.float32 else 1e-12))
    expected = low if low > 0 and test.pvalue <= 0.05 else 0.0
    assert found.low == pytest.approx(expected, abs=1e-5 if dtype == np.float32 else 1e-12)
    assert (found.method, found.n, found.n_resamples) == ("honest", 150, 79)
    follows_data = name in ("mean, quantiles", "tree", "groups")
    assert found.estimand.endswith("of, over the cells that these rows make." if follows_data else "sample of.")


@pytest.mark.parametrize("name", CASES)
def test_low_end_is_positive_only_if_the_test_rejects(name):
    seen = set()
    for seed in range(25):
        label, prob = example(120, 3, seed=seed, temperature=1 + seed / 12)
        found = cs.confidence_interval(label, prob, n_resamples=99, rng=seed, **CASES[name])
        test = cs.calibration_test(label, prob, n_resamples=99, rng=seed, **{"measure": "ece", **CASES[name]})
        assert 0 <= found.low <= found.estimate
        assert found.low <= found.high
        assert not (found.low > 0 and test.pvalue > 0.025)
        assert found.estimate == pytest.approx(cs.estimate(label, prob, **CASES[name]))
        seen.add(found.low > 0)
    assert seen == {True, False}


@pytest.mark.parametrize("name", ["mean", "grid", "tree"])
def test_threads_do_not_show(name):
    label, prob = example(120, 3, temperature=2.0)
    one, two = (cs.confidence_interval(label, prob, n_resamples=60, rng=1, n_jobs=j, **CASES[name]) for j in (1, 2))
    assert (one.low, one.high) == (two.low, two.high)


def test_two_distances_are_one_interval():
    """L1 is twice total variation, and so is everything about it."""
    label, prob = example(200, 3, temperature=2.0)
    given = {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 3, "n_resamples": 99, "rng": 1}
    half = cs.confidence_interval(label, prob, **given)
    whole = cs.confidence_interval(label, prob, distance="l1", **given)
    assert (whole.low, whole.high) == pytest.approx((2 * half.low, 2 * half.high))
    assert half.low > 0


def test_certain_predictions():
    """No residual: k / n rows of a class may have an event, and the residuals of each such row add up to 2."""
    certain, n = np.eye(3)[[0, 1, 2] * 40], 120
    at = k_of(stats.norm.isf(0.025)) / n
    for name, case in CASES.items():
        found = cs.confidence_interval([0, 1, 2] * 40, certain, n_resamples=19, rng=1, **case)
        most = {"mean": 2 / 3, "mean, quantiles": 2 / 3, "grid, l1": 2}.get(name, 1)
        assert (found.low, found.estimate) == (0, 0)
        assert found.high == pytest.approx(most * at)
    found = cs.confidence_interval([0], [[0.5, 0.25, 0.25]], n_resamples=19, rng=1, **CASES["mean"])
    assert found.low == 0


# --- means of losses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_mean_of_losses_is_the_score_interval(measure):
    """The Brier score of K classes is at most 2; a log loss is taken to be at most that of the least prediction."""
    label, prob = example(60, 4, seed=1)
    observed = prob[np.arange(60), label]
    loss = ((np.eye(4)[label] - prob) ** 2).sum(axis=1) if measure == "brier" else -np.log(observed)
    found = cs.confidence_interval(label, prob, measure=measure, lens="canonical", confidence_level=0.9)
    most = 2.0 if measure == "brier" else -np.log(prob.min())
    assert found.high == pytest.approx(loss.mean() + score_reach(loss, most, 0.9), rel=1e-10)
    assert found.low == pytest.approx(loss.mean() - score_reach(-loss, 0.0, 0.9), rel=1e-10)
    assert found.estimate == pytest.approx(loss.mean())


def test_means_that_are_not_there():
    never = cs.confidence_interval([0, 1], [[0, 1, 0], [0, 1, 0]], measure="log_loss", lens="canonical")
    assert (never.low, never.high) == (np.inf, np.inf)
    assert never.why_infinite == "the observed outcome at row 0 had probability 0"
    one = cs.confidence_interval([0], [[0.5, 0.25, 0.25]], measure="brier", lens="canonical")
    assert (one.low, one.estimate, one.high) == (0, 0.375, 2)  # of one row all that is possible
    with pytest.raises(ValueError, match="any class but 0 was observed in 0 of 1 rows"):
        cs.confidence_interval([0], [[0.5, 0.25, 0.25]], measure="log_loss", lens="canonical")
    label, prob = example(60, 3, seed=1)
    prob[0] = np.eye(3)[label[0]]
    open_end = cs.confidence_interval(label, prob, measure="log_loss", lens="canonical")
    assert open_end.low < open_end.estimate < open_end.high == np.inf
    assert open_end.why_infinite == "a prediction at row 0 is 0, and may be wrong"


# --- coverage --------------------------------------------------------------------------------------------------------

FAMILIES = {
    "calibrated": dirichlet((1, 1, 1)),
    "over-confident": dirichlet((1, 1, 1), temperature=1.5),
    "under-confident": dirichlet((0.5, 0.5, 0.5), temperature=0.7),
    "shifted": dirichlet((1, 2, 1), scale=(1, 1, 1), shift=(0.5, 0, -0.3)),
}
COVERED = ["mean", "max", "grid", "grid, l1"]
SCORES = {name: {"measure": name, "lens": "canonical"} for name in ("brier", "log_loss")}


def misses(family, runs, n, case, method="honest"):
    """How many intervals of 90 % miss the truth."""
    truth, found = family.truth(**case), 0
    for run in range(runs):
        label, prob = family.sample(n, 5000 + run)
        interval = cs.confidence_interval(
            *(label, prob), n_resamples=99, rng=run, method=method, confidence_level=0.9, **case
        )
        found += not interval.low <= truth <= interval.high
    return found


RUNS = 40


def most(runs):
    """Misses that 10 % in every run exceed once in 100,000."""
    return stats.binom.isf(1e-5, runs, 0.1)


@pytest.mark.parametrize("family", ["calibrated", "over-confident"])
@pytest.mark.parametrize("name", COVERED)
def test_coverage(name, family):
    assert misses(FAMILIES[family], RUNS, 200, CASES[name]) <= most(RUNS)


@pytest.mark.parametrize("name", COVERED)
def test_coverage_check_can_fail(name):
    """Planted fault: percentiles, which never hold the zero of a calibrated model."""
    assert misses(FAMILIES["calibrated"], RUNS, 200, CASES[name], "percentile") > most(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", [*COVERED, *SCORES])
def test_coverage_in_many_runs(name, family, n):
    case = {**CASES, **SCORES}[name]
    if name in SCORES:  # a t interval is exact only as n grows
        assert misses(FAMILIES[family], 1000, n, case) <= stats.binom.isf(1e-5, 1000, 0.12)
    else:
        assert misses(FAMILIES[family], 500, n, case) <= most(500)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["calibrated", "over-confident"])
def test_coverage_check_can_fail_in_many_runs(family):
    assert misses(FAMILIES[family], 500, 100, CASES["mean"], "percentile") > most(500)
    assert misses(FAMILIES[family], 500, 100, CASES["grid"], "percentile") > most(500)


# --- intervals that are not honest -----------------------------------------------------------------------------------


@pytest.mark.parametrize("lens", OVER_CLASSES)
@pytest.mark.parametrize(("measure", "options"), [("ece", {}), ("ks", {}), ("ece_debiased", {"n_bins": 3})])
def test_percentiles_of_all_classes(measure, options, lens):
    """Each resample of the rows is one number of all its classes."""
    label, prob = example(60, 4, temperature=1.4)
    bound = find_measure(measure, options)
    predictions = resampling.in_order(from_rows(label, prob))
    drawn = resampler(bound, predictions, Pairs(), Stream.ROWS)(Draws.of(8, 49))
    how = OVER_CLASSES[lens]
    together = drawn.mean(axis=1) if how == "mean" else drawn.max(axis=1)
    given = {"measure": measure, "lens": lens, "n_resamples": 49, "rng": 8, **options}
    found = cs.confidence_interval(label, prob, method="percentile", **given)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(together, [0.025, 0.975])))
    expected = cs.estimate(label, prob, measure=measure, lens=lens, **options)
    assert found.estimate == pytest.approx(expected, abs=1e-12)
    assert str(found.lens) == f"lens class_wise, {how} over 4 classes"
    assert f"lens class_wise, {how} over 4 classes, in the population" in found.estimand
