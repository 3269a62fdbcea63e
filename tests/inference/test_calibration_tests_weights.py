"""Tests of rows with weights: labels drawn with the weights held fixed, exact; what is no weight."""

import warnings

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run
from hypothesis import given
from quick_report import quick_report
from row_strategies import weighted_rows
from scipy.stats import binom

import calibstat as cs

RANDOM = np.random.default_rng(3)
P = RANDOM.random(300)
Y = (RANDOM.random(300) < P).astype(int)
W = RANDOM.lognormal(0, 1, 300)
ERRORS = ("ece", "ks", "kuiper", "kernel_ce", "smooth_ce")


def asked(y=Y, p=P, w=W, **options):
    return cs.calibration_test(y, p, **{"measure": "ece", "sample_weight": w, "rng": 1, **options})


def test_two_rows_by_hand():
    """Predictions of 1/2, weights 3 and 1, one bin: |sum of w (y - 1/2)| is 2 if both outcomes agree, else 1.

    Two of four equally likely pairs agree, so p is 1/2 if they do and 1 if they do not.
    """
    for y, p in (([1, 1], 0.5), ([0, 0], 0.5), ([1, 0], 1.0)):
        found = asked(np.array(y), np.full(2, 0.5), [3, 1], n_bins=1, n_resamples=4999)
        assert found.pvalue == pytest.approx(p, abs=0.03)
        assert found.statistic == pytest.approx({0.5: 2, 1.0: 1}[p] / 4)


@pytest.mark.parametrize("measure", ["omnibus", *ERRORS])
def test_only_ratios_matter_and_equal_weights_are_none(measure):
    one, scaled = asked(measure=measure), asked(w=W * 1e-7, measure=measure)
    assert scaled.pvalue == one.pvalue
    assert scaled.statistic == pytest.approx(one.statistic)
    none = cs.calibration_test(Y, P, measure=measure, rng=1)
    equal = asked(w=np.full(300, 0.7), measure=measure)
    assert equal.statistic == pytest.approx(none.statistic)
    assert equal.pvalue == pytest.approx(none.pvalue, abs=0.1)  # other draws
    assert equal.effective_n == pytest.approx(300)
    if measure != "omnibus":
        assert one.statistic == pytest.approx(cs.estimate(Y, P, measure=measure, sample_weight=W))


def test_rows_of_weight_0_are_no_rows():
    zero = np.arange(300) % 3 == 0
    w, kept = np.where(zero, 0, W), ~zero
    unit, other = np.arange(300) // 6, 1 - P
    for cluster in (None, unit):
        part = None if cluster is None else cluster[kept]
        found, expected = asked(w=w, cluster=cluster), asked(Y[kept], P[kept], W[kept], cluster=part)
        assert (found.pvalue, found.statistic, found.n) == (expected.pvalue, expected.statistic, 200)
        assert found.why_stopped == expected.why_stopped
        one = cs.confidence_interval(Y, P, sample_weight=w, cluster=cluster, rng=1)
        two = cs.confidence_interval(Y[kept], P[kept], sample_weight=W[kept], cluster=part, rng=1)
        assert (one.low, one.high) == pytest.approx((two.low, two.high))
        for method in ("bootstrap", "swap"):
            options = {"method": method, "n_resamples": 99, "rng": 1}
            one = cs.compare(Y, {"a": P, "b": other}, sample_weight=w, cluster=cluster, **options)
            two = cs.compare(Y[kept], {"a": P[kept], "b": other[kept]}, sample_weight=W[kept], cluster=part, **options)
            assert one.difference == pytest.approx(two.difference)
            assert one.pvalue == two.pvalue


def test_the_order_of_rows_does_not_show():
    order = np.random.default_rng(1).permutation(300)
    assert asked().pvalue == asked(Y[order], P[order], W[order]).pvalue
    one, other = (
        cs.compare(Y[k], {"a": P[k], "b": P[k] ** 2}, sample_weight=W[k], n_resamples=99, rng=1)
        for k in (np.arange(300), order)
    )
    assert (one.low, one.pvalue) == (other.low, other.pvalue)


