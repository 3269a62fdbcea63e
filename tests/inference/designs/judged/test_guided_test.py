"""The test guided by a judge: level for any judge that is blind, what breaks it, and its ranks by hand."""

import numpy as np
import pytest
from judged_by import judged_by

import calibstat as cs
from calibstat.inference.designs.judged.guided_test import direction_of, relatives, smaller_rank
from calibstat.study import most_rejections

N, LABELS, SETS = 400, 60, 150
ASKED = {"n_resamples": 99, "rng": 1}


def asked(seed):
    """Of data sets that are counted each has draws of its own: of shared ones their number would not be binomial."""
    return ASKED | {"rng": seed}


def data(seed, judge="right 90 %", wrong=0.0, ties=True, n=N):
    random = np.random.default_rng([4, seed])
    p = random.integers(1, 20, n) / 20 if ties else random.random(n)
    chance = 1 / (1 + np.exp(-(np.log(p) - np.log1p(-p)) - wrong))
    y = (random.random(n) < chance) * 1.0
    f = {
        "right 90 %": np.where(random.random(n) < 0.9, y, 1 - y),
        "adversarial": 1 - y,
        "echo": p,
        "reversed below .5": np.where(p < 0.5, 1 - y, y),
        "biased": np.where(random.random(n) < 0.3, 1.0, y),
    }[judge]
    labelled = random.permutation(n) < LABELS
    return np.where(labelled, y, np.nan), p, f


@pytest.mark.parametrize("judge", ["right 90 %", "adversarial", "echo", "reversed below .5", "biased"])
@pytest.mark.parametrize("ties", [True, False])
def test_a_calibrated_model_is_rejected_as_seldom_as_promised(judge, ties):
    """150 data sets at 10 %, the false alarm of all ten cells is 1e-3."""
    sets = (data(seed, judge, ties=ties) for seed in range(SETS))
    found = [
        cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), **asked(seed)) for seed, (y, p, f) in enumerate(sets)
    ]
    rejected = sum(each.pvalue <= 0.1 for each in found)
    assert rejected <= most_rejections(0.1, SETS, 1e-4)


def test_a_judge_that_saw_the_labels_is_a_planted_fault():
    """Its answers on other rows are the mean outcome of the labelled rows nearest to them: rejected far too often."""
    rejected = 0
    for seed in range(100):
        y, p, _ = data(seed, ties=False)
        known = np.flatnonzero(~np.isnan(y))
        nearest = np.argsort(np.abs(p[:, None] - p[known]), axis=1)[:, :5]
        saw = y[known][nearest].mean(axis=1)
        rejected += cs.calibration_test(y, p, judge=cs.Judge(saw, blind=True), **asked(seed)).pvalue <= 0.1
    assert rejected > 3 * most_rejections(0.1, 100, 1e-4) / 2


def copies(seed):
    """Each labelled row has four unlabelled copies, which a perfect judge gives away."""
    random = np.random.default_rng([5, seed])
    p = np.repeat(random.random(80), 5)
    y = np.repeat((random.random(80) < p[::5]) * 1.0, 5)
    few = np.where((np.arange(400) % 5 == 0) & (np.repeat(random.permutation(80), 5) < 60), y, np.nan)
    return few, p, y, np.repeat(np.arange(80), 5)


def test_copies_of_labelled_rows_break_it_unless_clusters_name_them():
    broken = kept = 0
    for seed in range(150):
        y, p, f, cluster = copies(seed)
        broken += cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), **asked(seed)).pvalue <= 0.1
        result = cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), cluster=cluster, **asked(seed))
        kept += result.pvalue <= 0.1
        assert result.rows.left_out == 240
    assert kept <= most_rejections(0.1, 150, 1e-4) < broken


def test_it_finds_more_than_the_labels_alone():
    guided = alone = 0
    for seed in range(100):
        y, p, f = data(seed, wrong=-0.5, n=2000)
        result = cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), measure="kernel_ce", **asked(seed))
        guided += result.rows.pvalue_direction <= 0.05
        alone += result.rows.pvalue_labels_only <= 0.05
    assert guided >= 20
    assert alone >= 20


