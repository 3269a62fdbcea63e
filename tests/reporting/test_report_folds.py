"""Reports of predictions out of folds: what each verb says of them, and nothing that takes them as of one model."""

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.temperature(2).sample(200, rng=1)
RANDOM = np.random.default_rng(2)
FOLD = np.column_stack([RANDOM.permutation(200) % 4 for _ in range(3)])
A = np.clip(P[:, None] + 0.01 * RANDOM.normal(size=(200, 3)), 0, 1)
B = A**2 / (A**2 + (1 - A) ** 2)


def test_a_report_is_the_answers_of_three_verbs():
    found = cs.report(Y, {"A": A, "B": B}, folds=FOLD, rng=3)
    model = found.models["B"]
    assert model.test.to_dict() == cs.calibration_test(Y, B, folds=FOLD, rng=3).to_dict()
    assert model.ece.to_dict() == cs.confidence_interval(Y, B, folds=FOLD, rng=3).to_dict()
    assert [*model.measures] == ["kernel_ce", "ks", "ece", "brier", "log_loss"]
    brier = cs.compare(Y, {"A": A, "B": B}, folds=FOLD, rng=3)
    assert found.comparisons["brier"].pvalue == brier.pvalue
    assert [*found.comparisons] == ["brier"]
    assert (model.diagram, model.detectable, model.recalibrated) == (None, None, None)
    for measure in ("ks", "ece", "brier"):
        interval = cs.confidence_interval(Y, B, folds=FOLD, measure=measure, rng=3)
        assert (model.measures[measure].low, model.measures[measure].high) == (interval.low, interval.high)


@pytest.mark.parametrize("repeats", [1, 3])
def test_the_sentences_are_on_the_page(repeats, tmp_path):
    p, fold = (A, FOLD) if repeats == 3 else (A[:, 0], FOLD[:, 0])
    found = cs.report(Y, p, folds=fold)
    text = found.save(tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"predicted out of 4 folds of 50 rows{', 3 repeats' * (repeats == 3)}." in text
    assert "No test on the same rows can show how large the chance errors of these fits are" in text
    assert "This is the error of the 4 models on new rows, each predicted by one at random" in text
    assert "There is no guarantee for the model refitted on all rows." in text
    assert "folds=folds" in found.command
    assert found.models["model"].ece.high >= found.models["model"].ece.estimate
    assert "Reliability diagram" not in text
    assert "<svg" not in found.save(tmp_path / "report.html").read_text(encoding="utf-8")


def test_how_the_variance_was_found_is_said_once():
    found = cs.report(Y, {"A": A, "B": B}, folds=FOLD)
    assert str(found).count("4 times that between 3 repeats") == 1


def test_data_may_hold_the_folds():
    assert cs.report(cs.Data(Y, A, folds=FOLD)).to_dict() == cs.report(Y, A, folds=FOLD).to_dict()


def test_a_loss_without_an_interval_is_shown_without_one():
    y = (np.arange(200) % 29 == 0).astype(int)
    found = cs.report(y, np.full((200, 3), 0.02), folds=FOLD).models["model"].measures["log_loss"]
    assert found.estimate == pytest.approx(-(7 * np.log(0.02) + 193 * np.log(0.98)) / 200)
    assert np.isnan(found.low)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (
            {"by": np.arange(200) % 2},
            "expected rows without folds= beside by=, because an audit takes predictions of one model",
        ),
        (
            {"recalibrate": True},
            "expected rows without folds= beside recalibrate=, because a map takes predictions of one model",
        ),
        ({"shape": "nondecreasing"}, "expected rows without folds= beside shape=, because no study covers both"),
        ({"lens": "top_label"}, "found lens="),
        ({"cluster": np.arange(200) // 2}, "expected all rows of a cluster in one fold"),
        ({"sample_weight": np.ones(200)}, "found sample_weight="),
    ],
)
def test_what_takes_predictions_of_one_model_is_refused(asked, found):
    with pytest.raises(ValueError, match=found):
        cs.report(Y, A, folds=FOLD, **asked)
