"""Coverage of intervals: that of the public interval, misses on their side, cells of each data set."""

import hashlib

import numpy as np
import pytest
from asked_questions import SHIFTED, ask, data_sets, seeds
from scipy import integrate

import calibstat as cs
from calibstat.study import coverage_questions


def test_coverage_is_that_of_the_public_interval():
    table = ask("coverage", n=25, measures=["ks"], methods=["basic"], generators={"shift": SHIFTED["shift"]}).loc[0]
    found = [
        cs.confidence_interval(sample, measure="ks", method="basic", n_resamples=19, rng=rng)
        for sample, rng in data_sets(SHIFTED["shift"], "shift", 25)
    ]
    truth = SHIFTED["shift"].truth("ks")
    assert table["truth"] == truth
    assert table["covered"] == sum(i.low <= truth <= i.high for i in found)
    assert table["missed_below"] == sum(truth < i.low for i in found)
    assert table["missed_above"] == sum(truth > i.high for i in found)
    assert table["mean_width"] == pytest.approx(np.mean([i.high - i.low for i in found]))
    assert table["mean_estimate"] == pytest.approx(np.mean([i.estimate for i in found]))


class Interval:
    """What a stub of confidence_interval returns."""

    def __init__(self, low, high):
        self.low, self.high, self.estimate, self.if_calibrated = low, high, 0.5, None


@pytest.mark.parametrize(
    ("low", "high", "counts"),
    [
        (0.2, 0.3, (20, 0, 0)),
        (0.26, 0.3, (0, 20, 0)),  # the truth, 1/4, lies below the interval
        (0.2, 0.24, (0, 0, 20)),
        (0.25 + 1e-15, 0.3, (20, 0, 0)),  # rounding is no miss
    ],
)
def test_misses_are_counted_on_their_side(monkeypatch, low, high, counts):
    monkeypatch.setattr(coverage_questions, "confidence_interval", lambda *_, **__: Interval(low, high))
    half = {"half": cs.generators.calibrated([0.5])}
    table = ask("coverage", generators=half, n=10, measures=["brier"], methods=["basic"], replicates=20)
    assert table.loc[0, "truth"] == 0.25
    assert tuple(table.loc[0, ["covered", "missed_below", "missed_above"]]) == counts
    assert table.loc[0, "mean_width"] == pytest.approx(high - low)


def test_what_an_interval_refuses_is_counted_and_misses_nothing(monkeypatch):
    """Of 20 data sets every other one has an interval, which lies above the truth, 1/4."""
    asked = []

    def interval(*_, **__):
        asked.append(1)
        if len(asked) % 2:
            raise ValueError("expected more events")
        return Interval(0.3, 0.4)

    monkeypatch.setattr(coverage_questions, "confidence_interval", interval)
    monkeypatch.setattr(coverage_questions.Coverage, "attempt", lambda *_: None)
    half = {"half": cs.generators.calibrated([0.5])}
    table = ask("coverage", generators=half, n=10, measures=["brier"], methods=["basic"], replicates=20)
    assert tuple(table.loc[0, ["refused", "covered", "missed_below", "missed_above"]]) == (10, 10, 10, 0)
    assert table.loc[0, "mean_width"] == pytest.approx(0.1)


@pytest.mark.parametrize(("if_calibrated", "floored"), [(None, 0), (0.3, 20), (0.1, 0)])  # of an estimate above
def test_high_ends_at_the_floor_are_counted(monkeypatch, if_calibrated, floored):
    found = Interval(0.2, 0.3)
    found.if_calibrated = if_calibrated
    monkeypatch.setattr(coverage_questions, "confidence_interval", lambda *_, **__: found)
    half = {"half": cs.generators.calibrated([0.5])}
    table = ask("coverage", generators=half, n=10, measures=["brier"], methods=["basic"], replicates=20)
    assert table.loc[0, "floored"] == floored


def cut_of_two_bins(seen, count):
    """The prediction whose cumulative count is nearest to half of the rows, the smaller of two: there is the cut."""
    return seen[np.argmin(np.abs(np.cumsum(count) - count.sum() / 2))]


