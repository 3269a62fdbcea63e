"""The check that labelled rows are a random subset: its level, what it finds, and what it cannot find."""

import numpy as np
import pytest
from judged_by import judged_by

import calibstat as cs
from calibstat.inference.designs.judged.design_check import UNLIKELY, design_note, design_p_value
from calibstat.study import most_rejections

N, LABELS = 300, 80


def rows_of(seed, choose=None, **more):
    random = np.random.default_rng(seed)
    p = random.integers(1, 20, N) / 20
    y = (random.random(N) < p) * 1.0
    f = np.where(random.random(N) < 0.9, y, 1 - y)
    chance = np.full(N, LABELS / N)
    if choose is not None:
        chance = choose(p, f)
        chance *= LABELS / chance.sum()
    if choose is None and "inclusion" not in more:
        labelled = random.permutation(N) < LABELS
    else:
        labelled = random.random(N) < chance
    if "inclusion" in more:
        more["inclusion"] = chance
    return judged_by(np.where(labelled, y, np.nan), p, f, **more)


def p_values(number, **more):
    return np.array([design_p_value(rows_of(seed, **more), np.uint64(seed)) for seed in range(number)])


def by_answer(p, f):
    return np.where(f == 1, 2.2, 1.0)


def by_prediction(p, f):
    return 0.4 + p


@pytest.mark.parametrize("more", [{}, {"choose": by_answer, "inclusion": True}])
def test_random_labels_are_doubted_as_often_as_promised(more):
    """200 data sets at 10 %: an exact binomial limit with a false alarm of 1e-4."""
    found = p_values(200, **more)
    assert np.count_nonzero(found <= 0.1) <= most_rejections(0.1, 200, 1e-4)
    assert found.mean() > 0.4


@pytest.mark.parametrize("choose", [by_answer, by_prediction])
def test_labels_chosen_by_answer_or_prediction_are_found(choose):
    """The planted fault: at 10 % about 90 of 100 data sets are doubted; a level of 10 % would have 33 at most."""
    assert np.count_nonzero(p_values(100, choose=choose) <= 0.1) >= 60
    assert most_rejections(0.1, 100, 1e-4) < 60


def test_what_depends_on_neither_is_not_found():
    """Nobody can see a prompt that was tuned on the labelled rows if it does not change the share of answers 1."""
    found = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        p, labelled = random.integers(1, 20, N) / 20, random.permutation(N) < LABELS
        y = (random.random(N) < p) * 1.0
        f = np.where(random.random(N) < np.where(labelled, 0.98, 0.75), y, 1 - y)
        found.append(design_p_value(judged_by(np.where(labelled, y, np.nan), p, f), np.uint64(seed)))
    assert np.mean(np.array(found) <= 0.1) < 0.3


def plain_p_value(rows, unit, draws=4000):
    """The share of random subsets of units that differ by as much; predictions have 20 groups of one size."""
    group = np.searchsorted(np.quantile(rows.prediction, np.arange(1, 20) / 20), rows.prediction)
    answer = rows.proxy - np.array([rows.proxy[group == k].mean() for k in range(20)])[group]
    sums = np.stack([np.bincount(unit, each - each.mean()) for each in (rows.prediction, answer)])
    chosen = np.bincount(unit, rows.labelled) > 0
    spread = sums.std(axis=1)
    random = np.random.default_rng(1)
    drawn = [np.abs(sums[:, random.permutation(chosen)].sum(axis=1) / spread).max() for _ in range(draws)]
    return np.mean(np.array(drawn) >= np.abs(sums[:, chosen].sum(axis=1) / spread).max() - 1e-9)


def test_whole_clusters_are_permuted_whole():
    """Both p-values have 999 and 4000 draws: .08 are five standard errors at most."""
    random = np.random.default_rng(1)
    cluster = np.repeat(np.arange(200), 3)
    p = np.repeat(random.random(200), 3) * 0.99 + 0.01 * random.random(600)
    y = (random.random(600) < p) * 1.0
    labelled = np.isin(cluster, np.argsort(p[::3] + 6 * random.random(200))[:60])
    rows = judged_by(np.where(labelled, y, np.nan), p, y, cluster=cluster)
    as_rows = judged_by(np.where(labelled, y, np.nan), p, y)
    whole, single = plain_p_value(rows, rows.unit), plain_p_value(as_rows, np.arange(600))
    assert design_p_value(rows, np.uint64(3)) == pytest.approx(whole, abs=0.08)
    assert design_p_value(as_rows, np.uint64(3)) == pytest.approx(single, abs=0.08)
    assert single < whole - 0.1  # the planted fault: 180 rows are not as independent as 60 clusters


def test_predictions_and_answers_that_are_all_alike_say_nothing():
    y = np.where(np.arange(N) < LABELS, np.arange(N) % 2, np.nan)
    assert design_p_value(judged_by(y, np.full(N, 0.5), np.full(N, 0.3)), np.uint64(1)) == 1


def test_results_warn_first():
    random = np.random.default_rng(1)
    p = random.random(N)
    y = (random.random(N) < p) * 1.0
    chosen = np.where(np.argsort(np.argsort(p)) < LABELS + 20, y, np.nan)
    result = cs.confidence_interval(chosen, p, judge=cs.Judge(y), measure="ks", n_resamples=19, rng=1)
    assert result.rows.design_pvalue <= UNLIKELY
    assert result.note.startswith("Warning: labelled rows are not like the others (p = 0.00")
    assert design_note(0.5) == ""
