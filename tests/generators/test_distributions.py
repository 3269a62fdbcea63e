"""Distributions of scores: finite ones draw their probabilities, and what is printed tells them apart."""

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO

from scipy import stats

from calibstat.generators import calibrated


def test_a_finite_distribution_draws_its_probabilities():
    _, p = calibrated({0.2: 0.9, 0.6: 0.1}).sample(10_000, 1)
    assert stats.binomtest(int((p == 0.6).sum()), 10_000, 0.1).pvalue > 1e-6
    assert set(p) == {0.2, 0.6}


def test_the_repr_of_a_histogram_tells_histograms_apart():
    code = """if True:
    import numpy as np
    from scipy import stats
    from calibstat.generators import calibrated
    for data in ([.1, .2, .9], [.1, .8, .9]):
        print(calibrated(stats.rv_histogram(np.histogram(data, bins=4, range=(0, 1)))))
    """
    with redirect_stdout(StringIO()) as here:
        exec(code)
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    one, other = elsewhere.splitlines()
    assert here.getvalue() == elsewhere  # the same in every process
    assert one != other
