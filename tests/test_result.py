"""Every result as a dictionary: plain Python values however deep they lie, the same after a way through JSON."""

import json
from functools import cache

import numpy as np
import pytest

import calibstat as cs
from calibstat.result import Result, plain_values

Y, P = cs.generators.temperature(2).sample(60, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(60, rng=1)
FEW = {"n_resamples": 19, "rng": 1}
MADE = {
    "AsymptoticTestResult": lambda: cs.spiegelhalter(Y, P),
    "Audit": lambda: cs.audit(Y, P, {"first": np.arange(60) < 30}, shape=True, **FEW),
    "BrierStatus": lambda: compared().status(),
    "CalibrationBelt": lambda: cs.calibration_belt(Y, P, held_out=True),
    "CalibrationSharpness": lambda: cs.sharpness(Y, P),
    "CalibrationTestResult": lambda: cs.calibration_test(Y, P, **FEW),
    "ClassWiseReliability": lambda: cs.reliability(LABEL, PROB, lens="class_wise", band=None),
    "ClassWiseTestResult": lambda: cs.calibration_test(LABEL, PROB, lens="class_wise", **FEW),
    "Comparison": lambda: cs.compare(Y, {"a": P, "b": P**2}, **FEW),
    "ConfidenceInterval": lambda: cs.confidence_interval(Y, P, **FEW),
    "CoxResult": lambda: cs.cox(Y, P, held_out=True),
    "Decomposition": lambda: cs.decompose(Y, P),
    "Deviation": lambda: cs.calibration_test(*cs.generators.temperature(4).sample(400, rng=1), **FEW).deviation,
    "DetectableEffect": lambda: cs.detectable_effect(P, n_resamples=19, n_datasets=5, rng=1),
    "Equivalence": lambda: cs.equivalence_test(Y, P),
    "GceFamily": lambda: cs.gce_family(LABEL, PROB),
    "GeneralizationGap": lambda: cs.generalization_gap((Y, P), (Y, P), **FEW),
    "HosmerLemeshowResult": lambda: cs.hosmer_lemeshow(Y, P, held_out=True),
    "MeasureDetail": lambda: cs.detail(Y, P, measure="ece"),
    "Power": lambda: cs.power(P, "temperature=2", test="ks", n_datasets=5, **FEW),
    "MonitorStatus": lambda: monitored().status(),
    "Onset": lambda: monitored().status().onset,
    "PowerCurve": lambda: cs.power(P, "temperature=2", [20, 30], test="ks", n_datasets=5, n_sets=2, **FEW),
    "PrecisionSize": lambda: cs.sample_size(P, width=0.3),
    "Reliability": lambda: cs.reliability(Y, P, band="confidence"),
    "SampleSize": lambda: cs.sample_size(P, "temperature=3", test="ks", n_datasets=20, **FEW),
    "SimplexReliability": lambda: cs.reliability(LABEL, PROB, lens="canonical"),
    "Summary": lambda: cs.summarize(Y, {"m": P}, **FEW),
    "TCalResult": lambda: cs.t_cal(Y, P, **FEW),
}


def monitored():
    monitor = cs.Monitor(alpha=0.5)
    for _ in range(3):
        monitor.update(Y, P**4)
    return monitor


def compared():
    monitor = cs.BrierMonitor()
    monitor.update(Y, P, P**2)
    return monitor


made = cache(lambda name: MADE[name]())


def kinds(base=Result):
    return {
        kind for each in base.__subclasses__() if each.__module__.startswith("calibstat") for kind in kinds(each)
    } | ({base} - {Result})


def test_no_result_is_forgotten():
    leaves = {kind.__name__ for kind in kinds() if not kind.__subclasses__()}
    assert leaves <= set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_a_dictionary_survives_json(name):
    found = made(name)
    assert type(found).__name__ == name
    values = found.to_dict()
    assert repr(json.loads(json.dumps(values))) == repr(values)  # nan equals nan so, and no tuple a list
    assert list(values) == list(type(found).__dataclass_fields__)


def test_results_within_results_are_dictionaries():
    for name, field in (("ClassWiseTestResult", "overall"), ("GeneralizationGap", "test"), ("CoxResult", "slope_test")):
        assert made(name).to_dict()[field] == getattr(made(name), field).to_dict()
    diagrams = made("ClassWiseReliability")
    assert diagrams.to_dict()["diagrams"] == [found.to_dict() for found in diagrams.diagrams]
    assert diagrams.to_dict()["names"] == [0, 1, 2]
    assert made("CoxResult").to_dict()["slope_interval"] == list(made("CoxResult").slope_interval)


def test_plain_values_however_deep():
    found = plain_values({"a": (np.float64(0.5), [np.arange(2)]), "b": {"c": np.True_}})
    assert repr(found) == "{'a': [0.5, [[0, 1]]], 'b': {'c': True}}"
