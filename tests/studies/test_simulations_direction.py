"""The study of directions: the component that is to be absent is, and a broken promise is found."""

import numpy as np
import pytest
from simulation_files import study_file

direction = study_file("direction")


@pytest.mark.parametrize("case", list(direction.cases(quick=True)), ids=lambda case: f"{case.label}, {case.error}")
def test_absent_directions_are_absent(case):
    rows = case.rows
    assert np.all((rows.chance >= 0) & (rows.chance <= 1))
    bias, slope = direction.first_components(rows.prediction) @ (rows.chance - rows.prediction)
    if case.absent == direction.SLOPE:
        assert abs(slope) < 1e-6 < abs(bias)
    elif case.absent in (direction.BIAS, direction.NAMES[:4]):
        assert abs(bias) < 1e-6 < abs(slope)
        assert (slope < 0) == case.error.startswith(("over", "too far"))
    else:
        assert bias == slope == 0


def test_components_are_uncorrelated_if_calibrated():
    v = next(direction.predictions(500))[1]
    basis = direction.first_components(v)
    assert np.allclose(basis * v * (1 - v) @ basis.T, np.eye(2))


def test_the_promise_can_be_broken():
    table = direction.table(quick=True, n_jobs=1)
    made = table.assign(claims=0, replicates=1000)
    assert direction.violations(made).empty
    made.loc[3, "claims"] = 90
    assert direction.violations(made).index.tolist() == [3]
    assert table["true_claims"].sum() > 100
