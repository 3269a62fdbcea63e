"""Level and coverage of every registered measure, at length: ``python -m pytest -m slow``, some minutes."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.measures.kinds.registry import binary_measures, everyday_measures

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-4  # of each of the studies below; a handful are made
CALIBRATED = {
    "uniform": cs.generators.calibrated(),
    "five scores": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9]),
    "near 0 and 1": cs.generators.calibrated(stats.beta(0.1, 0.1)),
}
HONEST = [name for name in binary_measures() if cs.MEASURES[name]().has_form]


def too_many_rejections(frame):
    """The cells of a study of size that exceed the exact binomial limit, Bonferroni over the cells."""
    limit = [
        cs.study.most_rejections(level, replicates, FALSE_ALARM / len(frame))
        for level, replicates in zip(frame["level"], frame["replicates"], strict=True)
    ]
    return frame[frame["rejections"] > limit]


def too_few_covered(frame, promise=0.94):
    """The cells of a study of coverage below the exact binomial limit of the promise."""
    limit = cs.study.most_rejections(1 - promise, int(frame["replicates"].iloc[0]), FALSE_ALARM / len(frame))
    return frame[frame["replicates"] - frame["covered"] > limit]


@pytest.mark.parametrize("measure", everyday_measures())
def test_every_measure_keeps_the_level(measure):
    found = cs.study.run("size", CALIBRATED, [20, 60], [measure], replicates=1000, seed=31, n_resamples=99)
    assert too_many_rejections(found).empty, found.to_string()


def test_level_check_finds_the_approximate_test():
    """Planted fault: rows and labels together are too liberal at n = 20, and the same check says so."""
    found = cs.study.run("size", CALIBRATED, 20, ["ece"], ["both"], replicates=1000, seed=31, n_resamples=99)
    assert not too_many_rejections(found).empty


def uniformity(model):
    """Chi-square of 4000 p-values in twenty classes: with 99 resamples and no ties they are uniform on 1/100 .. 1."""
    pvalues = [
        cs.calibration_test(*model.sample(50, rng=run), measure="kernel_ce", n_resamples=99, rng=run).pvalue
        for run in range(4000)
    ]
    observed = np.bincount((np.round(np.array(pvalues) * 100).astype(int) - 1) // 5, minlength=20)
    return stats.chisquare(observed).pvalue


def test_p_values_are_uniform():
    assert uniformity(cs.generators.calibrated()) > FALSE_ALARM
    assert uniformity(cs.generators.temperature(1.2)) < FALSE_ALARM  # planted fault


@pytest.mark.parametrize("measure", HONEST)
def test_every_honest_interval_covers(measure):
    families = {**CALIBRATED, "temperature": cs.generators.temperature(1.5), "shift": cs.generators.shift(-0.3)}
    if measure == "log_loss":  # unbounded where a prediction near 0 or 1 fails: no interval of a mean holds there
        del families["near 0 and 1"]
    found = cs.study.run("coverage", families, 300, [measure], replicates=400, seed=32, n_resamples=199)
    assert too_few_covered(found).empty, found.to_string()


def test_coverage_check_finds_the_percentile_interval():
    found = cs.study.run("coverage", CALIBRATED, 300, ["ece"], ["percentile"], replicates=400, seed=32, n_resamples=99)
    assert len(too_few_covered(found)) == len(found)
