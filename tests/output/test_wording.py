"""Numbers and shares in words."""

import pytest

import calibstat as cs
from calibstat.output import wording


@pytest.mark.parametrize(
    ("x", "text"), [(0.12345, "0.1235"), (0.0, "0.0000"), (0.00012, "1.2e-04"), (float("inf"), "∞")]
)
def test_numbers_stay_visible(x, text):
    assert wording.number(x) == text


@pytest.mark.parametrize(("share", "text"), [(0.5, "50 %"), (1.0, "100 %"), (0.999, "99.9 %"), (0.0004, "0.04 %")])
def test_shares_are_not_rounded_away(share, text):
    assert wording.percent(share) == text


@pytest.mark.parametrize(("p", "text"), [(0.00303, "average 0.00303 and"), (0.25, "average 0.250 and")])
def test_the_mean_prediction_of_rare_events_has_digits(p, text):
    assert text in wording.describe_data(cs.Sample.from_rows([0, 1], [p, p]))
