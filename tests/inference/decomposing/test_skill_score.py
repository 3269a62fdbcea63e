"""Skill scores: their values by hand, how often intervals miss, words and errors."""

from fractions import Fraction

import numpy as np
import pytest

import calibstat as cs
from calibstat.study import most_rejections

Y, P = cs.generators.temperature(2.0).sample(400, rng=1)
CLUSTER = np.arange(400) // 10


def test_values_by_hand():
    """Of 4 rows with 1 event: mean loss (1/4 + 1/16 + 0 + 1/16) / 4 = 3/32, of the base rate 3/16."""
    y, p = [1, 0, 0, 0], [0.5, 0.25, 0.0, 0.25]
    found = cs.skill_score(y, p)
    assert (found.score, found.reference_score, found.skill) == (3 / 32, 3 / 16, 1 / 2)
    over = cs.skill_score(y, p, 0.5)  # which loses 1/4 in every row
    assert over.skill == pytest.approx(float(1 - Fraction(3, 32) / Fraction(1, 4)))
    other = cs.skill_score(y, p, [0.75, 0.25, 0.25, 0.25])  # 4 times 1/16
    assert other.skill == pytest.approx(float(1 - Fraction(3, 32) / Fraction(1, 16)))


def test_it_is_one_less_a_ratio_of_measures():
    brier, rate = cs.estimate(Y, P, measure="brier"), Y.mean()
    assert cs.skill_score(Y, P).skill == pytest.approx(1 - brier / (rate * (1 - rate)))
    assert cs.skill_score(Y, P).skill == pytest.approx(cs.validate(Y, P).scaled_brier)
    ratio = cs.estimate(Y, P, measure="normalized_log_loss")
    assert cs.skill_score(Y, P, score="log_loss").skill == pytest.approx(1 - ratio)
    parts = cs.decompose(Y, P, score="spherical")
    skill = cs.skill_score(Y, P, score="spherical").skill
    assert skill == pytest.approx((parts["dsc"] - parts["mcb"]) / parts["unc"])


@pytest.mark.parametrize("score", ["brier", "log_loss", "spherical"])
def test_reversed_outcomes_have_the_same_skill(score):
    one, other = cs.skill_score(Y, P, score=score), cs.skill_score(1 - Y, 1 - P, score=score)
    assert (one.skill, one.low, one.high) == pytest.approx((other.skill, other.low, other.high), abs=1e-9)
    assert one.low < one.skill < one.high


def misses(truth, reference=None):
    """In how many of 50 data sets of 60 rows the interval lies beside a skill."""
    missed = 0
    for seed in range(50):
        y, p = cs.generators.calibrated().sample(60, rng=seed)
        found = cs.skill_score(y, p, reference and p * 0 + reference)
        missed += not found.low <= truth <= found.high
    return missed


def test_intervals_cover():
    """Evenly spread calibrated predictions lose 1/6, their base rate 1/4, and a forecast of 0.4 loses 1/4 + 0.01."""
    most = most_rejections(0.05, 50, 0.001)
    assert misses(1 / 3) <= most
    assert misses(1 - (1 / 6) / 0.26, 0.4) <= most
    assert misses(1 / 3 + 0.4) > most  # the twin


def test_clusters_and_weights_are_named():
    rows = cs.skill_score(Y, P)
    found = cs.skill_score(Y, P, cluster=CLUSTER)
    assert found.skill == pytest.approx(rows.skill)
    assert "in 40 clusters of 10 rows each" in str(found)
    assert "no absent kind of cluster" in str(found)
    whole = cs.skill_score(Y, P, cluster=cs.Clusters(CLUSTER, unseen="clusters"))
    assert whole.low < found.low
    weighted = cs.skill_score(Y, P, sample_weight=np.tile([1.0, 3.0], 200))
    assert weighted.effective_n == pytest.approx(320)


