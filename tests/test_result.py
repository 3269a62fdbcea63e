"""Every result as a dictionary: plain Python values however deep they lie, the same after a way through JSON."""

import json
from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from held_objects import kinds
from quick_report import quick_report
from result_schemas import misfits
from sklearn.naive_bayes import GaussianNB

import calibstat as cs
from calibstat.result import Result, numbers_in, plain_values

Y, P = cs.generators.temperature(2).sample(60, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(60, rng=1)
FEW = {"n_resamples": 19, "rng": 1}
MAPS = [cs.recalibration.Unchanged(), cs.recalibration.PlattScaling()]
LABELLED, ASKED_P = cs.generators.temperature(2).sample(200, rng=2)
JUDGE = LABELLED.astype(float)
LABELLED = np.where(np.random.default_rng(3).permutation(200) < 100, LABELLED, np.nan)
MADE = {
    "AsymptoticTestResult": lambda: cs.classical.spiegelhalter(Y, P),
    "Audit": lambda: cs.audit(Y, P, {"first": np.arange(60) < 30}, shape=True, **FEW),
    "Beyond": lambda: made("Audit").beyond,
    "BrierStatus": lambda: compared().status(),
    "ByCluster": lambda: cs.validate(Y, P, cluster=np.arange(60) // 2).by_cluster,
    "CalibrationBelt": lambda: cs.classical.calibration_belt(Y, P, held_out=True),
    "CalibrationSharpness": lambda: cs.sharpness(Y, P),
    "CalibrationTestResult": lambda: cs.calibration_test(Y, P, **FEW),
    "Choice": lambda: cs.choose(Y, {"m": P}, subject_to="ks.high <= 0.5", **FEW),
    "ClassWiseReliability": lambda: cs.reliability(LABEL, PROB, lens="class_wise", band=None),
    "ClassTests": lambda: of_each_class().classes,
    "ClustersOfGroups": lambda: cs.audit(Y, P, {"first": P > 0.5}, cluster=np.arange(60) // 2, **FEW).clusters,
    "ClustersOfRows": lambda: cs.calibration_test(Y, P, cluster=np.arange(60) // 2, **FEW).rows,
    "Comparison": lambda: cs.compare(Y, {"a": P, "b": P**2}, **FEW),
    "ConfidenceInterval": lambda: cs.confidence_interval(Y, P, **FEW),
    "CoxResult": lambda: cs.classical.cox(Y, P, held_out=True),
    "Decomposition": lambda: cs.decompose(Y, P),
    "Deviation": lambda: cs.calibration_test(*cs.generators.temperature(4).sample(400, rng=1), **FEW).deviation,
    "ClassesReport": lambda: made("Report").models["model"].classes,
    "CrossValidation": lambda: cs.cross_validate(GaussianNB(), P[:, None], Y, cv=2, repeats=1, rng=1),
    "CrossFitted": lambda: made("Report").models["model"].recalibrated,
    "DetectableEffect": lambda: cs.detectable_effect(P, n_resamples=19, n_datasets=5, rng=1),
    "Equivalence": lambda: cs.equivalence_test(Y, P),
    "Events": lambda: cs.calibration_test(Y, P, side="over", **FEW).events,
    "EventsInRange": lambda: of_one_side().events.where,
    "FlexibleCurve": lambda: made("Validation").flexible,
    "GroupingLoss": lambda: cs.grouping_loss(GaussianNB(), P[:, None], Y, P, cv=2, rng=1),
    "GuidedRows": lambda: cs.calibration_test(LABELLED, ASKED_P, judge=cs.Judge(JUDGE, blind=True), **FEW).rows,
    "ComparedLabels": lambda: cs.compare(LABELLED, {"a": ASKED_P, "b": ASKED_P**2}, judge=cs.Judge(JUDGE), **FEW).rows,
    "ModelsOfFolds": lambda: cs.confidence_interval(Y, P, folds=np.arange(60) % 3, **FEW).rows,
    "RectifiedLabels": lambda: cs.confidence_interval(LABELLED, ASKED_P, judge=cs.Judge(JUDGE), **FEW).rows,
    "Rows": lambda: made("CalibrationTestResult").rows,
    "SizeOfError": lambda: made("CalibrationTestResult").size,
    "FoldsWithTests": lambda: cs.calibration_test(Y, P, folds=np.arange(60) % 3, **FEW).rows,
    "GceFamily": lambda: cs.gce_family(LABEL, PROB),
    "DecisionLossCurve": lambda: cs.decision_loss(Y, P, [0.2, 0.6], **FEW),
    "GeneralizationGap": lambda: cs.generalization_gap((Y, P), (Y, P), **FEW),
    "HosmerLemeshowResult": lambda: cs.classical.hosmer_lemeshow(Y, P, held_out=True),
    "MapChoice": lambda: cs.recalibration.choose(Y, P, maps=MAPS, cv=2, repeats=2, rng=1),
    "MeasureDetail": lambda: cs.detail(Y, P, measure="ece"),
    "MeanOverClusters": lambda: made("ByCluster").mean_ratio,
    "Measured": lambda: made("Report").models["model"].measures["brier"],
    "ModelReport": lambda: made("Report").models["model"],
    "SkillScore": lambda: cs.skill_score(Y, P),
    "NetBenefitCurve": lambda: cs.net_benefit(Y, P, [0.2, 0.6]),
    "Power": lambda: cs.power(P, "temperature=2", test="ks", n_datasets=5, **FEW),
    "ModelsStatus": lambda: each_monitored().status(),
    "MonitorStatus": lambda: monitored().status(),
    "OtherRows": lambda: cs.Monitor().update([1, 0], [0.0, 0.5]).others,
    "Onset": lambda: monitored().status().onset,
    "PowerCurve": lambda: cs.power(P, "temperature=2", [20, 30], test="ks", n_datasets=5, n_sets=2, **FEW),
    "ImpossibleInGroups": lambda: cs.audit([1, 0], [0.0, 0.5], {"a": [True, False]}, **FEW).impossible,
    "Learned": lambda: cs.audit(Y, P, cs.Groups({"p": P}, learner="tree", min_rows=1), **FEW).learned,
    "ImpossibleRows": lambda: cs.calibration_test([1, 0], [0.0, 0.5], **FEW).impossible,
    "LabelSize": lambda: cs.sample_size(P, width=0.5, of="ks", judge_share=0.5, judge_rows=900, n_sets=2, **FEW),
    "PrecisionSize": lambda: cs.sample_size(P, width=0.3),
    "Report": lambda: quick_report(LABEL, PROB, recalibrate=True),
    "Reliability": lambda: cs.reliability(Y, P, band="confidence"),
    "RiskCoverage": lambda: cs.risk_coverage(Y, P, max_error=0.4),
    "SampleSize": lambda: cs.sample_size(P, "temperature=3", test="ks", n_datasets=20, **FEW),
    "SimplexReliability": lambda: cs.reliability(LABEL, PROB, lens="canonical"),
    "Summary": lambda: cs.summarize(Y, {"m": P}, **FEW),
    "TCalResult": lambda: cs.classical.t_cal(Y, P, **FEW),
    "Validation": lambda: cs.validate(Y, P),
}
DRAWN = {
    "Audit",
    "BrierStatus",
    "ByCluster",
    "MonitorStatus",
    "CalibrationBelt",
    "CalibrationSharpness",
    "ClassWiseReliability",
    "Comparison",
    "DecisionLossCurve",
}
DRAWN |= {
    "ModelsStatus",
    "NetBenefitCurve",
    "PowerCurve",
    "PrecisionSize",
    "Reliability",
    "Report",
    "RiskCoverage",
    "SampleSize",
    "SimplexReliability",
    "Validation",
}


def monitored():
    monitor = cs.Monitor(alpha=0.5)
    for _ in range(3):
        monitor.update(Y, P**4)
    return monitor


def each_monitored():
    monitor = cs.Monitor(alpha=0.5)
    monitor.update(Y, {"p": P**4})
    return monitor


def compared():
    monitor = cs.BrierMonitor()
    monitor.update(Y, P, P**2)
    return monitor


made = cache(lambda name: MADE[name]())


def of_one_side():
    return cs.calibration_test(*cs.generators.temperature(4).sample(400, rng=1), side="over", **FEW)


@cache
def of_each_class():
    return cs.calibration_test(LABEL, PROB, lens="class_wise", **FEW)


def test_no_result_is_forgotten():
    assert all(hasattr(cs, name) for name in cs.__all__)  # which loads all classes
    leaves = {kind.__name__ for kind in kinds() if not kind.__subclasses__()}
    assert leaves <= set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_a_dictionary_survives_json(name):
    found = made(name)
    assert type(found).__name__ == name
    values = found.to_dict()
    assert json.loads(json.dumps(values, allow_nan=False)) == values  # no tuple is a list
    fields = dict.fromkeys(key.partition(".")[0] for key in values)
    assert list(fields) == list(type(found).__dataclass_fields__)
    assert not any(isinstance(value, dict) and value for value in values.values())


@pytest.mark.parametrize("name", MADE)
def test_a_dictionary_fits_the_schema_of_its_class(name):
    assert misfits(type(made(name)), made(name).to_dict()) == []


def test_a_dictionary_that_does_not_fit_is_found():
    found = made("CoxResult")
    values = found.to_dict()
    faults = [{"slope": "1"}, {"n": 1.5}, {"slope_interval": [0, 1, 2]}, {"more": 1}, {"slope_test": {}}]
    assert [len(misfits(type(found), values | fault)) for fault in faults] == [1] * 5
    assert len(misfits(type(found), {key: values[key] for key in values if key != "n"})) == 1
    assert misfits(type(found), values | {"slope": None, "intercept": "-Infinity"}) == []  # nan and infinity


@pytest.mark.parametrize("name", MADE)
def test_scalars_are_the_single_numbers_of_the_dictionary(name):
    found, values = made(name).scalars(), made(name).to_dict()
    assert {type(number) for number in found.values()} <= {int, float}
    assert {key: plain_values(number) for key, number in found.items()} == {
        key: value
        for key, value in values.items()
        if isinstance(value, int | float) or value in ("Infinity", "-Infinity") or (value is None and key in found)
    }
    assert all(np.isnan(found[key]) for key in found if values[key] is None)


def test_scalars_of_nested_numbers_of_all_kinds():
    values = {"a": np.float32(0.5), "b": {"c": True, 1: -np.inf, "d": None}, "e": "1", "f": (1, 2), "g": np.arange(2)}
    assert repr(numbers_in(values)) == "{'a': 0.5, 'b.c': 1, 'b.1': -inf}"
    assert made("CoxResult").scalars()["slope_test.pvalue"] == made("CoxResult").slope_test.pvalue
    assert made("MonitorStatus").scalars()["alarm"] == 1
    assert np.isnan(cs.validate([0, 1, 1, 0], [0.5] * 4).scalars()["slope"])
    assert cs.estimate(Y, {"a": P, "b": P}).scalars() == {"a": cs.estimate(Y, P), "b": cs.estimate(Y, P)}
    assert cs.classical.spiegelhalter(Y, {"a": P}).scalars()["a.n"] == 60


def test_fields_of_results_within_results_have_dots():
    for found, field in (
        (of_each_class(), "classes"),
        (made("CalibrationTestResult"), "rows"),
        (made("GeneralizationGap"), "test"),
        (made("CoxResult"), "slope_test"),
    ):
        inner = getattr(found, field).to_dict()
        assert {key: found.to_dict()[f"{field}.{key}"] for key in inner} == inner
    diagrams = made("ClassWiseReliability")
    assert diagrams.to_dict()["diagrams"] == [found.to_dict() for found in diagrams.diagrams]
    assert diagrams.to_dict()["names"] == [0, 1, 2]
    assert made("CoxResult").to_dict()["slope_interval"] == list(made("CoxResult").slope_interval)


def of_equal_fields(classes):
    """The classes of which two things are equal if their fields are."""
    return {kind for kind in classes if kind.__eq__ is not object.__eq__ or kind.__hash__ is not object.__hash__}


def test_a_result_equals_itself_alone():
    assert of_equal_fields(kinds() | {Result}) == set()
    one, other = (cs.calibration_test(Y, P, **FEW) for _ in range(2))
    assert one == one
    assert one != other
    assert {one: 1}[one] == 1


def test_a_result_with_equal_fields_is_found():
    @dataclass(frozen=True)
    class Planted(Result):
        number: int

    assert of_equal_fields({Planted, *kinds()}) == {Planted}


def test_plain_values_however_deep():
    found = plain_values({"a": (np.float64(0.5), [np.arange(2)]), "b": {"c": np.True_, "d": {"e": 1}}, "f": {}})
    assert repr(found) == "{'a': [0.5, [[0, 1]]], 'b.c': True, 'b.d.e': 1, 'f': {}}"


def test_infinite_and_missing_numbers_are_what_json_can_say():
    found = plain_values({"a": np.array([np.nan, -np.inf]), "b": np.float32(np.inf), "c": 1.5})
    assert found == {"a": [None, "-Infinity"], "b": "Infinity", "c": 1.5}
    assert float(found["b"]) == np.inf


def test_frames_keep_infinite_numbers_and_have_results_within():
    assert made("CrossFitted").to_frame()["after.high"].item() == made("CrossFitted").after.high
    shift = cs.detectable_effect([0.5, 0.5], n_resamples=19, n_datasets=5, rng=1)
    assert np.isinf(shift.to_frame()["effect"]).any()
    found = cs.confidence_interval([1, 0] * 10, [1.0, 0.5] * 10, measure="log_loss", rng=1)
    assert found.to_frame()["high"].item() == np.inf


@pytest.mark.parametrize("name", MADE)
def test_a_notebook_shows_words_and_table_as_html(name):
    found = made(name)._repr_html_()
    root = ElementTree.fromstring(found)  # every element is closed
    text = " ".join("".join(root.itertext()).split())
    assert " ".join(str(made(name)).splitlines()[0].split()) in text
    assert root.find(".//table") is not None
    assert (root.find(".//{http://www.w3.org/2000/svg}svg") is not None) == (name in DRAWN)


def test_no_text_from_data_is_html():
    found = cs.compare(Y, {"<script>a": P, "&amp;\x1b[31m": P**2}, **FEW)._repr_html_()
    assert "<script" not in found
    assert "&lt;script&gt;a" in found
    assert "&amp;amp;" in found
    assert "\x1b" not in found


@pytest.mark.parametrize("name", MADE)
def test_the_repr_is_the_answer_in_at_most_five_lines(name):
    found = repr(made(name))
    assert found.count("\n") < 5
    assert "array(" not in found
    assert "object at 0x" not in found
    printed = str(made(name)).splitlines()
    if not found.startswith(f"{name}("):  # of what prints nothing
        assert found.splitlines()[:4] == printed[:4]


def test_a_long_answer_says_that_print_shows_all():
    assert repr(made("Validation")).splitlines()[-1] == "... (print shows all)"
    assert (made("Rows").n, repr(made("Rows"))) == (60, "60 independent rows")


def test_a_result_that_prints_as_another_one_says_its_note_once():
    class Renamed(cs.inference.confidence_interval_results.ConfidenceInterval):
        pass

    found = cs.confidence_interval(Y, P, sample_weight=np.linspace(1, 2, 60), **FEW)
    renamed = Renamed(**{name: getattr(found, name) for name in found.__dataclass_fields__})
    assert found.note
    assert str(renamed) == str(found)
