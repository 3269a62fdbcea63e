"""The test of rows in clusters: signs of clusters, and labels where these are less favourable."""

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run
from posed_problem import pose
from scipy.stats import binomtest

import calibstat as cs
from calibstat import resampling
from calibstat.inference.p_values import largest_p_value, p_value
from calibstat.inference.problems.calibrated_clusters import fewest_events, labels_in_spread
from calibstat.resampling import Draws, Stream
from calibstat.study import most_rejections

HALF = np.array([1] * 32 + [0] * 8)  # of 40 clusters, each predicted with 1/2


def of_clusters(y, p, cluster, **options):
    return cs.calibration_test(y, p, **{"measure": "ks", "cluster": cluster, "rng": 1, **options})


@pytest.mark.parametrize("size", [1, 20])
def test_constant_predictions_of_one_half_are_a_sign_test(size):
    """Rows of a cluster share their outcome, so signs of clusters are those of a binomial test of 40 coins."""
    y = np.repeat(HALF[:36], size)  # 32 of 36
    found = of_clusters(y, np.full(y.size, 0.5), np.repeat(np.arange(36), size), n_resamples=4999)
    assert found.pvalue == pytest.approx(binomtest(32, 36).pvalue, abs=1e-3)
    even = np.repeat(np.tile([1, 1, 1, 0, 0], 8)[:36], size)  # 22 of 36
    found = of_clusters(even, np.full(even.size, 0.5), np.repeat(np.arange(36), size), n_resamples=4999)
    assert found.pvalue == pytest.approx(binomtest(22, 36).pvalue, abs=0.025)
    rows = cs.calibration_test(even, np.full(even.size, 0.5), measure="ks", rng=1)
    assert (rows.pvalue < 0.01) == (size == 20)  # the twin: rows taken as independent


def test_no_event_is_no_evidence():
    """Signs keep the squares of the residuals, which are tiny where nothing was observed: by them alone p is small."""
    p = np.random.default_rng(1).beta(2, 198, 600)
    y, cluster = np.zeros(600, int), np.arange(600) // 20
    found = of_clusters(y, p, cluster)
    problem = pose(y, p, "ks", {}).in_clusters(cluster)
    signs = problem.null_draws(Draws.of(1, 999))["signs of clusters"]
    assert p_value(problem.statistic(), signs, "greater") <= 0.01
    assert found.pvalue > 0.05
    assert "labels that clusters share" in str(found)


def test_it_is_the_gate_of_the_interval():
    y, p = cs.generators.shift(0.6).sample(400, rng=2)
    cluster = np.arange(400) // 8
    for measure in ("ece", "ks", "kernel_ce"):
        found = of_clusters(y, p, cluster, measure=measure)
        problem = pose(y, p, measure, {}).in_clusters(found_units(cluster))
        assert found.pvalue == largest_p_value(problem.statistic(), problem.null_draws(Draws.of(1, 999)))[0]
        assert found.statistic == pytest.approx(cs.estimate(y, p, measure=measure))


def found_units(cluster):
    return np.unique(cluster, return_inverse=True)[1]


