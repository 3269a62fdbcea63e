import numpy as np
import pytest
from conftest import rows, weighted_rows
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.measures.binned import MANY_BINS, bin_cells, number_of_bins


def plain_ece(y, p, cell, power):
    """The definition, row by row."""
    n = len(y)
    total, worst = 0.0, 0.0
    for b in set(cell):
        inside = [i for i in range(n) if cell[i] == b]
        gap = abs(sum(y[i] for i in inside) - sum(p[i] for i in inside)) / len(inside)
        total += len(inside) / n * gap**power
        worst = max(worst, gap)
    return worst if np.isinf(power) else total ** (1 / power)


def plain_uniform(p, bins):
    """Bin b holds ((b - 1) / bins, b / bins], in float64: the smallest b with v * bins <= b, from 1."""
    return [next(b for b in range(1, bins + 1) if v * bins <= b) for v in p]


def plain_quantile(p, bins):
    """Cut after the value whose cumulative count is nearest to b n / bins, the smaller of two."""
    values = sorted(set(p))
    cumulative = [0] + [sum(v <= u for v in p) for u in values]
    cuts = set()
    for b in range(1, bins):
        distance = [abs(c * bins - b * len(p)) for c in cumulative]
        cuts.add(distance.index(min(distance)))
    return [sum(values.index(v) >= cut for cut in cuts) for v in p]


@given(rows(), st.integers(1, 20), st.sampled_from(["l1", "l2", "max", 3]))
def test_ece_is_its_definition(data, bins, norm):
    y, p = data
    power = {"l1": 1, "l2": 2, "max": np.inf}.get(norm, norm)
    for strategy, cell in (("uniform", plain_uniform(p, bins)), ("quantile", plain_quantile(p, bins))):
        expected = plain_ece(y, p, cell, power)
        found = cs.estimate(y, p, measure="ece", n_bins=bins, strategy=strategy, norm=norm)
        through_sample = cs.estimate(cs.Sample.from_rows(y, p), n_bins=bins, strategy=strategy, norm=norm)
        assert found == pytest.approx(expected, abs=1e-12)
        assert through_sample == pytest.approx(expected, abs=1e-12)


@given(weighted_rows(), st.integers(1, 20))
def test_weights_are_repeated_rows(data, bins):
    y, p, weight = data
    for strategy in ("uniform", "quantile"):
        weighted = cs.estimate(y, p, sample_weight=weight, n_bins=bins, strategy=strategy)
        repeated = cs.estimate(np.repeat(y, weight), np.repeat(p, weight), n_bins=bins, strategy=strategy)
        assert weighted == pytest.approx(repeated, abs=4 * np.finfo(float).eps)


def test_hidden_miscalibration():
    # 450 rows at .52 all wrong and 550 at .58 all right share the bin (.5, .6]: (550 - 450*.52 - 550*.58)/1000 = -.003
    sample = cs.Sample.from_counts([0.52, 0.58], [450, 550], [0, 550])
    assert cs.estimate(sample, n_bins=10) == pytest.approx(0.003, abs=1e-15)


def test_a_prediction_of_one_is_in_the_last_bin():
    # (.95, 1) and (1, 0) share the bin (.9, 1]: abs(1 - 1.95) / 2 = .475
    assert cs.estimate([1, 0], [0.95, 1.0], n_bins=10) == 0.475
    assert cs.expected_calibration_error([1, 0], [0.95, 1.0], n_bins=10) == 0.475


def test_zero_is_in_the_first_bin_and_edges_belong_to_the_lower():
    cell = bin_cells(np.array([0.0, 0.1, 0.25, 0.2500001, 0.5, 1.0]), np.ones(6), n_bins=4)
    assert cell.tolist() == [0, 0, 0, 1, 1, 3]


def test_quantile_bins_never_part_equal_predictions():
    detail = cs.detail(np.ones(10), [0.1] * 7 + [0.4, 0.6, 0.9], n_bins=5, strategy="quantile")
    # targets 2, 4, 6, 8 against cumulative counts 7, 8, 9, 10 (and 0): cuts after 0, 7, 7 and 8 rows
    assert detail["count"].tolist() == [7, 1, 2]
    assert detail["n_bins_used"] == 3


def test_detail_is_the_table_of_bins():
    detail = cs.detail([1, 0, 1, 1], [0.25, 0.5, 0.75, 0.875], n_bins=2)
    assert detail["count"].tolist() == [2, 2]
    assert detail["mean_prediction"].tolist() == [0.375, 0.8125]
    assert detail["frequency"].tolist() == [0.5, 1.0]
    assert (detail["low"].tolist(), detail["high"].tolist()) == ([0.25, 0.75], [0.5, 0.875])
    # (2 * abs(.5 - .375) + 2 * abs(1 - .8125)) / 4
    assert detail.estimate == 0.15625


def test_number_of_bins():
    assert [number_of_bins("cube_root", n) for n in (1, 8, 9, 27, 28, 1e6, 1e6 + 1)] == [1, 2, 3, 3, 4, 100, 101]
    for wrong in (0, -1, 2.5, "sqrt", True):
        with pytest.raises(ValueError, match="n_bins"):
            cs.estimate([1], [0.5], n_bins=wrong)


