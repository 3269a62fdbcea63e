"""Reports with a judge: each part is what its function returns, and the page says labels, worth and check."""

import numpy as np
import pytest

import calibstat as cs

RANDOM = np.random.default_rng(5)
P = RANDOM.integers(1, 20, 600) / 20
Y = (RANDOM.random(600) < P**1.5) * 1.0
F = np.where(RANDOM.random(600) < 0.95, Y, 1 - Y)
KNOWN = RANDOM.permutation(600) < 120
FEW = np.where(KNOWN, Y, np.nan)


@pytest.fixture(scope="module")
def report():
    return cs.report(FEW, P, judge=cs.Judge(F), rng=3)


def test_intervals_are_those_of_the_function_with_the_judge(report):
    model = report.models["model"]
    for name in ("ece", "kernel_ce", "brier"):
        found = cs.confidence_interval(FEW, P, judge=cs.Judge(F), measure=name, rng=3)
        assert (model.measures[name].low, model.measures[name].high) == (found.low, found.high)
    assert model.ece.rows.equivalent_labels > 150
    assert model.diagram.interval.high == model.ece.high
    alone = cs.report(Y[KNOWN], P[KNOWN], rng=3)
    assert model.ece.rows.labels_only.high == alone.models["model"].ece.high
    assert model.test.pvalue == alone.models["model"].test.pvalue
    assert model.measures["smooth_ece"].high == alone.models["model"].measures["smooth_ece"].high


def test_the_page_says_labels_worth_and_check(report, tmp_path):
    ece = report.models["model"].ece
    report.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for text in (str(report), page.replace("&#x27;", "'").replace("&#39;", "'")):
        assert "120 labelled rows among 600, with a judge" in text
        assert f"worth about {round(ece.rows.equivalent_labels):,} labels" in text
        assert "The check that labelled rows are like the others: p = " in text
        assert "600 rows with a judge's answers, 120 of them labelled" in text
        assert "Intervals of ece, kernel_ce and brier take the judge" in text
        assert "tuned on the labelled rows" in text
    assert report.n == 600
    assert report.command == "calibstat.report(y_true, y_prob, judge=calibstat.Judge(answers), rng=3)"


def test_labels_of_chosen_rows_are_warned_of():
    chosen = np.where(np.argsort(np.argsort(P + 1e-9 * np.arange(600))) < 120, Y, np.nan)
    few = np.where(np.isnan(chosen) & (np.arange(600) % 40 == 0), Y, chosen)
    text = str(cs.report(few, P, judge=cs.Judge(F), rng=3))
    assert "Warning: labelled rows are not like the others" in text


def test_models_are_compared_with_the_judge():
    found = cs.report(FEW, {"a": P, "b": P**1.5}, judge=cs.Judge(F), rng=3)
    compared = cs.compare(FEW, {"a": P, "b": P**1.5}, measure="brier", judge=cs.Judge(F), rng=3)
    assert found.comparisons["brier"].high == pytest.approx(compared.high)
    assert set(found.models) == {"a", "b"}


def test_data_may_hold_the_judge():
    of_data, of_words = cs.report(cs.Data(FEW, P, judge=cs.Judge(F))), cs.report(FEW, P, judge=cs.Judge(F))
    assert of_data.to_dict() == of_words.to_dict()


@pytest.mark.parametrize(
    ("name", "given"), [("by", np.arange(600) % 5), ("recalibrate", True), ("shape", "nondecreasing")]
)
def test_what_no_study_covers_beside_a_judge_is_refused(name, given):
    with pytest.raises(ValueError, match=f"expected rows without judge= beside {name}=, because no study covers both"):
        cs.report(FEW, P, judge=cs.Judge(F), **{name: given})


@pytest.mark.parametrize("name", ["folds", "sample_weight"])
def test_words_about_rows_that_no_study_covers_beside_a_judge_are_refused(name):
    with pytest.raises(ValueError, match=f"expected judge= without {name}="):
        cs.report(FEW, P, judge=cs.Judge(F), **{name: np.arange(600) % 5})


@pytest.mark.parametrize("name", ["cluster", "inclusion"])
def test_what_no_study_covers_for_the_brier_score_is_refused(name):
    judge = cs.Judge(F, inclusion=np.full(600, 0.2)) if name == "inclusion" else cs.Judge(F)
    about = {"judge": judge, "cluster": np.arange(600) // 2 if name == "cluster" else None}
    assert cs.confidence_interval(FEW, P, rng=3, **about).high > 0
    with pytest.raises(ValueError, match=rf"expected a judge without {name}= for a report, .* found {name}="):
        cs.report(FEW, P, **about)
