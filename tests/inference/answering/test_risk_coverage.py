"""Risk and coverage."""

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.temperature(1.6).sample(3000, rng=1)


def test_the_curve_ends_with_all_rows_and_the_area_is_their_mean():
    found = cs.risk_coverage(Y[:100], P[:100])
    confidence, wrong = np.maximum(P, 1 - P)[:100], ((P >= 0.5) != Y)[:100]
    expected = [wrong[confidence >= c].mean() for c in confidence]
    assert found.coverage == pytest.approx(np.arange(1, 101) / 100)
    assert found.error == pytest.approx(np.array(expected)[np.argsort(-confidence)])
    assert found.area == pytest.approx(np.mean(expected))
    assert found.low < found.area < found.high
    assert found.perfect_area < min(found.area, found.calibrated_area)
    assert found.to_frame().shape == (100, 5)


def test_of_many_rows_the_curve_is_thinned_and_the_area_is_not():
    found = cs.risk_coverage(Y, P)
    assert found.coverage.size == 200
    assert found.coverage == pytest.approx(np.arange(1, 201) / 200)
    halves = [cs.risk_coverage(Y[part], P[part]).coverage.size for part in (slice(1), slice(1500))]
    assert halves == [1, 200]


def test_the_threshold_can_be_checked_on_the_rows():
    found = cs.risk_coverage(Y, P, max_error=0.1)
    kept = np.maximum(P, 1 - P) >= found.threshold
    assert found.answered == pytest.approx(kept.mean())
    assert found.observed == pytest.approx(((P >= 0.5) != Y)[kept].mean())
    assert found.observed < 0.1
    assert f"Answer from confidence {found.threshold:.4g} on" in found.answer
    other = cs.risk_coverage(Y, P, max_error=0.1, confidence_level=0.5)
    assert other.answered > found.answered
    assert other.high - other.low < found.high - found.low


def test_no_threshold_is_none_and_says_so():
    found = cs.risk_coverage(Y, P, max_error=0.001)
    assert (found.threshold, found.answered, found.observed) == (None, None, None)
    assert (
        found.answer == "No confidence is shown from which on at most 0.1 % of the answers are wrong (95 % confidence)."
    )
    few = cs.risk_coverage(Y[:20], P[:20], max_error=0.05)
    assert few.answer.endswith("(95 % confidence): it takes 59 rows.")
    assert "No threshold" not in str(cs.risk_coverage(Y, P))
    assert cs.risk_coverage(Y, P).answer.startswith(
        "On average over all shares answered, 13.6 % of the answers are wrong ("
    )


def test_confidence_that_an_answer_is_right():
    """With y whether an answer was right, a confidence of 0.3 is not a confidence of 0.7 that it was wrong."""
    right, sure = [1, 0, 0, 1], [0.9, 0.3, 0.2, 0.6]
    found = cs.risk_coverage(right, sure, decide_at=0)
    assert found.confidence.tolist() == [0.9, 0.6, 0.3, 0.2]
    assert found.error == pytest.approx([0, 0, 1 / 3, 1 / 2])
    assert found.decide_at == 0
    assert cs.risk_coverage(right, sure).error[-1] == 0


def test_counts_are_rows():
    sample = cs.Sample.from_rows(Y, P.round(1))
    one, other = cs.risk_coverage(sample, max_error=0.3), cs.risk_coverage(Y, P.round(1), max_error=0.3)
    assert one.to_dict() == other.to_dict()


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(3000)
    one, other = cs.risk_coverage(Y, P, max_error=0.1), cs.risk_coverage(Y[order], P[order], max_error=0.1)
    assert one.to_dict() == other.to_dict()


def test_several_models():
    found = cs.risk_coverage(Y, {"a": P, "b": P.round(1)}, max_error=0.1)
    assert list(found) == ["a", "b"]
    assert found["a"].answer == cs.risk_coverage(Y, P, max_error=0.1).answer


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_error": 0}, "expected max_error between 0 and 1, found 0"),
        ({"max_error": 1.0}, "expected max_error between 0 and 1"),
        ({"max_error": "few"}, "expected max_error between 0 and 1, found 'few'"),
        ({"decide_at": -0.1}, "expected decide_at from 0 to 1, found -0.1"),
        ({"decide_at": True}, "expected decide_at from 0 to 1, found True"),
        ({"decide_at": np.nan}, "expected decide_at from 0 to 1, found nan"),
        ({"confidence_level": 95}, "expected confidence_level between 0 and 1"),
        ({"cluster": Y}, r"rows of a cluster may be wrong together; found one: ask about one row of each cluster"),
        ({"sample_weight": P}, r"its bound is for counts of rows, not for sums of weights; found one: give rows that"),
    ],
)
def test_wrong_arguments_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        cs.risk_coverage(Y, P, **arguments)


def test_weights_of_a_sample_raise():
    weighted = cs.Sample.from_rows(Y[:9], P[:9], np.arange(9) + 0.5)
    with pytest.raises(ValueError, match="risk and coverage"):
        cs.risk_coverage(weighted)


@pytest.mark.parametrize(("y", "p"), [([1], [1.0]), ([0], [1.0]), ([1, 1, 0], [0.5, 0.5, 0.5]), ([0, 0], [0.0, 0.0])])
def test_few_and_certain_rows(y, p):
    found = cs.risk_coverage(y, p, max_error=0.4)
    assert 0 <= found.low <= found.area <= found.high <= 1
    assert found.coverage[-1] == 1
