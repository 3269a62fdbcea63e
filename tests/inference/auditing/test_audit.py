"""Audits of groups: exact p-values by enumeration, error rates with faulty twins, intervals, orders and inputs."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnibus_oracle import root_at
from row_strategies import rows
from scipy import stats

import calibstat as cs

DRAWS = 4999


def agrees(p, exact, draws=DRAWS):
    """Whether a p-value is (1 + k) / (1 + B) with k in exact limits of a binomial number; one test in 1e5 fails."""
    k = p * (1 + draws) - 1
    return stats.binom.ppf(1e-5 / 2, draws, exact) <= round(k) <= stats.binom.isf(1e-5 / 2, draws, exact)


@pytest.mark.parametrize(("y", "exact"), [([0, 0], 0.58), ([1, 0], 1.0), ([1, 1], 0.09)])
def test_two_rows(y, exact):
    """Predicted .3: both events have chance .09, none .49, one .42, of roots 2.19, 1.19 and .59."""
    found = cs.audit(y, [0.3, 0.3], [True, True], n_resamples=DRAWS, rng=1)
    assert found.names == ("all rows",)
    assert agrees(found.pvalue[0], exact)
    assert found.pvalue_adjusted[0] == found.pvalue[0]
    assert not agrees(found.pvalue[0], exact * 0.5)  # by chance, of .09: 1e-16


P = np.array([0.2, 0.35, 0.5, 0.7, 0.9])
GROUPS = {"a": P < 0.4, "b": P > 0.3, "c": np.array([1, 0, 0, 0, 1], bool), "d": np.array([0, 1, 0, 1, 0], bool)}


def slow_root(y, mask):
    v = P[mask]
    basis = np.full(v.size, 1 / math.sqrt(v @ (1 - v)))
    return root_at((y[mask] - v) @ basis, v, np.ones(v.size), basis)


def exact_p_values(y):
    """P-values, single and adjusted, from the probabilities of all 32 outcomes of five rows."""
    masks = [np.ones(5, bool), *GROUPS.values()]
    outcomes = np.array([*product([0, 1], repeat=5)])
    chance = np.prod(np.where(outcomes, P, 1 - P), axis=1)
    null = np.abs([[slow_root(each, mask) for mask in masks] for each in outcomes])
    seen = np.abs([slow_root(np.array(y), mask) for mask in masks])
    single = [chance[null[:, g] >= seen[g] - 1e-9].sum() for g in range(5)]
    left, adjusted, before = list(range(5)), {}, 0.0
    while left:
        first = max(left, key=lambda g: seen[g])
        before = max(before, chance[null[:, left].max(axis=1) >= seen[first] - 1e-9].sum())
        adjusted[first] = before
        left.remove(first)
    return seen, single, [adjusted[g] for g in range(5)]


@pytest.mark.parametrize("y", [(0, 0, 0, 0, 0), (1, 0, 0, 1, 1), (1, 1, 1, 0, 0)])
def test_overlapping_groups(y):
    seen, single, adjusted = exact_p_values(y)
    found = cs.audit(y, P, GROUPS, n_resamples=DRAWS, rng=2)
    assert np.allclose(np.abs(found.root), seen)
    assert all(agrees(p, exact) for p, exact in zip(found.pvalue, single, strict=True))
    assert all(agrees(p, exact) for p, exact in zip(found.pvalue_adjusted, adjusted, strict=True))


@pytest.mark.parametrize("y", [(0, 0, 0, 0, 0), (1, 0, 0, 1, 1)])
def test_adjusted_p_values_are_not_single_ones(y):
    single = exact_p_values(y)[1]
    found = cs.audit(y, P, GROUPS, n_resamples=DRAWS, rng=2)
    assert not all(agrees(p, exact) for p, exact in zip(found.pvalue_adjusted, single, strict=True))


def people(n, rng):
    return pd.DataFrame(
        {"sex": rng.choice(["man", "woman"], n), "age": rng.integers(18, 90, n), "bmi": rng.normal(size=n)}
    )


def flagged(chance_of, n_sets, n=300, shape=False):
    """In how many data sets a group without a wrong row is significant, and in how many any group is."""
    rng = np.random.default_rng(4)
    right = some = 0
    for _ in range(n_sets):
        frame, p = people(n, rng), rng.beta(1, 3, n)
        chance = chance_of(frame, p)
        found = cs.audit(rng.random(n) < chance, p, frame, n_resamples=199, rng=int(rng.integers(2**31)), shape=shape)
        groups = cs.audit(chance != p, p, frame, n_resamples=1, rng=1)  # where it is wrong
        right += bool(set(found.found) & set(np.flatnonzero(groups.observed == 0)))
        some += found.found.size > 0
    return right, some


def odds(p, factor):
    return p * factor / (1 - p + p * factor)


def old_women(frame, p):
    return np.where((frame.sex == "woman") & (frame.age > 60), odds(p, 4.0), p)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [False, True])
@pytest.mark.parametrize("chance_of", [lambda frame, p: p, old_women])
def test_family_wise_error(chance_of, shape):
    n_sets = 1000
    right, some = flagged(chance_of, n_sets, shape=shape)
    limit = stats.binom.isf(1e-4, n_sets, 0.05)
    assert right <= limit
    assert (some > limit) == (chance_of is old_women)


def test_faulty_predictions_are_found_and_right_ones_are_not():
    right, some = flagged(old_women, 30)
    assert right <= stats.binom.isf(1e-5, 30, 0.05)
    assert some >= 15
    assert flagged(lambda frame, p: p, 30)[1] <= stats.binom.isf(1e-5, 30, 0.05)


def test_intervals_are_those_of_clopper_and_pearson():
    """At .05 / (2 G) for each end, less the mean prediction."""
    y, p = cs.generators.temperature(2).sample(500, rng=1)
    frame = people(500, np.random.default_rng(1))
    found = cs.audit(y, p, frame, rng=1, n_resamples=19)
    groups = len(found.names)
    assert groups > 20
    for g in range(groups):
        ones = round(found.observed[g] * found.rows[g])
        exact = stats.binomtest(ones, found.rows[g]).proportion_ci(1 - 0.05 / groups, "exact")
        assert found.low[g] == pytest.approx(exact.low - found.predicted[g], abs=1e-9)
        assert found.high[g] == pytest.approx(exact.high - found.predicted[g], abs=1e-9)
    women = (frame.sex == "woman").to_numpy()
    g = found.names.index("sex = woman")
    assert (found.rows[g], found.n) == (women.sum(), 500)
    assert found.predicted[g] == pytest.approx(p[women].mean())
    assert found.error[g] == pytest.approx(y[women].mean() - p[women].mean())


def numbers(found):
    return found.names, *(getattr(found, name) for name in ("rows", "root", "pvalue", "pvalue_adjusted", "low", "high"))


@given(rows(), st.data(), st.booleans())
def test_any_rows(data, draw, shape):
    """Ties, 0 and 1, one row, constant predictions, no event: p-values are in range, adjusted ones the larger.

    A label that cannot be makes its groups infinite, and neither the order of the rows nor threads show.
    """
    y, p = data
    masks = {k: np.array(draw.draw(st.lists(st.booleans(), min_size=y.size, max_size=y.size))) for k in "ab"}
    masks = {k: mask for k, mask in masks.items() if mask.any()} or {"a": np.ones(y.size, bool)}
    options = {"n_resamples": 39, "rng": 3, "shape": shape}
    found = cs.audit(y, p, masks, **options)
    assert np.all((found.pvalue >= 1 / 40) & (found.pvalue <= found.pvalue_adjusted) & (found.pvalue_adjusted <= 1))
    assert np.all((found.low <= found.error + 1e-12) & (found.error - 1e-12 <= found.high))
    forbidden = (p == 0) & (y == 1) | (p == 1) & (y == 0)
    for g, name in enumerate(found.names):
        mask = masks.get(name, np.ones(y.size, bool))
        assert np.isinf(found.root[g]) == forbidden[mask].any()
        if forbidden[mask].any():
            assert found.pvalue_adjusted[g] == 1 / 40
    order = np.array(draw.draw(st.permutations(range(y.size))))
    other = cs.audit(y[order], p[order], {k: mask[order] for k, mask in masks.items()}, n_jobs=2, **options)
    for one, two in zip(numbers(found), numbers(other), strict=True):
        assert np.array_equal(one, two)
    assert " from the predictions" in found.answer


def test_labels_that_cannot_be():
    """An event predicted at 0 is all that is needed, however many other rows are right."""
    y, p = cs.generators.calibrated().sample(400, rng=1)
    y, p = np.append(y, 1), np.append(p, 0.0)
    found = cs.audit(y, p, {"last": np.arange(401) > 300, "first": np.arange(401) < 300}, rng=1)
    assert found.root[:2].tolist() == [math.inf, math.inf]
    assert found.pvalue_adjusted[:2].tolist() == [0.001, 0.001]
    assert found.found.tolist() == [0, 1]
    assert abs(found.root[2]) < 3


def test_shape_sees_errors_whose_mean_is_zero():
    """Group b has logits twice as far apart as they should be, and its mean is predicted rightly."""
    rng = np.random.default_rng(1)
    truth = rng.beta(3, 3, 3000)
    b = np.arange(3000) % 3 == 0
    p = np.where(b, truth**2 / (truth**2 + (1 - truth) ** 2), truth)
    y = rng.random(3000) < truth
    groups = {"b": b, "not b": ~b}
    assert cs.audit(y, p, groups, rng=1).pvalue_adjusted[1] > 0.05
    found = cs.audit(y, p, groups, rng=1, shape=True)
    assert found.pvalue_adjusted[1] < 0.01 < found.pvalue_adjusted[2]
    assert found.slope[1] < -4
    assert cs.audit(y, p, groups, rng=1).slope is None


def test_a_table_for_each_month_is_an_audit():
    y, p = cs.generators.calibrated().sample(1000, rng=1)
    day = pd.Timestamp("2016-01-01") + pd.to_timedelta(np.arange(1000) // 12, "D")
    y = np.where(np.asarray(day) >= np.datetime64("2016-03-01"), 0, y)
    found = cs.audit(y, p, pd.DataFrame({"day": day}), rng=1)
    assert found.names == ("all rows", "day = 2016-01", "day = 2016-02", "day = 2016-03")
    assert set(found.found) == {0, 3}
    assert found.high[3] < -0.2


def test_models():
    y, p = cs.generators.calibrated().sample(600, rng=1)
    groups = np.arange(600) < 200
    found = cs.audit(y, {"one": p, 2: p**2}, groups, rng=1)
    assert list(found) == ["one", "2"]
    for name, each in (("one", p), ("2", p**2)):
        assert repr(found[name].to_dict()) == repr(cs.audit(y, each, groups, rng=1).to_dict())
    with pytest.raises(ValueError, match="expected different names of one or more models"):
        cs.audit(y, {"2": p, 2: p}, groups)
    with pytest.raises(ValueError, match=r"found 1.5 in y_prob at row 3 \(of 'two'\)"):
        cs.audit(y, {"one": p, "two": np.where(np.arange(600) == 3, 1.5, p)}, groups)
    with pytest.raises(ValueError, match="names of one or more models, found none"):
        cs.audit(y, {}, groups)


def test_lenses():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(300, rng=1)
    half = np.arange(300) < 150
    top = cs.audit(label, prob, half, rng=1)
    assert str(top.lens) == "lens top_label"
    assert top.predicted[0] == pytest.approx(prob.max(axis=1).mean())
    assert top.null_hypothesis.startswith("given the predictions and the groups of all rows, the most likely class is")
    one = cs.audit(label, prob, half, lens=cs.lenses.one_class(2), rng=1)
    assert one.observed[1] == pytest.approx((label[half] == 2).mean())
    assert cs.audit(cs.Predictions.from_rows(label, prob), None, half, rng=1).root[0] == top.root[0]
    with pytest.raises(ValueError, match="expected a lens that shows a binary outcome for audit"):
        cs.audit(label, prob, half, lens="class_wise")
    texts = np.where(label == 0, "yes", "no")
    named = cs.audit(texts, prob[:, 0], half, labels=["no", "yes"], rng=1)
    assert named.observed[0] == (label == 0).mean()


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (cs.Sample.from_rows([0, 1], [0.2, 0.3]), {}, "expected rows, y_true and y_prob, found a Sample"),
        ([0, 2], {}, "expected 0 or 1, found 2.* at row 1"),
        ([0, 1, 1], {}, "expected one prediction for each outcome"),
        ([0, 1], {"confidence_level": 1.0}, "expected confidence_level between 0 and 1"),
        ([0, 1], {"n_resamples": 0}, "expected n_resamples to be a whole number"),
        ([0, 1], {"depth": 0}, r"expected groups=cs\.Groups\(features, depth=0\) for audit, found depth=0"),
    ],
)
def test_errors(y, options, message):
    p = None if isinstance(y, cs.Sample) else [0.2, 0.3]
    with pytest.raises(ValueError, match=message):
        cs.audit(y, p, [True, False], **options)


@pytest.mark.parametrize("smallest", [5e-324, 2.2e-309])
def test_predictions_without_an_inverse(smallest):
    """1 / p is infinite: the audit neither warns nor finds a row whose outcome was sure."""
    found = cs.audit([0, 0], [smallest, smallest], {"a": np.array([True, False])}, n_resamples=9, rng=1)
    assert found.root.tolist() == [0, 0]


@pytest.mark.parametrize("y_prob", [[0.2, 0.3], {"a": [0.2, 0.3]}])
def test_no_groups_are_an_error_in_words(y_prob):
    with pytest.raises(ValueError, match="expected groups, features of the rows or groups of them, found none"):
        cs.audit([0, 1], y_prob, None)
