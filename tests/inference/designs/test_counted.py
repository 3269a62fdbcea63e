"""Models of counted rows compare as the rows do; what draws rows is refused by name."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs

FIELDS = ("estimates", "difference", "low", "high", "pvalue", "pvalue_adjusted")
ROWS = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), *[st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0])] * 3), min_size=2)


def by_counts(y, models):
    """Kinds in the order of a data frame, the first one in two parts if it has two rows, and one without rows."""
    frame = pd.DataFrame({"y": y, **models}).value_counts().reset_index()
    first = frame.head(1).assign(count=1)
    frame.iloc[0, -1] -= 1
    frame = pd.concat([frame, first, frame.tail(1).assign(count=0)])
    return cs.Models.from_counts(frame.y, {name: frame[name] for name in models}, frame["count"])


@given(ROWS)
def test_squares_of_counts_are_those_of_rows_to_the_last_bit(rows):
    y, *prob = np.array(rows).T
    models = dict(zip("BAC", prob, strict=True))
    found, expected = cs.compare(by_counts(y, models)), cs.compare(y, models)
    for name in (*FIELDS, "errors", "errors_low", "errors_high", "at_least"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert (found.n, found.pairs, found.note) == (expected.n, expected.pairs, expected.note)


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_mean_losses_of_counts_are_those_of_rows(measure):
    rng = np.random.default_rng(3)
    p, q = rng.choice([0.05, 0.2, 0.6, 0.9], (2, 500))
    y = (rng.random(500) < p).astype(float)
    models = {"A": p, "B": q, "C": np.sqrt(p)}
    found = cs.compare(by_counts(y, models), measure=measure)
    expected = cs.compare(y, models, measure=measure)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-15)
    assert found.same_order == expected.same_order == (False, True, False)


def test_what_draws_rows_is_refused_by_name():
    models = by_counts(np.tile([0.0, 1.0], 50), {"A": np.full(100, 0.5), "B": np.repeat([0.4, 0.6], 50)})
    for asked in ({"measure": "kernel_ce"}, {"measure": "kernel_ce_squared", "kernel": "gaussian"}):
        with pytest.raises(ValueError, match=r"expected the default measure, brier or log_loss .* found kernel"):
            cs.compare(models, **asked)
    with pytest.raises(ValueError, match="found 'swap', which draws rows"):
        cs.compare(models, method="swap")
