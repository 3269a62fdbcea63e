"""Comparisons of models: by symmetry, by the meaning of p, and with planted differences."""

import numpy as np
import pytest
from compared_models import OFFERED, same, three_models, two_models
from hypothesis import given
from hypothesis import strategies as st
from more_than import more_than
from posed_problem import pose
from row_strategies import rows
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

import calibstat as cs
from calibstat.bounds.absolute_norms import AbsoluteSumInterval

# --- what cannot matter ----------------------------------------------------------------------------------------------


@given(rows(), st.sampled_from(OFFERED))
def test_equal_models_do_not_differ(data, offered):
    y, p = data
    measure, options = offered
    p = np.clip(p, 0.01, 0.99) if measure == "log_loss" else p
    for method in ("bootstrap", "swap"):
        found = cs.compare(y, {"A": p, "B": p.copy()}, measure=measure, method=method, n_resamples=19, rng=1, **options)
        assert found.difference[0] == 0
        assert found.pvalue[0] == 1
        if method == "bootstrap":
            assert found.low[0] <= 0 <= found.high[0]


@given(rows(max_size=12), st.sampled_from([*OFFERED, ("log_loss", {"clip": 0.01})]))
def test_ends_are_differences_of_values_that_the_measure_can_have(data, offered):
    y, p = data
    measure, options = offered
    p = np.clip(p, 0.01, 0.99) if measure == "log_loss" else p
    found = cs.compare(y, {"A": p, "B": 1 - p}, measure=measure, n_resamples=19, rng=1, **options)
    least, most = cs.MEASURES[measure](**options).bounds
    assert least - most <= found.low[0] <= found.difference[0] <= found.high[0] <= most - least


def test_the_interval_of_two_errors_of_few_rows_ends_at_1():
    """Bounds of both errors add up to more: [-1.27, 1.01]."""
    p = np.linspace(0.1, 0.9, 12)
    found = cs.compare([0, 1] * 6, {"A": p, "B": 1 - p}, measure="ece", n_resamples=99, rng=1)
    assert (found.low[0], found.high[0], found.pvalue[0]) == (-1, 1, 1)


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
@pytest.mark.parametrize(("measure", "options"), OFFERED)
@pytest.mark.parametrize("apart", [1e-16, 1e-15, 1e-14])
def test_equal_up_to_rounding_is_a_tie(measure, options, method, apart):
    y, p, _ = two_models(400, ties=False)
    models = {"A": p, "B": p + apart * np.where(np.arange(400) % 3 == 0, 1, -1)}
    found = cs.compare(y, models, measure=measure, method=method, n_resamples=99, rng=1, **options)
    assert found.difference[0] == 0
    assert found.pvalue[0] == 1
    if method == "bootstrap":
        assert found.low[0] <= 0 <= found.high[0]
    if measure == "log_loss" and method == "bootstrap":  # that of rows seen is 0, and no other is bounded
        assert found.low[0] == found.high[0] == 0


