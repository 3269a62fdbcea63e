"""The study of audits of clusters: its populations are calibrated where they say so, and it can fail."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

STUDY = study_file("audits_of_clusters")
KINDS = [
    {"icc": 0.3, "sizes": "geometric"},
    {"alike": 1.0, "groups": "of clusters"},
    {"groups": "classes", "exclusive": True},
    {"prevalence": 0.1, "icc": 0.3, "groups": "classes"},
]


@pytest.mark.parametrize("kind", KINDS)
def test_outcomes_come_from_the_predictions(kind):
    y, columns = STUDY.Population(4000, 5, **kind).sample(20_000, rng=1)
    sums = np.bincount(columns["cluster"], y - columns["prediction"])
    assert abs(sums.sum()) <= 4 * np.sqrt((sums**2).sum())


def test_a_shift_is_in_one_level():
    y, columns = STUDY.Population(4000, 5, shift=1.0).sample(20_000, rng=1)
    first = columns["feature"][:, 0] == 0
    assert (y - columns["prediction"])[first].mean() > 0.1
    assert abs((y - columns["prediction"])[~first].mean()) < 0.02


def test_student_s_limits_are_those_of_one_mean_of_equal_clusters():
    from scipy.stats import ttest_1samp

    residual = np.random.default_rng(1).normal(size=60) / 9
    means = residual.reshape(20, 3).mean(axis=1)
    low, high = STUDY.students(residual, np.repeat(np.arange(20), 3), np.ones((1, 60), bool))
    expected = ttest_1samp(means, 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx(expected)


def test_the_study_can_fail():
    rows = [{"question": "size", "method": "clusters", "rejections": k, "covered": np.nan} for k in (50, 120)]
    rows += [{"question": "size", "method": "rows as independent", "rejections": 900, "covered": np.nan}]
    rows += [{"question": "coverage", "method": m, "covered": 800} for m in ("clusters", "Student's t")]
    failed = STUDY.violations(pd.DataFrame(rows).assign(replicates=1000))
    assert failed[["question", "method"]].to_numpy().tolist() == [["size", "clusters"], ["coverage", "clusters"]]
    assert failed["rejections"].tolist()[0] == 120
