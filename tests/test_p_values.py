"""P-values by hand."""

import numpy as np

from calibstat.inference.p_values import p_value


def test_p_value_by_hand():
    null = np.array([0.1, 0.2, 0.2, 0.3])
    # greater: 3 of 4 are at least 0.2, so (1 + 3) / 5; below: 3 of 4 at most 0.2, twice the smaller tail is capped at 1
    assert p_value(0.2, null, "greater") == 4 / 5
    assert p_value(0.2, null, "two-sided") == 1.0
    assert p_value(0.05, null, "two-sided") == 2 / 5
    assert p_value(9.0, null, "greater") == 1 / 5
    assert p_value(0.2 + 1e-15, null, "greater") == 4 / 5  # a tie up to rounding is a tie
    assert p_value(0.2 + 1e-12, null, "greater") == 2 / 5
