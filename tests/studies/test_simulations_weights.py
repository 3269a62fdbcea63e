"""The study of weights: its data sets have the chances and the weights that it says, its truth is theirs."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs

weights = study_file("weights")
CASES = [(kind, wrong) for kind in weights.WEIGHTS[1:] for wrong in ("nowhere", "by weight")]
CASES += [("log-normal .5", "shift"), *((kind, "if heavy") for kind in weights.HEAVY)]


@pytest.mark.parametrize(("kind", "wrong"), CASES)
def test_the_truth_is_that_of_many_rows(kind, wrong):
    case = weights.Weighted(0.5, kind, wrong)
    y, columns = case.sample(100_000, 1)
    p, w = columns["prediction"], columns["weight"]
    error = 5 * np.sqrt((w**2).sum()) / w.sum()
    for measure in ("ks", "brier"):
        found = cs.estimate(cs.Sample.from_rows(y, p, w), measure=measure)
        true = 0.0 if wrong == "nowhere" and measure == "ks" else weights.truth(case, measure)
        assert found == pytest.approx(true, abs=error)


def test_heavy_rows_are_as_rare_as_told():
    for kind, (share, heavy) in {weights.WEIGHTS[3]: (0.05, 20), weights.CONTROL: (0.02, 100)}.items():
        w = weights.Weighted(0.5, kind, "nowhere").sample(100_000, 1)[1]["weight"]
        assert set(w) == {1.0, float(heavy)}
        assert np.mean(w > 1) == pytest.approx(share, abs=0.003)


def test_the_answers_are_those_of_the_verbs():
    y, columns = data = weights.Weighted(0.5, "log-normal 1", "shift").sample(80, 1)
    seed, p, w = np.random.SeedSequence(3), columns["prediction"], columns["weight"]
    for question in ("size", "interval", "comparison"):
        ask = weights.Answers(question, 49)
        found = dict(zip(ask.columns, ask(data, seed), strict=True))
        if question == "size":
            expected = cs.calibration_test(y, p, measure="ks", sample_weight=w, n_resamples=49, rng=seed).pvalue
            assert found["ks", "weights"] == expected
        elif question == "interval":
            expected = cs.confidence_interval(y, p, measure="brier", sample_weight=w, n_resamples=49, rng=seed)
            assert (found["brier", "low"], found["brier", "high"]) == (expected.low, expected.high)
        else:
            models = {"too low": weights._shifted(p, -0.5), "too high": weights._shifted(p, 0.5)}
            expected = cs.compare(y, models, measure="brier", sample_weight=w, rng=seed)
            assert found["brier", "p"] == expected.pvalue[0]


def test_promises_that_break_are_found():
    row = {"question": "size", "method": "weights", "measure": "ece", "replicates": 1000}
    rows = [row | {"false": 60}, row | {"false": 90}, row | {"false": 900, "method": "repeated rows"}]
    rows += [{**row, "question": "interval", "method": "low", "false": number} for number in (30, 70)]
    rows += [{**row, "question": "unseen", "method": "high", "false": 400}]
    found = weights.violations(pd.DataFrame(rows))
    assert found["false"].tolist() == [90, 70]
