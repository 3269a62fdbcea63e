"""Intervals of predictions out of folds: beside plain numpy, ordered ends, and models that ignore the outcomes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import PREDICTION

import calibstat as cs
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.inference.designs.folds.fold_interval import FoldEnds, noise_within_folds, variance_within
from calibstat.inference.designs.folds.folded_problem import folded_problems
from calibstat.inference.honest_ends import TooFewEvents
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws, Stream, sums_of_fold_signs
from calibstat.resampling.row_sums import signs

Y, P = cs.generators.shift(0.4).sample(150, rng=1)
FOLD = np.random.default_rng(1).permutation(150) % 5
MEASURES = ("kernel_ce", "ks", "kuiper", "smooth_ce", "ece")


def ends_of(y, p, fold, measure="ks", draws=99, rng=1):
    (folded,) = folded_problems(cs.Data(y, p, folds=fold), find_measure(measure, {}))
    return FoldEnds.of(folded, 0.05, Draws.of(rng, draws))


def norms(p):
    """The norms of residuals / n of rows in ascending order of distinct predictions, by their definitions."""
    kernel = np.exp(-np.abs(p[:, None] - p[None]))
    cell = np.minimum((p * 15).astype(int), 14)
    return {
        "kernel_ce": lambda r: np.sqrt(r @ kernel @ r),
        "ks": lambda r: np.abs(np.cumsum(r)).max(),
        "kuiper": lambda r: np.append(np.cumsum(r), 0).max() - np.append(np.cumsum(r), 0).min(),
        "ece": lambda r: np.abs(np.bincount(cell, r)).sum(),
    }


@pytest.mark.parametrize("measure", ["kernel_ce", "ks", "kuiper", "ece"])
def test_both_ends_are_plain_numpy(measure):
    """Rows are drawn in the order of outcomes and predictions; folds are numbered by their first rows in it."""
    order = np.lexsort((P, Y))
    y, p, fold = Y[order], P[order], FOLD[order]
    key, n, noise = Draws.of(1, 999).key, 150, []
    for r in range(999):
        sign = 2.0 * signs(key, Stream.FOLD_SIGNS, r, n) - 1
        for k in range(5):
            m = np.count_nonzero(fold == k)
            sign[fold == k] = (sign[fold == k] - sign[fold == k].mean()) * np.sqrt(m / (m - 1))
        noise.append(sign * (y - p) / n)
    by_prediction = np.argsort(p)
    norm = norms(p[by_prediction])[measure]
    residual, noise = ((y - p) / n)[by_prediction], np.array(noise)[:, by_prediction]

    def quantile(values):
        return np.quantile(values, 0.975, method="weibull")

    fresh = cs.confidence_interval(Y, P, measure=measure, rng=1)
    triangle = norm(residual) + quantile([norm(each) for each in noise])
    mirror = quantile([norm(residual + each) for each in noise])
    only = quantile([norm(each) for each in noise])
    found = cs.confidence_interval(Y, P, folds=FOLD, measure=measure, rng=1)
    assert found.high == pytest.approx(max(triangle, fresh.high), rel=1e-9)
    found = cs.confidence_interval(Y, P, folds=FOLD, measure=measure, method="mirror", rng=1)
    assert found.high == pytest.approx(max(mirror, only, fresh.high), rel=1e-9)
    assert found.estimate == pytest.approx(norm(residual), rel=1e-9)


@st.composite
def rows_in_folds(draw):
    """Rows in three folds of two rows or more, with ties, exact 0 and 1, constant predictions and few events."""
    n = draw(st.integers(60, 66))
    p = draw(st.one_of(st.lists(PREDICTION, min_size=n, max_size=n), PREDICTION.map(lambda v: [v] * n)))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    y[0], y[1] = 1, 1  # an event in each training part
    y[2], y[3] = 0, 0
    return np.array(y), np.array(p), np.arange(n) % 3


@given(rows_in_folds(), st.sampled_from(MEASURES))
@settings(max_examples=25, deadline=None)
def test_ends_are_ordered(rows, measure):
    ends = ends_of(*rows, measure, draws=39)
    assert ends.mirror >= max(ends.high, ends.noise)
    assert ends.triangle >= ends.mirror - 1e-12
    assert ends.triangle >= ends.estimate
    assert ends.shifted <= ends.estimate + ends.noise + 1e-12


def test_without_residuals_the_mirror_is_the_noise():
    """Half of the outcomes at each prediction 1/2: S = 0, and both ends are the quantile of the noise."""
    y, p = np.tile([0, 1], 60), np.full(120, 0.5)
    ends = ends_of(y, p, np.arange(120) // 30, "kernel_ce", draws=999)
    assert ends.estimate == 0
    assert ends.noise == ends.shifted
    # residuals of +-1/2 within folds: sd 1/2 sqrt(m / (m - 1)), and a normal two-sided quantile of 2.24
    assert ends.noise == pytest.approx(2.2414 * 0.5 * np.sqrt(30 / 29) / np.sqrt(120), rel=0.06)


def test_of_a_model_that_ignores_outcomes_the_mirror_is_hardly_longer():
    """The larger of two ends that are nearly equal on average is longer than each, by the noise of both.

    The end of fresh rows allows for skewness, which is 1.5 % of it with 300 rows.
    """
    for shift, rows, most in ((0, 300, 1.025), (0.6, 2000, 1.01)):
        found = []
        for i in range(30):
            y, p = cs.generators.shift(shift).sample(rows, rng=i)
            found.append(ends_of(y, p, np.arange(rows) % 5, "kernel_ce", 499, i))
        fresh, shifted, mirror, triangle = (
            sum(getattr(each, name) for each in found) for name in ("high", "shifted", "mirror", "triangle")
        )
        assert shifted / fresh == pytest.approx(1, abs=0.02)
        assert 1 <= mirror / fresh <= most < triangle / fresh <= 1.2


def test_what_is_printed():
    found = str(cs.confidence_interval(Y, P, folds=FOLD, rng=1))
    assert "(triangle), event: outcome 1, n = 150 in 5 folds." in found
    assert "With 95 % confidence the error is " in found
    assert "This is the error of the 5 models on new rows, each predicted by one at random." in found
    assert "The triangle covers any learner whose predictions hardly depend on a single training row." in found
    assert "There is no guarantee for the model refitted on all rows." in found
    assert "a model drawn at random from the 5 of cross-validation predicts each new row" in found
    found = str(cs.confidence_interval(Y, P, folds=FOLD, method="mirror", rng=1))
    assert "The mirror is studied for learners that correct at most fully: logistic regression" in found


def test_the_low_end_needs_the_test():
    """Where the honest low end is above 0 it is kept if the test with folds rejects at .025, and else 0."""
    for shift, kept in ((0.5, True), (0.25, False)):
        for i in range(60):
            y, p = cs.generators.shift(shift).sample(150, rng=i)
            fresh = cs.confidence_interval(y, p, measure="kernel_ce", rng=1)
            rejects = cs.calibration_test(y, p, folds=FOLD, rng=1).pvalue <= 0.025
            if fresh.low > 0 and rejects == kept:
                break
        else:
            raise AssertionError("no such data set")
        found = cs.confidence_interval(y, p, folds=FOLD, rng=1)
        assert found.low == (fresh.low if kept else 0)


def test_errors_in_cells_have_no_low_end():
    """Of five copies of one model that is far off the honest low end of `ece` is far above 0."""
    y, p = cs.generators.shift(1.5).sample(600, rng=1)
    fold = np.random.default_rng(1).permutation(600) % 5
    assert cs.confidence_interval(y, p, measure="ece", rng=1).low > 0.05
    assert cs.confidence_interval(y, p, measure="ece", folds=fold, rng=1).low == 0
    assert cs.confidence_interval(y, p, measure="ks", folds=fold, rng=1).low > 0.05


def test_ends_of_repeats_are_means():
    fold = np.column_stack([FOLD, np.arange(150) % 5])
    both = cs.confidence_interval(Y, np.column_stack([P, P]), folds=fold, measure="ks", rng=1)
    first = cs.confidence_interval(Y, P, folds=FOLD, measure="ks", rng=1)
    assert (both.rows.folds, both.rows.repeats) == (5, 2)
    assert "2 repeats" in str(both)
    assert "the mean over 2 repeats" in both.estimand
    assert both.estimate == pytest.approx(first.estimate)
    assert both.high == pytest.approx(first.high, rel=0.1)
    assert both.high != first.high


UNIT = np.repeat(np.arange(60), 1 + np.arange(60) % 4)  # of 150 rows
BY_UNIT = (np.random.default_rng(2).permutation(60) % 5)[UNIT]


@pytest.mark.parametrize("measure", ["kernel_ce", "ks", "ece"])
def test_ends_of_clusters_are_plain_numpy(measure):
    """Up to the noise of the draws of both, 5 % of a quantile: signs of whole clusters, less their mean over rows."""
    random, noise = np.random.default_rng(0), []
    by_prediction = np.argsort(P)
    norm, residual = norms(P[by_prediction])[measure], (Y - P) / 150
    folds = [k == BY_UNIT for k in range(5)]
    left = []
    for rows in folds:
        size = np.bincount(UNIT[rows])
        share, square = size / size.sum(), size**2
        left.append(((1 - share) ** 2 * square + share**2 * (square.sum() - square)).sum() / square.sum())
    for _ in range(4000):
        sign = random.choice([-1.0, 1.0], 60)[UNIT]
        for rows, variance in zip(folds, left, strict=True):
            sign[rows] = (sign[rows] - sign[rows].mean()) / np.sqrt(variance)
        noise.append((sign * residual)[by_prediction])
    residual = residual[by_prediction]
    rows = {"measure": measure, "cluster": UNIT, "n_resamples": 3999, "rng": 1}
    as_is = cs.confidence_interval(Y, P, **rows).high
    quantile = np.quantile([[norm(each), norm(residual + each)] for each in noise], 0.975, axis=0)
    triangle = cs.confidence_interval(Y, P, folds=BY_UNIT, **rows).high
    mirror = cs.confidence_interval(Y, P, folds=BY_UNIT, method="mirror", **rows).high
    assert triangle == pytest.approx(max(as_is, norm(residual) + quantile[0]), rel=0.05)
    assert mirror == pytest.approx(max(as_is, *quantile), rel=0.05)


def test_rows_as_their_own_clusters_have_the_interval_of_rows():
    for measure in ("kernel_ce", "brier"):
        rows = {"folds": FOLD, "measure": measure, "rng": 1}
        alone, own = (cs.confidence_interval(Y, P, cluster=each, **rows) for each in (None, np.arange(150)))
        assert own.high == pytest.approx(alone.high, rel=0.02)  # score bounds of units have a cap of their own
        assert "150 clusters of 1 row each" in own.estimand


def test_clusters_may_have_any_names_and_rows_any_order():
    found = cs.confidence_interval(Y, P, folds=BY_UNIT, cluster=UNIT, rng=1)
    assert found.low <= found.estimate <= found.high
    order = np.random.default_rng(5).permutation(150)
    named = {"folds": 9 - BY_UNIT[order], "cluster": np.array([f"c{59 - u}" for u in UNIT[order]]), "rng": 1}
    again = cs.confidence_interval(Y[order], P[order], **named)
    assert (again.low, again.high) == (found.low, found.high)
    test = cs.calibration_test(Y, P, folds=BY_UNIT, cluster=UNIT, rng=1)
    assert cs.calibration_test(Y[order], P[order], **named).pvalue == test.pvalue


def test_means_of_clusters_have_the_variance_between_their_sums():
    """Clusters of two rows, less means fold 0 has the sums -.3, .3 and fold 1 -.1, .1; m / (m - 1) is 2."""
    loss = np.array([0.1, 0.2, 0.4, 0.5, 0.2, 0.2, 0.3, 0.3])
    fold, unit = np.repeat([0, 1], 4), np.repeat([0, 1, 2, 3], 2)
    assert variance_within(loss, fold, unit) == pytest.approx((2 * 0.18 + 2 * 0.02) / 8)
    found = cs.confidence_interval(Y, P, folds=BY_UNIT, cluster=UNIT, measure="brier", rng=1)
    fresh = cs.confidence_interval(Y, P, cluster=UNIT, measure="brier", rng=1)
    assert (found.low, found.high) == pytest.approx((fresh.low, fresh.high), rel=0.03)


def test_means_have_the_variance_within_folds():
    """Of a loss that is constant in each fold there is none, however much folds differ."""
    loss, fold = np.array([0.1, 0.3, 0.2, 0.6, 0.9]), np.array([0, 0, 1, 1, 1])
    # s**2 = .02 of two rows; (.2, .6, .9): mean 17/30, squares .24667, s**2 = .12333 of three
    assert variance_within(loss, fold) == pytest.approx((2 * 0.02 + 3 * 0.1233333) / 5, rel=1e-6)
    assert variance_within(np.array([0.5, 0.5, 0.1, 0.1, 0.1]), fold) == pytest.approx(0)
    fresh = cs.confidence_interval(Y, P, measure="brier", rng=1)
    found = cs.confidence_interval(Y, P, folds=FOLD, measure="brier", rng=1)
    assert (found.low, found.high) == pytest.approx((fresh.low, fresh.high), rel=0.02)
    assert found.method == "variance within folds"
    assert "the mean loss of the 5 models" in str(found)


def test_losses_keep_their_refusals():
    y = np.zeros(150, int)
    y[[0, 1, 2, 3]] = 1
    with pytest.raises(TooFewEvents):
        cs.confidence_interval(y, np.full(150, 0.03), folds=np.arange(150) % 3, measure="log_loss")
    found = cs.confidence_interval(Y, np.where(np.arange(150) == np.argmax(Y), 0, P), folds=FOLD, measure="log_loss")
    assert found.low == found.high == np.inf
    assert "Infinite: the observed outcome" in str(found)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"measure": "ece", "strategy": "quantile"}, "no interval with folds .* because its cells depend on the data"),
        ({"measure": "mcb"}, "no interval with folds"),
        ({"measure": "kernel_ce_squared"}, "no interval with folds"),
        ({"measure": "ece", "norm": "l2"}, "no interval with folds"),
        ({"measure": "lower_distance"}, "no interval with folds"),
        ({"method": "bracket"}, "expected a method of rows with folds=, one of triangle, mirror; found 'bracket'"),
        ({"method": "percentile"}, "expected a method of rows with folds=, one of triangle, mirror"),
        ({"lens": "class_wise_max"}, "without lens= and sample_weight="),
        ({"method": "mirror", "folds": None}, "expected a method, one of honest, proven, .* found 'mirror'"),
    ],
)
def test_what_no_study_has_is_refused(asked, found):
    with pytest.raises(ValueError, match=found):
        cs.confidence_interval(Y, P, **{"folds": FOLD, **asked})


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(150)
    found = cs.confidence_interval(Y[order], P[order], folds=FOLD[order], rng=1)
    assert found.to_dict() == cs.confidence_interval(Y, P, folds=FOLD, rng=1).to_dict()


def test_noise_is_of_residuals_at_distinct_predictions():
    y, p = np.array([0, 1, 1, 0, 1, 0.0]), np.array([0.2, 0.2, 0.5, 0.5, 0.9, 0.9])
    fold, draws = np.array([0, 1, 0, 1, 0, 1]), Draws.of(2, 65)
    table = RowTable.of_rows(LabelledRows(y, p), cs.Sample.from_rows(y, p), None)
    noise = noise_within_folds(table, fold, lambda theta: theta, draws)
    by_row = sums_of_fold_signs((np.arange(6), y - p), 6, fold, np.arange(6), lambda sums: sums, draws)
    assert noise == pytest.approx(by_row.reshape(65, 3, 2).sum(axis=2) / 6, abs=1e-15)
