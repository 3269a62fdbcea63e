import re
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.inference.gce_family import PAPERS
from calibstat.measures.bins import MANY_BINS, bin_cells, number_of_bins
from calibstat.recalibration import HistogramBinning


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
    return bin_number(p, bins).tolist()


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


def test_measures_over_bins_differ_by_every_option():
    same = cs.measures.ECE(norm="l2")
    assert same == cs.measures.ECE(norm="l2")
    assert hash(same) == hash(cs.measures.ECE(norm="l2"))
    assert same != cs.measures.ECE()
    assert cs.measures.ECEWidth() != cs.measures.ECEWidth(strategy=(0.5,))
    assert repr(cs.measures.ECE(norm="l2")) == "ECE(n_bins=15, strategy='uniform', norm='l2')"


def test_ece_width_by_hand():
    """Cuts at 1/4 and 1/2: bins of widths 1/4, 1/4 and 1/2 with 1, 2 and 1 of 4 rows, a mean width of 5/16.

    Residuals: 1/4 of a row at 1/4, 1/2 and -1/2 in the second bin, which cancel, and 1/8 in the third: 3/8 over 4.
    """
    y, p = [0, 1, 0, 1], [0.25, 0.5, 0.5, 0.875]
    assert cs.estimate(y, p, measure="ece_width", strategy=(0.25, 0.5)) == 3 / 32 + 5 / 16
    assert cs.estimate(y, p, measure="ece_width", strategy=()) == 1 + 1 / 32  # one bin: -1/4 + 1/8 over 4
    assert cs.detail(y, p, measure="ece_width", strategy=(0.25, 0.5))["count"].tolist() == [1, 2, 1]
    weighted = cs.estimate(y, p, measure="ece_width", strategy=(0.25, 0.5), sample_weight=[1, 2, 2, 3])
    assert weighted == pytest.approx((1 / 4 + 3 / 8) / 8 + (1 / 4 + 4 / 4 + 3 / 2) / 8, abs=1e-15)
    with pytest.raises(ValueError, match="expected strategy 'uniform' or ascending cuts, found 'quantile'"):
        cs.estimate(y, p, measure="ece_width", strategy="quantile")


def test_ece_width_over_given_cuts_everywhere():
    cuts, family = (0.25, 0.5, 0.75), cs.generators.temperature(2)
    equal, given = {"measure": "ece_width", "n_bins": 4}, {"measure": "ece_width", "strategy": cuts}
    assert family.truth(**given) == pytest.approx(family.truth(**equal), abs=1e-12)
    y, p = family.sample(300, rng=1)
    assert cs.estimate(y, p, **given) == pytest.approx(cs.estimate(y, p, **equal), abs=1e-15)
    tests = [cs.calibration_test(y, p, **options, rng=1, n_resamples=99) for options in (given, equal)]
    assert tests[0].pvalue == tests[1].pvalue
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(200, rng=1)
    by_class = [cs.estimate(label, prob, **options, lens="class_wise") for options in (given, equal)]
    assert by_class[0] == pytest.approx(by_class[1], abs=1e-14)


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
        bound = cs.measures.ECEDebiased(n_bins=bins, variant=variant, strategy=strategy)
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
            bound = cs.measures.ECEDebiased(n_bins=2, variant=variant)
            root = bound.estimate(cs.Sample.from_rows(y, p))
            mean[variant] += weight * root * abs(root)
    assert mean["unbiased"] != pytest.approx(mean["kumar"], abs=1e-3)
    assert mean["unbiased"] == pytest.approx(0.02125, abs=1e-12)


def test_unknown_variant():
    with pytest.raises(ValueError, match="variant 'unbiased' or 'kumar', found 'x'"):
        cs.estimate([1], [0.5], measure="ece_debiased", variant="x")


# --- the function for scorers ----------------------------------------------------------------------------------------


def test_the_function_for_scorers_is_the_measure():
    y, p = [1, 0, 1, 0], [0.2, 0.6, 0.7, 0.7]
    assert cs.expected_calibration_error(y, p) == cs.estimate(y, p)
    assert cs.expected_calibration_error(y, p, norm="l2", strategy="quantile", n_bins=2) == cs.estimate(
        y, p, norm="l2", strategy="quantile", n_bins=2
    )
    assert cs.expected_calibration_error(cs.Sample.from_rows(y, p), n_bins=3) == cs.estimate(y, p, n_bins=3)


# --- many bins, and level sets ---------------------------------------------------------------------------------------


def level_sets(y, p):
    return sum(abs(sum(y[p == v]) - np.sum(p == v) * v) for v in set(p)) / len(p)


