"""The measures of a report, and what each is asked of."""

import inspect
import math

import pytest

import calibstat as cs
from calibstat.inference.designs.sections import Sections
from calibstat.reporting.report_measures import affordable, compared, measured, questions, shows_several

ERRORS = Sections().errors


@pytest.mark.parametrize(
    ("classes", "lens", "primary", "score"),
    [
        (2, None, {"measure": "ece", "lens": None}, None),
        (3, None, {"measure": "ece", "lens": None}, "canonical"),
        (3, "top_label", {"measure": "ece", "lens": "top_label"}, "top_label"),
        (3, "class_wise", {"measure": "ece", "lens": "class_wise_mean"}, "canonical"),
        (3, "class_wise_max", {"measure": "ece", "lens": "class_wise_max"}, "canonical"),
        (3, "canonical", {"measure": "canonical_ce", "lens": "canonical"}, "canonical"),
    ],
)
def test_the_primary_measure_and_the_scores_follow_the_lens(classes, lens, primary, score):
    found = questions(classes, lens, ERRORS)
    assert next(iter(found.values())) == primary
    assert found["brier"] == {"measure": "brier", "lens": score}


def test_lenses_that_show_several_events():
    several = {"class_wise", "class_wise_mean", "canonical", cs.lenses.top_k(2), cs.lenses.groups([[0], [1, 2]])}
    assert all(shows_several(lens) for lens in several)
    assert not any(shows_several(lens) for lens in (None, "top_label", cs.lenses.one_class(1)))


def test_many_rows_leave_the_primary_measure_and_the_cheap_ones():
    assert list(affordable(questions(2, None, ERRORS), 1e9)) == ["ece", "ece_debiased", "brier", "log_loss"]


def test_models_are_compared_by_the_default_of_compare_and_by_a_score():
    default = inspect.signature(cs.compare).parameters["measure"].default
    asked = questions(2, None, ERRORS)
    assert compared(asked) == [{"measure": name, "lens": None} for name in (default, "brier")]

    def names(questions):
        return [each["measure"] for each in compared(questions)]

    assert names(affordable(asked, 1e9)) == ["ece", "brier"]
    assert [each["measure"] for each in compared(asked, by_error=False)] == ["brier"]
    assert names(questions(3, "class_wise", ERRORS)) == ["ece", "brier"]
    assert names(questions(3, "canonical", ERRORS)) == ["canonical_ce", "brier"]


def test_where_no_interval_is_known_there_is_none():
    data = cs.Data([0, 1, 1], [0.2, 0.6, 0.9])
    found = measured(data, {"measure": "log_loss", "lens": None}, {"rng": 0}, None)  # few events
    assert found.estimate == cs.estimate([0, 1, 1], [0.2, 0.6, 0.9], measure="log_loss")
    assert math.isnan(found.low)
    assert str(found) == f"Logarithmic loss: {found.estimate:.4g}"
