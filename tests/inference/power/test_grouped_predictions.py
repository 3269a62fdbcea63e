"""Groups of predictions: sums, ends and widths of groups, and the answer beside the one from every prediction."""

from importlib import import_module

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.checked_rows import data_of_predictions
from calibstat.inference.power.fixed_tests import one_number, pose_predictions
from calibstat.inference.power.grouped_predictions import grouped, with_few_values
from calibstat.measures.kinds.base import Measure

DETECTABLE_EFFECT = import_module("calibstat.inference.power.detectable_effect")
TOO_FEW = 8  # groups, of which each joins bins of the ece
DRAWS = {"n_resamples": 999, "n_datasets": 200}


def predictions(kind, n):
    random = np.random.default_rng(5)
    return {
        "usual": lambda: random.beta(1, 3, n),
        "uniform": lambda: random.random(n),
        "near 0 and 1": lambda: random.beta(0.1, 0.1, n),
        "rare": lambda: random.beta(0.3, 30, n),
        "few": lambda: random.choice([0.0, 0.1, 0.3, 0.5, 1.0], n),
        "rounded": lambda: np.round(random.beta(1, 3, n), 4),
    }[kind]()


KINDS = "usual", "uniform", "near 0 and 1", "rare", "few", "rounded"


def sample_of(p):
    return cs.Sample.from_rows(np.arange(len(p)) % 2, p)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [16, 500])
def test_groups_hold_the_rows_and_sums_of_close_predictions(kind, most):
    sample = sample_of(predictions(kind, 3000))
    groups = grouped(sample, most)
    if sample.value.size <= most:
        assert groups is sample
        return
    assert groups.value.size <= most + 2
    assert np.all(np.diff(groups.value) > 0)
    assert groups.value[0] >= sample.value[0]
    assert groups.value[-1] <= sample.value[-1]
    assert groups.n == sample.n
    assert groups.positives.sum() == sample.positives.sum()
    assert groups.count @ groups.value == pytest.approx(sample.count @ sample.value)
    for end in (0.0, 1.0):
        assert groups.count[groups.value == end].sum() == sample.count[sample.value == end].sum()
    assert np.all((groups.count <= 2 * sample.n / most + 1) | np.isin(groups.value, sample.value))


def test_a_group_of_neighbours_is_their_mean():
    p = np.repeat([0.25, np.nextafter(0.25, 1), 0.75, np.nextafter(0.75, 1)], [1, 2, 3, 1])
    groups = grouped(sample_of(p), 2)
    assert groups.count.tolist() == [3, 4]
    assert groups.value == pytest.approx([0.25, 0.75], abs=1e-15)


def test_few_predictions_weights_and_classes_stay_as_they_are(monkeypatch):
    random = np.random.default_rng(1)
    p = random.random(300)
    few = pose_predictions(p, "ks", {})
    assert with_few_values(few) is few
    monkeypatch.setattr(Measure, "most_values", 10)
    assert with_few_values(few).view.predicted.size <= 12
    weighted = one_number(data_of_predictions(p, sample_weight=random.random(300)), cs.measures.KS())
    assert with_few_values(weighted) is weighted
    classes = pose_predictions(random.dirichlet([1, 1, 1], 300), "brier", {}, lens="canonical")
    assert with_few_values(classes) is classes


def effects(p, measure, seeds, most, monkeypatch, **draws):
    """Return the temperature above 1 and the shift that are found with each seed, with so many groups or the usual."""
    monkeypatch.setattr(cs.MEASURES[measure], "most_values", most or cs.MEASURES[measure].most_values)
    return np.array([cs.detectable_effect(p, measure=measure, rng=s, **draws).effect for s in range(seeds)]) - [1, 0]


def monte_carlo_errors(of_groups, of_all):
    """Return by how many Monte Carlo errors of one answer from all predictions the means of both differ."""
    return np.abs(of_groups.mean(axis=0) - of_all.mean(axis=0)) / of_all.std(axis=0, ddof=1)


def test_groups_move_the_answer_by_less_than_its_noise_and_too_few_by_more(monkeypatch):
    asked = predictions("uniform", 20_000), "ece", 4
    of_groups, of_all, of_few = (effects(*asked, most, monkeypatch, **DRAWS) for most in (None, 20_000, TOO_FEW))
    assert np.all(monte_carlo_errors(of_groups, of_all) < 1)
    assert np.all(monte_carlo_errors(of_few, of_all) > 2)


def test_the_omnibus_statistic_of_a_thousand_rows_needs_no_more_groups_and_too_few_move_it(monkeypatch):
    asked = predictions("near 0 and 1", 1000), "omnibus", 4
    of_groups, of_all, of_few = (effects(*asked, most, monkeypatch, **DRAWS) for most in (None, 1000, TOO_FEW))
    assert np.all(monte_carlo_errors(of_groups, of_all) < 1)
    assert np.any(monte_carlo_errors(of_few, of_all) > 2)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["omnibus", "ece"])
@pytest.mark.parametrize("kind", KINDS)
def test_groups_move_the_answer_by_less_than_its_noise_for_all_kinds_of_predictions(measure, kind, monkeypatch):
    asked = predictions(kind, 100_000), measure, 4
    of_groups, of_all = (effects(*asked, most, monkeypatch) for most in (None, 100_000))
    assert np.all(np.abs(of_groups.mean(axis=0) - of_all.mean(axis=0)) <= of_all.std(axis=0, ddof=1))


@pytest.mark.slow
def test_of_a_million_rows_too(monkeypatch):
    asked = predictions("usual", 1_000_000), "omnibus", 3
    of_groups, of_all = (effects(*asked, most, monkeypatch) for most in (None, 1_000_000))
    assert np.all(monte_carlo_errors(of_groups, of_all) < 1)


def test_what_is_drawn_has_as_many_values_for_any_number_of_rows(monkeypatch):
    """The cost of an answer is that of its draws: no part of the search sees more than the groups."""
    seen = []
    search = DETECTABLE_EFFECT._strength

    def record(test, *rest):
        seen.append(test.predicted.size)
        return search(test, *rest)

    monkeypatch.setattr(DETECTABLE_EFFECT, "_strength", record)
    draws = {"n_resamples": 19, "n_datasets": 19, "rng": 1}
    for measure, sizes in {"ece": (20_000, 60_000), "omnibus": (1000, 60_000)}.items():
        most = cs.MEASURES[measure].most_values
        for n in sizes:
            cs.detectable_effect(predictions("uniform", n), measure=measure, **draws)
            assert most / 2 < seen.pop() <= most + 2
