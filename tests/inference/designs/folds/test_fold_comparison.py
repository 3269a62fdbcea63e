"""Differences of mean losses out of folds: the factor two by enumeration, and plain loops."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import calibstat as cs
from calibstat.inference.designs.folds.fold_comparison import variance_of_difference

Y, P = cs.generators.calibrated().sample(400, rng=1)
Q = P**2 / (P**2 + (1 - P) ** 2)
FOLD = np.random.default_rng(2).permutation(400) % 5


def repeated(*seeds):
    """Folds and two learners' predictions of repeats, whose predictions differ a little between repeats."""
    fold, first, second = [], [], []
    for seed in seeds:
        random = np.random.default_rng(seed)
        fold.append(random.permutation(400) % 5)
        first.append(np.clip(P + 0.02 * random.normal(size=400), 0, 1))
        second.append(np.clip(Q + 0.02 * random.normal(size=400), 0, 1))
    return np.column_stack(fold), np.column_stack(first), np.column_stack(second)


def centred(table):
    """A table b(z, z') whose means over the row z and over the training row z' are 0."""
    return table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean()


def variances(a, b):
    """n times the variance of the mean loss and the mean variance within folds: four rows, two folds, three values z.

    The loss of a row is a(z) plus the sum over the two training rows of b(z, z').
    """
    mean, within = [], []
    for z in product(range(3), repeat=4):
        loss = [a[z[i]] + sum(b[z[i], z[j]] for j in range(4) if j // 2 != i // 2) for i in range(4)]
        mean.append(np.mean(loss))
        within.append(variance_of_difference(np.array([loss]), [np.array([0, 0, 1, 1])]) / 2)
    return 4 * np.var(mean), np.mean(within)


def test_at_most_half_of_the_variance_is_missed():
    """Theorem: n var <= V1 + 2 V2, and within folds it is V1 + V2, with equality where b is symmetric."""
    random = np.random.default_rng(1)
    for _ in range(40):
        a, b = random.normal(size=3), centred(random.normal(size=(3, 3)))
        true, within = variances(a, b)
        v1, v2 = np.var(a), 2 * (b**2).mean()
        assert within == pytest.approx(v1 + v2)
        assert true <= v1 + 2 * v2 + 1e-12
        true, within = variances(a, b + b.T)
        assert true == pytest.approx(v1 + 2 * 2 * ((b + b.T) ** 2).mean())
    far = [variances(np.zeros(3), random.normal(size=(3, 3))) for _ in range(20)]
    assert any(true > 2 * within for true, within in far)  # the twin: not centred


def test_between_repeats_is_what_training_rows_add():
    """Of 60 rows in 5 folds each row's loss is a sum over 48 training rows with variance 1 each: V2 = 48."""
    random, found = np.random.default_rng(3), []
    for _ in range(200):
        b = random.normal(size=(60, 60))
        folds = [random.permutation(60) % 5 for _ in range(3)]
        row = np.array([[b[i, fold != fold[i]].sum() for i in range(60)] for fold in folds])
        within = variance_of_difference(row - row.mean(), folds) - 5 * 59 / 55 * row.var(axis=0, ddof=1).mean()
        found.append(5 * 59 / 55 * row.var(axis=0, ddof=1).mean())
        assert within > 0
    assert np.mean(found) == pytest.approx(48, abs=4 * np.std(found) / np.sqrt(200))


def test_the_variance_is_a_plain_loop():
    fold, first, second = repeated(1, 2, 3)
    row = ((first - Y[:, None]) ** 2 - (second - Y[:, None]) ** 2).T
    within = [np.mean([row[r, fold[:, r] == fold[i, r]].var(ddof=1) for i in range(400)]) for r in range(3)]
    between = np.mean([row[:, i].var(ddof=1) for i in range(400)])
    expected = np.mean(within) + 5 * 399 / 395 * between
    assert variance_of_difference(row, list(fold.T)) == pytest.approx(expected)
    assert variance_of_difference(row[:1], [fold[:, 0]]) == pytest.approx(2 * within[0])


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
def test_the_interval_is_nearly_normal(seeds):
    """Score bounds allow for events that were not observed: they are a little longer on each side."""
    fold, first, second = repeated(*seeds)
    found = cs.compare(Y, {"A": first, "B": second}, folds=fold, rng=1)
    row = ((first - Y[:, None]) ** 2 - (second - Y[:, None]) ** 2).T
    se = np.sqrt(variance_of_difference(row, list(fold.T)) / 400)
    assert found.difference[0] == pytest.approx(row.mean())
    below, above = (found.low[0] - row.mean()) / se, (found.high[0] - row.mean()) / se
    assert -norm.isf(0.025) - 0.4 < below < -norm.isf(0.025) + 0.05
    assert norm.isf(0.025) - 0.05 < above < norm.isf(0.025) + 0.4
    normal = 2 * norm.sf(abs(row.mean()) / se)
    assert 0.9 * normal < found.pvalue[0] < 6 * normal
    assert found.method == "folds"
    assert found.same_order == (False,)
    assert "the mean loss of the 5 models is the same for both learners" in str(found)
    assert ("variance within folds is doubled" in found.note) == (len(seeds) == 1)
    assert ("5 times that between 3 repeats" in found.note) == (len(seeds) == 3)


def test_models_in_another_order_have_the_other_sign():
    fold, first, second = repeated(1, 2)
    one = cs.compare(Y, {"A": first, "B": second}, folds=fold)
    other = cs.compare(Y, {"B": second, "A": first}, folds=fold)
    assert one.difference == pytest.approx(-other.difference)
    assert (one.low[0], one.high[0], one.pvalue[0]) == pytest.approx((-other.high[0], -other.low[0], other.pvalue[0]))


def test_equal_models_do_not_differ():
    found = cs.compare(Y, {"A": P, "B": P.copy()}, folds=FOLD)
    assert found.difference[0] == 0
    assert found.pvalue[0] == 1
    assert found.low[0] <= 0 <= found.high[0]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"measure": "ks"}, "expected a mean of losses, such as brier, to compare with folds=, found ks"),
        ({"measure": "kernel_ce_squared"}, "expected a mean of losses"),
        ({"method": "swap"}, "expected folds= without method="),
        ({"folds": {"A": FOLD, "B": FOLD}}, "expected folds, one array for all models"),
        ({"cluster": np.arange(400) // 2}, "expected all rows of a cluster in one fold"),
    ],
)
def test_what_no_study_has_is_refused(asked, found):
    with pytest.raises(ValueError, match=found):
        cs.compare(Y, {"A": P, "B": Q}, **{"folds": FOLD, **asked})


