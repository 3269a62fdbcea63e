"""Differences of two seminorms, against slow enumerations of all fixed weights."""

import tracemalloc
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from compared_models import IN_CLUSTERS, drawn_rows, same, skewness, two_models
from more_than import more_than
from oracles import bin_number
from scipy.stats import norm

import calibstat as cs
from calibstat.inference.comparing import resamples
from calibstat.resampling import Stream, row_sums

SEMINORMS = [o for o in IN_CLUSTERS if o[0] not in ("brier", "log_loss")]
STEPS = {"ece": 1, "ks": 2, "kernel_ce": 2, "kuiper": 3, "smooth_ce": 3}


def slow_norm(measure, options, y, p):
    """The measure as a function of rows' weights: its value, and a witness of row i's residual."""
    value = np.unique(p)
    at = p[:, None] == value
    if measure == "kernel_ce":
        kernel = np.exp(-np.abs(value[:, None] - value))
        norm_of, witness = lambda t: np.sqrt(max(t @ kernel @ t, 0)), lambda t: kernel @ t / np.sqrt(t @ kernel @ t)
    elif measure == "ece":
        bins = options["n_bins"]
        cell = bin_number(value, bins)
        if options.get("strategy") == "quantile":
            total = np.cumsum(at.sum(axis=0))
            edges = {int(np.argmin(np.abs(total - b * p.size / bins))) for b in range(1, bins)}
            cell = np.array([sum(j > edge for edge in edges) for j in range(value.size)])
        same_cell = cell[:, None] == np.unique(cell)
        norm_of = lambda t: np.abs(t @ same_cell).sum()  # noqa: E731
        witness = lambda t: same_cell @ np.sign((t @ same_cell).round(12))  # noqa: E731
    elif measure in ("ks", "kuiper"):
        signs = np.tril(np.ones((value.size, value.size)))
        if measure == "kuiper":
            first, last = np.tril_indices(value.size)
            signs = signs[first] - np.tril(np.ones((value.size, value.size)), -1)[last]
        norm_of = lambda t: np.abs(signs @ t).max()  # noqa: E731
        best = lambda t: np.argmax(np.abs(signs @ t))  # noqa: E731
        witness = lambda t: signs[best(t)] * np.sign(signs[best(t)] @ t)  # noqa: E731
    else:
        from scipy.optimize import linprog

        step = np.diff(np.eye(value.size), axis=0)
        lipschitz = {"A_ub": np.vstack((step, -step)), "b_ub": np.tile(np.diff(value), 2), "bounds": (-1, 1)}
        solved = lambda t: linprog(-t, **lipschitz)  # noqa: E731
        norm_of, witness = lambda t: -solved(t).fun, lambda t: solved(t).x
    return at, norm_of, witness


def every_weight(measure, options, y, p, norm_of, witness):
    """Fixed weights at the distinct predictions: all extreme ones, or many of the ball if there are too many."""
    value = np.unique(p)
    if measure in ("ks", "kuiper"):
        rising = np.tril(np.ones((value.size, value.size)))
        if measure == "kuiper":
            first, last = np.tril_indices(value.size)
            rising = rising[first] - np.tril(np.ones((value.size, value.size)), -1)[last]
        return np.vstack((rising, -rising, np.zeros(value.size)))
    if measure == "ece":
        unit = np.eye(value.size)
        apart = [norm_of(unit[j] - unit[j + 1]) > 1 for j in range(value.size - 1)]
        cell = np.concatenate(([0], np.cumsum(apart)))
        return np.array([np.array(signs)[cell] for signs in product((-1, 1), repeat=cell[-1] + 1)] + [0 * value])
    random = np.random.default_rng(3)
    smooth = np.cumsum(random.normal(size=(40, value.size)), axis=1)
    at = p[:, None] == value
    theta = (y - p) @ at / y.size
    return np.array([witness(theta), 0 * value, *(witness(theta + 0.05 * part / value.size) for part in smooth)])


@dataclass(frozen=True)
class Slow:
    """What the bounds of any tail need of one model: residuals, resamples, all weights, and how the norm moves."""

    residual: np.ndarray
    at: np.ndarray
    theta: np.ndarray
    step: np.ndarray  # a row for each resample
    weights: np.ndarray
    witness: np.ndarray
    value: float  # of the norm
    moved: np.ndarray

    @classmethod
    def of(cls, measure, options, y, v, chosen):
        """From outcomes, predictions and the rows of each resample."""
        at, norm_of, witness = slow_norm(measure, options, y, v)
        theta, kappa = (y - v) @ at / y.size, STEPS[measure]
        step = np.array([(y - v)[i] @ at[i] / y.size - theta for i in chosen])
        moved = np.array([(norm_of(theta + kappa * g) - norm_of(theta)) / kappa for g in step])
        if measure == "ece":
            moved += max(slow_bias(y, v, at, norm_of, options) - moved.mean(), 0)
        weights = every_weight(measure, options, y, v, norm_of, witness)
        return cls(y - v, at, theta, step, weights, witness(theta), norm_of(theta), moved)


