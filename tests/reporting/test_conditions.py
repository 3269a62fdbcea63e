"""Conditions on fields of a report, which nothing runs as code."""

import operator
import time

import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.reporting.conditions import Condition, fields_of

Y, P = cs.generators.temperature(2).sample(150, rng=1)


@pytest.fixture(scope="module")
def two():
    return quick_report(Y, {"A.b": P, "ece": P**2})


@pytest.mark.parametrize(
    ("sign", "compare"),
    [("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge), ("==", operator.eq)],
)
def test_each_comparison(sign, compare, one):
    low = one.models["model"].ece.low
    for number in (low - 0.01, low, low + 0.01):
        assert bool(Condition.read(f"ece.low{sign} {number!r}").met(one)) == compare(low, number)


def test_the_sentence_names_field_and_number(one):
    assert Condition.read("ece.high > 0").met(one) == [
        f"models.model.ece.high is {one.models['model'].ece.high:.6g}, and {one.models['model'].ece.high:.6g} > 0"
    ]


def test_a_short_name_is_asked_of_every_model(two):
    assert list(fields_of(two, "ece.low")) == ["models.A.b.ece.low", "models.ece.ece.low"]
    assert list(fields_of(two, "models.ece.ece.low")) == ["models.ece.ece.low"]
    assert list(fields_of(two, "brier.estimate")) == [f"models.{name}.measures.brier.estimate" for name in two.models]
    assert list(fields_of(two, "comparisons.kernel_ce_squared.difference")) == [
        "comparisons.kernel_ce_squared.difference"
    ]
    assert len(Condition.read("test.pvalue <= 1").met(two)) == 2


def test_of_a_list_one_entry_is_enough(two):
    difference = float(two.comparisons["kernel_ce_squared"].difference[0])
    assert Condition.read(f"comparisons.kernel_ce_squared.difference == {difference!r}").met(two)


@pytest.mark.parametrize(
    "text", ["ece.low", "ece.low > ", "> 0.2", "ece.low > a", "ece.low = 1", "__import__('os')", ""]
)
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(ValueError, match=r"expected a field, a comparison and a number, such as 'ece.low > 0.02'"):
        Condition.read(text)


NEVER = [
    "nan",
    "NaN",
    "-nan",
    "1_0",
    "0.0_2",
    "\uff15",
    "\u0665",
    "1e999",
    "9" * 401,
    "0x1",
    "+-1",
    "1e",
    ".",
    "> 1",
    "= 1",
]


@pytest.mark.parametrize("number", NEVER)
def test_a_limit_is_a_plain_number(number):
    """A limit that is never reached, as nan is, would switch a check off."""
    with pytest.raises(ValueError, match="expected a field, a comparison and a number"):
        Condition.read(f"ece.low > {number}")


@pytest.mark.parametrize("number", ["2", "+2.", "-.5", "0.25E-3", "1e300", "inf", "-Infinity", "1e-999"])
def test_every_plain_number_is_a_limit(number):
    assert Condition.read(f"ece.low>{number} ").number == float(number)


def test_the_last_sign_is_the_comparison():
    assert Condition.read(" models.a < b.ece.low >= 0.1") == Condition("models.a < b.ece.low", ">=", 0.1)


@pytest.mark.parametrize(
    "text", ["a" * 20_000 + " " * 20_000, " " * 40_000 + "a", "a" + "<" * 20_000, "a>" + "1" * 20_000]
)
def test_long_text_is_refused_at_once(text):
    begin = time.process_time()
    with pytest.raises(ValueError, match=r"in at most 1000 characters; found .*\.\.\. \([0-9]+,[0-9]{3} characters\)"):
        Condition.read(text)
    for part in range(1, 1000, 111):  # below the limit
        with pytest.raises(ValueError, match="expected a field"):
            Condition.read(text[:part].ljust(1000, text[-1]))
    assert time.process_time() - begin < 1  # it was 27 seconds


def test_an_unknown_field_asks_for_the_nearest(one, two):
    with pytest.raises(ValueError, match=r"found 'ece.lo'; did you mean 'ece.low'\?"):
        Condition.read("ece.lo > 1").met(one)
    with pytest.raises(ValueError, match=r"did you mean 'test.pvalue'\?"):
        Condition.read("test.p_value > 1").met(two)


@pytest.mark.parametrize("field", ["title", "models.model.ece.measure", "groups", "models.model.groups"])
def test_a_field_that_is_no_number_is_named(field, one):
    with pytest.raises(ValueError, match="expected a field that is a number"):
        Condition.read(f"{field} > 1").met(one)


def test_infinite_numbers_are_compared():
    found = quick_report([0, 1] * 20, [0.0, 0.5] * 20)
    assert Condition.read("log_loss.high > 1e300").met(found)
