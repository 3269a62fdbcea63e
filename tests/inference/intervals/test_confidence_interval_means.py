"""Intervals and comparisons of the mean over classes of a mean loss: against one event, and against vectors."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures import Brier, LogLoss

N = 160
RNG = np.random.default_rng(1)
P = RNG.uniform(0.05, 0.95, N)
Q = P**1.4
Y = (RNG.random(N) < P).astype(np.int64)
WEIGHT = RNG.gamma(2.0, 1.0, N)
WEIGHT[:3] = 0.0
ROWS = {
    "plain": {},
    "weights": {"sample_weight": WEIGHT},
    "clusters": {"cluster": np.arange(N) // 4},
    "both": {"sample_weight": WEIGHT, "cluster": np.arange(N) // 4},
}
MEAN = {"lens": "class_wise_mean"}


def both(p):
    return np.stack([1 - p, p], axis=1)


def ends(found):
    return [float(found.low), float(found.estimate), float(found.high)]


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_two_classes_are_one_event(measure, rows):
    """Either class has the loss of the event."""
    one = cs.confidence_interval(Y, P, measure=measure, **rows)
    assert ends(cs.confidence_interval(Y, both(P), measure=measure, **MEAN, **rows)) == pytest.approx(ends(one))
    models, vectors = {"p": P, "q": Q}, {"p": both(P), "q": both(Q)}
    one, mean = (cs.compare(Y, m, measure=measure, **rows, **how) for m, how in ((models, {}), (vectors, MEAN)))
    for name in ("estimates", "difference", "low", "high", "pvalue"):
        assert getattr(mean, name) == pytest.approx(getattr(one, name), rel=1e-9)


@pytest.mark.parametrize("rows", [ROWS["plain"], ROWS["clusters"]])
def test_the_brier_score_is_the_squared_distance_over_the_number_of_classes(rows):
    y, p = cs.generators.dirichlet((1, 1, 1, 1), temperature=1.5).sample(N, 2)
    mean = cs.confidence_interval(y, p, measure="brier", **MEAN, **rows)
    vectors = cs.confidence_interval(y, p, measure="brier", lens="canonical", **rows)
    assert ends(mean) == pytest.approx([end / 4 for end in ends(vectors)])


def test_losses_of_three_classes_with_weights():
    """Of clusters of one row each: the weighted mean, by hand, whose interval is wider if fewer rows count."""
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(N, 3)
    of_class = -np.where(np.arange(3) == y[:, None], np.log(p), np.log1p(-p))
    found = [cs.confidence_interval(y, p, measure="log_loss", **MEAN, sample_weight=w) for w in (WEIGHT, WEIGHT**2)]
    expected = [of_class.mean(axis=1) @ w / w.sum() for w in (WEIGHT, WEIGHT**2)]
    assert [each.estimate for each in found] == pytest.approx(expected)
    assert found[1].high - found[1].low > found[0].high - found[0].low
    alone = cs.confidence_interval(y, p, measure="log_loss", **MEAN)
    single = cs.confidence_interval(
        y, p, measure="log_loss", **MEAN, cluster=cs.Clusters(np.arange(N), unseen="clusters")
    )
    assert alone.low - 1e-3 < single.low < single.estimate < alone.high  # but for what clusters can hide


@pytest.mark.parametrize("measure", [Brier(), LogLoss(), LogLoss(clip=0.01)])
def test_losses_that_rows_may_have(measure):
    prob = np.array([[0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]])
    found = measure.possible_over_classes(prob)
    for label in range(3):
        negative, positive = measure.loss(prob.ravel())
        observed = np.tile(np.arange(3) == label, len(prob))
        expected = np.where(observed, positive, negative).reshape(prob.shape).mean(axis=1)
        assert found[:, label] == pytest.approx(expected)
    low, high = measure.bounds_over_classes(3)
    assert low <= found.min()
    assert found.max() <= high + 1e-12


def test_an_infinite_loss_and_few_events():
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(N, 4)
    prob = p.copy()
    prob[5] = np.eye(3)[(y[5] + 1) % 3]
    for method in ("honest", "percentile"):
        found = cs.confidence_interval(y, prob, measure="log_loss", method=method, n_resamples=9, **MEAN)
        assert (found.low, found.high) == (np.inf, np.inf)
        assert "row 5" in found.why_infinite
    y[y == 2] = 0
    y[:3] = 2
    with pytest.raises(ValueError, match=r"few events.* class 2 was observed in 3 of 160 rows; clip= bounds the loss"):
        cs.confidence_interval(y, p, measure="log_loss", **MEAN)


def test_the_largest_mean_loss_is_refused_with_the_reason():
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(N, 5)
    with pytest.raises(ValueError, match="because the class whose mean loss is largest is chosen by the same rows"):
        cs.confidence_interval(y, p, measure="brier", lens="class_wise_max")
    with pytest.raises(ValueError, match="no honest comparison is known for brier, lens class_wise"):
        cs.compare(y, {"p": p, "q": p}, measure="brier", lens="class_wise_max")
