"""What intervals print beside their ends."""

from dataclasses import replace

import pytest

import calibstat as cs


@pytest.fixture(scope="module")
def calibrated():
    return cs.confidence_interval(*cs.generators.calibrated().sample(400, rng=1), measure="ks", rng=1)


@pytest.mark.parametrize(
    ("fields", "remark"),
    [
        ({"low": 0.1, "estimate": 0.2, "high": 0.3}, ""),
        (
            {"low": 0.2, "estimate": 0.1, "high": 0.3},
            "The estimate lies below the interval because its bias is subtracted",
        ),
        (
            {"low": 0.0, "estimate": 0.4, "high": 0.3, "if_calibrated": 0.35},
            "The estimate lies above the interval because it is biased upwards: a calibrated model would show 0.35",
        ),
        (
            {"low": 0.0, "estimate": 0.1, "high": 0.3, "if_calibrated": 0.3},
            "A calibrated model would show 0.3 on these rows; the interval does not end below that.",
        ),
        (
            {"low": 0.2, "estimate": 0.1, "high": 0.3, "method": "percentile"},
            "The estimate lies below the interval because resamples have larger values.",
        ),
        (
            {"low": 0.2, "estimate": 0.1, "high": 0.3, "method": "basic"},
            "The estimate lies below the interval because resamples have smaller values.",
        ),
    ],
)
def test_an_estimate_outside_is_explained(calibrated, fields, remark):
    found = replace(calibrated, **fields)
    assert found.remark().startswith(remark)
    assert bool(found.remark()) == bool(remark)
    assert found.remark() in str(found)


def test_reservations_are_lines(calibrated):
    assert calibrated.reservations == calibrated.scope == ""
    found = replace(calibrated, why_infinite="a row is certain", few_events="outcome 1 was observed in 2 of 40 rows")
    first, second = found.reservations.splitlines()
    assert first == "Infinite: a row is certain."
    assert second.startswith("Few events: outcome 1 was observed in 2 of 40 rows; ")
    assert found.reservations in str(found)