def test_words():
    found = cs.skill_score(Y, P)
    low, high = (f"{100 * end:.0f} %" for end in (found.low, found.high))
    assert found.answer == (
        f"The Brier skill over the base rate is {100 * found.skill:.0f} % (95 % interval {low} to {high}).\n"
        "The predictions are better than the base rate."
    )
    worse = cs.skill_score(Y, 1 - P, 0.5, score="log_loss")
    assert "log loss skill over the rate 0.5 is -" in worse.answer
    assert "The predictions are worse than the rate 0.5." in worse.answer
    same = cs.skill_score(Y, P, P)
    assert "over the reference forecast is 0 %" in same.answer
    assert "Neither is shown to be better." in same.answer
    sure = cs.skill_score(np.tile(Y, 500), np.tile(P, 500))
    assert f"is {100 * sure.skill:.1f} %" in sure.answer
    assert cs.skill_score(Y, {"a": P, "b": P**2})["b"].skill < cs.skill_score(Y, P).skill


def test_infinite_losses_say_why():
    sure = np.where(np.arange(400) == 7, 1 - Y, P)
    failed = cs.skill_score(Y, sure, score="log_loss")
    assert failed.skill == failed.low == failed.high == -np.inf
    assert "had probability 0" in str(failed)
    lucky = cs.skill_score(Y, np.where(np.arange(400) == 7, Y, P), score="log_loss")
    assert lucky.low == -np.inf < lucky.skill
    assert "may be wrong" in lucky.why_infinite
    clipped = cs.skill_score(Y, sure, score="log_loss", clip=1e-3)
    assert np.isfinite([clipped.skill, clipped.low, clipped.high]).all()
    few = cs.skill_score([0, 1], [0.3, 0.6])
    assert few.low == -np.inf
    assert "the mean loss of the reference is not shown to be above 0" in str(few)


LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(200, rng=1)


def test_a_lens_shows_one_event():
    one = cs.skill_score(LABEL, PROB, PROB[::-1], lens=cs.lenses.one_class(1))
    assert one.skill == cs.skill_score(LABEL == 1, PROB[:, 1], PROB[::-1, 1]).skill
    assert "lens top_label" in str(cs.skill_score(LABEL, PROB))
    with pytest.raises(
        ValueError, match=r"shows the same outcome of predictions and reference=.* found lens top_label"
    ):
        cs.skill_score(LABEL, PROB, PROB)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reference": "A"}, r"found 'A'; give the forecasts, as in reference=models\['A'\]"),
        ({"reference": 1.5}, "expected a rate between 0 and 1 as reference=, found 1.5"),
        ({"reference": P[:5]}, r"found 400 outcomes and 5 predictions \(of 'reference'\)"),
        ({"reference": P * 100}, r"found .* at row 0; if these are per cent, divide by 100 \(of 'reference'\)"),
        (
            {"reference": 1.0 - Y, "score": "log_loss"},
            "expected a finite log_loss of reference=; it is infinite at row 0",
        ),
        ({"reference": 1.0 * Y}, "expected a reference with a loss above 0, found one that is certain and right"),
        ({"score": "brie"}, "did you mean 'brier'"),
        ({"clip": 0.1}, "expected no clip with the brier score"),
        ({"clip": 2, "score": "log_loss"}, "expected clip None or a number"),
        ({"confidence_level": 95}, "expected confidence_level"),
    ],
)
def test_wrong_arguments_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        cs.skill_score(Y, P, **arguments)


def test_wrong_rows_raise():
    with pytest.raises(ValueError, match=r"expected both outcomes .* found outcome 0 alone.* as in reference=0.1"):
        cs.skill_score(np.zeros(20), np.full(20, 0.1))
    assert cs.skill_score(np.zeros(20), np.full(20, 0.1), reference=0.2).skill == pytest.approx(0.75)
    with pytest.raises(ValueError, match=r"no honest interval .* expected at least 10 rows of each outcome"):
        cs.skill_score(Y[:12], P[:12], score="log_loss")
    with pytest.raises(ValueError, match="in which rows cannot be told apart"):
        cs.skill_score(cs.Sample.from_rows(Y, P), reference=P)
