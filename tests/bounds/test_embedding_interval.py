"""The norm of a mean of embeddings: its high end against bounds of fixed weights, and the intervals of `skce`."""

import numpy as np
import pytest
from class_draws import KEY, slow_draw
from hypothesis import given
from hypothesis import strategies as st
from multiclass_populations import POPULATIONS, PROB, WEIGHT, misses, most_misses
from scipy.spatial.distance import cdist
from vector_strategies import vectors

import calibstat as cs
from calibstat.bounds.embedding_interval import EmbeddingInterval
from calibstat.bounds.intervals import SeminormInterval
from calibstat.bounds.tail_bound import TailBound
from calibstat.measures import SKCE, skce
from calibstat.resampling import Draws, Pairs, Stream


def embedded(prob, label):
    """Embeddings of rows in coordinates, K for each row: those of the kernel times the residuals."""
    value, vector = np.linalg.eigh(np.exp(-cdist(prob, prob, "cityblock") / 2))
    coordinate = vector * np.sqrt(np.maximum(value, 0))
    residual = np.eye(prob.shape[1])[label] - prob
    return (coordinate[:, :, None] * residual[:, None, :]).reshape(label.size, -1)


def interval_of(embedding):
    gram = embedding @ embedding.T
    rows = cs.Predictions.from_rows(np.zeros(len(gram), int), np.full((len(gram), 2), 0.5))
    return EmbeddingInterval(lambda times: gram @ times, rows, np.sqrt(2))


@given(vectors(), st.integers(0, 10))
def test_the_high_end_is_above_the_bound_of_any_weights(drawn, seed):
    embedding = embedded(*drawn)
    n, tail_bound, rng = len(embedding), TailBound.of_rows(0.025).times(np.sqrt(2)), np.random.default_rng(seed)
    interval, total = interval_of(embedding), embedding.sum(axis=0)
    assert interval.estimate == pytest.approx(np.linalg.norm(total) / n, abs=1e-9)
    witness = total / max(np.linalg.norm(total), 1e-300)
    along = embedding @ witness
    rate = tail_bound.rate(max((along**2).sum() - along.sum() ** 2 / n, 0.0), (along**3).sum())
    weights = [witness, *rng.normal(size=(30, total.size)), *(witness + rng.normal(size=(30, total.size)) / 20)]
    centred = embedding - embedding.mean(axis=0)
    weights += [*np.linalg.svd(centred, full_matrices=False)[2][:2]]
    for w in weights:
        row = embedding @ (w / max(np.linalg.norm(w), 1e-300))
        spread = np.sqrt(max((row**2).sum() - row.sum() ** 2 / n, 0.0))
        assert n * interval.high(0.025) >= row.sum() + tail_bound.widen(tail_bound.z * spread, rate) - 1e-6


def test_no_event_leaves_room_for_some():
    """All embeddings are 0: the rate is the largest norm, and the reach rate * k, k = 3.894."""
    interval = interval_of(np.zeros((200, 2)))
    assert interval.high(0.025) == pytest.approx(np.sqrt(2) * 3.894 / 200, rel=1e-3)


def test_one_direction_is_the_score_bound():
    """Embeddings on a line, positive in sum: the bound of that one direction."""
    row = np.r_[np.full(30, 0.7), np.full(50, -0.3)]
    tail_bound, variance = TailBound.of_rows(0.025).times(np.sqrt(2)), (row**2).sum() - row.sum() ** 2 / 80
    assert interval_of(row[:, None]).high(0.025) * 80 == pytest.approx(
        row.sum() + tail_bound.reach(variance, (row**3).sum()), rel=1e-6
    )


def test_the_directional_bootstrap_is_of_resampled_rows():
    """(|m + 20 (m* - m)| - |m|) / 20 in coordinates."""
    rng = np.random.default_rng(0)
    embedding, rows = rng.normal(size=(40, 3)), rng.integers(0, 40, size=(5, 40))
    interval, mean, drawn = interval_of(embedding), embedding.mean(axis=0), embedding[rows].mean(axis=1)
    wanted = (np.linalg.norm(mean + 20 * (drawn - mean), axis=1) - np.linalg.norm(mean)) / 20
    assert interval.directional(np.array([np.bincount(of, minlength=40) for of in rows])) == pytest.approx(wanted)


def test_it_draws_rows():
    embedding, draws = np.random.default_rng(0).normal(size=(40, 3)), Draws(KEY, 8)
    interval = interval_of(embedding)
    rows = [slow_draw(interval.predictions, Pairs(), r, Stream.ROWS)[0] for r in range(draws.n)]
    times = np.array([np.bincount(of, minlength=40) for of in rows], float)
    assert interval.resampled(draws) == pytest.approx(interval.directional(times))


