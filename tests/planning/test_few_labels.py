"""Labels beside a judge: the formula, a table of one fixed sum, the floor, and what is refused."""

import numpy as np
import pytest
from plain_few_labels import score_reach
from scipy.stats import norm

import calibstat as cs
from calibstat.planning.few_labels import labels_needed

P = np.linspace(0.05, 0.95, 50)
ASKED = {"width": 0.12, "of": "ks", "n_resamples": 19, "n_sets": 2, "rng": 1}
Z = norm.ppf(0.975)


def half_width(labels, left, variance):
    """Of one fixed sum, without skewness: the score bound, and never less than that of no event."""
    return max(score_reach(labels * variance * left, 0.0, Z), score_reach(0.0, 0.0, Z)) / labels


@pytest.mark.parametrize("share", [1.1, 0.84, 0.64, 0.43, 0.25, 0.1, 0.0])
@pytest.mark.parametrize("alone", [60, 250, 1539])
def test_the_bound_is_as_narrow_with_so_many_labels_and_wider_with_one_less(alone, share):
    found, wanted = labels_needed(alone, share, 20_000, 0.16, 0.025), half_width(alone, 1.0, 0.16)
    width = {m: half_width(m, share + m / 20_000 * (1 - share), 0.16) for m in (found, found - 1)}
    assert width[found] <= wanted
    assert found == 50 or width[found - 1] > wanted


def test_the_first_order_formula_holds_where_events_are_many():
    """m = m0 kappa / (1 - m0 / N (1 - kappa)); 1539 labels, 20,000 rows: 1680, 1310, 1016, 699 and 429."""
    for share in (1.1, 0.84, 0.64, 0.43, 0.25):
        formula = 1539 * share / (1 - 1539 / 20_000 * (1 - share))
        assert labels_needed(1539, share, 20_000, 0.16, 0.025) == pytest.approx(formula, rel=0.1)


def test_no_judge_makes_it_less_than_four_over_the_half_width():
    """250 labels have half a width of .05: 3.894 / .05 = 78 labels with a perfect judge."""
    assert half_width(250, 1.0, 0.16) == pytest.approx(0.05, abs=0.001)
    assert labels_needed(250, 0.0, 10**9, 0.16, 0.025) == pytest.approx(3.894 / half_width(250, 1, 0.16), abs=1)
    assert labels_needed(250, 1.0, 20_000, 0.16, 0.025) == 250
    assert labels_needed(40, 0.2, 20_000, 0.16, 0.025) == 40  # below the 50 that a judge takes the labels alone do


def test_sizes_with_a_judge_are_made_of_those_without():
    alone = cs.sample_size(P, **ASKED)
    found = cs.sample_size(P, judge_share=0.4, judge_rows=5000, **ASKED)
    variance = np.mean(P * (1 - P))  # calibrated
    assert found.labels_only == alone.n
    assert found.n == labels_needed(alone.n, 0.4, 5000, variance, 0.025)
    assert found.n < alone.n
    assert [width for _, width in found.curve] == [width for n, width in alone.curve if n <= 5000]
    assert f"{found.n} labels among 5,000 rows" in str(found)
    assert f"without a judge {alone.n} labels" in str(found)
    assert len(cs.plot(found).lines) > 1


def test_a_useless_judge_of_a_pilot_is_planned_with_and_saves_nothing():
    """Left-out slopes on the flips of a coin leave more than all of the noise in most pilots."""
    random = np.random.default_rng(3)
    p = random.random(1000)
    y, coin = np.where(random.permutation(1000) < 60, random.random(1000) < p, np.nan), random.integers(0, 2, 1000)
    share = cs.confidence_interval(y, p, measure="ks", judge=cs.Judge(coin), n_resamples=9, rng=1).rows.share
    assert share > 1
    found = cs.sample_size(P, judge_share=share, judge_rows=5000, **ASKED)
    assert found.labels_only < found.n < share * found.labels_only + 1
    for rows in (60, 70, 1000):  # never more than all rows
        assert 60 <= labels_needed(60, share, rows, 0.16, 0.025) <= rows


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"judge_share": -0.1}, "expected judge_share of at least 0, .* found -0.1"),
        ({"judge_share": np.nan}, "expected judge_share of at least 0, .* found nan"),
        ({"judge_share": np.inf}, "expected judge_share of at least 0, .* found inf"),
        ({"judge_share": "0.4"}, "expected judge_share of at least 0"),
        ({"judge_rows": None}, "expected judge_rows, the rows with an answer of the judge"),
        ({"judge_rows": 50}, "expected judge_rows .*51.*found 50"),
        ({"judge_rows": 60}, "expected judge_rows of at least .*, found 60"),
        ({"width": None}, "expected a width and a measure .*, found no width"),
        ({"of": "o/e"}, "expected a width and a measure .*, found 'o/e'"),
        ({"of": "brier"}, "expected of= a norm of residuals .* found brier"),
        ({"of": "canonical_ce"}, "expected of= a norm of residuals .* found canonical_ce"),
        ({"of": "mcb"}, "expected of= a norm of residuals .* found mcb"),
        ({"of": "ece_debiased"}, "expected of= a norm of residuals .* found ece_debiased"),
        ({"judge_share": None}, "expected judge_share, .* with judge_rows=5000"),
    ],
)
def test_what_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        cs.sample_size(P, **{"judge_share": 0.4, "judge_rows": 5000, **ASKED, **changed})