def test_ranks_by_hand():
    """Of five sets with two statistics: ranks (1, 4), and of the draws (2, 2), (3, 1), (4, 3), (5, 5)."""
    observed, null = np.array([9.0, 2.0]), np.array([[8.0, 4.0], [7.0, 5.0], [6.0, 3.0], [5.0, 1.0]])
    pvalue, single = smaller_rank(observed, null)
    assert single == (1 / 5, 4 / 5)
    assert pvalue == 2 / 5  # the third set has a smallest rank of 1 too
    tied, each = smaller_rank(np.array([9.0, 0.0]), np.array([[9.0, 0.0], [1.0, 0.0]]))
    assert each == (2 / 3, 1.0)
    assert tied == 2 / 3


def test_the_direction_is_the_gap_of_judge_and_prediction_among_other_rows():
    y, p, f = data(1)
    rows = judged_by(y, p, f)
    direction = direction_of(rows)
    for v in np.unique(rows.prediction):
        others = ~rows.labelled & (rows.prediction == v)
        assert direction[rows.prediction == v] == pytest.approx(np.mean((rows.proxy - rows.prediction)[others]))


def test_answers_on_labelled_rows_do_not_matter():
    y, p, f = data(1)
    other = np.where(np.isnan(y), f, 1 - f)
    one, two = (cs.calibration_test(y, p, judge=cs.Judge(each, blind=True), **ASKED) for each in (f, other))
    assert one.pvalue == two.pvalue
    assert one.rows.pvalue_direction == two.rows.pvalue_direction


def test_rows_in_a_cluster_with_a_labelled_one_are_relatives():
    y, p, f, cluster = copies(1)
    rows = judged_by(y, p, f, cluster=cluster)
    held = np.unique(rows.unit[rows.labelled])
    assert (relatives(rows) == (np.isin(rows.unit, held) & ~rows.labelled)).all()


def test_the_premise_is_asked_for():
    y, p, f = data(1)
    for blind in (None, False):
        with pytest.raises(ValueError, match=r"cs\.Judge\(answers, blind=True\), if the judge never saw an outcome"):
            cs.calibration_test(y, p, judge=cs.Judge(f, blind=blind), **ASKED)
    with pytest.raises(ValueError, match="a method of rows with judge=, one of direction, noise; found 'power'"):
        cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), method="power", **ASKED)
    with pytest.raises(ValueError, match="expected method='noise' with inclusion="):
        cs.calibration_test(y, p, judge=cs.Judge(f, inclusion=np.full(N, 0.15), blind=True), **ASKED)
    with pytest.raises(ValueError, match="at most one labelled row in a cluster"):
        cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), cluster=np.arange(N) // 4, **ASKED)
    with pytest.raises(ValueError, match="without judge= beside stop_after=, because no study covers both; found"):
        cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), stop_after=5, **ASKED)
    with pytest.raises(ValueError, match=r"expected judge=cs\.Judge\(answers, blind=True\) .*found blind=True"):
        cs.calibration_test(np.round(p), p, blind=True, **ASKED)


@pytest.mark.parametrize("measure", ["ks", "kuiper", "kernel_ce", "smooth_ce", "ece"])
def test_the_measure_of_labels_alone_is_its_exact_test(measure):
    y, p, f = data(2, wrong=-0.6)
    result = cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), measure=measure, n_resamples=999, rng=1)
    known = ~np.isnan(y)
    alone = cs.calibration_test(y[known], p[known], measure=measure, n_resamples=999, rng=1)
    assert result.statistic == pytest.approx(alone.statistic)
    assert result.rows.pvalue_labels_only == pytest.approx(alone.pvalue, abs=0.06)


def test_what_it_prints_says_on_what_it_rests():
    y, p, f = data(1)
    text = str(cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), **ASKED))
    assert "guided by a judge" in text
    assert "60 labelled rows among 400" in text
    assert "Labels alone: p =" in text
    assert "Exact if the judge never saw an outcome" in text
    assert "tuned on the labelled rows" in text
    by_noise = cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), method="noise", **ASKED)
    assert "approximate: studied" in str(by_noise)
    assert np.isnan(by_noise.rows.pvalue_direction)
