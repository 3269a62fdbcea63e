"""The grammar of conditions, which nothing runs as code."""

import operator
import time

import pytest

from calibstat.inference.choosing.condition import Condition

COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@pytest.mark.parametrize("sign", COMPARISONS)
def test_each_comparison(sign):
    condition = Condition.read(f"ece.low{sign}0.5")
    assert condition == Condition("ece.low", sign, 0.5)
    for number in (0.25, 0.5, 0.75):
        assert condition.is_met(number) == COMPARISONS[sign](number, 0.5)


def test_a_condition_in_words_reads_as_itself():
    assert str(Condition.read("  kernel_ce.high<=.03")) == "kernel_ce.high <= 0.03"
    assert Condition.read(str(Condition("a", "!=", 0.25))) == Condition("a", "!=", 0.25)


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
