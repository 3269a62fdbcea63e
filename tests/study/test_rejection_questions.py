"""Rejections of tests: those of the public test, their level, and a liberal test that is found."""

import pytest
from asked_questions import CALIBRATED, SHIFTED, ask, data_sets
from scipy import stats

import calibstat as cs


def test_rejections_are_those_of_the_public_test():
    table = ask("power", n=25, measures=["ece"], methods=["both"], replicates=20).set_index("generator")
    for label, generator in SHIFTED.items():
        rejections = sum(
            cs.calibration_test(sample, measure="ece", resample="both", n_resamples=19, rng=rng).pvalue <= 0.05
            for sample, rng in data_sets(generator, label, 25, replicates=20)
        )
        assert table.loc[label, "rejections"] == rejections
        assert table.loc[label, "rate"] == rejections / 20
        limits = stats.binomtest(rejections, 20).proportion_ci(0.95, method="exact")
        assert tuple(table.loc[label, ["low", "high"]]) == pytest.approx((limits.low, limits.high), abs=1e-12)


def test_options_reach_the_measure():
    measures = {"fine": ("ece", {"n_bins": 100}), "one": ("ece", {"n_bins": 1})}
    found = ask("power", measures=measures, n=30, methods=["labels"]).set_index(["generator", "measure"])["rejections"]
    assert found["hidden", "fine"] == 50  # all rows are wrong or right
    assert found["hidden", "one"] < 50


def test_the_labels_test_keeps_its_level_and_a_liberal_one_is_found():
    uniform = {"uniform": CALIBRATED["uniform"]}
    table = ask("size", generators=uniform, n=20, measures=["ece"], n_resamples=39, replicates=1500)
    limit = cs.study.most_rejections(0.05, 1500, 1e-4)
    assert table.loc[0, "rejections"] <= limit
    assert table.loc[1, "rejections"] > limit  # its size is about .1
