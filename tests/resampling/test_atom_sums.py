"""Labels of counted rows: the exact law of each atom, and groups that are sums of atoms."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.resampling import Draws, Labels, Stream, draw
from calibstat.resampling.sources import AtomSums

SOURCE = AtomSums(
    prediction=np.array([0.0, 0.2, 0.5, 0.5, 0.9, 1.0]),
    number=np.array([3.0, 4, 2, 5, 1, 7]),
    atom=np.array([0, 0, 0, 1, 1, 1]),
    stratum=np.array([0, 1, 1, 1, 1, 2]),
    size=3,
    member=np.array([[True, True], [True, False], [False, True]]),
)


def drawn(n, source=SOURCE):
    return draw(source, Labels(), lambda positives: positives, Draws.of(7, n, 1), Stream.LABELS)


def test_groups_are_sums_of_their_atoms():
    found = drawn(300)
    assert found.shape == (300, 3, 3)
    np.testing.assert_array_equal(found[:, 0], found[:, 1] + found[:, 2])
    np.testing.assert_array_equal(found[:, 1, 0], 0)  # predictions of 0, and of 1
    np.testing.assert_array_equal(found[:, 2, 2], 7)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_law_of_an_atom(shift):
    """Binomial(4, .2) + Binomial(2, .5), worked out by convolution; another law is told apart."""
    n = 4000
    expected = np.convolve(stats.binom.pmf(range(5), 4, 0.2 + shift), stats.binom.pmf(range(3), 2, 0.5))
    observed = np.bincount(drawn(n)[:, 1, 1].astype(int), minlength=7)
    least = [cs.study.most_rejections(1 - share, n, 1e-4 / 7) for share in expected]
    most = [cs.study.most_rejections(share, n, 1e-4 / 7) for share in expected]
    inside = (observed <= most) & (n - observed <= least)
    assert inside.all() == (shift == 0)