def test_coverage_asks_for_the_error_over_the_cells_of_each_data_set():
    share, chance, atom = np.array([0.4, 0.2, 0.4]), np.array([0.3, 0.1, 0.75]), np.array([0.2, 0.5, 0.8])
    family = cs.generators.domain(share, chance, atom)
    measures = {
        "quantile": ("ece", {"strategy": "quantile", "n_bins": 2}),
        "cube root": ("ece", {"n_bins": "cube_root"}),
    }
    grid = {"generators": {"tied": family}, "n": 40, "measures": measures}
    table = cs.study.run("coverage", **grid, replicates=30, seed=2, n_resamples=19).set_index("measure")
    truths = []
    for cell in range(30):
        key = int.from_bytes(hashlib.blake2b(b"tied/40", digest_size=8).digest(), "little")
        _, p = family.sample(40, np.random.SeedSequence([2, key, cell]).spawn(2)[0])
        seen, count = np.unique(p, return_counts=True)
        low = atom <= cut_of_two_bins(seen, count)
        parts = share * (chance - atom)
        truths.append(abs(parts[low].sum()) + abs(parts[~low].sum()))
    assert len(set(truths)) > 1
    assert table.loc["quantile", "truth"] == pytest.approx(np.mean(truths), abs=1e-12)
    assert table.loc["cube root", "truth"] == pytest.approx(family.truth("ece", n_bins=4), abs=1e-12)
    assert table["covered"].min() > 20


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_coverage_of_all_classes_asks_for_the_errors_over_the_cells_of_each(reduce):
    """Of six equally likely vectors, by sums over those below the cut.

    Each class is right, except that 3 in 10 labels are drawn from all classes: at a prediction of .1 its chance is .17,
    at .3 it is .31 and at .6 it is .52. The error is .14 / 3 if the cut is after .1, .16 / 3 after .3 and 0 after .6.
    """
    family = cs.generators.label_noise(cs.generators.six_points(), 0.3)
    measures = {"m": ("ece", {"strategy": "quantile", "n_bins": 2, "lens": f"class_wise_{reduce}"})}
    grid = {"generators": {"six": family}, "n": 30, "measures": measures, "methods": ["percentile"]}
    table = cs.study.run("coverage", **grid, replicates=10, seed=2, n_resamples=19)
    truths = []
    for cell in range(10):
        key = int.from_bytes(hashlib.blake2b(b"six/30", digest_size=8).digest(), "little")
        _, p = family.sample(30, np.random.SeedSequence([2, key, cell]).spawn(2)[0])
        cuts = [cut_of_two_bins(*np.unique(p[:, k], return_counts=True)) for k in range(3)]
        errors = [{0.1: 0.14 / 3, 0.3: 0.16 / 3, 0.6: 0.0}[cut] for cut in cuts]
        truths.append(np.mean(errors) if reduce == "mean" else max(errors))
    assert len(set(np.round(truths, 9))) > (reduce == "mean")  # the largest is .16 / 3 in most data sets
    assert table.loc[0, "truth"] == pytest.approx(np.mean(truths), abs=1e-12)


def test_a_comparison_of_models_of_the_same_rows_has_their_difference_as_truth():
    """Over fixed cells it is known: 1/4 - ln(2)/2 in two bins; over cells of data each model has cells of its own."""
    uniform = cs.generators.calibrated()
    pair = cs.generators.models(uniform, {"none": {}, "steep": {"temperature": 2}})
    measures = {"two": ("ece", {"n_bins": 2}), "quantile": ("ece", {"n_bins": 2, "strategy": "quantile"})}
    grid = {"replicates": 3, "seed": 5, "n_resamples": 19}
    table = cs.study.run("comparison", {"pair": pair}, 50, measures, **grid).set_index("measure")
    assert table.loc["two", "truth"] == pytest.approx(0.25 - np.log(2) / 2, abs=1e-9)
    truths = []
    for data, _ in seeds("pair", 50, 3):  # the first is right, the second predicts v² / (v² + (1 - v)²)
        cut = np.sort(pair.sample(50, data)[1]["none"])[24]  # 25 rows are in the lower bin of both
        ends = ((0, cut), (cut, 1))
        parts = [integrate.quad(lambda v: v**2 / (v**2 + (1 - v) ** 2) - v, *each)[0] for each in ends]
        truths.append(-sum(map(abs, parts)))
    assert table.loc["quantile", "truth"] == pytest.approx(np.mean(truths), abs=1e-9)
    swapped = cs.generators.models(uniform, {"steep": {"temperature": 2}, "none": {}})
    other = cs.study.run("comparison", {"pair": swapped}, 50, {"two": measures["two"]}, **grid)
    assert other["truth"][0] == pytest.approx(np.log(2) / 2 - 0.25, abs=1e-9)