@given(rows())
def test_level_sets_are_the_definition(data):
    y, p = data
    for n_bins in (None, "unbinned"):
        assert cs.estimate(y, p, n_bins=n_bins) == pytest.approx(level_sets(y, p), abs=1e-12)
        assert cs.estimate(y, p, n_bins=n_bins, strategy="quantile") == pytest.approx(level_sets(y, p), abs=1e-12)
    apart = np.round(p, 6)
    for strategy in ("uniform", "quantile"):
        found = cs.estimate(y, apart, n_bins=10**12, strategy=strategy)
        assert found == pytest.approx(level_sets(y, apart), abs=1e-12)


@given(rows(), st.integers(20, 2000))
def test_stepping_over_targets_changes_no_quantile(data, bins):
    y, p = data
    found = cs.estimate(y, p, n_bins=bins, strategy="quantile")
    assert found == pytest.approx(plain_ece(y, p, plain_quantile(p, bins), 1), abs=1e-12)


Y = np.arange(90) % 2
V = np.random.default_rng(4).random(90)
PROB = np.column_stack((V / 2, 1 - V, V / 2))
LABEL = np.arange(90) % 3
ASKED = {
    "estimate": lambda n_bins: cs.estimate(Y, V, n_bins=n_bins),
    "sample": lambda n_bins: cs.estimate(cs.Sample.from_rows(Y, V), n_bins=n_bins),
    "quantile": lambda n_bins: cs.estimate(Y, V, n_bins=n_bins, strategy="quantile"),
    "debiased": lambda n_bins: cs.estimate(Y, V, measure="ece_debiased", n_bins=n_bins),
    "width": lambda n_bins: cs.estimate(Y, V, measure="ece_width", n_bins=n_bins),
    "detail": lambda n_bins: cs.detail(Y, V, measure="ece", n_bins=n_bins),
    "function": lambda n_bins: cs.expected_calibration_error(Y, V, n_bins=n_bins, norm="max"),
    "test": lambda n_bins: cs.calibration_test(Y, V, measure="ece", n_bins=n_bins, n_resamples=19, rng=1),
    "interval": lambda n_bins: cs.confidence_interval(Y, V, n_bins=n_bins, n_resamples=19, rng=1),
    "bca": lambda n_bins: cs.confidence_interval(Y, V, n_bins=n_bins, method="bca", n_resamples=19, rng=1),
    "compare": lambda n_bins: cs.compare(Y, {"a": V, "b": V**2}, measure="ece", n_bins=n_bins, n_resamples=19, rng=1),
    "reliability": lambda n_bins: cs.reliability(Y, V, n_bins=n_bins, n_resamples=20, rng=1),
    "murphy": lambda n_bins: cs.decompose(Y, V, method="murphy", n_bins=n_bins),
    "top label": lambda n_bins: cs.estimate(LABEL, PROB, n_bins=n_bins),
    "class-wise": lambda n_bins: cs.estimate(LABEL, PROB, lens="class_wise", n_bins=n_bins),
    "class-wise test": lambda n_bins: cs.calibration_test(
        LABEL, PROB, measure="ece", lens="class_wise", n_bins=n_bins, n_resamples=19, rng=1
    ),
    "canonical": lambda n_bins: cs.estimate(LABEL, PROB, measure="canonical_ce", strategy="uniform", n_bins=n_bins),
    "general": lambda n_bins: cs.estimate(LABEL, PROB, measure="gce", n_bins=n_bins),
    **{
        name: partial(
            lambda options, n_bins: cs.estimate(LABEL, PROB, measure="gce", n_bins=n_bins, **options), options
        )
        for name, options in PAPERS.items()
    },
    "family": lambda n_bins: cs.gce_family(LABEL, PROB, n_bins=n_bins),
    "truth": lambda n_bins: cs.generators.temperature(2).truth("ece", n_bins=n_bins),
    "finite truth": lambda n_bins: cs.generators.hidden().truth("ece", n_bins=n_bins),
}
FITTED = {
    "histogram": lambda n_bins: HistogramBinning(n_bins=n_bins).fit(V, Y).predict_proba(V),
    "quantile histogram": lambda n_bins: HistogramBinning(n_bins=n_bins, strategy="quantile").fit(V, Y),
    "class histogram": lambda n_bins: HistogramBinning(n_bins=n_bins, class_conditional=True).fit(PROB, LABEL),
}


@pytest.mark.parametrize("ask", (ASKED | FITTED).values(), ids=ASKED | FITTED)
@pytest.mark.parametrize("n_bins", [10**9, 10**12])
def test_many_bins_cost_what_the_rows_cost(ask, n_bins):
    ask(5000)  # compiles
    tracemalloc.start()
    ask(n_bins)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_level_sets_in_every_verb(ask):
    assert str(ask(None)) == str(ask("unbinned")).replace("'unbinned'", "None").replace("= unbinned", "= None")


