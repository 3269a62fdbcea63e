"""Tests of calibstat/inner_product.py."""

import numpy as np
from threadpoolctl import threadpool_limits

from calibstat.inner_product import inner


def test_the_sum_is_of_products():
    assert inner(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])) == 32
    assert inner(np.empty(0), np.empty(0)) == 0


def test_the_sum_does_not_depend_on_the_number_of_threads():
    one, other = np.random.default_rng(0).normal(size=(2, 100_003))
    sums = set()
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            sums.add(inner(one, other))
    assert len(sums) == 1
