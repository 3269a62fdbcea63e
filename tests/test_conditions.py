"""Conditions on fields of a report, which nothing runs as code."""

import operator

import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.reporting.conditions import Condition, fields_of

Y, P = cs.generators.temperature(2).sample(150, rng=1)
ONE = quick_report(Y, P)
TWO = quick_report(Y, {"A.b": P, "ece": P**2})
LOW = ONE.models["model"].ece.low


@pytest.mark.parametrize(
    ("sign", "compare"),
    [("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge), ("==", operator.eq)],
)
def test_each_comparison(sign, compare):
    for number in (LOW - 0.01, LOW, LOW + 0.01):
        assert bool(Condition.read(f"ece.low{sign} {number!r}").met(ONE)) == compare(LOW, number)


def test_the_sentence_names_field_and_number():
    assert Condition.read("ece.high > 0").met(ONE) == [
        f"models.model.ece.high is {ONE.models['model'].ece.high:.6g}, and {ONE.models['model'].ece.high:.6g} > 0"
    ]


def test_a_short_name_is_asked_of_every_model():
    assert list(fields_of(TWO, "ece.low")) == ["models.A.b.ece.low", "models.ece.ece.low"]
    assert list(fields_of(TWO, "models.ece.ece.low")) == ["models.ece.ece.low"]
    assert list(fields_of(TWO, "brier.estimate")) == [f"models.{name}.measures.brier.estimate" for name in TWO.models]
    assert list(fields_of(TWO, "comparisons.kernel_ce.difference")) == ["comparisons.kernel_ce.difference"]
    assert len(Condition.read("test.pvalue <= 1").met(TWO)) == 2


def test_of_a_list_one_entry_is_enough():
    difference = float(TWO.comparisons["kernel_ce"].difference[0])
    assert Condition.read(f"comparisons.kernel_ce.difference == {difference!r}").met(TWO)


@pytest.mark.parametrize(
    "text", ["ece.low", "ece.low > ", "> 0.2", "ece.low > a", "ece.low = 1", "__import__('os')", ""]
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(ValueError, match=r"expected a field, a comparison and a number, such as 'ece.low > 0.02'"):
        Condition.read(text)


def test_an_unknown_field_asks_for_the_nearest():
    with pytest.raises(ValueError, match=r"found 'ece.lo'; did you mean 'ece.low'\?"):
        Condition.read("ece.lo > 1").met(ONE)
    with pytest.raises(ValueError, match=r"did you mean 'test.pvalue'\?"):
        Condition.read("test.p_value > 1").met(TWO)


@pytest.mark.parametrize("field", ["title", "models.model.ece.measure", "groups", "models.model.groups"])
def test_a_field_that_is_no_number_is_named(field):
    with pytest.raises(ValueError, match="expected a field that is a number"):
        Condition.read(f"{field} > 1").met(ONE)


def test_infinite_numbers_are_compared():
    found = quick_report([0, 1] * 20, [0.0, 0.5] * 20)
    assert Condition.read("log_loss.high > 1e300").met(found)
