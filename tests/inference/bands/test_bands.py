"""What each band says of itself, and that every class has its own."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.bands.bands import BANDS

SAMPLE = cs.Sample.from_counts([0.1, 0.3, 0.5], [50, 50, 50], [20, 15, 25])  # the first clearly off


def test_one_observed_frequency_is_outside():
    first, promise, rows = str(cs.reliability(SAMPLE, rng=1)).split("\n")
    assert first == "1 of 3 observed frequencies lies outside the 95 % simultaneous consistency band."
    assert promise == (
        "In at least 95 % of samples all points of a calibrated model lie in the band, if outcomes are independent. "
        "The step curve (CORP) leaves its own 95 % band."
    )
    assert rows == "Reliability in 3 uniform bins, event: outcome 1, n = 150."


@pytest.mark.parametrize(
    ("band", "first", "promise"),
    [
        ("confidence", "1 of 3 mean predictions lies outside the 90 % simultaneous confidence band.",
         "In at least 90 % of samples the band holds the mean outcome probability of every bin, if outcomes are "
         "independent."),
        ("monotone", "The 90 % confidence band of a non-decreasing curve.",
         "In at least 90 % of samples the band holds the whole curve, if the outcome probability never falls as the "
         "prediction rises and outcomes are independent. It is a picture, not a test of calibration."),
        ("pointwise_confidence", "1 of 3 mean predictions lies outside the 90 % pointwise confidence bars.",
         "Each bar stands alone: all 3 hold the true frequencies in only about 73 % of samples."),
        ("pointwise_consistency", "1 of 3 observed frequencies lies outside the 90 % pointwise consistency bars.",
         "Each bar stands alone: all 3 hold a calibrated model in only about 73 % of samples, more if bins hold few "
         "rows."),
    ],
)  # fmt: skip
def test_each_band_says_what_it_is(band, first, promise):
    text = str(cs.reliability(SAMPLE, band=band, confidence_level=0.9, rng=1)).split("\n")
    assert text[0] == first
    assert text[1] == promise


def test_all_inside_and_no_band():
    calm = cs.Sample.from_counts([0.1, 0.3, 0.5], [50, 50, 50], [5, 15, 25])
    text = str(cs.reliability(calm, rng=1))
    assert text.startswith("All observed frequencies lie inside the 95 % simultaneous consistency band.\n")
    assert "The step curve (CORP) lies inside its own 95 % band.\n" in text
    assert str(cs.reliability(calm, band=None)) == "Reliability in 3 uniform bins, event: outcome 1, n = 150."


@pytest.mark.parametrize("band", BANDS)
def test_every_class_has_its_own_band(band):
    label, prob = cs.generators.dirichlet((0.5, 0.5, 0.5), temperature=2).sample(400, rng=1)
    found = cs.reliability(label, prob, lens="class_wise", band=band, rng=1)
    for k, diagram in enumerate(found.diagrams):
        alone = cs.reliability(label == k, prob[:, k], band=band, rng=1)
        for name in ("low", "high", "curve_low", "curve_high"):
            np.testing.assert_array_equal(getattr(diagram, name), getattr(alone, name))
    last = str(found).split("\n")[-1]
    assert last.startswith(f"Each class has its own 95 % {BANDS[band].name}")
    if BANDS[band].compared is None:
        assert last.endswith("curve.")
    else:
        inside = sum(bool(diagram.inside.all()) for diagram in found.diagrams)
        assert last.endswith(f"lie inside in {inside} of 3 classes.")
    none = cs.reliability(label, prob, lens="class_wise", band=None)
    assert "own" not in str(none)