@given(weighted_rows())
def test_any_rows_and_weights(data):
    """Ties, predictions of 0 and 1, one row, no event, weights of 0."""
    y, p, w = data
    unit = np.arange(y.size) // 2
    clusters = {"cluster": unit} if np.unique(unit[w > 0]).size > 1 else {}
    for measure in ("omnibus", "ece", "kernel_ce"):
        found = asked(y, p, w, measure=measure, n_resamples=9)
        assert 0 < found.pvalue <= 1
        assert not np.isnan(found.statistic)
    for given_with in ({}, clusters):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that clusters are few
            found = cs.confidence_interval(y, p, measure="ks", sample_weight=w, n_resamples=9, rng=1, **given_with)
        assert found.low <= found.estimate + 1e-12
        assert found.estimate <= found.high + 1e-12


def test_clusters_without_weight_are_not_counted():
    unit, w = np.arange(300) // 5, np.where(np.arange(300) < 200, W, 0)
    assert "of 40 clusters" in str(asked(w=w, cluster=unit).why_stopped)


def test_a_weight_whose_square_is_lost_is_next_to_nothing():
    """Of weights 1e-200 and 1 the first row adds nothing that shows, in a bin of its own and beside others."""
    for p in (np.append(P[1:], 0.99), P):
        w = np.append(1e-200, np.ones(299))
        found, rest = asked(Y, p, w), asked(Y[1:], p[1:], w[1:])
        assert found.statistic == pytest.approx(rest.statistic)
        one = cs.confidence_interval(Y, p, measure="ece", sample_weight=w, rng=1)
        assert one.high == pytest.approx(
            cs.confidence_interval(Y[1:], p[1:], sample_weight=w[1:], rng=1).high, rel=0.01
        )
    one = cs.confidence_interval([0, 0, 1], [0.01, 0.5, 0.5], measure="ece", sample_weight=[1e-200, 1, 1], rng=1)
    assert 0 <= one.low <= one.estimate <= one.high <= 1


def share_of_rejections(test, replicates=400):
    """Rows of a calibrated model, a few of them heavy."""
    found = 0
    for r in range(replicates):
        random = np.random.default_rng(r)
        p = random.random(60)
        y, w = (random.random(60) < p).astype(int), np.where(np.arange(60) < 4, 20, 1)
        found += test(y, p, w, r) <= 0.05
    return found


def test_the_level_is_kept_with_the_planted_fault():
    """Exact: at most .05; the false alarm of 400 data sets is 1e-4. Of rows that are taken for counts it is not."""
    limit = binom.isf(1e-4, 400, 0.05)
    assert share_of_rejections(lambda y, p, w, r: asked(y, p, w, n_resamples=99, rng=r).pvalue) <= limit
    counts = share_of_rejections(
        lambda y, p, w, r: asked(cs.Sample.from_rows(y, p, w), None, None, n_resamples=99, rng=r).pvalue
    )
    assert counts > limit


def test_what_is_printed():
    found = asked(measure="omnibus")
    assert "By their weights 300 rows count as" in str(found)
    assert "given the weights and the predictions" in str(found.null_hypothesis)
    assert found.effective_n == pytest.approx(W.sum() ** 2 / (W**2).sum())
    assert found.n == 300
    whole = asked(w=np.arange(300) % 3 + 1)
    assert "if they count repeated rows, give a Sample" in whole.note
    assert "if they count" not in asked(w=np.arange(300) % 2).note
    repeated = cs.calibration_test(cs.Sample.from_rows(Y, P, np.full(300, 2)), rng=1)
    assert "weights of 300 rows were taken as 600 repeated rows" in repeated.note
    added = cs.Sample.from_rows(Y, P, np.full(300, 2)) + cs.Sample.from_rows(Y, P)
    assert "of 600 rows were taken as 900" in cs.calibration_test(added, rng=1).note
    assert cs.calibration_test(Y, P, rng=1).note == ""
    assert cs.calibration_test(cs.Sample.from_counts([0.2], [10], [3]), rng=1).note == ""