def slow_high(one, other, tail):
    """The largest bound for any of many fixed weights, one resample at a time; what is said of each, too."""
    z, bounds, n = norm.isf(tail), [], one.residual.size
    for weight in one.weights:
        added = one.residual * (one.at @ weight)
        noise = np.quantile(other.moved - one.step @ weight, 1 - tail, method="weibull")
        excess = skewness(z, (added**2).sum() - added.sum() ** 2 / n, (added**3).sum())
        bounds.append(one.theta @ weight + noise + excess / n)
    added, n = other.residual * (other.at @ other.witness), other.residual.size
    below = skewness(z, (added**2).sum() - added.sum() ** 2 / n, -((added - added.mean()) ** 3).sum())
    return np.array(bounds) - other.value + below / n


def slow_bias(y, v, at, norm_of, options):
    """The bias of each bin's absolute value, its gap taken one spread nearer to zero."""
    bins = options["n_bins"]
    cell = bin_number(v, bins)
    if options.get("strategy") == "quantile":
        # bins are the sets of values between which the norm adds absolute values
        value = np.unique(v)
        unit = np.eye(value.size)
        apart = [norm_of(unit[j] - unit[j + 1]) > 1 for j in range(value.size - 1)]
        cell = np.concatenate(([0], np.cumsum(apart)))[np.searchsorted(value, v)]
    total, n = 0.0, y.size
    for b in np.unique(cell):
        here, r = cell == b, np.where(cell == b, y - v, 0.0)
        spread = np.sqrt(max(r.var() / n, (v * (1 - v))[here].sum() / n**2 if here.sum() < 30 else 0))
        t = max(abs(r.mean()) / spread - 1, 0)
        total += spread * (2 * norm.pdf(t) + t * (2 * norm.cdf(t) - 1) - t)
    return total


def in_order(y, p, q):
    return [column[np.lexsort((q, p, y))] for column in (y, p, q)]


@pytest.mark.parametrize(("measure", "options"), SEMINORMS)
def test_ends_are_the_largest_bounds_for_fixed_weights(measure, options):
    """A few steps upwards find what all weights, or many of the unit ball, say; at most a few hundredths are missed."""
    gaps = {0.025: [], 0.1: []}
    for seed in range(3):
        y, p, q = in_order(*two_models(60, seed))
        chosen = list(drawn_rows(60, 39, seed))
        one, other = (Slow.of(measure, options, y, v, chosen) for v in (p, q))
        expected = [cs.estimate(y, v, measure=measure, **options) for v in (p, q)]
        for tail, missed in gaps.items():
            settings = {"measure": measure, "n_resamples": 39, "rng": seed, "confidence_level": 1 - 2 * tail, **options}
            found = cs.compare(y, {"p": p, "q": q}, **settings)
            assert found.estimates == pytest.approx(expected, abs=1e-12)
            assert found.difference[0] == pytest.approx(expected[0] - expected[1], abs=1e-12)
            high, low = slow_high(one, other, tail).max(), slow_high(other, one, tail).max()
            missed += [(high - found.high[0]) / (high + low), (low + found.low[0]) / (high + low)]
    for missed in gaps.values():
        assert np.max(missed) < 0.1
        assert np.mean(missed) < 0.01
        assert np.median(np.abs(missed)) < (1e-9 if measure in ("ks", "ece") else 0.01)


@pytest.mark.parametrize(("measure", "options"), [("ks", {}), ("ece", {"n_bins": 5})])
def test_samples_of_different_rows(measure, options):
    y, p, q = two_models(90, 4)
    one, other = ([part[np.lexsort((v, u))] for part in (u, v)] for u, v in ((y[:50], p[:50]), (y[50:], q[50:])))
    arguments = {"measure": measure, "n_resamples": 79, "rng": 2, **options}
    found = cs.compare({"one": tuple(one), "two": tuple(other)}, **arguments)
    first = Slow.of(measure, options, *one, list(drawn_rows(50, 79, 2, Stream.COMPARE)))
    second = Slow.of(measure, options, *other, list(drawn_rows(40, 79, 2, Stream.COMPARE + 1)))
    for end, (a, b) in ((found.high[0], (first, second)), (-found.low[0], (second, first))):
        assert end == pytest.approx(slow_high(a, b, 0.025).max(), rel=0.03)


def test_weights_that_are_not_known_are_taken_at_their_worst():
    """A user-defined seminorm without a witness has a valid interval, wider than that of the same with one."""

    class Plain(cs.measures.KS):
        def witness(self, value, residual):
            return None

    y, p, q = two_models(200, 1)
    known, unknown = (cs.compare(y, {"p": p, "q": q}, measure=m, rng=1) for m in (cs.measures.KS(), Plain()))
    assert unknown.low[0] < known.low[0] < known.high[0] < unknown.high[0]
    assert unknown.difference[0] == known.difference[0]


