"""What results of tests of calibration say: the answer first, then what drove it, and how it was tested."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.calibration_test_results import verdict_on_map


def test_verdicts_do_not_claim_calibration():
    assert verdict_on_map(0.5, "Platt()") == "no evidence against Platt() in this test"
    assert [verdict_on_map(p, "Platt()").split(" that ")[0] for p in (0.01, 0.011, 0.05, 0.051, 0.1)] == [
        "strong evidence",
        "evidence",
        "evidence",
        "weak evidence",
        "weak evidence",
    ]
    assert verdict_on_map(0.1001, "Platt()") == verdict_on_map(1.0, "Platt()")


def test_the_answer_comes_first():
    y, p = cs.generators.temperature(2).sample(1500, rng=1)
    found = cs.calibration_test(y, p, rng=1)
    lines = str(found).splitlines()
    assert lines[0] == f"Not calibrated (p = 0.001): {found.size.where}."
    assert lines[1:3] == str(found.deviation).splitlines()
    assert lines[3] == f"Next: {found.next_step}"
    assert lines[4] == (
        f"Test: omnibus = {found.statistic:.4g}, event: outcome 1, n = 1500; 999 resamples, p accurate to 0.001."
    )
    assert lines[5] == f"Null hypothesis: {found.null_hypothesis}"
    single = cs.calibration_test(y, p, measure="ks", rng=1)
    typical = np.median(single.null_distribution)
    assert str(single).splitlines()[0] == (
        f"Not calibrated (p = 0.001): ks is {single.statistic:.3g}, and a calibrated model would show {typical:.3g}."
    )
    assert str(single).splitlines()[1].startswith("Next: Ask how large the error may be: ")  # not what drove it
    assert len(str(single).splitlines()) == 4
    both = cs.calibration_test(y, p, measure="ece", resample="both", rng=1)
    assert "(p = 0.001, approximate)" in str(both)


@pytest.fixture(scope="module", name="each")
def each_fixture():
    """Classes 1 and 2 are exchanged in half the rows where both are likely; class 0 is as predicted."""
    rng = np.random.default_rng(3)
    prob = rng.dirichlet([3, 2, 2], 800)
    label = np.array([rng.choice(3, p=row) for row in prob])
    label = np.where((prob[:, 1] < prob[:, 2]) & (label == 1), 2, label)
    return cs.calibration_test(label, prob, lens="class_wise", rng=1)


def test_classes_that_are_off_are_named_first(each):
    holm = each.classes.pvalue_holm
    low = [str(k) for k in np.argsort(holm, kind="stable") if holm[k] <= 0.05]
    assert low == ["1", "2"]
    assert each.answer == "Miscalibration is shown in 2 of 3 classes: 1, 2."
    drivers = each.classes.drivers
    assert drivers == [
        "Class by class (directions are descriptions, not tests):",
        *(found.short for found in each.classes.deviations),
    ]
    assert str(each).startswith(each.answer)
    assert all(line in str(each).splitlines() for line in drivers)


def test_no_class_or_each_or_many(each):
    def with_classes(**other):
        return replace(each, classes=replace(each.classes, **other))

    none = with_classes(pvalue_holm=np.array([0.06, 1.0, 1.0]), deviations=())
    assert none.answer == "No miscalibration is shown in any of 3 classes."
    assert none.classes.drivers == []
    whole = with_classes(pvalue_holm=np.full(3, 0.05))
    assert whole.answer == "Miscalibration is shown in each of 3 classes."
    many = with_classes(names=tuple(range(1200)), pvalue_holm=np.repeat([0.01, 0.5], [12, 1188]))
    assert many.answer == ("Miscalibration is shown in 12 of 1,200 classes: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more.")


def test_many_classes():
    """Of more than 20 classes those with the smallest p-values are printed."""
    rng = np.random.default_rng(2)
    prob = rng.dirichlet(np.ones(25), 300)
    label = np.array([rng.choice(25, p=each) for each in prob])
    found = cs.calibration_test(label, prob, measure="ece", lens="class_wise", n_resamples=39, rng=1)
    assert "the 10 with the smallest p" in str(found)
    assert "and 15 more" in str(found)
    frame = found.to_frame()
    assert list(frame["pvalue_holm"]) == list(found.classes.pvalue_holm)
    assert len(frame) == 25
