"""What an audit says: the significant groups, sorted, in words, and a table."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.named_lens import EVENT
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.beyond_results import Beyond
from calibstat.inference.auditing.impossible_in_groups import ImpossibleInGroups


def made(adjusted, root=None, slope=None, **changes):
    size = len(adjusted)
    of = lambda *values: np.resize(np.array(values, float), size)  # noqa: E731
    given = {
        "names": ("all rows", "sex = woman", "sex = man", "age > 60")[:size],
        "rows": np.array([1000, 412, 588, 1])[:size],
        "predicted": of(0.12, 0.123), "observed": of(0.13, 0.19), "error": of(0.01, 0.067),
        "low": of(-0.0123, 0.0317), "high": of(0.0345, 0.091),
        "root": np.linspace(1, 2, size) if root is None else np.array(root),
        "slope": None if slope is None else np.array(slope),
        "pvalue": np.array(adjusted) / 2, "pvalue_adjusted": np.array(adjusted), "null_hypothesis": "all is well.",
        "lens": EVENT, "left_out": "", "n": 1000, "n_resamples": 999, "confidence_level": 0.95,
    }  # fmt: skip
    names = changes.get("names", given["names"])
    return Audit(**(given | {"beyond": beyond(names, [np.nan, *[0.5] * (size - 1)])} | changes))


def beyond(names, adjusted, **changes):
    """What an audit says of groups beyond the total."""
    size = len(names)
    of = lambda *values: np.append(np.nan, np.resize(np.array(values, float), size - 1))  # noqa: E731
    given = {
        "names": names, "rows": np.resize([1000, 412, 588], size), "observed": of(0.19), "expected": of(0.12),
        "odds_ratio": of(1.718), "low": of(1.2345), "high": of(2.2222), "pvalue": np.array(adjusted) / 2,
        "pvalue_adjusted": np.array(adjusted), "null_hypothesis": "of each group: all is well",
        "confidence_level": 0.95,
    }  # fmt: skip
    return Beyond(**(given | changes))


def test_found_is_sorted_by_p_and_then_by_the_root():
    found = made([0.05, 0.004, 0.2, 0.004], root=[1.0, 3.0, 0.5, -4.0])
    assert found.found.tolist() == [3, 1, 0]  # .05 is small enough
    assert found.order.tolist() == [3, 1, 0, 2]
    assert made([0.05, 0.004, 0.2, 0.004], root=[1, 3, 0, -4], slope=[0, 9, 0, 0]).found.tolist() == [1, 3, 0]
    assert made([0.06, 0.2]).found.tolist() == []
    assert made([0.06, 0.2], confidence_level=0.9).found.tolist() == [0]


def test_frame_is_sorted_likewise():
    frame = made([0.05, 0.004, 0.2, 0.004], root=[1.0, 3.0, 0.5, -4.0]).to_frame()
    assert frame.group.tolist() == ["age > 60", "sex = woman", "all rows", "sex = man"]
    assert "slope" not in frame
    assert frame.rows.tolist() == [1, 412, 1000, 588]
    assert "slope" in made([0.1], slope=[2.0]).to_frame()


def test_sentences():
    found = made([0.5, 0.0041], root=[0.5, 4.0])
    assert found.sentence(1) == (
        "sex = woman (412 rows): predicted 12 %, observed 19 %, adjusted p = 0.0041; at least 3.1 points too low"
    )
    lines = str(found).splitlines()
    assert lines[0] == "1 of 2 groups deviates significantly from the predictions:"
    assert lines[1] == f"  {found.sentence(1)}."
    assert lines[2] == (
        "  For comparison, all rows (1,000 rows): predicted 12 %, observed 13 %, adjusted p = 0.5; "
        "mean error between −1.3 and +3.5 points."
    )
    assert "3 points too high" in made([0.01], low=np.array([-0.5]), high=np.array([-0.03])).claim(0)
    impossible = ImpossibleInGroups(("all rows",), np.array([2]), 7, 9, np.ones(1), np.ones(1), 0.05)
    claim = made([0.01], root=[np.inf], impossible=impossible).claim(0)
    assert claim == "2 rows predicted to be impossible happened, mean error between −1.3 and +3.5 points"
    assert made([0.01], root=[1.0], slope=[-3.0]).claim(0).endswith("points, predictions too extreme")
    assert made([0.01], root=[1.0], slope=[3.0]).claim(0).endswith("points, predictions not extreme enough")
    assert "too" not in made([0.01], root=[3.5], slope=[3.0]).claim(0)
    assert "too" not in made([0.06], root=[1.0], slope=[2.0]).claim(0)
    assert "bias and slope" in str(made([0.01], root=[1.0], slope=[-3.0]))


def test_no_group_is_significant():
    found = str(made([0.5, 0.08], root=[0.5, 2.5])).splitlines()
    assert found[0] == (
        "None of 2 groups is shown to deviate from the predictions (1,000 rows). Closest: sex = woman, adjusted p = "
        "0.08."
    )
    assert found[1].startswith("  For comparison, all rows")


def test_too_few_draws_are_said():
    """The smallest p-value of B draws is 1 / (B + 1): 1 / 20 is small enough, 1 / 19 is not."""
    assert made([0.5], n_resamples=19).answer.startswith("The group is not shown to deviate from the predictions")
    assert (
        made([0.5], n_resamples=18).answer == "No group can be significant: with 18 draws every p-value is above 0.05."
    )
    assert made([0.01], n_resamples=99, confidence_level=0.99).answer.startswith("1 of 1 group deviates significantly")


def test_many_groups_are_cut():
    size = 14
    names = tuple(f"g{k}" for k in range(size))
    text = str(made([0.01] * size, names=names, rows=np.full(size, 40), root=np.arange(size, 0, -1.0)))
    assert "14 of 14 groups deviate " in text
    assert "and 4 more: to_frame() has all." in text
    assert "g9 " in text
    assert "g10 " not in text


def test_what_was_left_out_is_said():
    assert "Left out: 2 levels of fewer than 30 rows." in str(made([0.5], left_out="2 levels of fewer than 30 rows"))
    assert "Left out" not in str(made([0.5]))


def test_results_of_an_audit_are_read_only():
    found = cs.audit([0, 1], [0.3, 0.4], [True, False], n_resamples=9, rng=1)
    with pytest.raises(ValueError, match="read-only"):
        found.root[0] = 1


def rare(**changes):
    """Fraud at .3 %: all rows as predicted, and a group with twice as much as predicted."""
    columns = {
        "rows": np.array([100_000, 20_000]),
        "predicted": np.array([0.003, 0.0025]),
        "observed": np.array([0.00298, 0.005]),
        "error": np.array([-0.00002, 0.0025]),
        "low": np.array([-0.0004, 0.0011]),
        "high": np.array([0.0005, 0.0042]),
    }
    return replace(made([0.9, 0.001], root=[0.1, 6.0]), **columns | changes)


def test_rare_events_have_ratios_and_enough_digits():
    """1 + 0.0025 / 0.0025 = 2, from 1 + 0.0011 / 0.0025 = 1.44 to 1 + 0.0042 / 0.0025 = 2.68."""
    found = rare()
    assert "predicted 0.25 %, observed 0.50 %, O/E 2.00 (1.44 to 2.68), adjusted p" in found.numbers(1)
    assert "predicted 0.300 %, observed 0.298 %, O/E 0.99 (0.86 to 1.17)" in found.numbers(0)
    frame = found.to_frame()
    assert np.allclose(frame[["ratio", "ratio_low", "ratio_high"]].iloc[0], [2, 1.44, 2.68])
    assert "O/E" not in made([0.5]).numbers(0)
    none = rare(predicted=np.array([0.003, 0.0]), error=np.array([0, 0.1]))
    assert np.isnan(none.ratio[1])
    assert "O/E" not in none.numbers(1)
    assert rare(low=np.array([-0.004, 0.0])).ratio_low[0] == 0


def test_ratios_cover_as_differences_do():
    """An interval of a ratio holds exactly when the interval of the difference does."""
    y, p = cs.generators.calibrated().sample(3000, rng=3)
    groups = np.arange(3000)[:, None] % 4 == np.arange(4)
    found = cs.audit(y, p * 0.05, groups, n_resamples=99, rng=1)
    for truth in (0.01, 0.02, 0.024, 0.03):
        difference = (found.low <= truth - found.predicted) & (truth - found.predicted <= found.high)
        ratio = (found.ratio_low <= truth / found.predicted) & (truth / found.predicted <= found.ratio_high)
        assert np.array_equal(difference, ratio)


def test_an_audit_prints_the_groups_beyond_the_total_and_its_table_has_them():
    found = made([0.5, 0.0041], root=[0.5, 4.0], beyond=beyond(("all rows", "sex = woman"), [np.nan, 0.002]))
    lines = found.groups.splitlines()
    assert lines[3:] == found.beyond.lines("")
    assert "any group stands out by mistake is at most 5 %" in found.promise
    frame = found.to_frame()
    assert frame[["odds_ratio", "odds_ratio_low", "odds_ratio_high", "pvalue_beyond"]].iloc[0].tolist() == [
        *(1.718, 1.2345, 2.2222, 0.002)
    ]
    assert "stands out" not in made([0.5]).promise


def test_a_significant_group_whose_interval_holds_0_says_why():
    wide = {"low": np.array([-0.15]), "high": np.array([0.43])}
    why = "Intervals assume less than p-values"
    assert made([0.02], **wide).claim(0) == made([0.2], **wide).claim(0) == "mean error between −15 and +43 points"
    assert why in made([0.02], **wide).promise
    assert why not in made([0.2], **wide).promise
    by_slope = made([0.02], root=[1.0], slope=[3.0], **wide)
    assert by_slope.claim(0).endswith("points, predictions not extreme enough")
    assert why not in by_slope.promise
