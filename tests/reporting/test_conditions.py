"""Which fields of a report meet a condition, and which are not shown to."""

import operator

import pytest
from quick_report import quick_report

import calibstat as cs
from calibstat.inference.choosing.condition import Condition
from calibstat.reporting.conditions import fields_of, not_shown, sentences_of

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
        assert bool(sentences_of(Condition.read(f"ece.low{sign} {number!r}"), one)) == compare(low, number)


def test_the_sentence_names_field_and_number(one):
    assert sentences_of(Condition.read("ece.high > 0"), one) == [
        f"models.model.ece.high is {one.models['model'].ece.high:.6g}, and {one.models['model'].ece.high:.6g} > 0"
    ]


def test_a_short_name_is_asked_of_every_model(two):
    assert list(fields_of(two, "ece.low")) == ["models.A.b.ece.low", "models.ece.ece.low"]
    assert list(fields_of(two, "models.ece.ece.low")) == ["models.ece.ece.low"]
    assert list(fields_of(two, "brier.estimate")) == [f"models.{name}.measures.brier.estimate" for name in two.models]
    assert list(fields_of(two, "comparisons.kernel_ce_squared.difference")) == [
        "comparisons.kernel_ce_squared.difference"
    ]
    assert len(sentences_of(Condition.read("test.pvalue <= 1"), two)) == 2


def test_of_a_list_one_entry_is_enough(two):
    difference = float(two.comparisons["kernel_ce_squared"].difference[0])
    assert sentences_of(Condition.read(f"comparisons.kernel_ce_squared.difference == {difference!r}"), two)


def test_an_unknown_field_asks_for_the_nearest(one, two):
    with pytest.raises(ValueError, match=r"found 'ece.lo'; did you mean 'ece.low'\?"):
        sentences_of(Condition.read("ece.lo > 1"), one)
    with pytest.raises(ValueError, match=r"did you mean 'test.pvalue'\?"):
        sentences_of(Condition.read("test.p_value > 1"), two)


@pytest.mark.parametrize("field", ["title", "models.model.ece.measure", "groups", "models.model.groups"])
def test_a_field_that_is_no_number_is_named(field, one):
    with pytest.raises(ValueError, match="expected a field that is a number"):
        sentences_of(Condition.read(f"{field} > 1"), one)


def test_infinite_numbers_are_compared():
    found = quick_report([0, 1] * 20, [0.0, 0.5] * 20)
    assert sentences_of(Condition.read("log_loss.high > 1e300"), found)


def test_an_end_that_does_not_meet_a_condition_leaves_it_open_if_the_other_end_does(one):
    interval = one.models["model"].ece
    assert 0 < interval.low < interval.high
    between = (interval.low + interval.high) / 2
    assert not_shown(Condition.read(f"ece.high <= {interval.high!r}"), one) == ([], [])
    failed, unclear = not_shown(Condition.read(f"ece.high <= {between!r}"), one)
    assert failed == []
    assert unclear == [
        f"models.model.ece.high is {interval.high:.6g}, and ece.high <= {between:g} is not shown: these rows cannot "
        f"tell, because low is {interval.low:.6g}"
    ]
    failed, unclear = not_shown(Condition.read(f"ece.high <= {interval.low / 2!r}"), one)
    assert unclear == []
    assert failed == [
        f"models.model.ece.high is {interval.high:.6g}, and ece.high <= {interval.low / 2:g} is not shown"
    ]
    assert not_shown(Condition.read(f"ece.low >= {between!r}"), one)[1]
    assert not_shown(Condition.read("ece.low >= 0.9"), one)[0]


def test_a_number_without_another_end_fails(one):
    assert not_shown(Condition.read("test.pvalue > 1"), one)[0]
    assert not_shown(Condition.read("test.pvalue <= 1"), one) == ([], [])


def test_of_several_models_each_is_asked(two):
    failed, unclear = not_shown(Condition.read("ece.high <= 0"), two)
    assert len(failed) + len(unclear) == 2


@pytest.mark.parametrize(
    ("text", "number"), [("ece.high < 2%", 0.02), ("ece.high < 2.5 %", 0.025), ("o > -.5%", -0.005), ("x<100.%", 1)]
)
def test_per_cent_is_a_share(text, number):
    assert Condition.read(text).number == number
    for wrong in ("ece.high < %", "ece.high < 2%%", "ece.high < 2e1%", "ece.high < inf%"):
        with pytest.raises(ValueError, match="expected a field, a comparison and a number"):
            Condition.read(wrong)
