"""Names of rows: an index in another order is refused, everywhere where rows stand beside each other."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.labels import check_row_names

N = 40
Y, P = cs.generators.calibrated().sample(N, rng=1)
IDS = [f"r{i}" for i in range(N)]
y, p = pd.Series(Y, index=IDS), pd.Series(P, index=IDS)
FEW = {"n_resamples": 9, "rng": 1}
OTHER_ORDER = [
    (y, p.sort_values()),
    (pd.Series(Y), pd.Series(P).sort_values()),  # the default index, and its numbers in another order
    (y.to_frame(), p.sort_values()),
    (y, pd.DataFrame({"no": 1 - p, "yes": p}).sort_values("yes")),
]


@pytest.mark.parametrize(("first", "second"), OTHER_ORDER)
def test_the_same_rows_in_another_order_are_refused(first, second):
    with pytest.raises(ValueError, match=r"found the same labels in another order: .* at row \d+; reorder them"):
        cs.estimate(first, second)


@pytest.mark.parametrize(
    "ask",
    [
        lambda other: cs.estimate(y, {"a": p, "b": other}),
        lambda other: cs.compare(y, {"a": p, "b": other}, **FEW),
        lambda other: cs.summarize(y, {"a": other}),
        lambda other: cs.Sample.from_rows(y, other),
        lambda other: cs.Sample.from_rows(y, p, other),
        lambda other: cs.Predictions.from_rows(y, other),
        lambda other: cs.recalibration.PlattScaling().fit(other, y),
        lambda other: cs.calibration_test(y, p, sample_weight=other, **FEW),
        lambda other: cs.calibration_test(y, p, cluster=other, **FEW),
        lambda other: cs.confidence_interval(y, p, cluster=other, **FEW),
        lambda other: cs.audit(y, p, pd.DataFrame({"group": other > 0.5}), **FEW),
    ],
)
def test_every_argument_with_an_entry_for_each_row_is_looked_at(ask):
    with pytest.raises(ValueError, match="another order"):
        ask(p.sort_values())
    ask(np.asarray(p.sort_values().to_numpy()))  # an array is taken as it stands


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match=r"found other labels: 5 where y_true has 'r0', at row 0; give arrays"):
        cs.estimate(y, p.set_axis(np.arange(N) + 5))
    with pytest.raises(ValueError, match="other labels"):
        check_row_names(pd.Series([1, 2, 3], [1, 1, 2]), pd.Series([1, 2, 3], [1, 3, 4]))
    with pytest.raises(ValueError, match="another order"):  # equal names twice
        check_row_names(pd.Series([1, 2, 3], [1, 1, 2]), pd.Series([1, 2, 3], [1, 2, 1]))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (y, p),
        (y, P),
        (Y, p),
        (y, list(P)),
        (y, pd.Series(P)),  # the default index names nothing
        (pd.Series(Y), p),
        (
            pd.Series(Y, range(N)[::-1]),
            pd.Series(P),
        ),  # outcomes of shuffled rows, and a series of what a model returned
        (pd.Series(Y, range(5, 5 + N)), pd.Series(P)),
        (pd.Series(Y), pd.Series(P, np.arange(N))),
        (pd.Series(Y, dtype="boolean"), pd.Series(P, dtype="Float64")),
        (pd.Series(Y, pd.MultiIndex.from_product([[1, 2], range(N // 2)])),) * 2,
    ],
)
def test_equal_labels_and_default_ones_are_taken_as_they_stand(first, second):
    check_row_names(first, second)
    if second is not first:
        assert cs.estimate(first, second) == cs.estimate(Y, P)


def test_lengths_are_compared_elsewhere():
    with pytest.raises(ValueError, match="found 40 outcomes and 39 predictions"):
        cs.estimate(y, p.iloc[1:])