@pytest.mark.parametrize("options", [{"strategy": "equal"}, {"norm": "l3"}, {"norm": 0.5}])
def test_unknown_options(options):
    with pytest.raises(ValueError, match="expected"):
        cs.estimate([1], [0.5], **options)


def test_ece_width_adds_the_width():
    y, p = [1, 0, 1], [0.2, 0.6, 0.7]
    assert cs.estimate(y, p, measure="ece_width", n_bins=4) == cs.estimate(y, p, n_bins=4) + 0.25
    assert cs.detail(y, p, measure="ece_width", n_bins=4)["count"].tolist() == [1, 2]
    assert cs.detail(y, p, measure="ece_debiased", n_bins=4)["count"].tolist() == [1, 2]


# --- rows without sorting --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("bins", [1, 10, MANY_BINS + 1])
def test_one_pass_over_rows_equals_the_summary(n, bins):
    rng = np.random.default_rng(n)
    p = rng.random(n).round(3)
    for y in (rng.integers(0, 2, n), rng.random(n) < p, (rng.random(n) < p).astype(float)):
        for norm in ("l1", "l2", "max"):
            by_rows = cs.estimate(y, p, n_bins=bins, norm=norm)
            assert by_rows == pytest.approx(cs.estimate(cs.Sample.from_rows(y, p), n_bins=bins, norm=norm), abs=1e-14)


@pytest.mark.parametrize("row", [0, 1500])
@pytest.mark.parametrize(
    ("outcome", "prediction", "match"),
    [
        (2, 0.5, "0 or 1, found 2.* in y_true"),
        (1, np.nan, "found nan in y_prob"),
        (1, -1e-9, "found -1e-09 in y_prob"),
        (1, np.inf, "found inf in y_prob"),
        (1, 1e300, r"found 1e\+300 in y_prob"),
    ],
)
def test_one_pass_over_rows_finds_a_bad_row(row, outcome, prediction, match):
    y, p = np.zeros(2000, np.int64), np.full(2000, 0.5)
    y[row], p[row] = outcome, prediction
    with pytest.raises(ValueError, match=f"{match} at row {row}"):
        cs.estimate(y, p)


# --- debiased --------------------------------------------------------------------------------------------------------


def plain_debiased(y, p, cell, variant):
    n, total = len(y), 0.0
    for b in set(cell):
        inside = [i for i in range(n) if cell[i] == b]
        size = len(inside)
        if size < 2:
            continue
        residual = [y[i] - p[i] for i in inside]
        rate = np.mean([y[i] for i in inside])
        chance = np.var(residual, ddof=1) / size if variant == "unbiased" else rate * (1 - rate) / (size - 1)
        total += size / n * (np.mean(residual) ** 2 - chance)
    return total


@given(rows(), st.integers(1, 8), st.sampled_from(["unbiased", "kumar"]))
def test_debiased_is_its_definition(data, bins, variant):
    y, p = data
    for strategy, cell in (("uniform", plain_uniform(p, bins)), ("quantile", plain_quantile(p, bins))):
        expected = plain_debiased(y, p, cell, variant)
        bound = cs.MEASURES["ece_debiased"].bind({"n_bins": bins, "variant": variant, "strategy": strategy})
        root = cs.estimate(y, p, **{"measure": "ece_debiased", **bound.options})
        assert root * abs(root) == pytest.approx(expected, abs=1e-13)


def test_debiased_square_is_unbiased():
    # all 2**6 outcomes of six rows in two bins; the squared error is .5 * .05**2 + .5 * .2**2 = .02125
    p, truth = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.8]), np.array([0.15, 0.25, 0.35, 0.8, 0.9, 1.0])
    mean = {"unbiased": 0.0, "kumar": 0.0}
    for code in range(64):
        y = np.array([code >> i & 1 for i in range(6)])
        weight = np.prod(np.where(y == 1, truth, 1 - truth))
        for variant in mean:
            bound = cs.MEASURES["ece_debiased"].bind({"n_bins": 2, "variant": variant})
            root = bound.estimate(cs.Sample.from_rows(y, p))
            mean[variant] += weight * root * abs(root)
    assert mean["unbiased"] != pytest.approx(mean["kumar"], abs=1e-3)
    assert mean["unbiased"] == pytest.approx(0.02125, abs=1e-12)


def test_unknown_variant():
    with pytest.raises(ValueError, match="variant 'unbiased' or 'kumar', found 'x'"):
        cs.estimate([1], [0.5], measure="ece_debiased", variant="x")


# --- functions for scorers -------------------------------------------------------------------------------------------


def test_functions_are_the_measures():
    y, p = [1, 0, 1, 0], [0.2, 0.6, 0.7, 0.7]
    assert cs.expected_calibration_error(y, p) == cs.estimate(y, p)
    assert cs.expected_calibration_error(y, p, norm="l2", strategy="quantile", n_bins=2) == cs.estimate(
        y, p, norm="l2", strategy="quantile", n_bins=2
    )
    assert cs.maximum_calibration_error(y, p, n_bins=3) == cs.estimate(y, p, norm="max", n_bins=3)
    assert cs.kernel_calibration_error(y, p, kernel="gaussian") == cs.estimate(
        y, p, measure="kernel_ce", kernel="gaussian"
    )
    assert cs.kernel_calibration_error(cs.Sample.from_rows(y, p)) == cs.estimate(y, p, measure="kernel_ce")
