"""Comparisons by squares: the default of `compare`, what it reports, and that the order of rows does not matter."""

import tracemalloc

import numpy as np
import pytest
from compared_models import three_models, two_models
from posed_problem import pose
from scipy.stats import binom

import calibstat as cs
from calibstat.bounds.square_bound import Side, bound_of
from calibstat.inference.comparing.squares import Kinds

H = 0.2


def sides(y, *models):
    return [Side(v, y - v, H, sign) for v, sign in zip(models, (1.0, -1.0), strict=False)]


def test_the_default_is_the_squared_error_at_a_bandwidth_of_a_fifth():
    y, p, q = two_models(300, ties=False)
    found = cs.compare(y, {"A": p, "B": q})
    assert str(found.measure) == "kernel_ce_squared(bandwidth=0.2)"
    both = bound_of(sides(y, p, q), np.ones(300))
    assert found.difference[0] == pytest.approx(both.estimate, rel=1e-10)
    assert (found.low[0], found.high[0]) == pytest.approx((both.low(0.025), both.high(0.025)), rel=1e-10)
    for m, v in enumerate((p, q)):
        alone = bound_of(sides(y, v), np.ones(300))
        ends = np.sqrt(np.clip([alone.low(0.025), alone.estimate, alone.high(0.025)], 0, 1))
        reported = [found.errors_low[m], found.errors[m], found.errors_high[m]]
        assert reported == pytest.approx(ends.tolist(), rel=1e-10)
        squared = cs.estimate(y, v, measure="kernel_ce_squared", bandwidth=H)
        assert found.estimates[m] == pytest.approx(squared, rel=1e-10)
    assert str(cs.compare(y, {"A": p, "B": q}, measure="kernel_ce_squared").measure) == "kernel_ce_squared"
    assert str(cs.compare(y, {"A": p, "B": q}, bandwidth=0.1).measure) == "kernel_ce_squared(bandwidth=0.1)"


