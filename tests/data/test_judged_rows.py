"""Judges and the rows that they judge: what is kept, and what is expected, found and where if it is wrong."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.judged_rows import FAR_OFF, FEWEST_LABELS, JudgedColumns, filled

Y, P = cs.generators.temperature(1.5).sample(200, rng=1)
F = np.where(np.random.default_rng(1).random(200) < 0.9, Y, 1.0 - Y)
KNOWN = np.random.default_rng(2).permutation(200) < 80
FEW = np.where(KNOWN, Y, np.nan)
UNIT = np.arange(200) // 4


def at(row, value, array=F):
    changed = array.astype(float)
    changed[row] = value
    return changed


def test_columns_are_kept_in_the_order_in_which_they_are_given():
    chance = np.where(F == 1, 0.45, 0.35)
    held = cs.Data(FEW, P, judge=cs.Judge(F, inclusion=chance, blind=True)).judged
    assert isinstance(held, JudgedColumns)
    assert (held.n, held.unit, held.blind) == (200, None, True)
    for name, column in {"outcome": np.where(KNOWN, Y, 0), "prediction": P, "proxy": F, "chance": chance}.items():
        assert getattr(held, name).tolist() == column.tolist()
    assert held.labelled.tolist() == KNOWN.tolist()
    outcome, prediction, unit = held.labelled_columns
    assert (outcome.tolist(), prediction.tolist(), unit) == (Y[KNOWN].tolist(), P[KNOWN].tolist(), None)


def test_clusters_are_of_all_rows_and_of_labelled_ones():
    data = cs.Data(FEW, P, judge=cs.Judge(F), cluster=UNIT)
    assert data.judged.unit.tolist() == UNIT.tolist()
    assert data.judged.labelled_columns[2].tolist() == UNIT[KNOWN].tolist()
    assert (data.n, data.judged.n, data.words) == (80, 200, ("cluster", "judge"))
    assert repr(data) == (
        f"Data(200 rows, 80 of them labelled, {Y[KNOWN].sum():.0f} with outcome 1, {len(set(UNIT[KNOWN]))} clusters, "
        "with a judge)"
    )


def test_a_judge_shows_no_answers():
    assert repr(cs.Judge(F)) == "Judge(200 answers)"
    assert repr(cs.Judge(F, inclusion=F, blind=True)) == "Judge(200 answers, inclusion=..., blind=True)"
    assert repr(cs.Judge(F, blind=False)) == "Judge(200 answers, blind=False)"


@pytest.mark.parametrize("form", [list, pd.Series, lambda f: f[:, None], lambda f: pd.Series(f).astype("Float64")])
def test_answers_come_in_many_forms(form):
    expected = cs.Data(FEW, P, judge=cs.Judge(F, inclusion=np.full(200, 0.4))).judged
    found = cs.Data(FEW, P, judge=cs.Judge(form(F), inclusion=form(np.full(200, 0.4)))).judged
    assert found.proxy.tolist() == expected.proxy.tolist()
    assert found.chance.tolist() == expected.chance.tolist()


ANSWERS = "the answers of judge="
WRONG_JUDGES = [
    (F, r"expected judge=cs\.Judge\(answers\), with an answer for each row; found ndarray of shape \(200,\)"),
    (cs.Judge, r"expected judge=cs\.Judge\(answers\).* found <class"),
    ("me", r"expected judge=cs\.Judge\(answers\).* found 'me'"),
    (cs.Judge(at(7, 1.5)), "expected an answer of the judge from 0 to 1 for every row, found 1.5 in judge at row 7"),
    (cs.Judge(at(7, -0.1)), "from 0 to 1 for every row, found -0.1 in judge at row 7"),
    (cs.Judge(at(5, np.nan)), "from 0 to 1 for every row, found nan in judge at row 5"),
    (cs.Judge(F[:9]), f"expected an entry of {ANSWERS} for each of 200 rows, found 9"),
    (cs.Judge(None), f"expected {ANSWERS}, an array with an entry for each row, found NoneType None"),
    (cs.Judge(0.5), f"expected {ANSWERS}, an array with an entry for each row, found float 0.5"),
    (cs.Judge(["yes"] * 200), f"expected numbers in {ANSWERS}, found 'yes' at row 0"),
    (cs.Judge(np.ones((200, 2))), rf"expected {ANSWERS} of shape \(n,\) or \(n, 1\), found shape \(200, 2\)"),
    (cs.Judge(F, inclusion=np.zeros(200)), r"labelled above 0 and at most 1, found 0\.0 in inclusion at row 0"),
    (cs.Judge(F, inclusion=at(3, np.nan)), r"labelled above 0 and at most 1, found \S+ in inclusion at row"),
    (cs.Judge(F, inclusion=np.ones(200)), "expected a label, or a chance below 1, found 1.0 in inclusion at row"),
    (cs.Judge(F, inclusion=np.full(200, 0.9)), "about the number of labelled rows, 80; found a sum of 180"),
    (cs.Judge(F, inclusion=[0.4]), "expected an entry of inclusion for each of 200 rows, found 1"),
    (cs.Judge(F, inclusion=0.4), "expected inclusion, an array with an entry for each row, found float 0.4"),
]


@pytest.mark.parametrize(("judge", "message"), WRONG_JUDGES)
def test_a_wrong_judge_is_named(judge, message):
    with pytest.raises(ValueError, match=message):
        cs.Data(FEW, P, judge=judge)


BESIDE = "because no study covers both, found"
WRONG_ROWS = [
    ((Y, P), {}, "expected rows without an outcome with judge=, found none; ask without judge="),
    ((np.full(200, np.nan), P), {}, "expected labelled rows, found no outcome in y_true"),
    ((np.column_stack((FEW, FEW)), P), {}, r"expected y_true of shape \(n,\) or \(n, 1\), found shape \(200, 2\)"),
    ((FEW, np.full((200, 3), 1 / 3)), {}, "expected judge= of one event, found predictions of 3 classes"),
    ((FEW, at(9, 1.2, P)), {}, r"found 1\.2 in y_prob at row 9"),
    ((cs.Sample.from_rows(Y, P), None), {}, "expected rows, y_true and y_prob, beside judge=, found a Sample"),
    ((cs.Predictions.from_rows(Y, P), None), {}, "beside judge=, found a Predictions"),
    ((FEW, P), {"lens": "top_label"}, f"expected judge= without lens=, {BESIDE} 'top_label'"),
    ((FEW, P), {"folds": UNIT}, f"expected judge= without folds=, {BESIDE} ndarray"),
    ((FEW, P), {"sample_weight": P}, f"expected judge= without sample_weight=, {BESIDE} ndarray"),
    ((FEW, P), {"cluster": UNIT[:9]}, r"expected one cluster a row, shape \(200,\), found shape \(9,\)"),
    ((FEW, P), {"cluster": [None] * 200}, "expected no missing clusters, found one at row 0"),
    ((FEW, P), {"labels": [0, 1], "pos_label": 1}, "expected labels or pos_label, found both"),
]


@pytest.mark.parametrize(("rows", "more", "message"), WRONG_ROWS)
def test_wrong_rows_beside_a_judge_are_named(rows, more, message):
    with pytest.raises(ValueError, match=message):
        cs.Data(*rows, judge=cs.Judge(F), **more)


def test_chances_and_clusters_go_not_together():
    judge = cs.Judge(F, inclusion=np.full(200, 0.4))
    with pytest.raises(ValueError, match="expected inclusion= of a judge without cluster=, because no study covers"):
        cs.Data(FEW, P, judge=judge, cluster=UNIT)


def test_a_lens_of_the_question_is_refused_too():
    with pytest.raises(ValueError, match=f"expected judge= without lens=, {BESIDE} 'top_label'"):
        cs.confidence_interval(cs.Data(FEW, P, judge=cs.Judge(F)), lens="top_label")


def test_the_fewest_labels_are_enough_and_one_less_is_not():
    enough = np.where(np.cumsum(KNOWN) <= FEWEST_LABELS, FEW, np.nan)
    assert cs.Data(enough, P, judge=cs.Judge(F)).n == FEWEST_LABELS == 50
    few = np.where(np.cumsum(KNOWN) < FEWEST_LABELS, FEW, np.nan)
    with pytest.raises(ValueError, match="expected at least 50 labelled rows with judge=, found 49"):
        cs.Data(few, P, judge=cs.Judge(F))


def test_chances_may_add_up_to_what_five_standard_deviations_allow():
    """Of 200 chances q the sum is 200 q, its standard deviation sqrt(200 q (1 - q)); half a row more is allowed."""

    def is_near(chance):
        return abs(80 - 200 * chance) <= FAR_OFF * np.sqrt(200 * chance * (1 - chance)) + 0.5

    for chance in (0.3, 0.5, 0.56, 0.58, 0.6):
        judge = cs.Judge(F, inclusion=np.full(200, chance))
        if is_near(chance):
            assert cs.Data(FEW, P, judge=judge).n == 80
        else:
            with pytest.raises(ValueError, match="expected inclusion= of a judge, chances that add up to about"):
                cs.Data(FEW, P, judge=judge)
    assert [is_near(chance) for chance in (0.3, 0.6)] == [True, False]


def test_several_models_share_a_judge_and_the_wrong_one_is_named():
    models = cs.Models(FEW, {"a": P, "b": P**2}, judge=cs.Judge(F), cluster=UNIT)
    assert models["b"].judged.prediction.tolist() == (P**2).tolist()
    assert models.words == ("cluster", "judge")
    with pytest.raises(ValueError, match=r"found 1\.2 in y_prob at row 9.* \(of 'b'\)"):
        cs.Models(FEW, {"a": P, "b": at(9, 1.2, P)}, judge=cs.Judge(F))


def test_outcomes_that_are_all_there_or_masked_are_told_apart():
    outcome, labelled = filled([1, 0], cs.Judge([1, 0]))
    assert (outcome.tolist(), labelled.tolist()) == ([1, 0], [True, True])
    outcome, labelled = filled(np.ma.MaskedArray([1, 7, 0], [False, True, False]), cs.Judge([1, 0, 0]))
    assert (outcome.tolist(), labelled.tolist()) == ([1, 1, 0], [True, False, True])
