"""What drove a test: kind, place and direction, and how often a direction is claimed that is not there."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs
from calibstat.inference import deviation
from calibstat.inference.deviation import describe
from calibstat.measures import Omnibus
from calibstat.resampling import Draws
from calibstat.resampling.streams import key_of


def deviation_in(y, p, **options):
    return cs.calibration_test(y, p, rng=1, **options).deviation


@pytest.mark.parametrize(
    ("generator", "claims"),
    [
        (cs.generators.temperature(2), ("too far apart",)),
        (cs.generators.temperature(0.5), ("too close together",)),
        (cs.generators.shift(0.6), ("too few events",)),
        (cs.generators.shift(-0.6), ("too many events",)),
    ],
)
def test_directions(generator, claims):
    """Predictions of known direction, 2000 rows: logits divided, or moved up, which predicts too many events."""
    found = deviation_in(*generator.sample(2000, rng=2))
    assert set(claims) <= set(found.claims)
    assert found.confidence is None
    assert "confident" not in str(found)


def test_kinds():
    """A slope is smooth; 40 of 2000 rows that all have the event are local; every second bin too high is scattered."""
    rng = np.random.default_rng(3)
    p = np.sort(rng.uniform(0.3, 0.7, 2000))
    smooth = deviation_in(*cs.generators.temperature(2).sample(2000, rng=4))
    assert smooth.kind == "smooth"
    y = rng.random(2000) < p
    y[1000:1040] = 1
    local = deviation_in(y, p)
    assert local.kind == "local"
    assert p[1000] - 0.01 < local.low < local.high < p[1039] + 0.01
    assert local.observed > 0.9
    part = np.arange(2000) // 16 % 2
    scattered = deviation_in(rng.random(2000) < np.where(part == 1, p + 0.2, p - 0.2), p)
    assert scattered.kind == "scattered"


@pytest.mark.parametrize("n", [20_000, 200_000])
def test_kinds_of_many_rows(n):
    """However many rows: logits that are doubled, or moved, are smooth; errors by turns in 40 ranges are scattered."""
    rng = np.random.default_rng(3)
    for generator in (cs.generators.temperature(2), cs.generators.temperature(0.5), cs.generators.shift(0.6)):
        assert deviation_in(*generator.sample(n, rng=4)).kind == "smooth"
    p = rng.uniform(0.1, 0.9, n)
    too_low = np.floor(p * 50) % 2 == 1
    assert deviation_in(rng.random(n) < np.where(too_low, p + 0.05, p - 0.05), p).kind == "scattered"
    assert deviation_in(rng.random(n) < np.where((p > 0.5) & (p < 0.53), 0.9, p), p).kind == "local"


def test_words():
    said = str(deviation_in(*cs.generators.temperature(2).sample(2000, rng=2)))
    assert "Predictions are too extreme (an approximate test)." in said
    few = deviation_in(*cs.generators.temperature(3).sample(300, rng=2))
    assert few.claims is None
    assert "In this sample" in str(few)
    assert "(a description, not a test)" in str(few)


def test_numbers_are_written_as_they_are_read_aloud():
    """Numbers of rows, not shares; ends with the decimals that the width of the range needs; no powers of ten."""
    local = deviation.Deviation(
        of="class dog",
        kind="local",
        bias=0.2,
        slope=-0.3,
        claims=None,
        low=3.9e-7,
        high=0.07771,
        rows=8945.0,
        predicted=3.74 / 8945,
        observed=42 / 8945,
    )
    assert str(local) == (
        "The error is in one range of predictions. Most striking: predictions from 0 % to 7.8 %, with "
        "class dog expected in 3.7 of 8,945 rows and observed in 42."
    )
    one = replace(local, of="outcome 1", low=0.9996, high=0.9996, rows=1.0, predicted=0.9996, observed=0.0, slope=-3.0)
    assert str(one) == (
        "The error is in one range of predictions. Most striking: predictions of 99.96 %, with "
        "outcome 1 expected in 1.0 of 1 row and observed in 0.\nIn this sample predictions are too extreme (a "
        "description, not a test)."
    )
    wide = replace(one, low=0.99991, high=0.99998, claims=("too few events", "too far apart"), rows=4061.0)
    assert "from 99.991 % to 99.998 %, with outcome 1 expected in 4,059 of 4,061 rows" in str(wide)
    assert str(wide).endswith(
        "Outcome 1 is observed less often than predicted and predictions are too extreme (an approximate test)."
    )
    assert str(replace(wide, claims=())).endswith(f"Most striking: {wide.where}.")
    assert local.short == f"class dog: most striking: {local.where}."
    assert replace(local, bias=-2.0).short.endswith("; class dog is observed less often than predicted.")


def confidences(mean, accuracy, n, spread=0.1, rng=1):
    """Predictions of three classes with this mean confidence and accuracy, whatever the confidence."""
    random = np.random.default_rng(rng)
    confidence = random.uniform(mean - spread, mean + spread, n)
    prob = np.column_stack((confidence, (1 - confidence) / 2, (1 - confidence) / 2))
    return np.where(random.random(n) < accuracy, 0, 1 + random.integers(0, 2, n)), prob


@pytest.mark.parametrize("n", [400, 1000])
@pytest.mark.parametrize(
    ("mean", "accuracy", "word", "other"),
    [(0.75, 0.97, "under-confident", "over-confident"), (0.85, 0.6, "over-confident", "under-confident")],
)
@pytest.mark.parametrize("lens", [None, cs.lenses.top_k(1), "canonical"])
def test_the_word_for_confidences_is_that_of_confidence_against_accuracy(n, mean, accuracy, word, other, lens):
    """Confidence varies while accuracy does not, so that the slope alone would always say over-confident."""
    found = deviation_in(*confidences(mean, accuracy, n), lens=lens, n_resamples=39)
    if found.confidence is not None:  # what drives the test of all classes may be one of them
        assert word in str(found)
        assert other not in str(found)
        assert "mean confidence" in found.short
        assert found.confidence.mean == pytest.approx(mean, abs=0.01)
        assert found.confidence.accuracy == pytest.approx(accuracy, abs=0.05)
        assert found.confidence.low <= found.confidence.mean - found.confidence.accuracy <= found.confidence.high
    else:
        assert lens not in (None, "top_label")
        assert "confident" not in str(found)
    if n >= 1000 and lens in (None, "top_label"):
        assert found.claims[0] == word


def test_what_is_as_on_fitted_rows_says_so():
    fitted = "or the model was fitted on these rows"
    assert fitted in str(deviation_in(*confidences(0.75, 0.97, 2000)))
    assert fitted not in str(deviation_in(*confidences(0.85, 0.6, 2000)))
    assert fitted in str(deviation_in(*cs.generators.temperature(0.5).sample(2000, rng=2)))
    assert fitted not in str(deviation_in(*cs.generators.temperature(2).sample(2000, rng=2)))


@pytest.mark.parametrize("lens", ["class_wise", cs.lenses.one_class(0), None])
def test_a_single_event_is_never_called_confident(lens):
    """Of two classes as of each of three: a slope is too far apart or too close together."""
    label, prob = confidences(0.75, 0.97, 2000)
    data = (label, prob) if lens is not None else (label == 0, prob[:, 0])
    said = str(cs.calibration_test(*data, lens=lens, n_resamples=199, rng=1))
    assert "too extreme" in said
    assert "confident" not in said


def test_ranks_below_the_first_are_no_confidences():
    """The lens says which outcome is a confidence: of the ranks the first, and of a user's own none."""
    assert cs.lenses.top_label.confidences == (1,)
    assert cs.lenses.top_k(3).confidences == (0,)
    own = cs.Lens("own", lambda p: p[:, 0].astype(float), lambda p, label: label == 0, "own.")
    found = deviation_in(*confidences(0.75, 0.97, 2000), lens=own)
    assert found.confidence is None