@pytest.mark.parametrize("runs", [30, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("measure", ["kernel_ce", "ks", "ece", "brier"])
def test_nearly_equal_models_are_found_apart_no_more_often_than_chance(measure, runs):
    """Predictions 1e-9 apart: what differs is real, and noise beside it."""
    found = sum(few_pvalue(seed, measure, lambda p, up: p + 1e-9 * up) <= 0.05 for seed in range(runs))
    assert found <= binom.isf(1e-5, runs, 0.05)
    if measure in ("kernel_ce", "brier"):  # the twin: a real difference is found by the same means
        found = sum(few_pvalue(seed, measure, lambda p, up: p**5 / (p**5 + (1 - p) ** 5)) <= 0.05 for seed in range(15))
        assert found > binom.isf(1e-5, 15, 0.05)


def few_pvalue(seed, measure, change):
    random = np.random.default_rng(seed)
    p = random.uniform(0.05, 0.95, 300)
    y = (random.random(300) < p).astype(int)
    models = {"A": p, "B": change(p, random.choice([-1, 1], 300))}
    return cs.compare(y, models, measure=measure, n_resamples=79, rng=seed).pvalue[0]


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
@pytest.mark.parametrize(("measure", "options"), OFFERED)
def test_order_of_models(measure, options, method):
    """A - B is the opposite of B - A; a third model changes the rows drawn, but not the predictions exchanged."""
    y, models = three_models()
    settings = {"measure": measure, "method": method, "n_resamples": 39, "rng": 3, **options}
    found = cs.compare(y, models, **settings)
    other = cs.compare(y, {name: models[name] for name in ("C", "B", "A")}, **settings)
    assert found.pairs == (("A", "B"), ("A", "C"), ("B", "C"))
    for i, (a, b) in enumerate(found.pairs):
        j = other.pairs.index((b, a))
        assert found.difference[i] == -other.difference[j]
        assert np.array_equal([found.low[i], found.high[i]], [-other.high[j], -other.low[j]], equal_nan=True)
        assert found.pvalue[i] == other.pvalue[j]
        assert found.pvalue_adjusted[i] == other.pvalue_adjusted[j]
        alone = cs.compare(y, {a: models[a], b: models[b]}, **settings)
        assert alone.difference[0] == pytest.approx(found.difference[i], abs=1e-12)
        if method == "swap":
            assert (alone.pvalue[0], alone.pvalue_adjusted[0]) == (found.pvalue[i],) * 2


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
@pytest.mark.parametrize(("measure", "options"), OFFERED)
def test_threads_and_chunks_do_not_show(measure, options, method, monkeypatch):
    y, models = three_models(200)
    settings = {"measure": measure, "method": method, "n_resamples": 50, "rng": 3, **options}
    one = cs.compare(y, models, **settings)
    assert same(one, cs.compare(y, models, n_jobs=3, **settings))
    monkeypatch.setattr("calibstat.resampling.threads.LARGEST_PIECE", 20_000)  # a few resamples at a time
    monkeypatch.setattr("calibstat.inference.comparing.resamples.SUM_BYTES", 4_000)
    assert same(one, cs.compare(y, models, **settings))


def test_seeds():
    y, models = three_models()
    one, again, other = (cs.compare(y, models, measure="ks", n_resamples=99, rng=seed) for seed in (1, 1, 2))
    assert same(one, again)
    assert not np.array_equal(one.low, other.low)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("tail", [0.025, 0.1])
@pytest.mark.parametrize(("measure", "options"), [each for each in OFFERED if each[0] != "kernel_ce"])
def test_an_interval_excludes_zero_just_when_p_is_small(measure, options, tail, apart):
    """At every level 1 - 2 tail for which a whole number of draws lie beyond the tail."""
    seen = set()
    for seed in range(12):
        y, p, _ = two_models(200, seed)
        far = p ** (1 + seed / 2) / (p ** (1 + seed / 2) + (1 - p) ** (1 + seed / 2))
        models = {"p": (y, p), "far": (y[50:], far[50:])} if apart else {"p": p, "far": far}
        settings = {"measure": measure, "n_resamples": 39, "rng": seed, "confidence_level": 1 - 2 * tail, **options}
        found = cs.compare(models, **settings) if apart else cs.compare(y, models, **settings)
        excluded = bool(found.low[0] > 0 or found.high[0] < 0)
        assert excluded == (found.pvalue[0] <= 2 * tail)
        seen.add(excluded)
    assert seen == {False, True}


# --- samples of different rows ---------------------------------------------------------------------------------------


def test_samples_are_drawn_independently():
    y, p, q = two_models(80)
    found = cs.compare({"one": (y, p), "two": (y[:50], q[:50])}, measure="ks", n_resamples=39, rng=4)
    assert found.n == (80, 50)
    assert not found.paired
    assert "n = 80 and 50" in str(found)
    assert "samples" in found.null_hypothesis
    # the same rows twice are not drawn alike
    found = cs.compare({"one": (y, p), "two": (y, p)}, measure="ks", n_resamples=39, rng=4)
    assert found.difference[0] == 0
    assert found.low[0] != -found.high[0]


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
def test_rows_in_common_say_more(measure):
    y, p, _ = two_models(400, ties=False)
    q = np.clip(p + 0.01, 0, 1)
    paired = cs.compare(y, {"p": p, "q": q}, measure=measure)
    apart = cs.compare({"p": (y, p), "q": (y, q)}, measure=measure)
    assert (paired.high - paired.low)[0] < (apart.high - apart.low)[0] / 2


# --- levels ----------------------------------------------------------------------------------------------------------


def share_found(reps):
    """How often a calibrated constant is found better calibrated than the true chances, by ECE with 100 bins."""
    for seed in range(reps):
        random = np.random.default_rng(seed)
        p = random.random(300)
        y = (random.random(300) < p).astype(int)
        models = {"chances": p, "constant": np.full(300, 0.5)}
        yield cs.compare(y, models, measure="ece", n_bins=100, n_resamples=39, rng=seed).pvalue[0] <= 0.05


def test_bias_is_not_taken_for_an_error(monkeypatch):
    assert sum(share_found(60)) <= binom.isf(1e-5, 60, 0.05)
    # what resamples alone say of it
    monkeypatch.setattr(AbsoluteSumInterval, "missing_bias", lambda interval, derivative: 0.0)
    assert more_than(binom.isf(1e-5, 60, 0.05), share_found(60))


def test_a_witness_does_not_hang_on_rounding():
    # residuals 0.3, -0.1, -0.2 and 0 add up to a rounding error or to 0
    zero = pose([1, 0, 0, 1], [0.7, 0.1, 0.2, 1.0], "ece", {"n_bins": 1}).interval_of_rows(slice(None))[0]
    assert abs(zero.theta[0]) < 1e-15
    assert zero.witness(zero.theta).tolist() == [0]


# --- many pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("adjust", "name"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjustments_against_statsmodels(adjust, name, monkeypatch):
    monkeypatch.setattr("gc.collect", int)  # statsmodels does this each time, which takes most of a second
    y, models = three_models(200)
    models["D"] = np.clip(models["A"] ** 3, 0.05, 0.95)
    found = cs.compare(y, models, measure="brier", n_resamples=99, adjust=adjust, rng=1)
    assert np.unique(found.pvalue).size > 2
    assert found.pvalue_adjusted == pytest.approx(multipletests(found.pvalue, method=name)[1], abs=1e-15)
    assert found.adjust == adjust


def test_a_reference():
    y, models = three_models()
    every = cs.compare(y, models, measure="ks", n_resamples=39, rng=1)
    found = cs.compare(y, models, measure="ks", n_resamples=39, rng=1, reference="B")
    assert found.pairs == (("B", "A"), ("B", "C"))
    assert found.low.tolist() == [-every.high[0], every.low[2]]
    assert found.pvalue.tolist() == every.pvalue[[0, 2]].tolist()


# --- what is refused -------------------------------------------------------------------------------------------------

Y, P, Q = two_models()


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((Y, {"A": P}), {}, "two or more different names, found 'A'"),
        ((Y, {"1": P, 1: Q}), {}, "different names of one or more models"),
        ((Y, P), {}, "expected y_prob, a mapping from name .*, found those of one model"),
        ((Y,), {}, r"expected samples, a mapping from name to \(y_true, y_prob\), found ndarray"),
        (({"A": cs.Sample.from_rows(Y, P), "B": (Y, Q)},), {}, "of sample 'A', found Sample"),
        (({"A": (Y, P), "B": (Y, Q, Q)},), {}, "of sample 'B', found tuple"),
        ((cs.Sample.from_rows(Y, P), {"A": P, "B": Q}), {}, "of 'A'"),
        ((Y, {"A": P, "B": Q[:-1]}), {}, "60.*59.*of 'B'|59.*60.*of 'B'"),
        ((Y, {"A": P, "B": Q + 1}), {}, "y_prob at row 0 .of 'B'."),
        ((Y, {"A": P, "B": Q}), {"reference": "C"}, "one of A, B; found 'C'"),
        ((Y, {"A": P, "B": Q}), {"method": "percentile"}, "'bootstrap' or 'swap', found 'percentile'"),
        ((Y, {"A": P, "B": Q}), {"adjust": "none"}, "'holm' or 'bh', found 'none'"),
        ((Y, {"A": P, "B": Q}), {"confidence_level": 95}, "between 0 and 1, found 95"),
        ((Y, {"A": P, "B": Q}), {"n_resamples": 0}, "at least 1"),
        ((Y, {"A": P, "B": Q}), {"n_jobs": 0}, "at least 1"),
        ((Y, {"A": P, "B": Q}), {"measure": "mcb"}, "no honest comparison is known for mcb"),
        ((Y, {"A": P, "B": Q}), {"measure": "ece", "norm": "l2"}, r"known for ece\(norm='l2'\)"),
        ((Y, {"A": P, "B": Q}), {"kernel": "gaussian"}, "known for kernel_ce_squared"),
        ((Y, {"A": P, "B": Q}), {"n_bins": 5}, "expected options of measure 'kernel_ce_squared'"),
        ((Y, {"A": P, "B": Q}), {"cluster": np.where(np.arange(60) == 7, np.nan, 1.0)}, "one at row 7"),
        (({"A": (Y, P), "B": (Y, Q)},), {"cluster": np.arange(60)}, "same rows for all models with cluster"),
        (({"A": (Y, P), "B": (Y, Q)},), {"method": "swap"}, "same rows for all models with method 'swap'"),
    ],
)
def test_what_is_refused(arguments, settings, message):
    with pytest.raises(ValueError, match=message):
        cs.compare(*arguments, **{"n_resamples": 9, "rng": 1, **settings})


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
def test_infinite_losses_are_refused(method):
    with pytest.raises(ValueError, match="expected a finite log_loss"):
        cs.compare([0, 1, 1], {"A": [0.1, 0.5, 0.0], "B": [0.2, 0.2, 0.0]}, measure="log_loss", method=method)


