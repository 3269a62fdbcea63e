"""Binary samples with their labels or their pairs drawn: the distribution of every count."""

import numpy as np
import pytest
from binary_draws import KEY, SCHEMES, SMALL, TIED, names
from oracles import follows
from scipy import stats

from calibstat.resampling import (
    Consistency,
    Draws,
    Labels,
    draw,
)


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
def test_summary_pmf(sample, scheme):
    """Counts ~ Binomial(n, c/n); positives ~ Binomial(c, v) with labels, Binomial(n, c v/n) or (n, a/n) with rows."""
    drawn = draw(sample, scheme, lambda v, c, a: np.array([c, a]), Draws(KEY, 40_000), 1)
    n = sample.n
    for j, (v, c, a) in enumerate(zip(*sample.arrays, strict=True)):
        hits = np.arange(n + 1)
        if scheme == Labels():
            assert np.all(drawn[:, 0, j] == c)
            pmf, wrong = (stats.binom.pmf(hits, c, p) for p in (v, min(v + 0.02, 1)))
        else:
            assert follows(drawn[:, 0, j], stats.binom.pmf(hits, n, c / n))
            rate = c * v / n if scheme == Consistency() else a / n
            pmf, wrong = (stats.binom.pmf(hits, n, p) for p in (rate, rate + 0.01))
        assert follows(drawn[:, 1, j], pmf)
        if 0 < v < 1:
            assert not follows(drawn[:, 1, j], wrong)
    assert np.all(drawn[:, 0].sum(axis=1) == n)
