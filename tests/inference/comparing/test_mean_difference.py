"""Differences of two mean losses, against the score bound of the rows' differences, written out."""

import numpy as np
import pytest
from compared_models import bound, several_classes, skewness, two_models
from scipy.stats import t

import calibstat as cs


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_the_same_rows(measure):
    y, p, q = two_models(70)
    loss = [(v - y) ** 2 if measure == "brier" else -np.log(np.where(y == 1, v, 1 - v)) for v in (p, q)]
    found = cs.compare(y, {"p": p, "q": q}, measure=measure)
    # a Brier score differs by 1 at most, a log loss by as much as predictions of these rows let it
    ratio = np.log(np.concatenate((p / q, (1 - p) / (1 - q))))
    most, least = (1, -1) if measure == "brier" else (-ratio.min(), -ratio.max())
    each = loss[0] - loss[1]
    assert found.high[0] == pytest.approx(bound(each, most), abs=1e-12)
    assert found.low[0] == pytest.approx(-bound(-each, -least), abs=1e-12)


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_p_is_the_level_at_which_zero_is_an_end(measure):
    y, p, q = two_models(150, 2)
    found = cs.compare(y, {"p": p, "q": q}, measure=measure)
    assert 0 < found.pvalue[0] < 1
    at_end = cs.compare(y, {"p": p, "q": q}, measure=measure, confidence_level=1 - found.pvalue[0])
    assert min(abs(at_end.low[0]), abs(at_end.high[0])) < 1e-9


def test_samples_of_different_rows():
    y, p, q = two_models(120, 1)
    found = cs.compare({"one": (y[:40], p[:40]), "two": (y[40:], q[40:])}, measure="brier")
    parts = [((v - w) ** 2) for v, w in ((p[:40], y[:40]), (q[40:], y[40:]))]
    mean, n = [part.mean() for part in parts], [40, 80]
    variance = sum(((part - m) ** 2).sum() * k / (k - 1) / k**2 for part, m, k in zip(parts, mean, n, strict=True))
    one, other = (((part - m) ** 3).sum() / k**3 for part, m, k in zip(parts, mean, n, strict=True))
    z = t.isf(0.025, 39)
    for end, most, third in (
        (found.high[0] - found.difference[0], max((1 - mean[0]) / 40, mean[1] / 80), one - other),
        (found.difference[0] - found.low[0], max((1 - mean[1]) / 80, mean[0] / 40), other - one),
    ):
        assert end == pytest.approx(z * np.sqrt(variance) + skewness(z, variance, third, most, most), abs=1e-12)


def test_predictions_of_exactly_0_and_1_leave_an_end_open():
    y, p, q = two_models(80, ties=False)
    sure = np.where(np.arange(80) == np.argmax(y), 1.0, p)  # right here, infinitely wrong had the outcome been 0
    found = cs.compare(y, {"sure": sure, "q": q}, measure="log_loss")
    assert found.high[0] == np.inf
    assert np.isfinite(found.low[0])
    both = cs.compare(y, {"sure": sure, "other": np.where(sure == 1, 1.0, q)}, measure="log_loss")
    assert (both.low[0], both.high[0], both.pvalue[0]) == (-np.inf, np.inf, 1)


def test_clusters_are_the_rows_of_a_mean():
    """Of three equal rows each, clusters say what single rows say, but that all three may fail together."""
    y, p, q = two_models(60)
    many = [np.repeat(part, 3) for part in (y, p, q)]
    cluster = np.repeat(np.arange(60), 3)
    single = cs.compare(y, {"p": p, "q": q}, measure="brier", cluster=np.arange(60))
    found = cs.compare(many[0], {"p": many[1], "q": many[2]}, measure="brier", cluster=cluster)
    for entry in ("difference", "low", "high", "pvalue"):
        assert getattr(found, entry) == pytest.approx(getattr(single, entry), abs=1e-9)


def test_hits_of_each_model_may_differ_in_a_row():
    """A log loss of hits: both models may be wrong or right apart from each other."""
    y, p, q = several_classes()
    found = cs.compare(y, {"p": p, "q": q}, measure="log_loss", lens="top_label")
    top = [v.max(axis=1) for v in (p, q)]
    hit = [y == v.argmax(axis=1) for v in (p, q)]
    loss = [-np.log(np.where(h, v, 1 - v)) for h, v in zip(hit, top, strict=True)]
    highest, lowest = (-np.log(np.minimum(v, 1 - v)) for v in top), (-np.log(np.maximum(v, 1 - v)) for v in top)
    worst, best = list(highest), list(lowest)
    assert found.high[0] == pytest.approx(bound(loss[0] - loss[1], (worst[0] - best[1]).max()), abs=1e-9)
    assert found.low[0] == pytest.approx(-bound(loss[1] - loss[0], (worst[1] - best[0]).max()), abs=1e-9)


def test_one_row_says_nothing_of_a_difference():
    found = cs.compare({"a": ([0], [0.2]), "b": ([0, 1], [0.2, 0.4])}, measure="brier")
    assert (found.low[0], found.high[0], found.pvalue[0]) == (-1, 1, 1)
    unbounded = cs.compare({"a": ([0], [0.2]), "b": ([0, 1], [0.2, 0.4])}, measure="log_loss")
    assert (unbounded.low[0], unbounded.high[0]) == (-np.inf, np.inf)
    same = cs.compare([1], {"a": [0.7], "b": [0.6]}, measure="brier")
    assert (same.low[0], same.high[0], same.pvalue[0]) == (-1, 1, 1)
