"""The one function that draws: which schemes go with which source, whatever the threads and chunks."""

import re
from itertools import product

import numpy as np
import pytest
from row_examples import CELL, KEY, OUTCOME, PREDICTIONS, RESIDUAL, SAMPLE, UNIT, N

from calibstat import compiled
from calibstat.data.weighted_sample import weighted_sample
from calibstat.resampling import (
    CellSums,
    ClassCells,
    ClassSamples,
    Clusters,
    Consistency,
    Draws,
    Labels,
    ModelPair,
    Pairs,
    RowLabels,
    Stream,
    Swap,
    binary_cells,
    draw,
    in_cells,
    packed,
    threads,
)

WEIGHTED = weighted_sample(OUTCOME[:, 0] * 1.0, SAMPLE.value[CELL[:, 0] % 3], np.linspace(0.5, 2.0, N))
EACH_ROW = RowLabels(CELL[:, 0] % 3, np.column_stack((np.linspace(1, 0, N), np.linspace(0, 1, N))), None)
SCHEMES = (Labels(), EACH_ROW, Consistency(), Pairs(), Clusters(UNIT), Swap(UNIT))
OF_COUNTS = {"Labels", "Consistency", "Pairs"}
OF_ROWS = OF_COUNTS | {"Clusters"}


def of_predictions(*drawn):
    return drawn[0].sum(axis=1) if len(drawn) == 1 else float(drawn[0] @ drawn[1])


GROUPS = packed(np.linspace(0, 1, N), np.arange(N) % 2, 2, [np.arange(N) % 3 > 0, np.arange(N) < N])
SOURCES = [
    (SAMPLE, OF_COUNTS | {"RowLabels"}, lambda value, count, positives: float(count @ value + positives.sum())),
    (in_cells(SAMPLE, np.array([0, 0, 1])), OF_COUNTS, lambda count, residual, value: (count * residual).sum(axis=-1)),
    (in_cells(WEIGHTED, np.array([0, 0, 1])), OF_ROWS, lambda count, residual, value: (count * residual).sum(axis=-1)),
    (PREDICTIONS, OF_ROWS, of_predictions),
    (ClassSamples(PREDICTIONS), OF_ROWS, lambda value, count: lambda v, c, a: float((c + 2 * a) @ v)),
    (ClassCells(PREDICTIONS, np.zeros((N, 1), np.int64), 1, 3), {"Labels"}, lambda sums: 1.5 * sums[:, 0]),
    (GROUPS, {"Labels"}, lambda positives: positives[..., 0] @ [1.0, 0.5]),
    (ModelPair(CELL % 3, OUTCOME, 3), {"Swap"}, lambda count, positives: float(count @ positives)),
]
PAIRINGS = list(product(SOURCES, SCHEMES))


def name(pairing):
    (source, _, _), scheme = pairing
    return f"{type(source).__name__} {type(scheme).__name__}"


@pytest.mark.parametrize("pairing", PAIRINGS, ids=name)
def test_what_goes_with_what(pairing, monkeypatch):
    """Numbers do not depend on threads, on chunks or on how many are drawn; wrong pairings raise."""
    (source, known, statistic), scheme = pairing
    if type(scheme).__name__ not in known:
        text = f"draws from {type(source).__name__}, one of .*; found {type(scheme).__name__}$"
        with pytest.raises(TypeError, match=text) as error:
            draw(source, scheme, statistic, Draws(KEY, 9), 1)
        assert set(re.search("one of (.*);", str(error.value)).group(1).split(", ")) == known
        return
    base = draw(source, scheme, statistic, Draws(KEY, 37), Stream.LABELS)
    assert len(base) == 37
    assert len(np.unique(base, axis=0)) > 1
    assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37, 3), 1), base)
    assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 21), 1), base[:21])
    assert not np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37), 2), base)
    assert not np.array_equal(draw(source, scheme, statistic, Draws(KEY + np.uint64(1), 37), 1), base)
    for piece in (1, 1000):
        monkeypatch.setattr(threads, "LARGEST_PIECE", piece)
        monkeypatch.setattr(compiled, "LONGEST_CALL", piece)
        for n_jobs in (1, 2):
            assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37, n_jobs), 1), base)


def test_what_is_no_source_has_no_scheme():
    with pytest.raises(TypeError, match="draws from ndarray, one of none; found Labels"):
        draw(RESIDUAL, Labels(), np.sum, Draws(KEY, 9), 1)


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=lambda scheme: type(scheme).__name__)
def test_a_large_table_is_reduced_part_by_part(scheme, monkeypatch):
    """The same statistic, of the sums of the sample's own resamples: of rows one at a time, of labels in parts."""
    cell, shapes = np.array([0, 0, 1]), []

    def statistic(count, residual, value):
        shapes.append(count.ndim)
        return (count * np.abs(residual) + value).sum(axis=-1)

    monkeypatch.setattr(binary_cells, "LARGEST_TABLE", 2 * 40 - 1)
    found = draw(CellSums(SAMPLE, cell), scheme, statistic, Draws(KEY, 40), 1)
    assert shapes == ([2, 2] if scheme == Labels() else [1] * 40)

    def slow(value, count, positives):
        total = 0.0
        for b in range(2):
            v, c, a = (part[cell == b] for part in (value, count, positives))
            total += c.sum() * abs(a.sum() - c @ v) / 22 + c @ v / 22
        return total

    assert found == pytest.approx(draw(SAMPLE, scheme, slow, Draws(KEY, 40), 1), abs=1e-12)
