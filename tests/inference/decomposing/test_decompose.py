"""Decompositions of proper scores: parts that add up, published numbers, independent formulas."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import bin_number, clusters
from row_strategies import rows, weighted_rows
from score_examples import ALL, NEAREST, losses

import calibstat as cs
from calibstat.inference.decomposing.decompose import METHODS, decompose
from calibstat.measures.bregman import BREGMANS


def mean_loss(score, y, p):
    low, high = losses(score, np.asarray(p, float))
    return float(np.where(np.asarray(y) == 1, high, low).mean())


def total(found):
    return sum(found.signs[name] * part for name, part in found.parts.items())


# --- decompositions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ALL, ids=repr)
@pytest.mark.parametrize("method", METHODS)
@given(data=st.one_of(rows(), clusters()))
@example(data=(np.array([1]), np.array([0.3])))
@example(data=(np.array([1, 0]), np.array([1.0, 0.0])))
@example(data=(np.array([1, 0]), np.array([0.0, 0.0])))
@example(data=(np.array([1, 0, 1]), np.array([0.0, 0.0, 0.05])))
@example(data=(np.array([0, 0, 0]), np.array([0.0, 0.5, 1.0])))
def test_parts_add_up_to_the_score(score, method, data):
    y, p = data
    clip = NEAREST if method == "sharpness" and score.is_steep else None
    found = decompose(y, p, score=score, method=method, clip=clip)
    p = score.inside(p, clip) if method == "sharpness" else p
    expected = mean_loss(score, y, p)
    assert found.score == pytest.approx(expected, abs=1e-12, rel=1e-12)
    assert total(found) == pytest.approx(found.score, abs=1e-12)
    assert not np.isnan(list(found.parts.values())).any()
    for name in set(found.parts) - {"smoothing", "within_bins"}:
        assert found[name] >= 0


def test_a_part_that_is_left_out_is_missed():
    """The planted fault of the above: without the terms within bins, reliability - resolution + uncertainty is off."""
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    found = decompose(y, p, method="murphy")
    assert abs(total(found) - found["within_bins"] - found.score) > 1e-4


@given(rows())
def test_corp_is_what_mcb_knows(data):
    found, detail = decompose(*data), cs.detail(*data, measure="mcb")
    for name in ("mcb", "dsc", "unc", "score"):
        assert (found.score if name == "score" else found[name]) == pytest.approx(detail[name], abs=1e-12)


@pytest.mark.parametrize("score", ALL, ids=repr)
def test_corp_is_best_under_every_score(score):
    """No other non-decreasing recalibration has a smaller loss: the pooled one is optimal for all proper scores."""
    rng = np.random.default_rng(2)
    y, p = cs.generators.temperature(2).sample(60, rng=2)
    found = decompose(y, p, score=score)
    best = found.score - found["mcb"]
    recalibrated = np.interp(p, np.sort(p), cs.detail(y, p, measure="mcb")["recalibrated"])
    assert mean_loss(score, y, recalibrated) == pytest.approx(best, abs=1e-12)
    order = np.argsort(p)
    for _ in range(200):
        other = np.empty(60)
        other[order] = np.sort(np.clip(recalibrated[order] + rng.normal(0, 0.05, 60), 0.001, 0.999))
        assert mean_loss(score, y, other) >= best


def test_murphy_by_hand():
    """Two bins of the Brier score, (0, .5] with .2, .4 and frequency 1/2, (.5, 1] with .7 and 1.

    Score (.64 + .16 + .09)/3 = .89/3; bins' means .3 and .7: reliability (2·.04 + .09)/3; frequency 2/3: resolution
    (2·(1/6)² + (1/3)²)/3 = 1/18; uncertainty 2/9; within bins (variance 2·.01, covariance (.1·(-.5) + (-.1)·.5) = -.1
    summed) (.02 + .2)/3.
    """
    found = decompose([1, 0, 1], [0.2, 0.4, 0.7], method="murphy", n_bins=2)
    assert found.score == pytest.approx(0.89 / 3, abs=1e-15)
    assert found["reliability"] == pytest.approx(0.17 / 3, abs=1e-15)
    assert found["resolution"] == pytest.approx(1 / 18, abs=1e-15)
    assert found["uncertainty"] == pytest.approx(2 / 9, abs=1e-15)
    assert found["within_bins"] == pytest.approx(0.22 / 3, abs=1e-15)


@given(rows(), st.sampled_from([1, 2, 15]))
def test_murphy_within_bins_is_variance_and_covariance(data, n_bins):
    """Stephenson, Coelho, Jolliffe 2008, row by row."""
    y, p = data
    cell = bin_number(p, n_bins)
    variance = covariance = reliability = resolution = 0.0
    for b in np.unique(cell):
        here = cell == b
        variance += ((p[here] - p[here].mean()) ** 2).sum()
        covariance += ((p[here] - p[here].mean()) * (y[here] - y[here].mean())).sum()
        reliability += here.sum() * (y[here].mean() - p[here].mean()) ** 2
        resolution += here.sum() * (y[here].mean() - y.mean()) ** 2
    found = decompose(y, p, method="murphy", n_bins=n_bins)
    expected = np.array([reliability, resolution, y.size * y.mean() * (1 - y.mean()), variance - 2 * covariance])
    assert list(found.parts.values()) == pytest.approx(expected / y.size, abs=1e-12)


@pytest.mark.parametrize("score", ALL, ids=repr)
@given(data=st.one_of(rows(), clusters()), kernel=st.sampled_from(["gaussian", "epanechnikov"]))
def test_regression_parts_against_all_pairs(score, data, kernel):
    """With the smoothing term by its formula: the mean of (phi'(m) - phi'(v)) (y - m)."""
    y, p = data
    clip = NEAREST if score.is_steep else None
    u = (p[:, None] - p) / 0.1
    near = np.exp(-(u**2) / 2) if kernel == "gaussian" else np.maximum(1 - u**2, 0)
    m, v = np.clip(near @ y / near.sum(axis=1), 0, 1), score.inside(p, clip)
    if score.is_steep and (m.min() < 1e-9 or m.max() > 1 - 1e-9):
        return  # the slope there is beyond what rounding allows
    found = decompose(y, p, score=score, method="sharpness", kernel=kernel, bandwidth=0.1, clip=clip)
    assert found["calibration_error"] == pytest.approx(score.loss(m, v).mean(), abs=1e-9)
    assert found["sharpness_gap"] == pytest.approx(mean_loss(score, y, m), abs=1e-9)
    smoothing = ((score.gradient(m) - score.gradient(v)) * (y - m)).mean()
    assert found["smoothing"] == pytest.approx(smoothing, abs=1e-9)


def test_calibration_error_is_the_measure():
    y, p = cs.generators.temperature(2).sample(500, rng=1)
    options = {"kernel": "epanechnikov", "bandwidth": 0.1}
    for score, divergence in (("brier", "brier"), ("log_loss", "log_loss")):
        found = decompose(y, p, method="sharpness", score=score, **options)["calibration_error"]
        assert found == cs.estimate(y, p, measure="regression_ce", divergence=divergence, **options)


def test_without_smoothing_two_parts_are_left():
    """Predictions further apart than the kernel reaches: m is the mean outcome of each."""
    sample = cs.Sample.from_counts([0.1, 0.5, 0.9], [10, 20, 30], [3, 9, 21])
    for score in BREGMANS:
        found = decompose(sample, score=score, method="sharpness", kernel="epanechnikov")
        assert found["smoothing"] == pytest.approx(0, abs=1e-15)
        assert found["sharpness_gap"] == pytest.approx(found.score - found["calibration_error"], abs=1e-15)


@given(weighted_rows())
def test_a_summary_is_as_good_as_rows(data):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    for method in METHODS:
        one = decompose(np.repeat(y, weight), np.repeat(p, weight), method=method)
        assert decompose(sample, method=method).parts == one.parts


def test_lenses():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(4), 300)
    y = rng.integers(0, 4, 300)
    top = decompose(y, prob)
    assert top.parts == decompose(y == prob.argmax(axis=1), prob.max(axis=1)).parts
    assert str(top.lens) == "lens top_label"
    assert decompose(y, prob, lens=cs.lenses.one_class(1)).parts == decompose(y == 1, prob[:, 1]).parts
    for lens in ("class_wise", "canonical"):
        with pytest.raises(ValueError, match="expected a lens that shows a binary outcome"):
            decompose(y, prob, lens=lens)


def test_infinite_scores():
    """A certain prediction that fails: all of it is miscalibration."""
    found = decompose([1, 0, 1], [0.0, 0.5, 0.5], score="log_loss")
    assert found.score == found["mcb"] == math.inf
    assert np.isfinite([found["dsc"], found["unc"]]).all()
    assert "inf = miscalibration (mcb) inf" in str(found)
    assert "Infinite: the observed outcome at row 0 had probability 0." in str(found)
    with pytest.raises(
        ValueError, match=r"finite log_loss score; the observed outcome at row 0 had probability 0; clip=0\.25"
    ):
        decompose([1, 0, 1], [0.0, 0.5, 0.5], score="log_loss", n_resamples=20)
    with pytest.raises(ValueError, match=r"for the log_loss score, .*; found 0 for row 0; clip=0\.25"):
        decompose([1, 0, 1], [0.0, 0.5, 0.5], score="log_loss", method="sharpness")
    found = decompose([1, 0, 1], [0.0, 0.5, 0.5], score="log_loss", method="sharpness", clip=NEAREST)
    assert found.score == pytest.approx((24 + 2) * math.log(2) / 3)


# --- ranges ----------------------------------------------------------------------------------------------------------


def test_ranges_are_percentiles_of_a_row_bootstrap():
    y, p = cs.generators.temperature(2).sample(200, rng=1)
    found = decompose(y, p, n_resamples=999, rng=1)
    assert found.low == decompose(y, p, n_resamples=999, rng=1, n_jobs=2).low
    assert list(found.low) == ["score", "mcb", "dsc", "unc"]
    # the mean of 200 losses: half the range is 1.96 standard errors, give or take the 5 % that 999 samples allow
    loss = (y - p) ** 2
    half = (found.high["score"] - found.low["score"]) / 2
    assert half == pytest.approx(1.96 * loss.std() / math.sqrt(200), rel=0.15)
    assert found.low["score"] < found.score < found.high["score"]
    assert decompose(y, p, n_resamples=999, rng=1, confidence_level=0.5).high["score"] < found.high["score"]
    interval = cs.confidence_interval(y, p, measure="mcb", method="percentile", rng=1)  # the same draws
    assert (found.low["mcb"], found.high["mcb"]) == pytest.approx((interval.low, interval.high), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_ranges(method):
    y, p = cs.generators.calibrated().sample(50, rng=1)
    found = decompose(y, p, method=method, score="log_loss", n_resamples=20, rng=1)
    assert list(found.low) == list(found.high) == ["score", *found.parts]
    assert all(found.low[name] <= found.high[name] for name in found.low)


def test_the_range_misses_zero_for_a_calibrated_model():
    """What the docstring says of parts that cannot be negative."""
    y, p = cs.generators.calibrated().sample(500, rng=3)
    assert decompose(y, p, n_resamples=99, rng=1).low["mcb"] > 0


def test_rows_count_by_their_weights():
    random = np.random.default_rng(4)
    p, weight = random.random(60), random.integers(1, 4, 60)
    y = (random.random(60) < p).astype(int)
    once = decompose(y, p, sample_weight=weight / 3, n_resamples=99, rng=1)
    repeated = decompose(np.repeat(y, weight), np.repeat(p, weight))
    assert once.parts == pytest.approx(repeated.parts)
    assert once.low["score"] < once.score < once.high["score"]
    assert once.effective_n == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert "(effective n)" in str(once)


@pytest.mark.parametrize("weighted", [False, True])
def test_ranges_are_percentiles_of_a_bootstrap_of_whole_clusters(weighted):
    random = np.random.default_rng(7)
    family = cs.generators.temperature(1.5)
    y, p, cluster, _ = family.sample(400, rng=2, clusters=40, share=1.0)
    rows = {"cluster": cluster, **({"sample_weight": random.gamma(2, 1, 400)} if weighted else {})}
    found = decompose(y, p, n_resamples=999, rng=1, **rows)
    assert found.parts == decompose(y, p, **{**rows, "cluster": None}).parts
    assert "bootstrap samples of 40 clusters of 10 rows each" in str(found)
    for part, measure in (("mcb", "mcb"), ("score", "brier")):
        same = cs.confidence_interval(y, p, measure=measure, method="percentile", rng=1, **rows)  # the same draws
        assert (found.low[part], found.high[part]) == pytest.approx((same.low, same.high), abs=1e-12)
    # a ratio of sums over clusters: 1.96 standard errors by linearisation, give or take the error of 999 samples
    weight = rows.get("sample_weight", np.ones(400))
    off = np.bincount(cluster, weight * ((y - p) ** 2 - found.score)) / weight.sum()
    assert found.high["score"] - found.low["score"] == pytest.approx(2 * 1.96 * math.sqrt(off @ off), rel=0.15)


def test_ranges_of_clusters_do_not_depend_on_the_order_of_rows():
    y, p, cluster, _ = cs.generators.calibrated().sample(120, rng=2, clusters=40, share=0.5)
    order = np.random.default_rng(1).permutation(120)
    found = decompose(y, p, cluster=cluster, n_resamples=20, rng=1)
    other = decompose(y[order], p[order], cluster=cluster[order], n_resamples=20, rng=1)
    assert found.low == pytest.approx(other.low, abs=1e-12)


def test_weights_have_no_ranges():
    sample = cs.Sample.from_rows([0, 1], [0.2, 0.7], [0.5, 1.5])
    assert decompose(sample).score == pytest.approx((0.5 * 0.04 + 1.5 * 0.09) / 2)
    with pytest.raises(ValueError, match="a bootstrap of the parts"):
        decompose(sample, n_resamples=20)


# --- what is printed -------------------------------------------------------------------------------------------------


def test_text_and_frame():
    found = decompose([1, 0, 1], [0.25, 0.5, 0.75])
    assert str(found) == (
        "brier score 0.2917 = miscalibration (mcb) 0.125 - discrimination (dsc) 0.05556 + uncertainty (unc) 0.2222 "
        "(corp), event: outcome 1, n = 3."
    )
    frame = found.to_frame()
    assert frame["part"].tolist() == ["score", "mcb", "dsc", "unc"]
    assert (frame["sign"] * frame["value"])[1:].sum() == pytest.approx(frame["value"][0])
    assert list(frame) == ["part", "sign", "value"]
    found = decompose([1, 0, 1], [0.25, 0.5, 0.75], n_resamples=20, rng=1, method="murphy")
    assert "is not a confidence interval there" in str(found)
    assert "n_bins=15" in str(found)
    assert list(found.to_frame()) == ["part", "sign", "value", "low", "high"]
    assert {part: found.to_dict()[f"parts.{part}"] for part in found.parts} == found.parts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "isotonic"}, "expected a method, one of corp, sharpness, murphy; found 'isotonic'"),
        ({"n_bins": 3}, r"expected options of method 'corp' \(clip\), found 'n_bins'"),
        (
            {"method": "murphy", "bins": 3},
            "expected n_bins= of method 'murphy', found 'bins'",
        ),
        ({"method": "murphy", "n_bins": 0}, "expected n_bins"),
        ({"method": "sharpness", "bandwidth": 0}, "expected a bandwidth"),
        ({"confidence_level": 1}, "expected confidence_level between 0 and 1"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"score": "kl"}, "expected a score"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        decompose([1, 0], [0.5, 0.25], **options)


@pytest.mark.parametrize("method", ["corp", "murphy", "sharpness"])
def test_a_weight_that_rounding_hides_costs_little(method):
    """The entropy of the mean outcome is about w - w log w for w = 1e-18: not infinite, although 1 - w is 1."""
    found = cs.decompose([1, 0], [0.6, 0.3], sample_weight=[1, 1e-18], score="log_loss", method=method)
    assert np.isfinite([*found.parts.values()]).all()
    if method == "corp":
        assert 0 < found.parts["unc"] < 1e-15