@pytest.mark.parametrize("ask", (ASKED | FITTED).values(), ids=ASKED | FITTED)
def test_bad_numbers_of_bins(ask):
    for n_bins in (np.inf, -np.inf, np.nan, 2**63, 10**30, True, np.True_, 2.5, "15", [5], (5,), -1, 0):
        with pytest.raises(ValueError, match=f"expected n_bins to be a whole number.*{re.escape(str(n_bins))}"):
            ask(n_bins)


def test_the_bins_of_a_histogram_that_held_no_rows_keep_their_centre():
    learned = HistogramBinning(n_bins=10**9).fit([0.25, 0.25, 0.75], [0, 1, 1])
    assert learned.predict_proba([0.25, 0.75, 0.5]).tolist() == pytest.approx([0.5, 1.0, 0.5 - 5e-10], abs=1e-15)


def test_level_sets_of_a_population():
    # .45 of the rows predict .52 and fail, .55 predict .58 and happen
    assert cs.generators.hidden().truth("ece", n_bins=None) == pytest.approx(0.45 * 0.52 + 0.55 * 0.42, abs=1e-15)
    # two of uniform predictions, s-shaped: E|c(v) - v| = abs(a) / (2 pi²), see the tests of generators
    family = cs.generators.distorted(cs.generators.calibrated(), temperature=1)
    assert family.truth("ece", n_bins=None) == pytest.approx(0, abs=1e-12)
    # temperature 2 of uniform chances: E abs(f - v) = ln(2)/2 - 1/4 over all of the over-confidence
    assert cs.generators.temperature(2).truth("ece", n_bins=None) == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-12)
    # 16 waves cancel in any few bins
    waves = cs.generators.high_frequency(16)
    assert waves.truth("ece", n_bins=None) > 5 * waves.truth("ece", n_bins=15)
    with pytest.raises(NotImplementedError, match="continuous distribution"):
        cs.generators.dirichlet((1, 1, 1), temperature=2).truth("ece", n_bins=None)
    # on the simplex the limit of binned errors of more and more bins, .1412 (Vaicenavicius et al. 2019, theorem 1)
    of_vectors = cs.generators.dirichlet((1, 1, 1), temperature=2)
    assert of_vectors.truth("canonical_ce", strategy="uniform", n_bins=None) == pytest.approx(0.1412, abs=1e-4)


# --- cuts ------------------------------------------------------------------------------------------------------------


@given(rows(), st.integers(1, 20))
def test_held_quantiles_are_cuts(data, bins):
    y, p = data
    sample = cs.Sample.from_rows(y, p)
    bound = cs.measures.ECE(strategy="quantile", n_bins=bins)
    held = bound.with_fixed_cells(sample.value, sample.count)
    assert held.estimate(sample) == pytest.approx(bound.estimate(sample), abs=1e-15)
    assert held.with_fixed_cells(sample.value, sample.count) == held
    cell = [sum(v > cut for cut in held.options["strategy"]) for v in p]
    assert cs.estimate(y, p, measure=held) == pytest.approx(plain_ece(y, p, cell, 1), abs=1e-12)


def test_cuts_of_a_population():
    # temperature 2: all of the over-confidence below (above) a half has one sign, so a cut at a half loses nothing
    family = cs.generators.temperature(2)
    assert family.truth("ece", strategy=[0.5]) == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-12)
    assert family.truth("ece", strategy=()) == pytest.approx(0, abs=1e-12)
    uniform = [b / 15 for b in range(1, 15)]
    assert family.truth("ece", strategy=uniform) == pytest.approx(family.truth("ece"), abs=1e-12)
    mixed = cs.generators.distorted(cs.generators.calibrated(), temperature=2, subgroup=0.1)
    assert mixed.truth("ece", strategy=np.array(uniform)) == pytest.approx(mixed.truth("ece"), abs=1e-9)
    assert cs.generators.hidden().truth("ece", strategy=[0.52]) == pytest.approx(0.465, abs=1e-15)
    assert cs.generators.hidden().truth("ece", strategy=[0.51]) == pytest.approx(0.003, abs=1e-15)


@pytest.mark.parametrize("strategy", [[0.2, 0.1], [0.1, 0.1], [-0.1], [1.5], [np.nan], ["a"], None, 3, [[0.1]]])
def test_bad_cuts(strategy):
    with pytest.raises(ValueError, match="not an ascending sequence of cuts"):
        cs.estimate([0, 1], [0.2, 0.7], strategy=strategy)


def test_a_number_of_bins_that_follows_the_rows_is_held():
    sample = cs.Sample.from_rows(Y, V)
    held = cs.measures.ECEWidth(n_bins="cube_root").with_fixed_cells(sample.value, sample.count)
    assert held.options["n_bins"] == 5  # 4³ < 90 <= 5³