def test_clusters_are_the_units_of_both_variances():
    """Plain loops over three repeats, five folds and 100 clusters of four rows."""
    unit, random = np.arange(400) // 4, np.random.default_rng(4)
    fold = np.stack([(random.permutation(100) % 5)[unit] for _ in range(3)], axis=1)
    row = random.normal(size=(3, 400)) + random.normal(size=100)[unit]
    within = []
    for each, own in zip(row, fold.T, strict=True):
        for k in range(5):
            sums = np.array([(each - each[own == k].mean())[unit == g].sum() for g in np.unique(unit[own == k])])
            within.append(20 * 20 / 19 * np.mean(sums**2) / 400)
    sums = np.stack([[each[unit == g].sum() for g in range(100)] for each in row])
    expected = np.sum(within) / 3 + 5 * 99 / 95 * sums.var(axis=0, ddof=1).sum() / 400
    assert variance_of_difference(row, list(fold.T), unit) == pytest.approx(expected)
    assert variance_of_difference(row[:1], [fold[:, 0]], unit) == pytest.approx(2 * np.sum(within[:5]))
    shifted = np.clip(P + 0.02, 0, 1)
    found = cs.compare(Y, {"A": P, "B": shifted}, folds=fold[:, 0], cluster=unit)
    row = (P - Y) ** 2 - (shifted - Y) ** 2
    assert found.difference == pytest.approx(row.mean())
    normal = 2 * norm.isf(0.025) * np.sqrt(variance_of_difference(row[None], [fold[:, 0]], unit) / 400)
    assert normal < found.high[0] - found.low[0] < 1.4 * normal
    assert "100 clusters of 4 rows each" in found.null_hypothesis


def test_the_ends_reach_as_far_as_rows_may_differ():
    """Learners that differ by at most .02 on any row have a short interval; one row with more makes it long."""
    near, far = np.clip(P + 0.02, 0, 1), np.clip(P + 0.02, 0, 1)
    far[0] = 1 - P[0] if abs(1 - 2 * P[0]) > 0.5 else 1.0
    width = []
    for other in (near, far):
        found = cs.compare(Y, {"A": P, "B": other}, folds=FOLD)
        width.append(found.high[0] - found.low[0])
        assert "not for new rows on which the learners may differ more than on any of these" in found.note
    assert width[1] > 2 * width[0]


def test_samples_have_no_folds():
    with pytest.raises(ValueError, match="expected the same rows for all models with folds"):
        cs.compare({"A": (Y, P), "B": (Y, Q)}, folds=FOLD)


def test_several_pairs_are_adjusted():
    found = cs.compare(Y, {"A": P, "B": Q, "C": np.full(400, Y.mean())}, folds=FOLD, reference="A")
    assert found.pairs == (("A", "B"), ("A", "C"))
    assert (found.pvalue_adjusted >= found.pvalue).all()
