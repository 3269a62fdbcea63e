"""Rows with few outcomes: every way to leave one out, every refusal, and answers that do not depend on the order."""

import numpy as np
import pandas as pd
import pytest
from judged_by import judged_by

import calibstat as cs
from calibstat.data.judged_rows import filled
from calibstat.inference.designs.judged.judged_in_order import equivalent_labels

Y, P = cs.generators.temperature(1.5).sample(300, rng=1)
F = np.where(np.random.default_rng(1).random(300) < 0.9, Y, 1.0 - Y)
KNOWN = np.random.default_rng(2).permutation(300) < 100
FEW = np.where(KNOWN, Y, np.nan)
ASKED = {"measure": "ks", "n_resamples": 19, "rng": 1}


@pytest.fixture(scope="module")
def expected():
    return cs.confidence_interval(FEW, P, judge=cs.Judge(F), **ASKED).to_dict()


def spelled():
    whole = [int(y) if known else None for y, known in zip(Y, KNOWN, strict=True)]
    return {
        "None": whole,
        "object array": np.array(whole, object),
        "masked": np.ma.MaskedArray(Y.astype(int), ~KNOWN),
        "masked where 7": np.ma.MaskedArray(np.where(KNOWN, Y, 7), ~KNOWN),
        "column": FEW[:, None],
        "pandas": pd.Series(whole, dtype="Int64"),
        "series of nan": pd.Series(FEW),
    }


@pytest.mark.parametrize("how", spelled())
def test_missing_outcomes_are_spelled_in_many_ways(how, expected):
    assert cs.confidence_interval(spelled()[how], P, judge=cs.Judge(F), **ASKED).to_dict() == expected


def test_names_of_outcomes_may_be_missing_too(expected):
    names = np.where(FEW == 1, "yes", "no").astype(object)
    names[~KNOWN] = None
    found = cs.confidence_interval(names, P, judge=cs.Judge(F), pos_label="yes", **ASKED).to_dict()
    assert found["high"] == expected["high"]


def test_the_order_of_rows_does_not_show(expected):
    order = np.random.default_rng(3).permutation(300)
    found = cs.confidence_interval(FEW[order], P[order], judge=cs.Judge(F[order]), **ASKED).to_dict()
    assert found == expected
    chance, cluster = np.where(F == 1, 0.4, 0.28), np.arange(300) // 2
    for judge, moved, more in (
        (cs.Judge(F, inclusion=chance), cs.Judge(F[order], inclusion=chance[order]), {}),
        (cs.Judge(F), cs.Judge(F[order]), {"cluster": cluster}),
    ):
        asked = cs.confidence_interval(FEW, P, judge=judge, **more, **ASKED).to_dict()
        other = {name: each[order] for name, each in more.items()}
        assert cs.confidence_interval(FEW[order], P[order], judge=moved, **other, **ASKED).to_dict() == asked


def test_several_models_are_asked_one_by_one(expected):
    answers = cs.confidence_interval(FEW, {"a": P, "b": P**2}, judge=cs.Judge(F), **ASKED)
    assert answers["a"].to_dict() == expected
    with pytest.raises(ValueError, match=r"found 1\.1 in y_prob at row 4.*\(of 'b'\)"):
        cs.confidence_interval(FEW, {"a": P, "b": np.where(np.arange(300) == 4, 1.1, P)}, judge=cs.Judge(F), **ASKED)


@pytest.mark.parametrize("missing", [np.nan, None])
@pytest.mark.parametrize("ask", [cs.estimate, cs.calibration_test, cs.confidence_interval, cs.report])
def test_without_a_judge_a_missing_outcome_is_refused(ask, missing):
    few = FEW if missing is not None else [None if np.isnan(y) else y for y in FEW]
    row = int(np.argmin(KNOWN))
    with pytest.raises(ValueError, match=rf"at row {row}.*judge=cs\.Judge\(answers\)"):
        ask(few, P)
    with pytest.raises(ValueError, match=r"masked entry in y_true at row \d+.*judge=cs\.Judge\(answers\)"):
        ask(np.ma.MaskedArray(Y, ~KNOWN), P)


