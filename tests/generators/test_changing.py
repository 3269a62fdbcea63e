"""Streams with a change of known date: which generator a period has, what its rows depend on, bad arguments."""

import math

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.generators import calibrated, groups, prevalence, shift, stream, temperature

HALF = 0.5, calibrated()


def drawn(model, first, last, rng=1):
    return {period: (y, p) for period, y, p in model.periods(first, last, rng)}


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_the_generator_changes_at_its_date():
    model = stream(calibrated(), shift(0.4), change=5)
    assert [model.generator(period).is_calibrated for period in range(1, 8)] == [True] * 4 + [False] * 3
    # uniform v, predicted odds k times those of v: E f - 1/2 = ∫ k v / (1 - v + k v) dv - 1/2, k = exp(.4)
    k = math.exp(0.4)
    error = k / (k - 1) - k * math.log(k) / (k - 1) ** 2 - 0.5
    assert model.generator(5).truth("ece", n_bins=1) == pytest.approx(error, abs=1e-9)


def test_rows_are_those_of_the_generator_of_their_period():
    """Residuals against the curve of each period, and against that of the other side of the change."""
    model = stream(calibrated(), temperature(2), change=51, rows=2000)

    def largest(earlier):
        """The largest z-score of sums of residuals times logits, of 100 periods."""
        z = []
        for period, (y, p) in drawn(model, 1, 100).items():
            chance = model.generator(max(period - earlier, 1)).curve(p)
            x = stats.logistic.ppf(p)
            z.append(x @ (y - chance) / math.sqrt(x**2 @ (chance * (1 - chance))))
        return np.abs(z).max()

    assert largest(0) < stats.norm.isf(5e-4 / 100)
    assert largest(1) > stats.norm.isf(5e-4 / 100)  # day 51 judged by the curve of day 50


def test_a_period_depends_on_itself_alone():
    model = stream(calibrated(), shift(1), change=4, rows=[3, 1, 4, 1, 5])
    every = drawn(model, 1, 5)
    assert [y.size for y, _ in every.values()] == [3, 1, 4, 1, 5]
    for first, last in [(1, 1), (2, 4), (5, 5)]:
        part = drawn(model, first, last)
        assert list(part) == list(range(first, last + 1))
        assert all(same(part[period], every[period]) for period in part)
    unchanged = drawn(stream(calibrated(), rows=[3, 1, 4, 1, 5]), 1, 5)
    assert all(same(unchanged[period], every[period]) for period in (1, 2, 3))
    assert not same(unchanged[5], every[5])
    assert not same(drawn(model, 1, 1, rng=2)[1], every[1])
    assert not np.array_equal(every[2][1], every[4][1])  # one row each, of the same distribution


@pytest.mark.parametrize("seed", [lambda: 3, lambda: np.random.SeedSequence(3), lambda: np.random.default_rng(3)])
def test_the_same_seed_gives_the_same_stream(seed):
    model = stream(calibrated(), rows=20)
    a, b = drawn(model, 1, 3, seed()), drawn(model, 1, 3, seed())
    assert all(same(a[period], b[period]) for period in a)


def test_streams_without_seed_differ():
    model = stream(calibrated(), rows=20)
    assert not same(drawn(model, 1, 1, None)[1], drawn(model, 1, 1, None)[1])


def test_functions_of_the_period():
    model = stream(lambda t: calibrated([t / 10]), lambda t: shift(1, [t / 10]), change=3, rows=lambda t: t)
    assert [model.size(t) for t in (1, 2, 5)] == [1, 2, 5]
    found = drawn(model, 1, 4)
    assert [list(p) for _, p in found.values()][:2] == [[0.1], [0.2, 0.2]]
    # odds of .3 are 3 / 7, of the prediction e times that
    assert found[3][1] == pytest.approx(3 * math.e / (3 * math.e + 7))


def test_segments_are_the_groups():
    bad = groups({"a": (0.5, shift(-1)), "b": HALF})
    model = stream(groups({"a": HALF, "b": HALF}), bad, change=2, rows=4000)
    rows = drawn(model, 1, 2)
    error = {}
    for period, y, p, segment in model.segments(1, 2, rng=1):
        assert same((y, p), rows[period])
        assert set(segment) == {"a", "b"}
        error |= {(period, name): (y - p)[segment == name].mean() for name in ("a", "b")}
    # 2000 rows each: five standard errors are below .05; shift -1 costs .16 on average
    assert all((abs(value) < 0.05) == (key != (2, "a")) for key, value in error.items())
    assert error[2, "a"] > 0.1


def test_a_prevalence_can_change():
    rare = calibrated(stats.beta(1, 99))
    model = stream(rare, prevalence(rare, 0.02), change=2, rows=100_000)
    # five standard errors of a mean of 100,000 outcomes are below .0025
    assert [y.mean() for _, y, _ in model.periods(1, 2, rng=1)] == pytest.approx([0.01, 0.02], abs=0.0025)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: stream("uniform"), "expected before to be a generator or a function of the period, found 'uniform'"),
        (lambda: stream(calibrated(), 3, 2), "expected after to be a generator or a function of the period, found 3"),
        (lambda: stream(calibrated(), shift(1)), "expected after and change, or neither, found after=shift"),
        (lambda: stream(calibrated(), change=3), "expected after and change, or neither, found after=None"),
        (lambda: stream(calibrated(), shift(1), 0), "expected change to be a whole number of at least 1, found 0"),
        (lambda: stream(calibrated(), rows=0), "expected rows to be a whole number of at least 1, found 0"),
        (lambda: stream(calibrated(), rows="many"), "expected rows to be a whole number of at least 1, found 'many'"),
        (lambda: stream(calibrated(), rows=[5, 2.5]), "expected rows of period 2 to be a whole number of at least 1"),
        (lambda: stream(calibrated(), rows=[5]).size(2), "expected rows of period 2, found rows of 1 periods"),
        (lambda: stream(calibrated(), rows=lambda t: -t).size(2), "expected rows of period 2 .* found -2"),
        (lambda: stream(lambda t: t).generator(3), "expected a generator of period 3, found 3"),
        (lambda: stream(lambda t: cs.generators.six_points()).generator(3), "expected a generator of period 3"),
        (lambda: stream(calibrated()).generator(0), "expected period to be a whole number of at least 1, found 0"),
        (lambda: stream(calibrated()).periods(0, 3), "expected first to be a whole number of at least 1, found 0"),
        (lambda: stream(calibrated()).periods(3, 2), "expected last to be a whole number of at least 3, found 2"),
        (lambda: stream(calibrated()).segments(1, 2, rng=-1), "expected rng None, an int of at least 0"),
    ],
)
def test_bad_arguments_raise(make, message):
    with pytest.raises(ValueError, match=message):
        make()
