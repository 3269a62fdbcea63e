"""What drove a test: kind, place and direction, and how often a direction is claimed that is not there."""

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
        (cs.generators.temperature(2), ("over-confident",)),
        (cs.generators.temperature(0.5), ("under-confident",)),
        (cs.generators.shift(0.6), ("too few events",)),
        (cs.generators.shift(-0.6), ("too many events",)),
    ],
)
def test_directions(generator, claims):
    """Predictions of known direction, 2000 rows: logits divided, or moved up, which predicts too many events."""
    found = deviation_in(*generator.sample(2000, rng=2))
    assert set(claims) <= set(found.claims)
    assert not {"over-confident", "under-confident", "too many events", "too few events"}.isdisjoint(found.claims)


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


def test_words():
    said = str(deviation_in(*cs.generators.temperature(2).sample(2000, rng=2)))
    assert "Direction (approximate): predictions are over-confident" in said
    few = deviation_in(*cs.generators.temperature(3).sample(300, rng=2))
    assert few.claims is None
    assert "In these rows" in str(few)
    assert "no claim" in str(few)


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
        "a single range in the predicted probabilities of class dog. Most striking: predictions from 0 to 0.078, with "
        "class dog expected in 3.74 of 8,945 rows and observed in 42.\nNo direction stands out."
    )
    one = replace(local, of="outcome 1", low=0.9996, high=0.9996, rows=1.0, predicted=0.9996, observed=0.0, slope=-3.0)
    assert str(one) == (
        "a single range in the predicted probabilities of outcome 1. Most striking: predictions of 0.9996, with "
        "outcome 1 expected in 1 of 1 row and observed in 0.\nIn these rows predictions are over-confident; that "
        "describes them, and is no claim."
    )
    wide = replace(one, low=0.99991, high=0.99998, claims=("too few events", "over-confident"), rows=4061.0)
    assert "from 0.99991 to 0.99998, with outcome 1 expected in 4,059 of 4,061 rows" in str(wide)
    assert str(wide).endswith(
        "Direction (approximate): outcome 1 is observed less often than predicted and predictions are over-confident."
    )
    assert str(replace(wide, claims=())).endswith("Direction: none can be claimed.")
    assert local.short == f"class dog: a single range; most striking: {local.where}."
    assert replace(local, bias=-2.0).short.endswith("; class dog is observed less often than predicted.")


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
    assert said[1] == "The statistic is infinite: the observed outcome at row 0 had probability 0."
    assert said[2].startswith("Apart from that: ")


def test_nothing_to_say():
    assert deviation_in(*cs.generators.calibrated().sample(500, rng=1)) is None  # calibration is not rejected
    assert (
        deviation_in(*cs.generators.temperature(3).sample(500, rng=1), measure="ks") is None
    )  # does not say what drives it
    forbidden = cs.calibration_test([1] * 6, [0.0] * 6, rng=1)
    assert forbidden.pvalue == 0.001
    assert forbidden.deviation is None  # no prediction is strictly between 0 and 1
    assert "row 0 had probability 0" in str(forbidden)


def test_classes():
    rng = np.random.default_rng(5)
    true = rng.dirichlet(np.ones(3), 1500)
    label = np.array([rng.choice(3, p=each) for each in true])
    prob = true**2 / (true**2).sum(axis=1, keepdims=True)
    each = cs.calibration_test(label, prob, lens="class_wise", rng=1)
    assert [found.of for found in each.deviations] == [
        f"class {k}" for k, p in zip(each.names, each.pvalue_holm, strict=True) if p <= 0.05
    ]
    assert all(found.slope < 0 and found.claims is None for found in each.deviations)
    assert "class 0:" in str(each)
    whole = cs.calibration_test(label, prob, lens="canonical", rng=1)
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
        found += bool({"over-confident", "under-confident"} & set(claims))
    return found


def test_false_claims(monkeypatch):
    """At most 5 %, up to the exact binomial limit with probability 1e-4; without limits far more."""
    limit = binom.isf(1e-4, 300, 0.05)
    assert claims_of_slope(300) <= limit
    monkeypatch.setattr(deviation, "EITHER", 0.5)
    monkeypatch.setattr(deviation, "_limit", lambda *_: 0.5)
    assert claims_of_slope(300) > limit


def test_tiny_predictions_are_written_short():
    found = str(deviation_in(np.r_[1, np.zeros(50)], np.r_[1e-40, np.full(50, 0.02)]))
    assert "predictions of 1e-40, with outcome 1 expected in 1e-40 of 1 row and observed in 1" in found
    sure = str(deviation_in(np.r_[0, np.ones(50)], np.r_[1 - 1e-9, np.full(50, 0.98)]))
    assert "predictions of 1 - 1e-09" in sure