def test_a_witness_of_the_data_alone_would_find_too_much(monkeypatch):
    """Events in .01, one model too low and one as much too high: the rejections at 5 %, and a twin without skewness.

    The twin rejects at least where no event occurs, in .99**100 = 37 % of the data sets; that so many of 120 stay
    within the limit of 18 has probability 1e-7.
    """
    from scipy.stats import binom

    from calibstat.bounds.tail_bound import TailBound

    def rejections(count):
        for seed in range(count):
            y = (np.random.default_rng(seed).random(100) < 0.01).astype(int)
            models = {"low": np.full(100, 0.005), "high": np.full(100, 0.015)}
            yield cs.compare(y, models, measure="ks", n_resamples=79, rng=seed).pvalue[0] <= 0.05

    assert sum(rejections(120)) <= binom.isf(1e-5, 120, 0.05)
    monkeypatch.setattr(TailBound, "skewness", lambda self, variance, third: 0 * variance)
    assert more_than(binom.isf(1e-5, 120, 0.05), rejections(120))


# --- how much is drawn ------------------------------------------------------------------------------------------------


def compared(models, measure, n_jobs=1):
    """Models of 150 rows, compared by 99 resamples."""
    random = np.random.default_rng(1)
    p = random.random((models, 150))
    return cs.compare(
        random.random(150) < p[0],
        dict(zip("ABCDE", p, strict=False)),
        measure=measure,
        n_resamples=99,
        n_jobs=n_jobs,
        rng=1,
    )


@pytest.fixture
def rows_drawn(monkeypatch):
    """How many rows each call draws."""
    found = []

    def draw(key, stream, first, counts, draw=row_sums._draw):
        found.append(counts.size)
        draw(key, stream, first, counts)

    monkeypatch.setattr(row_sums, "_draw", draw)
    return found


@pytest.mark.parametrize("models", [2, 5])
@pytest.mark.parametrize("measure", ["ece", "ks", "kernel_ce"])
@pytest.mark.parametrize("kept", [2**24, 99 * 150])
def test_rows_are_drawn_once(models, measure, kept, rows_drawn, monkeypatch):
    """Of all models and pairs together, whether their sums are kept or, if cells are many, how often rows are drawn."""
    monkeypatch.setattr(resamples, "KEPT", kept)
    compared(models, measure)
    assert sum(rows_drawn) == 99 * 150


@pytest.mark.parametrize("models", [2, 5])
def test_of_many_rows_and_cells_each_step_draws_once(models, rows_drawn, monkeypatch):
    """For the sums of all models, for covariances, and for all weights together; and a few for starts of each pair."""
    monkeypatch.setattr(resamples, "KEPT", 0)
    compared(models, "ks")
    assert sum(rows_drawn) == (3 * 99 + 8 * models * (models - 1)) * 150


@pytest.mark.parametrize("measure", ["ks", "kernel_ce"])
def test_it_does_not_show_what_is_kept(measure, monkeypatch):
    """Nor how many weights are added up together, nor threads; sums of cells or of rows differ by rounding alone."""
    sums = compared(3, measure)
    monkeypatch.setattr(resamples, "KEPT", 99 * 150)
    counts = compared(3, measure)
    for name in ("difference", "low", "high", "pvalue"):
        assert getattr(counts, name) == pytest.approx(getattr(sums, name), abs=1e-12)
    for kept, some in ((99 * 150, 16 * 150), (0, 2**24), (0, 16 * 150)):
        monkeypatch.setattr(resamples, "KEPT", kept)
        monkeypatch.setattr(resamples, "ADDEND_BYTES", some)
        monkeypatch.setattr(resamples, "MORE_ADDEND_BYTES", some)
        for n_jobs in (1, 3):
            assert same(compared(3, measure, n_jobs), counts)


@pytest.mark.parametrize("measure", ["ks", "kernel_ce"])
def test_memory_does_not_grow_with_resamples(measure, monkeypatch):
    """Of many rows, each a cell by itself: peaks of 64 and of 128 resamples, where nothing is kept."""
    monkeypatch.setattr(resamples, "KEPT", 0)
    monkeypatch.setattr(resamples, "MORE_ADDEND_BYTES", 2**21)
    n, random, peaks = 20_000, np.random.default_rng(1), []
    p = random.random((2, n))
    y, models = random.random(n) < p[0], dict(zip("AB", p, strict=True))
    for n_resamples in (2, 64, 128):  # the first compiles
        tracemalloc.start()
        cs.compare(y, models, measure=measure, n_resamples=n_resamples, rng=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.1 * peaks[1]
    assert peaks[2] < 600 * n
