"""Quantiles of drawn numbers, infinite ones among them."""

import numpy as np
import pytest

from calibstat.resampling.quantiles import quantiles


@pytest.mark.parametrize("infinite", [0, 1, 4, 9, 10])
def test_quantiles_beside_infinite_numbers(infinite):
    drawn = np.arange(10.0)
    drawn[10 - infinite :] = np.inf
    levels = np.linspace(0, 1, 37)
    at = 9 * levels  # where numpy's linear interpolation looks
    last = 9 - infinite  # of the finite numbers
    expected = np.where(at <= last, at, np.inf)
    np.testing.assert_allclose(quantiles(drawn, levels), expected)
    np.testing.assert_allclose(quantiles(np.stack([drawn, -np.ones(10)], 1), levels, axis=0)[:, 1], -1)
