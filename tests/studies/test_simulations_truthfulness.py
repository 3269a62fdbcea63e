"""The study of truthfulness: its distortions by hand, and what its table says."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from simulation_files import study_file

import calibstat as cs

STUDY = study_file("truthfulness")
ROW = {"difference": 0.0, "difference_se": 0.1, "measure": "ece"}


def test_distorted_predictions_by_hand():
    p = np.array([0.1, 0.5, 0.96])
    found = {name: distort(p) for name, distort in STUDY.distortions(uniform()).items()}
    assert found["one number"] == pytest.approx([0.5] * 3)
    assert found["three groups"] == pytest.approx([1 / 6, 1 / 2, 5 / 6])
    assert found["tenths"] == pytest.approx([0.1, 0.5, 1.0])
    assert found["half way to the mean"] == pytest.approx([0.3, 0.5, 0.73])
    assert found["over-confident"] == pytest.approx([1 / (1 + 9**1.25), 0.5, 1 / (1 + 24**-1.25)])


@pytest.mark.parametrize("label", STUDY.laws())
def test_one_number_and_three_groups_are_calibrated(label):
    law = STUDY.laws()[label]
    p = law.ppf((np.arange(200_000) + 0.5) / 200_000)
    found = STUDY.distortions(law)
    for name in ("one number", "three groups"):
        predicted = found[name](p)
        for value in np.unique(predicted):
            assert p[predicted == value].mean() == pytest.approx(value, abs=1e-3)


def test_all_are_asked_of_the_same_outcomes():
    y, p = cs.generators.calibrated().sample(50, rng=1)
    found = STUDY.Asks(uniform())(cs.Sample.from_rows(y, p), None)
    found = np.array(found).reshape(6, len(STUDY.MEASURES))
    assert found[0, STUDY.MEASURES.index("ece")] == pytest.approx(cs.estimate(y, p, measure="ece"))
    assert found[3, STUDY.MEASURES.index("brier")] == pytest.approx(np.mean((y - np.round(p, 1)) ** 2))
    assert found[1, STUDY.MEASURES.index(STUDY.SQUARED)] == pytest.approx((y.mean() - 0.5) ** 2)


def test_what_is_preferred_to_the_truth_and_what_breaks_a_theorem():
    rows = [{**ROW, "difference": d, "measure": m} for m in ("ece", "brier") for d in (0.3, -0.2, -0.4, -0.5)]
    table = pd.DataFrame(rows)
    assert STUDY.untruthful(table)["difference"].tolist() == [-0.4, -0.5] * 2
    broken = STUDY.violations(table)
    assert (broken["measure"].tolist(), broken["difference"].tolist()) == (["brier"], [-0.5])


def test_the_stored_table_finds_ece_untruthful_and_keeps_the_theorems():
    from project_folder import PROJECT

    stored = pd.read_csv(PROJECT / "simulations" / "results" / "truthfulness.csv", comment="#")
    assert set(stored["measure"]) == set(STUDY.MEASURES)
    assert len(stored) == len(STUDY.MEASURES) * 5 * 3 * 2
    assert STUDY.violations(stored).empty
    assert "ece" in set(STUDY.untruthful(stored)["measure"])
