"""The calibration-sharpness diagram: its numbers pair by pair, and the gap that is never negative."""

import math

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import clusters
from row_strategies import rows
from scipy.special import rel_entr

import calibstat as cs
from calibstat.inference.sharpness import sharpness
from calibstat.measures import regression_ce as regression  # noqa: F401  (registers the measure)
from calibstat.recalibration import MeanReplacement

NEAREST = 2.0**-24
# 100 rows at .99 that all hit and one hit at .9
COUNTEREXAMPLE = np.ones(101, int), np.append(np.full(100, 0.99), 0.9)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@st.composite
def vectors(draw):
    """Up to 12 rows of predictions of three classes: ties, certain ones, equal ones."""
    n = draw(st.integers(1, 12))
    fixed = [(1.0, 0.0, 0.0), (0.25, 0.25, 0.5), (0.0, 0.5, 0.5), (0.125, 0.75, 0.125)]
    free = st.tuples(st.integers(0, 64), st.integers(0, 64)).map(lambda ab: (min(ab), max(ab)))
    free = free.map(lambda ab: (ab[0] / 64, (ab[1] - ab[0]) / 64, (64 - ab[1]) / 64))
    prob = draw(st.lists(st.one_of(st.sampled_from(fixed), free), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return np.array(y), np.array(prob)


def row_losses(y, prob, divergence):
    """Divergence of one-hot outcomes from canonical predictions."""
    if divergence == "brier":
        return ((np.eye(prob.shape[1])[y] - prob) ** 2).sum(axis=1)
    return -np.log(np.clip(prob[np.arange(y.size), y], NEAREST, 1 - NEAREST))


def by_pairs(hit, value, loss, grid, divergence, kernel, bandwidth, at_point=False):
    """Curve, density and gap; `at_point` puts p in place of the mean prediction near p, as the paper does."""

    def weights(image):
        u = (grid[:, None] - image) / bandwidth
        return np.exp(-(u**2) / 2) if kernel == "gaussian" else np.maximum(1 - u**2, 0)

    near = weights(value)
    unit = bandwidth * (math.sqrt(2 * math.pi) if kernel == "gaussian" else 4 / 3)
    total = near.sum(axis=1)
    total[total < 0.0101] = np.nan
    v = np.clip(value, NEAREST, 1 - NEAREST) if divergence == "log_loss" else value
    curve = np.clip(near @ hit / total, 0, 1)
    inside = sum(weights(2 * j + way * value) for j in range(-5, 6) for way in (1, -1))  # reflected at 0 and 1
    density = inside.sum(axis=1) / (value.size * unit)
    total = np.where(np.isnan(total), np.nan, inside.sum(axis=1))
    frequency, mean = np.clip(inside @ hit / total, 0, 1), grid if at_point else inside @ v / total
    squared = (frequency - mean) ** 2
    relative = rel_entr(frequency, mean) + rel_entr(1 - frequency, 1 - mean)
    return curve, density, inside @ loss / total - (squared if divergence == "brier" else relative)


def check(found, hit, value, loss, divergence, kernel, bandwidth):
    expected = by_pairs(hit, value, loss, found.grid, divergence, kernel, bandwidth)
    clear = ~np.isnan(expected[0])
    for ours, theirs in zip((found.curve, found.density, found.gap), expected, strict=True):
        assert ours[clear] == pytest.approx(theirs[clear], abs=1e-7)  # rounding by the slope of a logit at 2**-24
    np.testing.assert_array_equal(np.isnan(found.gap), np.isnan(found.curve))
    # not merely cut off at 0: the formula itself is not below it, but for the rounding of a mean 2**-24 away from 1,
    # 2**-53, which is 2**-29 of that distance
    assert np.all(expected[2][clear] >= -1e-8)
    assert np.all(found.gap[~np.isnan(found.gap)] >= 0)


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("divergence", ["brier", "log_loss"])
@given(data=st.one_of(rows(), clusters()), bandwidth=st.sampled_from([0.01, 0.05, 0.3, 1.0]))
@example(data=COUNTEREXAMPLE, bandwidth=0.05)
@example(data=(np.array([1]), np.array([0.0])), bandwidth=0.05)
@example(data=(np.array([0, 1]), np.array([0.0, 1.0])), bandwidth=1.0)
def test_event_against_all_pairs(kernel, divergence, data, bandwidth):
    y, p = data
    clip = NEAREST if divergence == "log_loss" else None
    settings = {"kernel": kernel, "divergence": divergence, "bandwidth": bandwidth, "clip": clip}
    found = sharpness(y, p, **settings, n_points=41)
    loss = row_losses(y, np.column_stack([1 - p, p]), divergence) / (2 if divergence == "brier" else 1)
    check(found, y, p, loss, divergence, kernel, bandwidth)
    assert found.total_divergence == pytest.approx(loss.mean(), rel=1e-9)
    error = cs.estimate(y, p, measure="regression_ce", **settings)
    assert found.calibration_error == error


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
@pytest.mark.parametrize("divergence", ["brier", "log_loss"])
@given(data=vectors(), bandwidth=st.sampled_from([0.01, 0.05, 0.3]))
def test_top_label_against_all_pairs(kernel, divergence, data, bandwidth):
    y, prob = data
    clip = NEAREST if divergence == "log_loss" else None
    settings = {"kernel": kernel, "divergence": divergence, "bandwidth": bandwidth, "clip": clip}
    found = sharpness(y, prob, **settings, n_points=41)
    loss, hit = row_losses(y, prob, divergence), y == prob.argmax(axis=1)
    check(found, hit.astype(float), prob.max(axis=1), loss, divergence, kernel, bandwidth)
    assert found.total_divergence == pytest.approx(loss.mean(), rel=1e-12, abs=1e-15)
    error = cs.estimate(y, prob, measure="regression_ce", **settings)
    assert found.calibration_error == error


def test_the_papers_gap_can_be_negative():
    """The counterexample, and the planted fault of the two tests above: p in place of the mean prediction near p."""
    y, p = COUNTEREXAMPLE
    arguments = y, p, (y - p) ** 2, np.array([0.9]), "brier", "gaussian", 0.05
    # kernel weight exp(-1.62) of the rows at .99, exp(-2.42) of their images at 1.01, 1 + exp(-8) of the row at .9:
    # (28.7 · .0001 + .01)/29.7 - .01
    assert by_pairs(*arguments, at_point=True)[2][0] == pytest.approx(-0.0096, abs=1e-4)
    assert by_pairs(*arguments)[2][0] > 0
    assert sharpness(y, p, n_points=11).gap[9] == pytest.approx(by_pairs(*arguments)[2][0], abs=1e-12)


def test_by_hand():
    """One row of ten at .5 hits: curve .1, no slope; gap (.1 · .25 + .9 · .25) - (.1 - .5)² = .09; density 1 / unit."""
    found = sharpness(cs.Sample.from_counts([0.5], [10], [1]), kernel="epanechnikov", bandwidth=0.25, n_points=5)
    np.testing.assert_array_equal(np.isnan(found.curve), [True, True, False, True, True])
    assert found.curve[2] == pytest.approx(0.1, abs=1e-15)
    assert found.gap[2] == pytest.approx(0.09, abs=1e-15)
    assert found.density == pytest.approx([0, 0, 3, 0, 0])
    assert found.calibration_error == pytest.approx(0.16, abs=1e-15)
    assert found.total_divergence == pytest.approx(0.25, abs=1e-15)
    assert found.high[2] == pytest.approx(0.1 + 0.27 / 2, abs=1e-15)
    assert found.low[2] == 0  # cut off: .1 - .135


def test_band_has_the_area_of_what_is_left_of_the_divergence():
    y, p = cs.generators.temperature(2).sample(20_000, rng=1)
    p = 0.25 + p / 2  # away from 0 and 1, where the kernel would lose rows
    found = sharpness(y, p, bandwidth=0.02, n_points=2001)
    area = np.nansum(found.density * found.gap) * (found.grid[1] - found.grid[0])
    assert area == pytest.approx(found.total_divergence - found.calibration_error, rel=0.002)


def test_constant_confidence_is_calibrated_and_not_sharp():
    """Mean replacement: confidence is the accuracy, so the error is 0, and the whole divergence is the gap."""
    rng = np.random.default_rng(1)
    n, classes = 1000, 5
    top, y = rng.integers(0, classes, (2, n))
    y[:600] = top[:600]
    accuracy = (y == top).mean()
    prob = np.full((n, classes), (1 - accuracy) / (classes - 1))
    prob[np.arange(n), top] = accuracy
    found = sharpness(y, prob)
    assert found.calibration_error == pytest.approx(0, abs=1e-25)
    assert found.gap[~np.isnan(found.gap)] == pytest.approx(found.total_divergence, abs=1e-12)


def test_two_classes_and_groups():
    rng = np.random.default_rng(2)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    both = np.column_stack([1 - p, p])
    event, top = sharpness(y, p), sharpness(y, both, lens="top_label")
    assert str(event.lens) == "event: outcome 1"
    np.testing.assert_allclose(sharpness(y, both).gap, event.gap, atol=1e-14)
    assert top.total_divergence == pytest.approx(2 * event.total_divergence)  # both classes count
    assert str(top.lens) == "lens top_label"
    prob = rng.dirichlet(np.ones(4), 300)
    label = rng.integers(0, 4, 300)
    grouped = sharpness(label, prob, lens=cs.lenses.groups([[0, 1], [2], [3]]))
    merged = np.column_stack([prob[:, :2].sum(axis=1), prob[:, 2:]])
    same = sharpness(np.maximum(label - 1, 0), merged / merged.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(grouped.gap, same.gap, atol=1e-12)
    assert str(grouped.lens) == "top_label of lens groups([[0, 1], [2], [3]])"
    one = sharpness(label, prob, lens=cs.lenses.one_class(2))
    np.testing.assert_array_equal(one.gap, sharpness(label == 2, prob[:, 2]).gap)
    predictions = cs.Predictions.from_rows(label, prob)
    np.testing.assert_array_equal(sharpness(predictions).gap, sharpness(label, prob).gap)
    single = sharpness(label, prob.astype(np.float32))
    np.testing.assert_allclose(single.gap, sharpness(label, prob).gap, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"divergence": "kl"}, "expected divergence 'brier' or 'log_loss', found 'kl'"),
        ({"kernel": "box"}, "expected kernel"),
        ({"bandwidth": -1}, "expected a bandwidth"),
        ({"n_points": 1}, "expected n_points to be a whole number of at least 2, found 1"),
        ({"n_points": 2.5}, "expected n_points"),
        ({"lens": "class_wise"}, r"such as one_class\(k\)"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        sharpness([1, 0], [0.5, 0.25], **options)


def test_text_and_frame():
    found = sharpness(cs.Sample.from_counts([0.25, 0.75], [10, 10], [5, 5]), n_points=3, kernel="epanechnikov")
    assert str(found) == (
        # a row adds 1/4 or -1/4 to the error, less its mean: the root of 20 / 16 over 20 * 19
        "Calibration error 0.0625 ± 0.05735 and sharpness gap 0.25 ± 0, together 0.3125 ± 0.05735 (± standard error).\n"
        "They are squared differences of probabilities. The root of the calibration error, 0.25, is a difference of "
        "probabilities: the root mean square of frequency minus prediction, the frequency by kernel regression.\n"
        "Divergence: brier; epanechnikov kernel, bandwidth 0.05, event: outcome 1, n = 20."
    )
    other = sharpness(cs.Sample.from_counts([0.25, 0.75], [10, 10], [5, 5]), divergence="log_loss")
    assert "\nThey are differences of log losses, not of probabilities.\n" in str(other)
    assert list(found.to_frame()) == ["grid", "curve", "gap", "density", "low", "high"]
    assert not found.gap.flags.writeable


def area(found):
    return np.trapezoid(np.where(np.isnan(found.gap), 0, found.density * found.gap), found.grid)


def recalibrations():
    """A confident model of ten classes, its temperature undone, and the accuracy said of every row."""
    y, p = cs.generators.dirichlet((0.03,) * 10, temperature=1.5).sample(4000, rng=1)
    cooled = p ** (1 / 1.5) / (p ** (1 / 1.5)).sum(axis=1, keepdims=True)
    return {"raw": (y, p), "cooled": (y, cooled), "replaced": (y, MeanReplacement().fit(p, y).predict_proba(p))}


@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_the_area_of_the_band_is_the_gap(kernel):
    """Also where predictions are near 1: a kernel that leaks over the end loses half of its weight there."""
    found = [sharpness(*data, kernel=kernel) for data in recalibrations().values()]
    for one in found:
        assert one.sharpness_gap == one.total_divergence - one.calibration_error
        assert area(one) == pytest.approx(one.sharpness_gap, rel=0.01)
        assert np.trapezoid(one.density, one.grid) == pytest.approx(1, abs=2e-3)
    assert (
        np.argsort([area(one) for one in found]).tolist() == np.argsort([one.sharpness_gap for one in found]).tolist()
    )


@pytest.mark.parametrize("bandwidth", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_no_density_leaves_the_unit_interval(kernel, bandwidth):
    for p in (np.ones(5), np.zeros(5), np.array([0.0, 0.02, 0.5, 0.97, 1.0])):
        found = sharpness(np.zeros(5, int), p, kernel=kernel, bandwidth=bandwidth, n_points=1001)
        assert np.trapezoid(found.density, found.grid) == pytest.approx(1, abs=1e-4)
