"""Two models exchanged at random, against loops over rows."""

import numpy as np
import pytest
from row_examples import CELL, KEY, OUTCOME, UNIT, N, signs_of

from calibstat.resampling import (
    Draws,
    ModelPair,
    Swap,
    draw,
)


@pytest.mark.parametrize("scheme", [Swap(), Swap(UNIT)], ids=["rows", "clusters"])
def test_exchanged_models(scheme):
    unit = np.arange(N) if scheme.unit is None else UNIT

    def statistic(count, positives):
        return float(count @ [1.0, 10.0, 100.0] + positives @ [3.0, 5.0, 7.0])

    found = draw(ModelPair(CELL % 3, OUTCOME, 3), scheme, statistic, Draws(KEY, 8), 1)
    for r in range(8):
        count, positives = np.zeros((2, 3)), np.zeros((2, 3))
        for i, sign in enumerate(signs_of(r, unit)):
            for m in range(2):
                into = m if sign < 0 else 1 - m
                count[into, CELL[i, m] % 3] += 1
                positives[into, CELL[i, m] % 3] += OUTCOME[i, m]
        assert found[r] == pytest.approx(statistic(count[0], positives[0]) - statistic(count[1], positives[1]))