# --- skce ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"distance": "euclidean"}, {"kernel": "gaussian", "distance": "euclidean", "bandwidth": 0.3}]
)
def test_products_of_rows(options, monkeypatch):
    rng = np.random.default_rng(1)
    prob, label, times = rng.dirichlet(np.ones(3), 300), rng.integers(0, 3, 300), rng.normal(size=(300, 2))
    measure = SKCE(**options)
    arguments = skce.kernel_arguments(measure.kernel, measure.distance, measure.bandwidth)
    halved = cdist(prob, prob, "cityblock") / 2 if measure.distance != "euclidean" else cdist(prob, prob)
    kernel = np.exp(-halved / measure.bandwidth if measure.kernel == "laplace" else -((halved / 0.3) ** 2) / 2)
    residual = np.eye(3)[label] - prob
    wanted = (kernel * (residual @ residual.T)) @ times
    for kept in (300, 20):  # the whole matrix, and blocks of one row
        monkeypatch.setattr(skce, "KEPT_ROWS", kept)
        found = skce.gram_products(skce.columns(prob), skce.residuals(prob, label), arguments)(times)
        assert found == pytest.approx(wanted)


@given(vectors(), st.sampled_from(["V", "U"]))
def test_ends_are_squares_in_order(drawn, statistic):
    prob, label = drawn
    if statistic == "V" or label.size > 1:
        found = cs.confidence_interval(label, prob, measure="skce", statistic=statistic, n_resamples=19, rng=0)
        assert 0 <= found.low <= found.high
        assert found.estimate <= found.high + 1e-12


def test_two_classes_are_twice_the_square_of_the_binary_error():
    """With total variation <e_y - p, e_z - q> is twice the product of binary residuals; the largest norm is sqrt(2).

    That is the bound of the largest weighted sum; the binary error has another one of its square.
    """
    rng = np.random.default_rng(2)
    p = rng.random(200)
    y = (rng.random(200) < p**1.5).astype(int)
    found = SKCE().interval(cs.Predictions.from_rows(y, np.c_[1 - p, p])).high(0.025)
    interval = cs.measures.KernelCE().interval(cs.Sample.from_rows(y, p))
    binary = SeminormInterval(interval.norm, interval.table).high(0.025)
    assert binary * 0.9 < np.sqrt(found / 2) <= binary + 1e-9  # the rest is bounded more closely


def test_blocks_have_the_interval_of_their_mean():
    rng = np.random.default_rng(3)
    prob, label = PROB[rng.integers(0, 4, 300)], rng.integers(0, 3, 300)
    found = cs.confidence_interval(label, prob, measure="skce", statistic="linear", rng=0)
    values = [
        2 * SKCE(statistic="U").evaluate(prob[i : i + 2], label[i : i + 2]) / 2 for i in range(0, 300, 2)
    ]  # fmt: skip
    reach = 1.976 * np.std(values, ddof=1) / np.sqrt(150)
    assert found.estimate == pytest.approx(np.mean(values))
    assert reach < found.estimate - found.low < 1.2 * reach
    assert reach < found.high - found.estimate < 1.2 * reach


def truth(chance):
    mean = WEIGHT[:, None] * (chance - PROB)
    return float((np.exp(-cdist(PROB, PROB, "cityblock") / 2) * (mean @ mean.T)).sum())


FEW = [("V", "calibrated"), ("V", "rivals"), ("U", "over-confident"), ("U", "rare"), ("block", "calibrated")]
MANY = [(statistic, name) for statistic in ("V", "U", "block", "linear") for name in POPULATIONS]


@pytest.mark.parametrize(
    ("statistic", "name", "runs"),
    [*((*of, 50) for of in FEW), *(pytest.param(*of, 200, marks=pytest.mark.slow) for of in MANY)],
)
def test_intervals_cover(statistic, name, runs):
    chance = POPULATIONS[name]
    assert misses(chance, truth(chance), runs, 150, measure="skce", statistic=statistic) <= most_misses(runs)


def test_percentile_intervals_do_not():
    assert misses(PROB, 0.0, 50, 150, method="percentile", measure="skce") > most_misses(50)


@given(vectors(max_size=15))
def test_the_rest_is_an_eigenvalue(drawn):
    """The largest eigenvalue of the centred products of rows, less the share of the witness, by a dense matrix."""
    embedding = embedded(*drawn)
    interval, n = interval_of(embedding), len(embedding)
    gram, centring = embedding @ embedding.T, np.eye(n) - 1 / n
    along, rest = interval._parts
    total = embedding.sum(axis=0)
    assert along * max(np.linalg.norm(total), 0.0) == pytest.approx(embedding @ total, abs=1e-9)
    centred = along - along.mean()
    dense = np.linalg.eigvalsh(centring @ gram @ centring - np.outer(centred, centred))[-1]
    assert rest == pytest.approx(max(dense, 0.0), rel=1e-4, abs=1e-8)