BAD = F.copy()
BAD[7] = 1.5
GONE = F.copy()
GONE[5] = np.nan
REFUSED = [
    ({"answers": BAD}, r"an answer of the judge from 0 to 1 for every row, found 1\.5 in judge at row 7"),
    ({"answers": GONE}, "found nan in judge at row 5"),
    ({"answers": F[:9]}, "expected an entry of the answers of judge= for each of 300 rows, found 9"),
    ({"inclusion": np.zeros(300)}, r"above 0 and at most 1, found 0\.0 in inclusion at row 0"),
    ({"inclusion": np.ones(300)}, "a label, or a chance below 1, found 1.0 in inclusion at row"),
    ({"inclusion": np.full(300, 0.9)}, "add up to about the number of labelled rows, 100; found a sum of 270"),
    ({"inclusion": np.full(300, 1 / 3), "cluster": np.arange(300) // 2}, "inclusion= of a judge without cluster="),
    ({"lens": "top_label"}, "judge= without lens=, because no study covers both, found 'top_label'"),
    ({"folds": np.arange(300) % 3}, "judge= without folds="),
    ({"sample_weight": np.ones(300)}, "judge= without sample_weight="),
    ({"method": "basic"}, "expected a method of rows with judge=, one of rectified; found 'basic'"),
    ({"measure": "mcb"}, "a norm of residuals with judge=, one of ece, mean, ks"),
    ({"measure": "ece_debiased"}, "found ECEDebiased|found .*debiased"),
    ({"measure": "decision_loss"}, "a norm of residuals with judge="),
]


@pytest.mark.parametrize(("changed", "message"), REFUSED)
def test_what_is_refused_is_named(changed, message):
    judge = cs.Judge(changed.get("answers", F), inclusion=changed.get("inclusion"))
    more = {name: each for name, each in changed.items() if name not in ("answers", "inclusion")}
    with pytest.raises(ValueError, match=message):
        cs.confidence_interval(FEW, P, judge=judge, **{**ASKED, **more})


def test_few_labels_or_all_of_them_are_refused():
    with pytest.raises(ValueError, match="at least 50 labelled rows with judge=, found 49"):
        cs.confidence_interval(np.where(np.cumsum(KNOWN) <= 49, FEW, np.nan), P, judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match="rows without an outcome with judge=, found none"):
        cs.confidence_interval(Y, P, judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match=r"expected y_true of shape \(n,\) or \(n, 1\), found shape \(300, 2\)"):
        cs.confidence_interval(np.column_stack((FEW, FEW)), P, judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match="found no outcome in y_true"):
        cs.confidence_interval(np.full(300, np.nan), P, judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match=r"expected cs\.Data alone, found judge= beside it"):
        cs.confidence_interval(cs.Data(Y, P), judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match="of one event, found predictions of 3 classes"):
        cs.confidence_interval(FEW, np.full((300, 3), 1 / 3), judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match=r"expected judge=cs\.Judge\(answers, inclusion=chances\)"):
        cs.confidence_interval(Y, P, inclusion=np.full(300, 0.5), **ASKED)


def test_a_bad_outcome_or_prediction_is_named_at_its_own_row():
    few, bad = FEW.copy(), P.copy()
    row = int(np.flatnonzero(KNOWN)[5])
    few[row], bad[9] = 3, 1.2
    with pytest.raises(ValueError, match=f"found 3.0 in y_true at row {row}"):
        cs.confidence_interval(few, P, judge=cs.Judge(F), **ASKED)
    with pytest.raises(ValueError, match=r"found 1\.2 in y_prob at row 9"):
        cs.confidence_interval(FEW, bad, judge=cs.Judge(F), **ASKED)


def test_missing_outcomes_are_filled_and_told_apart():
    outcome, labelled = filled([1, None, 0, np.nan], cs.Judge([1] * 4))
    assert outcome.tolist() == [1, 1, 0, 1]
    assert labelled.tolist() == [True, False, True, False]


def test_equivalent_labels_in_closed_form():
    """No noise left: all rows count. All left: the labels alone. Half left of 100 in 10,000: 100 / (.5 + .005)."""
    assert equivalent_labels(100, 10_000, 0.0) == pytest.approx(10_000)
    assert equivalent_labels(100, 10_000, 1.0) == 100
    assert equivalent_labels(100, 10_000, 0.5) == pytest.approx(100 / 0.505)


def test_a_judge_that_holds_the_outcomes_is_pointed_out():
    held = np.where(KNOWN, Y, 0.3 + 0.4 * P)
    assert "may hold the outcomes" in judged_by(FEW, P, held).odd
    assert "may hold the outcomes" in cs.confidence_interval(FEW, P, judge=cs.Judge(held), **ASKED).note
    assert judged_by(FEW, P, F).odd == ""
    assert judged_by(FEW, P, Y * 1.0).odd == ""  # a judge of labels that is right on all rows
