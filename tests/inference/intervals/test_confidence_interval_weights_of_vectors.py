"""Tests, intervals and comparisons of all classes jointly, of rows with weights."""

from dataclasses import replace

import numpy as np
import pytest
from rows_of_classes import GRID, JOINT, LEVEL, Rows, misses, p_values, p_values_of_differences
from rows_of_classes import ends as ends_of

import calibstat as cs
from calibstat.study import most_rejections

N = 150
Y, P, CLUSTER, WEIGHT = cs.generators.dirichlet((1, 1, 1), temperature=2.0).sample(
    N, rng=3, clusters=30, weights="independent"
)
WEIGHT[:4] = 0.0
Q = P**0.6 / (P**0.6).sum(axis=1, keepdims=True)
DRAWN = {"n_resamples": 49, "rng": 1}
ERRORS = [{"measure": "canonical_ce", "min_size": 20}, GRID, {**GRID, "distance": "l1"}]
LOSSES = [{"measure": "brier", **JOINT}, {"measure": "log_loss", **JOINT}]


def ends(y, p, weight, **asked):
    found = cs.confidence_interval(y, p, sample_weight=weight, **asked, **DRAWN)
    return found.low, found.estimate, found.high


def test_estimates_by_hand():
    share = WEIGHT / WEIGHT.sum()
    chosen = P[np.arange(N), Y]
    assert cs.estimate(Y, P, sample_weight=WEIGHT, **LOSSES[1]) == pytest.approx(-(share @ np.log(chosen)))
    squares = ((np.eye(3)[Y] - P) ** 2).sum(axis=1)
    assert cs.estimate(Y, P, sample_weight=WEIGHT, **LOSSES[0]) == pytest.approx(share @ squares)
    cell = np.minimum((P * 2).astype(int), 1) @ [1, 2, 4]  # the halves of each coordinate
    off = sum(np.abs((share[cell == c][:, None] * (np.eye(3)[Y] - P)[cell == c]).sum(axis=0)).sum() for c in range(8))
    halves = {**GRID, "n_bins": 2}
    assert cs.estimate(Y, P, sample_weight=WEIGHT, **halves) == pytest.approx(off / 2)


@pytest.mark.parametrize("asked", [*ERRORS, *LOSSES], ids=str)
def test_what_does_not_matter(asked):
    """Rows without weight, the unit of the weights, the order of the rows, and the number of threads."""
    found, kept = ends(Y, P, WEIGHT, **asked), WEIGHT > 0
    assert found[0] <= found[1]
    assert ends(Y[kept], P[kept], WEIGHT[kept], **asked) == pytest.approx(found, abs=1e-12)
    assert ends(Y[::-1], P[::-1], 8 * WEIGHT[::-1], **asked) == pytest.approx(found, abs=1e-12)
    assert ends(Y, P, WEIGHT, n_jobs=2, **asked) == found
    test = cs.calibration_test(Y, P, sample_weight=WEIGHT, **asked, **DRAWN)
    again = cs.calibration_test(Y[::-1], P[::-1], sample_weight=2 * WEIGHT[::-1], **asked, **DRAWN)
    assert test.pvalue == again.pvalue
    assert test.statistic == pytest.approx(found[1])
    assert "weights" in str(test.null_hypothesis)


@pytest.mark.parametrize("asked", [*ERRORS, *LOSSES], ids=str)
def test_equal_weights_are_nearly_none(asked):
    alone = cs.confidence_interval(Y, P, **asked, **DRAWN)
    equal = ends(Y, P, np.full(N, 3.0), **asked)
    assert equal[1] == pytest.approx(alone.estimate)
    assert equal[2] == pytest.approx(alone.high, rel=0.05)
    test = cs.calibration_test(Y, P, sample_weight=np.full(N, 2.0), **asked, **DRAWN)
    assert test.pvalue == cs.calibration_test(Y, P, **asked, **DRAWN).pvalue  # the same labels


@pytest.mark.parametrize("method", ["percentile", "basic"])
@pytest.mark.parametrize("rows", [{}, {"cluster": CLUSTER}], ids=["weights", "both"])
def test_percentile_intervals(method, rows):
    for asked in (*ERRORS, *LOSSES):
        found = cs.confidence_interval(Y, P, method=method, sample_weight=WEIGHT, **rows, **asked, **DRAWN)
        assert np.isfinite([found.low, found.high]).all()
        assert found.low < found.high
    assert cs.confidence_interval(Y, P, cluster=CLUSTER, sample_weight=WEIGHT, **LOSSES[0], **DRAWN).low < found.high


@pytest.mark.parametrize("asked", [*ERRORS[1:], *LOSSES], ids=str)
def test_comparisons(asked):
    found = cs.compare(Y, {"P": P, "Q": Q}, sample_weight=WEIGHT, **asked, **DRAWN)
    assert found.estimates == pytest.approx([cs.estimate(Y, p, sample_weight=WEIGHT, **asked) for p in (P, Q)])
    assert found.low < found.difference < found.high
    turned = cs.compare(Y, {"Q": Q, "P": P}, sample_weight=5 * WEIGHT, **asked, **DRAWN)
    assert (-turned.high[0], -turned.low[0]) == pytest.approx((found.low[0], found.high[0]))


def test_what_is_refused():
    for asked in ({**GRID, "distance": "l2"}, {**GRID, "distance": "max"}):
        with pytest.raises(ValueError, match="no honest interval of rows with weights is known for canonical_ce"):
            cs.confidence_interval(Y, P, sample_weight=WEIGHT, **asked, **DRAWN)
    for measure in ("gce", "skce", "omnibus"):
        with pytest.raises(ValueError, match=f"no sample_weight for multiclass data by {measure}"):
            cs.calibration_test(Y, P, measure=measure, sample_weight=WEIGHT, lens="canonical", **DRAWN)


# --- how often they are wrong -----------------------------------------------------------------------------------------

ALARM = 1e-5
INDEPENDENT, RELATED = Rows(weights="independent"), Rows(weights="related", temperature=2.0)
ASKED = [*ERRORS[1:], *LOSSES]


@pytest.mark.slow
def test_level():
    found = (p_values(INDEPENDENT, [GRID, *LOSSES], 300) <= LEVEL).sum(axis=0)
    assert found.max() <= most_rejections(LEVEL, 300, ALARM)
    wrong = (p_values(replace(RELATED, weights="independent"), [GRID, *LOSSES], 100) <= LEVEL).sum(axis=0)
    assert wrong.min() > most_rejections(LEVEL, 100, ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("case", [INDEPENDENT, RELATED], ids=str)
def test_misses(case):
    assert misses(case, ASKED, 200)[:, :2].max() <= most_rejections(0.03, 200, ALARM)


@pytest.mark.slow
def test_misses_of_percentile_intervals():
    low = ends_of(INDEPENDENT, [{**GRID, "method": "percentile"}], 100)[:, 0, 0]
    assert (low > 0).sum() > most_rejections(0.03, 100, ALARM)


@pytest.mark.slow
def test_models_that_are_as_wrong_as_each_other():
    found = (p_values_of_differences(INDEPENDENT, [GRID, LOSSES[0]], 200) <= LEVEL).sum(axis=0)
    assert found.max() <= most_rejections(LEVEL, 200, ALARM)
    differ = p_values_of_differences(replace(INDEPENDENT, n=1500), LOSSES[:1], 30, odds=(1.0, 4.0)) <= LEVEL
    assert differ.sum() > most_rejections(LEVEL, 30, ALARM)
