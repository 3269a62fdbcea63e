"""The report says what the verbs say: on ten data sets, of classes, groups and recalibrated models."""

import warnings

import numpy as np
import pandas as pd
import pytest
from command_line import plain_text, run
from quick_report import quick, quick_report

import calibstat as cs
from calibstat.output.wording import number, p_text
from calibstat.reporting.sentences import say_interval, titled

BINARY = {
    "calibrated": cs.generators.calibrated(),
    "over-confident": cs.generators.temperature(2),
    "under-confident": cs.generators.temperature(0.6),
}


def binary(kind, seed):
    if kind in BINARY:
        return BINARY[kind].sample(200, rng=seed)
    rng = np.random.default_rng(seed)
    p = {
        "rare": rng.random(200) * 0.05,
        "one value": np.full(200, 0.3),
        "zeros and ones": np.repeat([0.0, 0.4, 1.0], [60, 80, 60]),
        "tied": rng.random(200).round(1),
    }[kind]
    return (rng.random(200) < np.where(kind == "tied", p**2, p)).astype(float), p


KINDS = [*BINARY, "rare", "one value", "zeros and ones", "tied"]
LENSES = (None, "class_wise", "canonical")


@pytest.mark.parametrize("kind", KINDS)
def test_of_seven_binary_data_sets_every_verb_says_the_same(kind):
    y, p = binary(kind, 3)
    found = quick_report(y, {"A": p, "B": p**2}, rng=5)
    for name, prob in (("A", p), ("B", p**2)):
        model = found.models[name]
        test = cs.calibration_test(y, prob, rng=5)
        assert model.test.answer == test.answer
        assert model.answer.startswith(test.answer)
        assert model.ece.to_dict() == cs.confidence_interval(y, prob, rng=5).to_dict()
        assert model.measures["ece"].high == model.ece.high
        assert model.diagram.to_dict() == cs.reliability(y, prob, rng=5).to_dict()
    first, second = found.comparisons.values()
    assert first.to_dict() == cs.compare(y, {"A": p, "B": p**2}, rng=5).to_dict()
    assert second.to_dict() == cs.compare(y, {"A": p, "B": p**2}, measure="brier", rng=5).to_dict()
    values = [cs.estimate(y, prob, measure="kernel_ce_squared", bandwidth=0.2) for prob in (p, p**2)]
    assert first.estimates == pytest.approx(values, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", ["over-confident", "rare"])
def test_the_commands_say_the_same(kind, tmp_path):
    y, p = binary(kind, 3)
    pd.DataFrame({"y": y, "A": p, "B": p**2}).to_csv(tmp_path / "rows.csv", index=False)
    given = [tmp_path / "rows.csv", "--label", "y", "--rng", 5]
    found = quick_report(y, {"A": p, "B": p**2}, rng=5)
    with quick():
        said = plain_text(run("report", *given, "--prob", "A", "--prob", "B").stdout)
        by_test, by_interval = (
            plain_text(run(verb, *given, "--prob", "A", "--verbose").stdout) for verb in ("test", "interval")
        )
        compared = plain_text(run("compare", *given, "--prob", "A", "--prob", "B").stdout)
    model = found.models["A"]
    for where in (said, by_test):
        assert plain_text(model.test.answer) in where
    assert plain_text(str(model.detectable)) in by_test
    assert plain_text(say_interval(titled(model.ece), model.ece)) in by_interval
    difference, p_value = (
        found.comparisons["kernel_ce_squared"].difference[0],
        found.comparisons["kernel_ce_squared"].pvalue[0],
    )
    assert f"A − B {number(difference)}" in compared
    assert f" {p_text(p_value)} " in compared
    assert f"p = {p_value:.2g}" in said


@pytest.mark.parametrize("lens", LENSES)
def test_of_three_classes_every_verb_says_the_same(lens):
    y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(150, rng=2)
    models = {"A": p, "B": p[:, ::-1]}
    report = quick_report(y, models, lens=lens, rng=5)
    found = report.models["A"]
    test = cs.calibration_test(y, p, lens=lens, rng=5)
    assert found.test.answer == test.answer
    measure = {"measure": "canonical_ce"} if lens == "canonical" else {}
    one_number = "class_wise_mean" if lens == "class_wise" else lens
    assert found.ece.to_dict() == cs.confidence_interval(y, p, lens=one_number, rng=5, **measure).to_dict()
    assert (found.diagram is None) == (lens is not None)
    errors = {"class_wise": {"measure": "ece"}, "canonical": measure}.get(lens, {})
    compared = cs.compare(y, models, lens=one_number, rng=5, **errors)
    assert [*report.comparisons] == [compared.measure.name, "brier"]
    assert next(iter(report.comparisons.values())).to_dict() == compared.to_dict()
    diagrams = cs.reliability(y, p, lens="class_wise", rng=5)
    assert found.classes.diagrams.to_dict() == diagrams.to_dict()
    stop = {} if lens == "class_wise" else {"stop_after": 20}
    by_class = cs.calibration_test(y, p, lens="class_wise", rng=5, **stop)
    assert found.classes.each.pvalue_holm.tolist() == by_class.classes.pvalue_holm.tolist()


def test_another_verdict_would_be_noticed():
    y, p = binary("over-confident", 3)
    assert quick_report(y, p, rng=5).models["model"].test.answer != cs.calibration_test(y, p**2, rng=5).answer


def test_groups_are_those_of_the_audit():
    y, p = binary("tied", 1)
    sex = np.where(np.arange(200) % 3, "man", "woman")
    frame = pd.DataFrame({"sex": sex})
    wanted = cs.audit(y, p, frame, rng=0)
    for by in (frame, frame["sex"], {"sex = man": sex == "man", "sex = woman": sex == "woman"}):
        found = quick_report(y, p, by=by).models["model"].groups
        assert found.names == wanted.names
        assert found.pvalue_adjusted.tolist() == wanted.pvalue_adjusted.tolist()
    assert quick_report(y, p, by=sex).models["model"].groups.rows.tolist() == wanted.rows.tolist()
    for features in (frame, sex, frame["sex"]):
        few = quick_report(y, p, by=cs.Groups(features, min_rows=80)).models["model"].groups
        assert few.rows.tolist() == [200, 133]  # 67 rows are of women
        assert few.left_out == "1 level of fewer than 80 rows"


def test_clusters_are_in_the_test_and_intervals():
    y, p = binary("calibrated", 1)
    cluster = np.arange(200) // 10
    found = quick_report(y, {"A": p, "B": p**2}, cluster=cluster)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = cs.confidence_interval(y, p, cluster=cluster, rng=0)
        test = cs.calibration_test(y, p, cluster=cluster, rng=0)
    assert found.models["A"].ece.to_dict() == wanted.to_dict()
    assert found.models["A"].detectable is None
    assert found.models["A"].test.to_dict() == test.to_dict()
    assert not any("take rows as independent" in note for note in found.notes)
    assert found.models["A"].diagram.interval == found.models["A"].ece


def test_what_takes_rows_as_independent_beside_clusters_is_said():
    y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(150, rng=2)
    given = {"cluster": np.arange(150) // 3, "by": np.arange(150) % 3}
    said = [note.split(" take rows")[0] for note in quick_report(y, p, **given).notes]
    assert said == ["The tests of single classes"]
    refused = (
        "without cluster= beside lens=, because a report takes them with a lens that shows one event, such as 'top"
    )
    with pytest.raises(ValueError, match=refused):
        quick_report(y, p, lens="class_wise", **given)


def test_a_learner_takes_no_clusters():
    """It is said before anything is asked."""
    y, p = cs.generators.calibrated().sample(200, rng=1)
    by = cs.Groups({"x": p}, learner="tree")
    with pytest.raises(ValueError, match="expected no cluster= beside a learner"):
        quick_report(y, p, cluster=np.arange(200) // 4, by=by)
    assert quick_report(y, p, by=by).models["model"].groups.learned.n == 200


def test_groups_are_audited_in_clusters():
    y, p = binary("tied", 1)
    cluster, by = np.arange(200) // 4, np.arange(200) % 3
    found = quick_report(y, p, cluster=cluster, by=by).models["model"].groups
    frame = pd.DataFrame({"group": by})
    assert found.to_dict() == cs.audit(y, p, frame, cluster=cluster, n_resamples=found.n_resamples, rng=0).to_dict()


@pytest.mark.parametrize("by", ["bins", 5, cs.measures.ECE()])
def test_what_is_no_group_of_rows_is_refused(by):
    with pytest.raises(ValueError, match=r"expected groups, boolean masks .* found .* of shape \(\)"):
        cs.report([0, 1] * 20, [0.2, 0.7] * 20, by=by)


@pytest.mark.parametrize("name", ["by", "recalibrate", "shape"])
def test_what_takes_rows_that_count_equally_is_refused_with_weights(name):
    y, p = binary("tied", 1)
    given = {"by": np.arange(200) % 3, "recalibrate": True, "shape": "nondecreasing"}[name]
    with pytest.raises(ValueError, match=f"^expected rows without sample_weight= beside {name}=, because"):
        quick_report(y, p, sample_weight=1 + p, **{name: given})


def test_a_shape_is_of_independent_rows_and_one_event():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=2)
    with pytest.raises(ValueError, match="expected a lens that shows one event with shape=, found canonical"):
        quick_report(label, prob, lens="canonical", shape="nondecreasing")
    with pytest.raises(
        ValueError, match="expected rows without cluster= beside shape=, because the error without bins"
    ):
        quick_report(label, prob, cluster=np.arange(60) // 2, shape="nondecreasing")
    assert "l1" in quick_report(*binary("tied", 1), shape="nondecreasing").models["model"].measures


def test_one_number_of_all_classes_is_asked_as_such():
    y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(150, rng=2)
    found = quick_report(y, p, lens="class_wise_max").models["model"]
    assert found.ece.to_dict() == cs.confidence_interval(y, p, lens="class_wise_max", rng=0).to_dict()
    assert found.test.pvalue == cs.calibration_test(y, p, lens="class_wise_max", rng=0).pvalue
    assert found.classes.each.names == (0, 1, 2)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_page_has_one_interval_of_an_error(level):
    """The picture states the interval of the verdict, at its level; also after recalibration."""
    y, p = binary("calibrated", 1)
    model = quick_report(y, p, confidence_level=level, recalibrate=True).models["model"]
    assert model.ece.confidence_level == level
    assert model.diagram.interval == model.ece
    assert model.recalibrated.diagram.interval == model.recalibrated.after


def test_predictions_samples_and_frames_are_taken():
    y, p = binary("tied", 1)
    found = quick_report(y, p)
    assert quick_report(cs.Sample.from_rows(y, p)).models["model"].answer == found.models["model"].answer
    frame = pd.DataFrame({"A": p, "B": p**2})
    assert list(quick_report(y, frame).models) == ["A", "B"]
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=2)
    names = ["x", "y", "z"]
    data = cs.Predictions.from_rows([names[int(k)] for k in label], prob, labels=names)
    assert quick_report(data, recalibrate=True).models["model"].classes.each.names == ("x", "y", "z")


def test_the_seed_is_kept_and_makes_it_again():
    y, p = binary("tied", 1)
    found = quick_report(y, p, rng=np.random.default_rng(1))
    assert quick_report(y, p, rng=found.seed).to_dict() | {"command": ""} == found.to_dict() | {"command": ""}
    assert found.version == cs.__version__
    assert found.command == f"calibstat.report(y_true, y_prob, rng={found.seed})"


def test_measures_that_are_costly_are_left_out_and_named(monkeypatch):
    monkeypatch.setattr("calibstat.reporting.report_measures.is_affordable", lambda name, n: name == "brier")
    found = quick_report(*binary("tied", 1))
    assert list(found.models["model"].measures) == ["ece", "brier"]
    assert "Left out, because they are costly on 200 rows: kernel_ce, log_loss." in found.notes


@pytest.mark.parametrize("p", [[0.7], {"A": [0.7], "B": [0.6]}, [[0.2, 0.3, 0.5]]])
def test_one_row_has_a_report(p):
    found = quick_report([1], p)
    for model in found.models.values():
        assert model.measures["brier"].low == 0
    assert found.to_dict()["n"] == 1


def test_bad_input_is_named():
    y, p = binary("tied", 1)
    with pytest.raises(ValueError, match="found a Sample"):
        quick_report(cs.Sample.from_rows(y, p), recalibrate=True)
    with pytest.raises(ValueError, match=r"at row 3.*\(of 'B'\)"):
        quick_report(y, {"A": p, "B": np.where(np.arange(200) == 3, 1.5, p)})
    with pytest.raises(ValueError, match="confidence_level between 0 and 1"):
        quick_report(y, p, confidence_level=95)
    with pytest.raises(ValueError, match="at least 2 rows, of which each is recalibrated by a map of others, found 1"):
        quick_report(y[:1], p[:1], recalibrate=True)
    with pytest.raises(ValueError, match=r"expected a shape of the calibration curve, .* found 'x'$"):
        quick_report(y, {"A": p, "B": p}, shape="x")


@pytest.mark.parametrize("given", ["platt", None, 1, ["x"], cs.recalibration.PlattScaling])
def test_what_is_no_recalibrator_is_refused(given):
    """It was Platt scaling, whatever was given."""
    with pytest.raises(
        ValueError, match=r"^expected recalibrate True or False, found .*; a map is .* PlattScaling\(\)"
    ):
        quick_report(*binary("tied", 1), recalibrate=given)


def test_no_recalibration_of_numpy():
    assert quick_report(*binary("tied", 1), recalibrate=np.False_).models["model"].recalibrated is None


def test_what_is_said_of_absent_clusters_holds_for_all_comparisons():
    y, p = cs.generators.calibrated().sample(200, rng=1)
    models, cluster = {"A": p, "B": p**2}, np.arange(200) // 5
    found = quick_report(y, models, cluster=cs.Clusters(cluster, unseen="rows"), rng=5)
    plain = quick_report(y, models, cluster=cluster, rng=5)
    for each in found.comparisons.values():
        assert "absent kinds of clusters do not matter" in each.rows.assumption
    assert found.comparisons["brier"].high[0] < plain.comparisons["brier"].high[0]
