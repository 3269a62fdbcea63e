"""Comparisons of models from few labels: the plain formulas, symmetry, coverage, and what they refuse."""

import numpy as np
import pytest
from plain_few_labels import guesses, score_reach
from scipy.stats import t

import calibstat as cs
from calibstat.study import most_rejections

ASKED = {"n_resamples": 99, "rng": 1}
VALUE = np.arange(1, 20) / 20


def data(seed=1, n=600, labels=100, hit=0.9):
    random = np.random.default_rng([12, *np.atleast_1d(seed)])
    p = VALUE[random.integers(0, 19, n)]
    y = (random.random(n) < p**1.4) * 1.0
    f = np.where(random.random(n) < hit, y, 1 - y)
    return np.where(random.permutation(n) < labels, y, np.nan), {"a": p, "b": p**2}, f


def rectified_loss(y, p, f):
    """What each row adds to the sum of Brier losses, and what it adds if its outcome is 0 and 1 and it is labelled."""
    labelled = ~np.isnan(y)
    g, rho = guesses(np.where(labelled, y, 0.0), p, f, labelled)[0], labelled.mean()
    at_guess = (1 - g) * p**2 + g * (1 - p) ** 2
    x = rho * at_guess + np.where(labelled, (np.nan_to_num(y) - p) ** 2 - at_guess, 0.0)
    return x, np.stack([p**2, (1 - p) ** 2], axis=1) - (1 - rho) * at_guess[:, None]


def test_differences_of_means_are_the_plain_formulas():
    y, models, f = data()
    found = cs.compare(y, models, judge=cs.Judge(f), **ASKED)
    (a, of_a), (b, of_b) = (rectified_loss(y, p, f) for p in models.values())
    x, of_rows, labelled, m = a - b, of_a - of_b, ~np.isnan(y), 100
    mean, rho = x.sum() / m, m / 600
    seen, other = x[labelled] - x[labelled].mean(), x[~labelled] - x[~labelled].mean()
    variance, third = np.sum(seen**2) * m / (m - 1) + np.sum(other**2), np.sum(seen**3) + np.sum(other**3)
    above = max(of_rows.max() - mean, rho * (1 - mean))
    below = max(mean - of_rows.min(), rho * (mean + 1 + (1 - rho) * 2))
    z = t.ppf(0.975, m - 1)
    high = mean + above * score_reach(variance / above**2, third / above**3, z) / m
    low = mean - below * score_reach(variance / below**2, -third / below**3, z) / m
    assert (found.difference[0], found.low[0], found.high[0]) == pytest.approx((mean, low, high), rel=1e-9)
    assert found.measure.name == "brier"
    assert (found.pvalue[0] <= 0.05) == (not found.low[0] <= 0 <= found.high[0])


@pytest.mark.parametrize("measure", ["brier", "log_loss", "ks", "ece", "kernel_ce", "smooth_ce", "two_bin_ce"])
def test_the_order_of_models_and_rows_changes_signs_alone(measure):
    y, models, f = data()
    one = cs.compare(y, models, judge=cs.Judge(f), measure=measure, **ASKED)
    order = np.random.default_rng(3).permutation(600)
    turned = {name: models[name][order] for name in ("b", "a")}
    other = cs.compare(y[order], turned, judge=cs.Judge(f[order]), measure=measure, **ASKED)
    assert other.difference[0] == pytest.approx(-one.difference[0], abs=1e-12)
    assert (other.low[0], other.high[0]) == pytest.approx((-one.high[0], -one.low[0]), abs=1e-12)
    assert other.pvalue[0] == pytest.approx(one.pvalue[0])
    assert one.low[0] <= one.difference[0] <= one.high[0]
    for name, estimate in zip(one.names, one.estimates, strict=True):
        alone = cs.confidence_interval(y, models[name], judge=cs.Judge(f), measure=measure, **ASKED)
        assert estimate == pytest.approx(alone.estimate)


@pytest.mark.parametrize("measure", ["brier", "ks"])
def test_equal_models_do_not_differ(measure):
    y, models, f = data()
    found = cs.compare(y, {"a": models["a"], "b": models["a"].copy()}, judge=cs.Judge(f), measure=measure, **ASKED)
    assert (found.difference[0], found.pvalue[0]) == (0, 1)
    assert found.low[0] <= 0 <= found.high[0]


@pytest.mark.parametrize(("measure", "sets"), [("brier", 100), ("ks", 40)])
def test_the_true_difference_is_held(measure, sets):
    """Misses of one side of at most .035, with a false alarm of 1e-4; the judge taken for the truth is a fault."""
    first, second = (
        cs.estimate(cs.Sample.from_counts(v, np.full(19, 1.0), VALUE**1.4), measure=measure) for v in (VALUE, VALUE**2)
    )
    below = above = wrong = 0
    for seed in range(sets):
        y, models, f = data([seed, 1], hit=0.0)
        found = cs.compare(y, models, judge=cs.Judge(f), measure=measure, **ASKED | {"rng": seed})
        below, above = below + (found.low[0] > first - second), above + (found.high[0] < first - second)
        if seed < 20:
            taken = cs.compare(f, models, measure=measure, **ASKED | {"rng": seed})
            wrong += not taken.low[0] <= first - second <= taken.high[0]
    assert max(below, above) <= most_rejections(0.035, sets, 1e-4)
    assert wrong > most_rejections(0.07, 20, 1e-4)


def test_what_the_result_says():
    y, models, f = data()
    found = cs.compare(y, models | {"c": models["a"] ** 1.2}, judge=cs.Judge(f), reference="a", **ASKED)
    assert found.pairs == (("a", "b"), ("a", "c"))
    assert (found.n, found.rows.labelled) == ((600, 600, 600), 100)
    assert found.rows.labels_only.n == (100, 100, 100)
    assert found.same_order == (True, True)
    text = str(found)
    assert "100 labelled rows among 600, with a judge" in text
    assert "Labels alone: a - b [" in text
    assert "tuned on the labelled rows" in text
    assert 0 < found.rows.design_pvalue <= 1
    written = found.to_dict()
    assert written["rows.labels_only.pvalue"] == found.rows.labels_only.pvalue.tolist()


def test_what_is_refused():
    y, models, f = data()
    for more, message in {
        "cluster": "expected judge= without cluster= to compare models",
        "lens": "expected judge= without lens=",
        "sample_weight": "expected judge= without sample_weight=",
    }.items():
        with pytest.raises(ValueError, match=message):
            cs.compare(y, models, judge=cs.Judge(f), **{more: "top_label" if more == "lens" else np.arange(600)})
    with pytest.raises(ValueError, match="expected judge= without method="):
        cs.compare(y, models, judge=cs.Judge(f), method="swap")
    with pytest.raises(ValueError, match=r"expected y_prob, a mapping .* found those of one model"):
        cs.compare(y, models["a"], judge=cs.Judge(f))
    with pytest.raises(ValueError, match=r"expected a reference, one of a, b; found 'd'"):
        cs.compare(y, models, judge=cs.Judge(f), reference="d")
    with pytest.raises(ValueError, match="rectified residuals do not estimate"):
        cs.compare(y, models, judge=cs.Judge(f), measure="kernel_ce_squared")
    with pytest.raises(ValueError, match=r"found 1\.5 in judge at row 7"):
        cs.compare(y, models, judge=cs.Judge(np.where(np.arange(600) == 7, 1.5, f)))
