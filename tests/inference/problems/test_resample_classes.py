"""Resamples of measures of several classes, against slow recomputation; neither threads nor memory show."""

import numpy as np
import pytest
from class_draws import KEY, draws, example, names, slow_draw

from calibstat.inference.problems.resample import resampler
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Consistency, Draws, Labels, Pairs, threads

VECTORS = {
    "canonical_ce": {"min_size": 15},
    "canonical_ce, held": {"min_size": 15, "refit": False, "distance": "l1"},
    "canonical_ce, grid": {"strategy": "uniform", "n_bins": 3, "distance": "squared_euclidean"},
    "canonical_ce, function": {"min_size": 15, "distance": lambda a, b: float(np.abs(a - b).max())},
    "gce": {},
    "gce, adaptive": {"binning": "adaptive", "max_prob": True, "norm": "l2"},
}


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("name", VECTORS)
def test_canonical_measures(name, scheme):
    predictions = example(80, 3, digits=1)
    bound = find_measure(name.split(",")[0], VECTORS[name])
    drawn = resampler(bound, predictions, scheme, 1)(Draws(KEY, 12))
    for replicate, (found, (prob, label)) in enumerate(zip(drawn, draws(predictions, scheme, 12), strict=True)):
        if "held" in name and scheme != Labels():  # the cells of the data
            cell = bound.cells(predictions.prob)[slow_draw(predictions, scheme, replicate)[0]]
            expected = sum(
                np.abs((np.eye(3)[label[cell == b]] - prob[cell == b]).sum(axis=0)).sum() / 80 for b in np.unique(cell)
            )
        else:
            expected = bound.evaluate(prob, label)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
def test_canonical_scores(measure, scheme):
    predictions = example(80, 3)
    bound = find_measure(measure, {}).multiclass()
    drawn = resampler(bound, predictions, scheme, 1)(Draws(KEY, 12))
    for found, (prob, label) in zip(drawn, draws(predictions, scheme, 12), strict=True):
        observed = prob[np.arange(80), label]
        loss = ((np.eye(3)[label] - prob) ** 2).sum(axis=1) if measure == "brier" else -np.log(observed)
        assert found == pytest.approx(loss.mean(), rel=1e-12)


TASKS = {
    "cells of each class": ("ece", {}),
    "quantiles of each class": ("ece", {"strategy": "quantile"}),
    "each class": ("ks", {}),
    "cells": ("canonical_ce", {"min_size": 15}),
    "held cells": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}),
    "vectors": ("gce", {}),
}


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("task", TASKS)
def test_threads_and_memory_do_not_show(task, scheme, monkeypatch):
    measure, options = TASKS[task]
    predictions, bound = example(60, 4), find_measure(measure, options)
    base = resampler(bound, predictions, scheme, 1)(Draws(KEY, 37))
    assert np.array_equal(resampler(bound, predictions, scheme, 1)(Draws(KEY, 37, 3)), base)
    assert np.array_equal(
        resampler(bound, predictions, scheme, 1)(Draws(KEY, 21)), base[:21]
    )  # more resamples go on from these
    assert not np.array_equal(resampler(bound, predictions, scheme, 2)(Draws(KEY, 37)), base)
    for piece, n_jobs in ((1, 2), (1000, 1), (10_000, 2)):
        monkeypatch.setattr(threads, "LARGEST_PIECE", piece)
        assert np.array_equal(resampler(bound, predictions, scheme, 1)(Draws(KEY, 37, n_jobs)), base)


def test_pieces_are_small():
    """With 1000 rows of labels, 2**26 bytes hold 8388 replicates of them."""
    for size, n_jobs, most in ((999, 1, None), (999, 1, 100), (999, 2, 100), (7, 2, 0), (1, 1, 0), (20_000, 1, 8388)):
        pieces = threads.chunks(size, n_jobs, most)
        assert [i for first, last in pieces for i in range(first, last)] == list(range(size))
        assert max(last - first for first, last in pieces) <= max(most or size, 1)
    assert len(threads.chunks(999, 1)) == 1