def test_confidence_beside_accuracy_by_hand():
    """Four rows at .6 of which all are right, and weights that count the second half not at all."""
    sample = cs.Sample.from_counts([0.6], [4], [4])
    found = deviation.Confidence.of(sample)
    assert (found.mean, found.accuracy) == pytest.approx((0.6, 1.0))
    half = 2.2365 * np.sqrt(4 * 0.6 * 0.4) / 4  # the variance if calibrated, which exceeds 4 times .4 squared
    assert (found.low, found.high) == pytest.approx((-0.4 - half, -0.4 + half))
    assert found.side == 0
    assert deviation.Confidence.of(cs.Sample.from_counts([0.6], [400], [400])).side == 1
    assert deviation.Confidence.of(cs.Sample.from_counts([0.6], [400], [100])).side == -1


def claims_of_confidence(sets, slope):
    """How often confidences are called over- or under-confident whose mean is the accuracy."""
    rng = np.random.default_rng(7)
    found = 0
    for i in range(sets):
        sample = cs.Sample.from_counts([0.6, 0.9], [600, 600], rng.binomial(600, [0.6 + slope, 0.9 - slope]))
        claims = describe(Omnibus(), sample, "the most likely class", Draws(key_of(i), 99), is_confidence=True).claims
        found += bool({"over-confident", "under-confident"} & set(claims))
    return found


