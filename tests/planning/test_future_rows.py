"""Rows to come: those of the pilot or the generator, with their own true probabilities."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.planning.future_rows import check_rows, future_rows
from calibstat.resampling import key_of

KEY = key_of(2)


def test_rows_keep_their_true_probabilities():
    p, q = np.array([0.1, 0.2, 0.2, 0.9]), np.array([0.3, 0.4, 0.5, 0.6])
    rows, alternative = future_rows(p, q).take(40, KEY)
    pairs = set(zip(rows.tolist(), alternative.given.tolist(), strict=True))
    assert pairs == set(zip(p.tolist(), q.tolist(), strict=True))


def test_rows_of_a_sample_are_drawn_by_their_numbers():
    sample = cs.Sample.from_counts([0.2, 0.6], [30, 10], [0, 10])
    rows, alternative = future_rows(sample, [0.25, 0.7]).take(4000, KEY)
    assert set(rows.tolist()) == {0.2, 0.6}
    assert stats.binomtest(int((rows == 0.2).sum()), 4000, 0.75).pvalue > 1e-4
    assert (alternative.given == np.where(rows == 0.2, 0.25, 0.7)).all()
    pilot, _ = future_rows(sample, [0.25, 0.7]).pilot(KEY)
    assert pilot.positives.tolist() == [0, 0]


def test_rows_of_classes():
    prob = np.random.default_rng(1).dirichlet([1, 1, 1], size=20)
    for given in (prob, cs.Predictions.from_rows(np.zeros(20, int), prob)):
        rows, _ = future_rows(given, "temperature=2").take(50, KEY)
        assert {tuple(row) for row in rows} <= {tuple(row) for row in prob}


def test_the_order_of_rows_does_not_matter():
    p, q = np.array([0.9, 0.1, 0.5]), np.array([0.8, 0.2, 0.6])
    (rows, one), (again, two) = (future_rows(p[o], q[o]).take(9, KEY) for o in ([0, 1, 2], [2, 0, 1]))
    assert (rows.tolist(), one.given.tolist()) == (again.tolist(), two.given.tolist())


def test_a_generator_is_its_own_alternative():
    generator = cs.generators.temperature(2.0)
    rows, alternative = future_rows(generator, None).take(100, KEY)
    np.testing.assert_allclose(alternative.truth(rows), generator.curve(rows))
    assert rows.tolist() == future_rows(generator, "shift=1").take(100, KEY)[0].tolist()


@pytest.mark.parametrize(
    ("p", "alternative", "match"),
    [
        ([0.2, 0.3], None, "expected an alternative"),
        (cs.generators.calibrated(), [0.2, 0.3], "function of the predictions of a generator"),
        (0.3, "shift=1", "an array with an entry for each row"),
        ([0.2, 0.3], [0.2, 0.3, 0.4], "expected true probabilities of shape"),
        ([], "shift=1", "shape"),
        (cs.Sample.from_counts([0.2], [1.5], [1]), "shift=1", "whole-number counts"),
    ],
)
def test_wrong_rows_are_told(p, alternative, match):
    with pytest.raises(ValueError, match=match):
        future_rows(p, alternative)


def test_numbers_of_rows_are_whole():
    assert check_rows(np.int64(5)) == 5
    for n in (0, 2.5, True, "3"):
        with pytest.raises(ValueError, match="whole number"):
            check_rows(n)