def test_classes_are_drawn_with_the_weights_of_their_rows():
    random = np.random.default_rng(5)
    prob = random.dirichlet(np.ones(3), 200)
    label = np.array([random.choice(3, p=row) for row in prob])
    w = random.lognormal(0, 1, 200)
    found = cs.calibration_test(label, prob, lens="class_wise", measure="ece", sample_weight=w, rng=1)
    each = found.classes
    assert each.statistic == pytest.approx(cs.estimate(label, prob, lens="class_wise", sample_weight=w))
    one = cs.calibration_test(label, prob, lens=cs.lenses.one_class(1), measure="ece", sample_weight=w, rng=1)
    assert each.pvalue[1] == pytest.approx(one.pvalue, abs=0.1)  # other draws
    assert found.effective_n == one.effective_n
    mean = cs.confidence_interval(label, prob, lens="class_wise_mean", method="percentile", sample_weight=w, rng=1)
    assert mean.estimate == pytest.approx(each.statistic.mean())
    for question in (
        lambda: cs.confidence_interval(label, prob, measure="gce", lens="canonical", sample_weight=w),
        lambda: cs.calibration_test(label, prob, lens="canonical", sample_weight=w),
    ):
        with pytest.raises(ValueError, match=r"no sample_weight for multiclass data"):
            question()


def test_the_commands(tmp_path, quick_draws):
    pd.DataFrame({"y": Y, "A": P, "B": P**1.5, "w": W}).to_csv(tmp_path / "rows.csv", index=False, float_format="%.17g")
    given = [tmp_path / "rows.csv", "--label", "y", "--weight", "w", "--prob", "A"]
    text = plain_text(run("test", *given, "--measure", "ks", "--rng", 3, "--verbose").stdout)
    found = asked(measure="ks", rng=3)
    assert plain_text(found.details) in text
    assert plain_text(found.note) in text
    interval = cs.confidence_interval(Y, P, sample_weight=W, rng=0)
    said = plain_text(run("interval", *given).stdout)
    assert f"at most {interval.high:.4f}, and may be 0" in said
    assert plain_text(found.note) in said
    compared = cs.compare(Y, {"A": P, "B": P**1.5}, sample_weight=W, rng=0)
    said = plain_text(run("compare", *given, "--prob", "B").stdout)
    assert f"{compared.low[0]:.4f} to {compared.high[0]:.4f}" in said
    assert plain_text(found.note) in said
    said = plain_text(run("report", *given, "--format", "json", "--out", tmp_path / "r.json").stdout)
    assert plain_text(found.note) in said
    said = plain_text(run("decompose", *given).stdout)
    assert f"Miscalibration is {cs.decompose(Y, P, sample_weight=W)['mcb']:.4f}" in said
    assert plain_text(found.note) in said
    fails_with(run("test", *given[:-2], "--weight", "none", "--prob", "A"), "no column 'none'")
    fails_with(run("report", *given, "--recalibrate"), "expected rows without --weight beside --recalibrate, because")


def test_a_report_says_what_the_verbs_say():
    found = quick_report(Y, {"A": P, "B": 1 - P}, sample_weight=W)
    assert found.models["A"].test.pvalue == cs.calibration_test(Y, P, sample_weight=W, rng=0).pvalue
    interval = cs.confidence_interval(Y, P, sample_weight=W, rng=0)
    assert (found.models["A"].ece.low, found.models["A"].ece.high) == (interval.low, interval.high)
    compared = cs.compare(Y, {"A": P, "B": 1 - P}, sample_weight=W, rng=0)
    assert found.comparisons["kernel_ce_squared"].low == compared.low
    assert found.models["A"].diagram.effective_n == found.models["A"].test.effective_n
    assert str(found).count("of equal weight (effective n)") == 1
    assert "sample_weight=sample_weight" in found.command
    for more in ({"by": P > 0.5}, {"recalibrate": True}):
        with pytest.raises(ValueError, match="without sample_weight="):
            cs.report(Y, P, sample_weight=W, **more)
    with pytest.raises(ValueError, match="expected rows without sample_weight= beside lens=, because"):
        cs.report(Y, np.column_stack((1 - P, P)), sample_weight=W, lens="class_wise")