@pytest.mark.parametrize("slope", [0.0, 0.1, -0.05])
def test_false_claims_of_confidence(slope, monkeypatch):
    """Calibrated, or too far apart or too close together with the right mean: at most 5 %; without limits far more."""
    limit = binom.isf(1e-4, 100, 0.05)
    assert claims_of_confidence(100, slope) <= limit
    monkeypatch.setattr(deviation, "EITHER", 0.5)
    monkeypatch.setattr(deviation, "_limit", lambda *_: 0.5)
    assert claims_of_confidence(100, slope) > limit


@pytest.mark.parametrize(("lens", "of"), [("top_label", "the most likely class"), (cs.lenses.one_class(2), "class 2")])
def test_it_names_what_was_predicted(lens, of):
    rng = np.random.default_rng(5)
    true = rng.dirichlet(np.ones(3), 1500)
    label = np.array([rng.choice(3, p=each) for each in true])
    prob = true**3 / (true**3).sum(axis=1, keepdims=True)
    assert deviation_in(label, prob, lens=lens).of == of


def test_what_is_impossible_drives_a_test_first():
    y, p = np.tile([1.0, 0.0], 100), np.tile([0.2, 0.8], 100)
    y[0], p[0] = 1, 0
    said = str(cs.calibration_test(y, p, rng=1)).splitlines()
    assert said[1].startswith("1 row was predicted to be impossible and happened (row 0); without")
    assert said[2].startswith("Apart from that, ")


def test_nothing_to_say():
    assert deviation_in(*cs.generators.calibrated().sample(500, rng=1)) is None  # calibration is not rejected
    assert (
        deviation_in(*cs.generators.temperature(3).sample(500, rng=1), measure="ks") is None
    )  # does not say what drives it
    forbidden = cs.calibration_test([1] * 6, [0.0] * 6, rng=1)
    assert forbidden.pvalue == 0.001
    assert forbidden.deviation is None  # no prediction is strictly between 0 and 1
    assert "happened (the first is row 0); no row is predicted neither 0 nor 1, so" in str(forbidden)


def test_classes():
    rng = np.random.default_rng(5)
    true = rng.dirichlet(np.ones(3), 1500)
    label = np.array([rng.choice(3, p=each) for each in true])
    prob = true**2 / (true**2).sum(axis=1, keepdims=True)
    result = cs.calibration_test(label, prob, lens="class_wise", n_resamples=199, rng=1)
    each = result.classes
    assert [found.of for found in each.deviations] == [
        f"class {k}" for k, p in zip(each.names, each.pvalue_holm, strict=True) if p <= 0.05
    ]
    assert all(found.slope < 0 and found.claims is None for found in each.deviations)
    assert "class 0:" in str(result)
    whole = cs.calibration_test(label, prob, lens="canonical", n_resamples=199, rng=1)
    assert whole.deviation.of in {"class 0", "class 1", "class 2", "the most likely class"}
    assert whole.deviation.claims is None


def claims_of_slope(sets, monkeypatch=None):
    """How often a slope is claimed where it is exactly 0, although there are fewer events than predicted.

    With one probability in each half, .3 and .7, and both .06 too high, the second component is (b(.7) - b(.3)) times
    the same mean residual; it is 0 because the information of both halves is equal.
    """
    rng = np.random.default_rng(6)
    found = 0
    for i in range(sets):
        sample = cs.Sample.from_counts([0.3, 0.7], [600, 600], rng.binomial(600, [0.24, 0.64]))
        claims = describe(Omnibus(), sample, "outcome 1", Draws(key_of(i), 99)).claims
        assert not {"too many events"} & set(claims)
        found += bool({"too far apart", "too close together"} & set(claims))
    return found


def test_false_claims(monkeypatch):
    """At most 5 %, up to the exact binomial limit with probability 1e-4; without limits far more."""
    limit = binom.isf(1e-4, 150, 0.05)
    assert claims_of_slope(150) <= limit
    monkeypatch.setattr(deviation, "EITHER", 0.5)
    monkeypatch.setattr(deviation, "_limit", lambda *_: 0.5)
    assert claims_of_slope(150) > limit


def test_tiny_predictions_are_written_short():
    found = str(deviation_in(np.r_[1, np.zeros(50)], np.r_[1e-40, np.full(50, 0.02)]))
    assert "predictions below 0.0001 %, with outcome 1 expected in fewer than 0.1 of 1 row and observed in 1" in found
    sure = str(deviation_in(np.r_[0, np.ones(50)], np.r_[1 - 1e-9, np.full(50, 0.98)]))
    assert "predictions above 99.9999 %, with outcome 1 expected in 1.0 of 1 row and observed in 0" in sure
    assert not re.search(r"\de[+-]?\d|1 - ", found + sure)