def test_what_it_says():
    y, p = cs.generators.calibrated().sample(300, rng=2)
    found = of_clusters(y, p, np.arange(300) // 3)
    assert found.resample == "sign_flip"
    assert f"(p = {found.pvalue:.3g}, approximate)" in found.answer
    assert "100 clusters" in str(found.null_hypothesis)
    assert "detectable_effect" not in str(found)


def test_calibrated_models_are_rarely_rejected():
    """Of 150 data sets of 40 clusters whose rows are as alike as they can be, at a level of .08.

    The test is approximate: the study `clusters` finds up to .073.
    """
    rejected = exact = 0
    for seed in range(150):
        random = np.random.default_rng([5, seed])
        p, cluster = random.random(320), np.arange(320) // 8
        y = (random.random(40)[cluster] < p).astype(int)
        rejected += of_clusters(y, p, cluster, n_resamples=99, rng=seed).pvalue <= 0.05
        exact += cs.calibration_test(y, p, measure="ks", n_resamples=99, rng=seed).pvalue <= 0.05
    assert rejected <= most_rejections(0.08, 150, 1e-3) < exact  # the twin


def large_beside_single(large, size, chance, single, other=0.5, other_size=1):
    """Clusters of a rare outcome that all of their rows share, beside others: predictions and clusters."""
    number = np.repeat(np.arange(large + single), np.repeat([size, other_size], [large, single]))
    return np.where(number < large, chance, other), number


UNEQUAL = [(6, 100, 0.1, 40), (6, 100, 0.1, 600), (20, 30, 0.05, 20, 0.98, 30)]


def gate(posed, draws):
    """The largest p-value of all ways to draw calibrated clusters."""
    return largest_p_value(posed.statistic(), posed.null_draws(draws))[0]


def most(sets):
    return most_rejections(0.05, sets, 1e-4)


def rejections(pvalue, case, measure, sets=60):
    """How often this p-value of a calibrated model is at most .05."""
    p, cluster = large_beside_single(*case)
    found = 0
    for seed in range(sets):
        uniform = np.random.default_rng([7, seed]).random(cluster[-1] + 1)
        posed = pose((uniform[cluster] < p).astype(int), p, measure, {}).in_clusters(cluster)
        found += pvalue(posed, Draws.of(seed, 99)) <= 0.05
    return found


@pytest.mark.parametrize(("case", "measure"), [*((case, "ece") for case in UNEQUAL), (UNEQUAL[0], "kernel_ce")])
def test_clusters_of_unequal_sizes_or_prevalences(case, measure):
    """Small clusters, or those where the other outcome is rare, do not make up for a few that show no event."""
    assert rejections(gate, case, measure) <= most(60)


def test_signs_and_independent_labels_alone_reject_too_often():
    """The planted fault."""

    def without(posed, draws):
        nulls = posed.null_draws(draws)
        del nulls["labels that clusters share"]
        return largest_p_value(posed.statistic(), nulls)[0]

    for case in UNEQUAL:
        assert rejections(without, case, "ece", 100) > most(100)


def counted(case, outcome, by_square=True):
    p, cluster = large_beside_single(*case)
    return fewest_events(pose(outcome[cluster].astype(int), p, "ks", {}).in_clusters(cluster).table, by_square)


def test_clusters_count_by_the_squares_of_their_sizes():
    none, every = np.zeros(10, bool), np.ones(10, bool)
    alternate = np.arange(10) % 2 == 0
    assert counted((5, 3, 0.1, 5, 0.5, 3), alternate) == pytest.approx(5 * 0.1 + 5 * 0.5)  # equal sizes
    assert counted((5, 3, 0.1, 5, 0.95, 3), alternate) == pytest.approx(5 * 0.1 + 5 * 0.05)  # the less likely outcome
    assert counted((5, 3, 0.5, 5, 0.5, 3), none) == counted((5, 3, 0.5, 5, 0.5, 3), every) == 0
    square = 5 * 16 * 0.1 + 5 * 0.5  # 5 clusters of 4 rows at .1, 5 of 1 at .5; the fourth powers are 256 and 1
    unit = (5 * 256 * 0.1 + 5 * 0.5) / square
    assert counted((5, 4, 0.1, 5), alternate) == pytest.approx(square / unit)
    single = np.arange(10) >= 8  # outcome 1 in two clusters of 1 row
    assert counted((5, 4, 0.1, 5), single) == pytest.approx(2 / unit)
    assert counted((5, 4, 0.1, 5), alternate, by_square=False) == pytest.approx(5 * 0.1 + 5 * 0.5)
    assert counted((5, 4, 0.1, 5), single, by_square=False) == 2
    assert counted((5, 4, 0.0, 5, 1.0), np.arange(10) >= 5) == 0  # nothing can vary


@pytest.mark.parametrize("weight", [None, 3.0])
def test_labels_that_clusters_share_by_hand(weight):
    """Each resample is the statistic of shared labels, times the spread of the data over its own."""
    random = np.random.default_rng(4)
    cluster = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 20, 40])
    p = random.choice([0.02, 0.17, 0.18, 0.6, 1.0], cluster.size)
    y = (random.random(cluster.size) < p).astype(int)
    given = {} if weight is None else {"sample_weight": np.full(y.size, weight)}
    posed = pose(y, p, "ks", {}, **given).in_clusters(cluster)
    drawn = labels_in_spread(posed.table, posed.of, Draws.of(2, 20))
    table = posed.table
    residual, unit, prediction = table.residual, table.unit, table.prediction

    def spread(r):
        sums = np.zeros((8, 10))
        np.add.at(sums, (unit, np.minimum((10 * prediction).astype(int), 9)), r)
        return np.sqrt((sums**2 / np.bincount(unit)[:, None]).sum())

    expected = resampling.sums_of_row_labels(
        np.arange(y.size),
        prediction,
        y.size,
        unit,
        None,
        lambda r: posed.of(np.bincount(table.cell, r)) * spread(residual) / spread(r * y.size),
        Draws.of(2, 20),
        Stream.SHARED,
    )
    assert drawn == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"measure": "ece_debiased"},
            "no test with clusters is known for ece_debiased: .* there is one for .* ece, mean, ks",
        ),
        ({"method": "signs"}, "no method= for a test of rows with cluster=, which has one way; found 'signs'"),
        ({"cluster": None, "method": "signs"}, "no method= for a test, which has one way; found 'signs'"),
        ({"method": "sign_flip"}, "expected no method=, as rows in clusters .* found method='sign_flip'"),
        ({"cluster": None, "method": "sign_flip"}, "expected no method=, .* found method='sign_flip'"),
        ({"resample": "both"}, "without cluster= beside resample=, because no study .* found resample='both'"),
        ({"stop_after": 5}, "without cluster= beside stop_after=, because no study covers both; found stop_after=5"),
        ({"null": np.sqrt}, "without cluster= beside null=, because how outcomes of a cluster depend on each other"),
        ({"cluster": [1, 2]}, "expected one cluster a row"),
    ],
)
def test_what_is_refused(options, message):
    y, p = cs.generators.calibrated().sample(120, rng=2)
    with pytest.raises(ValueError, match=message):
        of_clusters(y, p, **{"cluster": np.arange(120) // 3, **options})


def test_each_class_has_no_test_with_clusters():
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(120, rng=1)
    with pytest.raises(ValueError, match="lens 'class_wise_mean' or 'class_wise_max' for a test with clusters"):
        cs.calibration_test(label, prob, lens="class_wise", cluster=np.arange(120) // 3)
    assert str(cs.calibration_test(label, prob, cluster=np.arange(120) // 3, rng=1).lens) == "lens top_label"


def test_the_command(tmp_path):
    y, p = cs.generators.shift(0.8).sample(300, rng=2)
    frame = pd.DataFrame({"y": y, "p": p, "day": np.arange(300) // 5})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    given = ["test", tmp_path / "rows.csv", "--label", "y", "--prob", "p", "--cluster", "day"]
    text = plain_text(run(*given, "--measure", "ks", "--rng", 3, "--verbose").stdout)
    found = of_clusters(y, p, frame["day"], rng=3)
    assert text.startswith(f"Not calibrated (p = {found.pvalue:.3f} (approximate)).")
    assert plain_text(found.details) in text
    fails_with(
        run(*given, "--stop-after", 20),
        "expected rows without --cluster beside --stop-after, because",
    )
    fails_with(run(*given, "--measure", "ece_debiased"), "no test with clusters is known for ece_debiased")
