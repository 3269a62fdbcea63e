"""Predictions that are left as they are."""

import numpy as np
from hypothesis import given
from row_strategies import rows

from calibstat.recalibration import Unchanged


@given(rows())
def test_nothing_is_changed(data):
    y, p = data
    np.testing.assert_array_equal(Unchanged().fit(p, y).predict_proba(p), p)
    both = np.column_stack((1 - p, p))
    out = Unchanged().fit(both, y, sample_weight=np.ones(y.size)).predict_proba(both)
    np.testing.assert_allclose(out, both, rtol=1e-15)
    assert out is not both
