"""The claims of canonical measures, on samples whose frequencies are exact."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures import MEASURES, MulticlassMeasure
from calibstat.measures.kinds.registry import multiclass_measures

VECTORS = [name for name, entry in MEASURES.items() if issubclass(entry, MulticlassMeasure)]
FORMS = {
    **{name: MEASURES[name]() for name in VECTORS},
    **{
        f"{name} of vectors": MEASURES[name]().multiclass()
        for name in multiclass_measures()
        if name not in VECTORS and not MEASURES[name].info.for_tests_only
    },
}


def exact_rows(prob, distribution, size):
    """Rows in which every vector of prob comes `size` times, with each class as often as its distribution says."""
    times = np.rint(np.asarray(distribution) * size).astype(int)
    assert np.all(times.sum(axis=1) == size)
    label = np.concatenate([np.repeat(np.arange(len(row)), row) for row in times])
    return label, np.repeat(np.asarray(prob, float), size, axis=0)


CALIBRATED = exact_rows(*[np.array([[8, 4, 4], [1, 7, 8], [0, 16, 0], [2, 2, 12]]) / 16] * 2, 160)
SIX = np.array([[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]) / 10
SIX_POINTS = exact_rows(SIX, np.array([[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]) / 10, 150)


def value(entry, label, prob):
    return entry.evaluate(np.ascontiguousarray(prob), label)


@pytest.mark.parametrize("name", FORMS)
def test_complete(name):
    # every vector has the frequencies it predicts, so that whatever sums residuals by vectors is 0
    assert (abs(value(FORMS[name], *CALIBRATED)) < 1e-12) == FORMS[name].info.complete


@pytest.mark.parametrize("name", FORMS)
def test_sound(name):
    # canonical errors of a tenth that neither single classes nor one cell can see
    label, prob = SIX_POINTS
    entry = FORMS[name]
    blind = {"canonical_ce": {"min_size": 10_000}, "gce": {}}.get(name)
    assert entry.info.sound == (blind is None)
    found = replace(entry, **(blind or {})).evaluate(prob, label)
    assert (abs(found) > 1e-4) == entry.info.sound


@pytest.mark.parametrize("name", FORMS)
def test_continuous(name):
    # all vectors on an edge of the bins of every measure here, and all at one place for a tree
    prob = np.tile([[0.2, 0.4, 0.4]], (400, 1))
    label = np.arange(400) % 2
    moved = prob.copy()
    moved[::2] += np.array([1e-9, -2e-9, 1e-9])
    jump = abs(value(FORMS[name], label, moved) - value(FORMS[name], label, prob))
    assert (jump < 1e-6) == FORMS[name].info.continuous


@pytest.mark.parametrize("name", FORMS)
def test_symmetric(name):
    # classes in another order; bins that are open on one side do not matter for it
    rng = np.random.default_rng(1)
    prob = rng.dirichlet([1, 2, 0.5, 1], 1500)
    label = rng.integers(0, 4, 1500)
    order = np.array([2, 0, 3, 1])
    there = value(FORMS[name], np.argsort(order)[label], prob[:, order])
    assert FORMS[name].info.symmetric
    assert there == pytest.approx(value(FORMS[name], label, prob), abs=1e-12)


@pytest.mark.parametrize("name", [*FORMS, "omnibus"])
def test_bounds_and_batches(name):
    entry = FORMS.get(name) or MEASURES[name]().multiclass()
    rng = np.random.default_rng(2)
    prob = rng.dirichlet([0.3] * 5, 300)
    labels = rng.integers(0, 5, (7, 300))
    low, high = entry.info.bounds
    found = entry.batch(prob, labels)
    assert np.all((low <= found) & (found <= high))
    assert found == pytest.approx([entry.evaluate(prob, label) for label in labels], rel=1e-12, abs=1e-15)


def test_which_there_are():
    assert set(VECTORS) == {"canonical_ce", "gce", "skce"}
    assert set(FORMS) - set(VECTORS) == {"brier of vectors", "log_loss of vectors"}


def test_two_classes_are_twice_the_brier_score_and_the_log_loss():
    rng = np.random.default_rng(3)
    v = rng.random(200)
    y = (rng.random(200) < v).astype(int)
    prob = np.column_stack((1 - v, v))
    assert cs.estimate(y, prob, measure="brier", lens="canonical") == pytest.approx(
        2 * cs.estimate(y, v, measure="brier")
    )
    assert cs.estimate(y, prob, measure="log_loss", lens="canonical") == pytest.approx(
        cs.estimate(y, v, measure="log_loss")
    )


def test_a_measure_of_cells_that_is_no_norm_has_estimates_and_no_honest_interval():
    """The largest share of rows in a cell, one for each most likely class: 2 of 3 rows."""

    class Fullest(cs.measures.VectorBinned):
        name, info = "fullest", cs.measures.Info("Fullest cell", (0, 1))

        def cells(self, prob):
            return prob.argmax(axis=1)

        def reduce(self, count, residual, value):
            return (count / count.sum(axis=-1, keepdims=True)).max(axis=-1)

    rows = [0, 1, 2], [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    assert cs.estimate(*rows, measure=Fullest(), lens="canonical") == 2 / 3
    assert cs.detail(*rows, measure=Fullest(), lens="canonical").fields == {}
    with pytest.raises(ValueError, match="no honest interval"):
        cs.confidence_interval(*rows, measure=Fullest(), lens="canonical", method="honest")


def test_the_form_of_classes_has_the_options_of_its_measure():
    single = MEASURES["omnibus"]()
    assert single.multiclass().options == single.options