# --- what a result says ----------------------------------------------------------------------------------------------


def test_what_a_result_says():
    y, models = three_models()
    found = cs.compare(y, models, n_resamples=39, rng=1)
    text = str(found)
    assert "kernel_ce_squared(bandwidth=0.2), event: outcome 1, n = 60: A " in text
    assert "A - B = " in text
    assert "adjusted for 3 pairs" in text
    assert "the measure is the same for both models in the population (approximate)" in text
    frame = found.to_frame()
    assert frame[["first", "second"]].to_numpy().tolist() == [["A", "B"], ["A", "C"], ["B", "C"]]
    assert frame["low"].tolist() == found.low.tolist()
    permuted = str(cs.compare(y, models, method="swap", n_resamples=39, rng=1))
    assert "interval" not in permuted
    assert "exchanged without changing the distribution of the data (exact)" in permuted
    for entry in ("estimates", "low", "pvalue_adjusted"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, entry)[:] = 0


def test_a_score_of_models_with_the_same_order_compares_their_calibration():
    """With the same rows told apart the refinement is the same; otherwise nothing is said."""
    y, p, q = two_models(200)
    sharp = p**2 / (p**2 + (1 - p) ** 2)
    for measure in ("brier", "log_loss"):
        found = cs.compare(y, {"p": p, "sharp": sharp, "q": q}, measure=measure)
        assert found.same_order == (True, False, False)
        assert str(found).count("difference of calibration") == 1
        if measure == "brier":  # the best recalibration of both is the same
            errors = [cs.estimate(y, v, measure="mcb") for v in (p, sharp)]
            assert found.difference[0] == pytest.approx(errors[0] - errors[1], abs=1e-12)
    assert not any(cs.compare(y, {"p": p, "sharp": sharp}).same_order)
    assert not any(cs.compare({"p": (y, p), "sharp": (y, sharp)}, measure="brier").same_order)


@pytest.mark.parametrize("option", ["method", "adjust", "reference"])
def test_names_that_are_arrays(option):
    with pytest.raises(ValueError, match=r"^expected .* found ndarray of shape \(2,\)"):
        cs.compare([0, 1], {"a": [0.1, 0.2], "b": [0.3, 0.4]}, **{option: np.array([0.1, 0.2])})
