"""Data of one model and of several: the same answers as from their rows, checked once, and nothing else beside them."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from public_functions import public_functions
from quick_report import quick_report

import calibstat as cs
from calibstat.data import checked_rows

Y, P = cs.generators.temperature(2).sample(120, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(90, rng=1)
TWO = {"a": P, "b": P**2}
W, CLUSTER = np.tile([1.0, 2.5], 60), np.repeat(np.arange(40), 3)
SERIES = pd.Series(Y, [f"row {i}" for i in range(120)])
FEW = {"n_resamples": 19, "rng": 1}
AUDIT = {"groups": {"first": np.arange(120) < 60}, **FEW}
ASKED = {  # arguments about rows, and others
    "audit": ({"pos_label": 1}, AUDIT),
    "calibration_belt": ({}, {"held_out": True}),
    "calibration_test": ({"cluster": CLUSTER, "sample_weight": W}, FEW),
    "confidence_interval": ({"sample_weight": W}, {"measure": "ks", **FEW}),
    "cox": ({"labels": [0, 1]}, {"held_out": True}),
    "decision_loss": ({"sample_weight": W, "cluster": CLUSTER}, {"thresholds": [0.2, 0.6], **FEW}),
    "decompose": ({"sample_weight": W}, {}),
    "detail": ({}, {"measure": "ece", "n_bins": 5}),
    "detectable_effect": ({}, {"n_datasets": 5, **FEW}),
    "equivalence_test": ({"cluster": CLUSTER, "sample_weight": W}, {"measure": "ks", **FEW}),
    "estimate": ({"sample_weight": W}, {"measure": "brier"}),
    "expected_calibration_error": ({"sample_weight": W}, {"n_bins": 5}),
    "gce_family": ({}, {}),
    "hosmer_lemeshow": ({}, {"held_out": True}),
    "kernel_calibration_test": ({}, FEW),
    "kolmogorov_smirnov": ({}, {}),
    "kuiper": ({}, {}),
    "net_benefit": ({"sample_weight": W, "cluster": CLUSTER}, {"thresholds": [0.2, 0.6]}),
    "reliability": ({"sample_weight": W, "cluster": CLUSTER}, FEW),
    "risk_coverage": ({}, {"max_error": 0.2}),
    "sharpness": ({}, {}),
    "skill_score": ({"sample_weight": W, "cluster": CLUSTER}, {}),
    "spiegelhalter": ({}, {}),
    "t_cal": ({}, FEW),
    "validate": ({"sample_weight": W, "cluster": CLUSTER}, {}),
}
FOLDS = np.random.default_rng(1).permutation(120) % 3
TAKE_FOLDS = "confidence_interval, calibration_test, compare, report"
SEVERAL = {
    "choose": ({"cluster": CLUSTER, "sample_weight": W}, {"subject_to": "ks.high <= 0.3", **FEW}),
    "compare": ({"cluster": CLUSTER}, FEW),
    "summarize": ({"cluster": CLUSTER, "sample_weight": W}, FEW),
}


def words(found):
    """What can be compared of an answer."""
    return found.to_dict() if hasattr(found, "to_dict") else float(found)


def test_every_function_of_rows_is_asked():
    functions = public_functions().items()
    of_rows = {name for name, each in functions if "y_prob" in inspect.signature(each).parameters}
    assert of_rows == {*ASKED, *SEVERAL, "report"}


@pytest.mark.parametrize("name", ASKED)
def test_data_have_the_answers_of_their_rows(name):
    ask, (rows, beside) = public_functions()[name], ASKED[name]
    data = cs.Data(Y, P, **rows)
    assert words(ask(data, **beside)) == words(ask(Y, P, **rows, **beside))
    assert words(ask(data, **beside)) == words(ask(data, **beside))
    if name != "expected_calibration_error":
        models = cs.Models(Y, TWO, **rows)
        assert words(ask(models, **beside)) == words(ask(Y, TWO, **rows, **beside))


@pytest.mark.parametrize("name", SEVERAL)
def test_models_are_compared_as_their_rows_are(name):
    ask, (rows, beside) = getattr(cs, name), SEVERAL[name]
    assert words(ask(cs.Models(Y, TWO, **rows), **beside)) == words(ask(Y, TWO, **rows, **beside))


@pytest.mark.parametrize("name", ["calibration_test", "confidence_interval"])
def test_folds_are_held_by_data(name):
    ask = getattr(cs, name)
    assert words(ask(cs.Data(Y, P, folds=FOLDS), **FEW)) == words(ask(Y, P, folds=FOLDS, **FEW))
    models = cs.Models(Y, TWO, folds=FOLDS)
    assert words(ask(models, **FEW)) == words(ask(Y, TWO, folds=FOLDS, **FEW))
    assert models.fold is models["a"].fold
    assert words(cs.compare(models)) == words(cs.compare(Y, TWO, folds=FOLDS))


@pytest.mark.parametrize("name", sorted({*ASKED, *SEVERAL} - {*TAKE_FOLDS.split(", ")}))
def test_other_functions_name_those_that_take_folds(name):
    ask, rows, beside = (
        public_functions()[name],
        TWO if name == "summarize" else P,
        ASKED.get(name, SEVERAL.get(name))[1],
    )
    why = f"which takes none; {TAKE_FOLDS} do"
    with pytest.raises(ValueError, match=f"expected rows without folds= for {name}, {why}; found one"):
        ask(Y, rows, **beside, folds=FOLDS)
    data = cs.Models(Y, rows, folds=FOLDS) if name == "summarize" else cs.Data(Y, rows, folds=FOLDS)
    with pytest.raises(ValueError, match=f"expected rows without folds= for {name}, {why}; found one"):
        ask(data, **beside)


@pytest.mark.parametrize("lens", [None, *cs.LENSES, cs.lenses.one_class(1)])
def test_each_lens_shows_what_it_shows_of_rows(lens):
    data, asked = cs.Data(LABEL, PROB), {"measure": "brier"}
    expected = np.array(cs.estimate(LABEL, PROB, lens=lens, **asked)).tolist()
    held = cs.Data(LABEL, PROB, lens=lens)
    for rows, beside in ((data.through(lens), None), (held, None), (held, lens), (data, lens)):
        assert np.array(cs.estimate(rows, lens=beside, **asked)).tolist() == expected
    models = cs.estimate(cs.Models(LABEL, {"a": PROB}), lens=lens, **asked)
    assert np.array(models["a"]).tolist() == expected
    assert data.lens is None


@pytest.mark.parametrize("form", ["Sample", "Predictions"])
def test_samples_and_predictions_are_data(form):
    given = getattr(cs, form).from_rows(Y, P)
    assert words(cs.confidence_interval(cs.Data(given), **FEW)) == words(cs.confidence_interval(given, **FEW))


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda data: cs.estimate(data, P), "expected cs.Data alone, found y_prob= beside it"),
        (
            lambda data: cs.estimate(cs.Data(LABEL, PROB, lens="canonical"), lens="top_label"),
            "expected one lens, found lens=top_label beside cs.Data with lens=canonical",
        ),
        (lambda data: cs.estimate(data, lens=CLUSTER), r"expected a lens, one of .*; found ndarray of shape \(120,\)"),
        (lambda data: cs.calibration_test(cs.Data(Y, P, folds=FOLDS), lens="top_label"), "of one event.*found lens="),
        (lambda data: cs.estimate(data, sample_weight=W), "found sample_weight="),
        (lambda data: cs.calibration_test(data, cluster=CLUSTER), "found cluster="),
        (lambda data: cs.classical.cox(data, labels=[0, 1], held_out=True), "found labels="),
        (lambda data: cs.report(data, pos_label=1), "found pos_label="),
        (lambda data: cs.compare(data), "expected y_prob, a mapping from name .*, found those of one model"),
        (lambda data: cs.summarize(cs.Models(Y, TWO), TWO), "expected cs.Models alone, found y_prob="),
        (lambda data: cs.classical.cox(cs.Data(Y, P, sample_weight=W)), "expected rows without sample_weight= for cox"),
        (lambda data: cs.classical.cox(cs.Data(Y, P, cluster=CLUSTER)), "expected rows without cluster= for cox"),
        (
            lambda data: cs.gce_family(cs.Data(LABEL, PROB, lens="top_label")),
            "expected rows without lens= for gce_family, which takes none; found one",
        ),
        (lambda data: cs.Models(Y, P), "expected y_prob, a mapping from name to predictions"),
        (lambda data: cs.Models(Y, {"a": P, "b": P + 2}), r"expected a probability .* \(of 'b'\)"),
        (lambda data: cs.Data(Y, P, cluster=[1, 2]), r"expected one cluster a row, shape \(120,\)"),
        (lambda data: cs.Data(Y, P, labels=[0, 1], pos_label=1), "expected labels or pos_label, found both"),
        (lambda data: cs.Data(Y, P + 1), "expected a probability from 0 to 1"),
        (lambda data: cs.Data(SERIES, P, cluster=SERIES[::-1]), "expected cluster with the index of y_true"),
    ],
)
def test_what_is_said_twice_or_not_taken_is_refused(ask, found):
    with pytest.raises(ValueError, match=found):
        ask(cs.Data(Y, P))


def test_data_show_counts_only():
    assert repr(cs.Data(Y, P)) == f"Data(120 rows, {Y.sum():.0f} with outcome 1)"
    assert repr(cs.Data(Y, P, cluster=CLUSTER, sample_weight=W)).endswith(", with weights, 40 clusters)")
    assert repr(cs.Data(LABEL, PROB, lens="class_wise")) == "Data(90 rows, 3 classes)"
    assert repr(cs.Data([1], [0.5])) == "Data(1 row, 1 with outcome 1)"
    assert repr(cs.Data(cs.Sample.from_counts([0.2, 0.7], [50, 50], [20, 35]))) == "Data(100 rows, 55 with outcome 1)"
    assert repr(cs.Models(Y, TWO)) == f"Models('a', 'b': 120 rows, {Y.sum():.0f} with outcome 1)"
    assert (cs.Data(LABEL, PROB, lens="canonical").kind, cs.Data(LABEL, PROB).n) == ("multiclass", 90)


def test_what_is_known_of_rows_is_kept():
    data = cs.Data(LABEL, PROB)
    assert data.view() is data.view()
    assert data.view().sample is data.view().sample
    assert data.through("class_wise").predictions is data.predictions
    assert data.predictions.order is data.predictions.order
    models = cs.Models(Y, TWO)
    assert models.through("top_label")["a"].rows is models["a"].rows
    assert list(models.some("b")) == ["b"]


CHECKS = ("as_rows", "as_predictions", "as_weights", "as_clusters")


def counted(monkeypatch, ask):
    """How often rows are checked while something is asked."""
    calls = []
    for name in CHECKS:
        check = getattr(checked_rows, name)
        monkeypatch.setattr(
            checked_rows, name, lambda *rows, check=check, name=name: [calls.append(name), check(*rows)][1]
        )
    ask()
    return calls


def test_a_report_checks_the_rows_of_a_model_once(monkeypatch):
    assert counted(monkeypatch, lambda: quick_report(Y, P)) == ["as_rows"]


def test_a_report_of_more_checks_each_once(monkeypatch):
    found = counted(monkeypatch, lambda: quick_report(Y, TWO, by={"a": W > 1}, cluster=CLUSTER))
    assert found == ["as_rows", "as_rows", "as_clusters"]


def test_a_second_check_is_found(monkeypatch):
    def ask():
        cs.estimate(Y, P)
        cs.estimate(Y, P)

    assert counted(monkeypatch, ask) == ["as_rows"] * 2


def test_pickles_of_results_hold_no_data():
    data = cs.Data(Y, P)
    assert b"checked_rows" in pickle.dumps(data)
    assert b"checked_rows" not in pickle.dumps(cs.calibration_test(data, **FEW))


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ((Y, P), {"sample_weight": W, "cluster": CLUSTER}),
        ((np.where(Y == 1, "yes", "no"), P), {"labels": ["no", "yes"]}),
        ((Y, np.stack([1 - P, P], axis=1)), {"lens": cs.lenses.one_class(0)}),
        ((LABEL, PROB), {"lens": "top_label"}),
        ((LABEL, PROB), {"lens": "canonical", "sample_weight": W[:90]}),
    ],
    ids=["one event", "labels", "two classes", "three classes", "jointly"],
)
def test_a_part_of_the_rows_is_as_if_it_was_given_alone(given, about):
    y, p = given
    kept = np.arange(y.size) % 4 != 1
    alone = {name: each[kept] if isinstance(each, np.ndarray) else each for name, each in about.items()}
    part, expected = cs.Data(y, p, **about).part(kept), cs.Data(y[kept], p[kept], **alone)
    assert (part.n, part.kind, part.words[-1:]) == (expected.n, expected.kind, expected.words[-1:])
    for found, wanted in ((part, expected), (part.rows, expected.rows)):
        np.testing.assert_array_equal(getattr(found, "cluster", None), getattr(wanted, "cluster", None))
    measure = "skce" if about.get("lens") == "canonical" else "ks"
    if "sample_weight" not in alone or "cluster" in alone:
        assert cs.estimate(part, measure=measure) == cs.estimate(expected, measure=measure)


def test_a_part_of_a_summary_is_of_distinct_predictions():
    sample = cs.Sample.from_rows(Y, P.round(1))
    kept = sample.value > 0.3
    part = cs.Data(sample).part(kept)
    assert part.view().sample.value.tolist() == sample.value[kept].tolist()
    assert part.n == sample.count[kept].sum()