def test_nothing_is_drawn(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("calibstat.resampling.row_sums._draw", refuse)
    y, models = three_models()
    cs.compare(y, models)
    with pytest.raises(AssertionError):
        cs.compare(y, models, measure="kernel_ce", n_resamples=9)


@pytest.mark.parametrize("tied", [False, True])
def test_the_order_of_rows_does_not_matter(tied):
    y, p, q = two_models(200, ties=tied)
    order = np.random.default_rng(1).permutation(200)
    weight = np.random.default_rng(2).choice([0.0, 1.0, 2.5], 200)
    for given in (None, weight):
        found = cs.compare(y, {"A": p, "B": q}, sample_weight=given)
        moved = None if given is None else given[order]
        again = cs.compare(y[order], {"A": p[order], "B": q[order]}, sample_weight=moved)
        assert found.to_dict() == again.to_dict()


def test_equal_rows_are_one_kind():
    y, p, q = two_models(400)
    kinds = Kinds.of([pose(y, v, "kernel_ce_squared", {}) for v in (p, q)])
    assert kinds.count.sum() == 400
    assert kinds.count.size == np.unique(np.array([y, p, q]), axis=1).shape[1] < 400
    rows = bound_of(sides(y, p, q), np.ones(400))
    found = kinds.bound(H, (0, 1.0), (1, -1.0))
    assert (found.low(0.025), found.high(0.025)) == pytest.approx((rows.low(0.025), rows.high(0.025)), rel=1e-10)


def test_the_kernel_error_keeps_its_interval_and_takes_its_p_from_squares():
    y, p, q = two_models(300)
    own = cs.compare(y, {"A": p, "B": q}, measure="kernel_ce", rng=1)
    squares = cs.compare(y, {"A": p, "B": q}, measure="kernel_ce_squared", rng=1)
    assert own.pvalue[0] == squares.pvalue[0]
    assert own.errors.tolist() == squares.errors.tolist()
    assert own.difference[0] == pytest.approx(own.estimates[0] - own.estimates[1])
    assert own.low[0] < own.difference[0] < own.high[0]
    assert own.low[0] != squares.low[0]
    # of clusters, and of another kernel, p is that of the interval
    cluster = np.arange(300) // 3
    for settings in ({"cluster": cluster}, {"kernel": "gaussian"}):
        found = cs.compare(y, {"A": p, "B": q}, measure="kernel_ce", n_resamples=39, rng=1, **settings)
        assert found.errors is None
        assert (found.pvalue[0] <= 0.05) == (found.low[0] > 0 or found.high[0] < 0)


def test_by_how_much_at_least():
    """L / (high_A + high_B), where the interval of the difference of squares begins L from 0."""
    y, p = cs.generators.calibrated().sample(1000, rng=1)
    sharp = p**2 / (p**2 + (1 - p) ** 2)
    found = cs.compare(y, {"calibrated": p, "sharp": sharp, "sharper": sharp**2 / (sharp**2 + (1 - sharp) ** 2)})
    for i, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        wanted = -found.high[i] / (found.errors_high[a] + found.errors_high[b])
        assert found.at_least[i] == pytest.approx(wanted)
        better = found.names[a]
        assert f"The error of {better} is smaller, by at least {found.at_least[i]:.2g}." in str(found)
    backwards = cs.compare(y, {"sharp": sharp, "calibrated": p})
    assert backwards.at_least[0] == pytest.approx(found.at_least[0])
    assert "The error of calibrated is smaller" in str(backwards)
    alike = cs.compare(y, {"A": p, "B": p.round(3)})
    assert alike.at_least.tolist() == [0]
    assert "smaller" not in str(alike)


def test_two_samples():
    y, p, q = two_models(300)
    found = cs.compare({"A": (y, p), "B": (y[:200], q[:200])})
    one, other = bound_of(sides(y, p), np.ones(300)), bound_of(sides(y[:200], q[:200]), np.ones(200))
    both = one.minus(other)
    assert found.n == (300, 200)
    assert (found.low[0], found.high[0]) == pytest.approx((both.low(0.025), both.high(0.025)), rel=1e-10)


def test_ends_are_differences_of_numbers_from_0_to_1():
    found = cs.compare([1, 0], {"A": [0.0, 1.0], "B": [1.0, 0.0]})
    assert -1 <= found.low[0] <= found.high[0] <= 1
    one_row = cs.compare([1], {"A": [0.4], "B": [0.9]})
    assert (one_row.low[0], one_row.high[0], one_row.pvalue[0]) == (-1, 1, 1)


@pytest.mark.parametrize("lens", ["top_label", cs.lenses.one_class(1)])
def test_lenses_with_outcomes_of_their_own(lens):
    """Each model has its own most likely class, and so its own hits."""
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    q = np.roll(p, 1, axis=1)
    found = cs.compare(y, {"A": p, "B": q}, lens=lens)
    for m, prob in enumerate((p, q)):
        wanted = cs.estimate(y, prob, measure="kernel_ce_squared", bandwidth=H, lens=lens)
        assert found.estimates[m] == pytest.approx(wanted, rel=1e-10)


def p_of_calibrated_models(seed, sharpened=1.0):
    """Compare the chances of two features with those of one, both calibrated unless sharpened."""
    random = np.random.default_rng(seed)
    x = random.choice([-1.0, 0.0, 1.0], (2, 300))
    y = (random.random(300) < 1 / (1 + np.exp(-x.sum(axis=0)))).astype(int)
    both = 1 / (1 + np.exp(-x.sum(axis=0) * sharpened))
    by_one = np.mean([1 / (1 + np.exp(-(x[0] + other))) for other in (-1, 0, 1)], axis=0)
    return cs.compare(y, {"both": both, "one": by_one}).pvalue[0]


def test_calibrated_models_are_not_found_apart():
    found = sum(p_of_calibrated_models(seed) <= 0.05 for seed in range(200))
    assert found <= binom.isf(1e-5, 200, 0.05)
    found = sum(p_of_calibrated_models(seed, sharpened=2.5) <= 0.05 for seed in range(40))
    assert found > binom.isf(1e-5, 40, 0.05)


def test_memory_is_at_most_200_bytes_a_row():
    """Arrays of NumPy alone, which tracemalloc counts; a process grew by 174 bytes a row at a million rows."""
    n = 100_000
    y, p = cs.generators.calibrated().sample(n, rng=1)
    models = {"A": p, "B": p**2}
    cs.compare(y[:100], {name: v[:100] for name, v in models.items()})  # compiled
    tracemalloc.start()
    try:
        cs.compare(y, models)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most / n <= 176


def test_clusters():
    """The default compares sums over pairs of different clusters, in which names and the order of rows do not show."""
    y, p, q = two_models(300)
    cluster = np.random.default_rng(1).integers(0, 60, 300)
    weight = np.random.default_rng(2).choice([0.0, 1.0, 2.5], 300)
    order = np.random.default_rng(3).permutation(300)
    for given in (None, weight):
        for unseen in ("observed", "clusters", "rows"):
            in_clusters = cs.Clusters(cluster, unseen=unseen)
            found = cs.compare(y, {"A": p, "B": q}, cluster=in_clusters, sample_weight=given)
            if unseen == "observed":
                alone = cs.compare(y, {"A": p, "B": q}, cluster=cluster, sample_weight=given)
                assert alone.to_dict() == found.to_dict()
            w = np.ones(300) if given is None else given
            kept = w > 0
            weighted = [Side(side.value[kept], (w * side.residual)[kept], H, side.sign) for side in sides(y, p, q)]
            unit = np.unique(cluster[kept], return_inverse=True)[1]
            both = bound_of(weighted, np.ones(kept.sum()), w[kept], unit, unseen=unseen)
            assert str(found.measure) == "kernel_ce_squared(bandwidth=0.2)"
            ends = (found.difference[0], found.low[0], found.high[0])
            assert ends == pytest.approx((both.estimate, both.low(0.025), both.high(0.025)), rel=1e-9)
            assert "clusters of" in found.null_hypothesis
            assert ("absent kinds of clusters do not matter" in str(found)) == (unseen == "rows")
            renamed = cs.Clusters(100 - cluster[order], unseen=unseen)
            moved = None if given is None else given[order]
            again = cs.compare(y[order], {"A": p[order], "B": q[order]}, cluster=renamed, sample_weight=moved)
            assert again.to_dict() == found.to_dict()
    same = cs.compare(y, {"A": p, "B": p.copy()}, cluster=cs.Clusters(cluster, unseen="rows"))
    assert (same.pvalue[0], same.difference[0]) == (1, 0)


@pytest.mark.parametrize("clusters", [False, True])
def test_classes(clusters):
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    q = np.roll(p, 1, axis=1)
    given = {"cluster": np.arange(300) // 2} if clusters else {}
    found = cs.compare(y, {"A": p, "B": q}, lens="class_wise_mean", **given)
    of_classes = [
        side
        for v, sign in ((p, 1.0), (q, -1.0))
        for k in range(3)
        for side in [Side(v[:, k], (y == k) - v[:, k], H, sign)]
    ]
    both = bound_of(of_classes, np.ones(300), None, given.get("cluster"), unseen="observed").over(3)
    assert (found.low[0], found.high[0]) == pytest.approx((both.low(0.025), both.high(0.025)), rel=1e-9)
    if not clusters:
        wanted = cs.estimate(y, p, measure="kernel_ce_squared", bandwidth=H, lens="class_wise_mean")
        assert found.estimates[0] == pytest.approx(wanted, rel=1e-10)
    assert "root mean squares over the classes" in str(found)
    same = cs.compare(y, {"A": p, "B": p.copy()}, lens="class_wise_mean", **given)
    assert same.pvalue[0] == 1


def test_the_most_likely_class_of_each_model():
    """Each model has its own hits: the interval has two sides with outcomes of their own."""
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    q = np.roll(p, 1, axis=1)
    found = cs.compare(y, {"A": p, "B": q})
    hits = [(prob.max(axis=1), (prob.argmax(axis=1) == y).astype(float)) for prob in (p, q)]
    both = bound_of([Side(v, hit - v, H, sign) for (v, hit), sign in zip(hits, (1.0, -1.0), strict=True)], np.ones(300))
    assert (found.low[0], found.high[0]) == pytest.approx((both.low(0.025), both.high(0.025)), rel=1e-10)


def test_reasons():
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(40, rng=1)
    reasons = {"class_wise": "for each class; lens 'class_wise_mean'", "class_wise_max": "no unbiased estimate"}
    for lens, reason in reasons.items():
        with pytest.raises(ValueError, match=reason):
            cs.compare(y, {"A": p, "B": p}, lens=lens)
