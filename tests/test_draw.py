"""The one function that draws: which schemes go with which source, and sums of rows and models against slow loops."""

import re
from itertools import product

import numpy as np
import pytest

import calibstat as cs
from calibstat.resampling import (
    CellSums,
    ClassSamples,
    Clusters,
    Consistency,
    Draws,
    Labels,
    ModelPair,
    Pairs,
    RowSums,
    Signs,
    Stage,
    Swap,
    VectorSums,
    binary_cells,
    draw,
    key_of,
    threads,
)
from calibstat.resampling.streams import stream, word

KEY = np.uint64(20240613)
GENERATOR = np.random.default_rng(3)
N = 24
UNIT = np.arange(N) // 3
CELL = GENERATOR.integers(0, 3, (N, 2)) + np.array([0, 3])  # of two models, those of the second after the first's
RESIDUAL = GENERATOR.normal(size=(N, 2))
OUTCOME = (RESIDUAL > 0).astype(float)
SAMPLE = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
PREDICTIONS = cs.Predictions.from_rows(GENERATOR.integers(0, 3, N), GENERATOR.dirichlet(np.ones(3), N))
SCHEMES = (Labels(), Consistency(), Pairs(), Clusters(UNIT), Swap(UNIT), Signs(UNIT))
OF_ROWS = {"Labels", "Consistency", "Pairs"}


def of_predictions(*drawn):
    return drawn[0].sum(axis=1) if len(drawn) == 1 else float(drawn[0] @ drawn[1])


def of_rows(*drawn):
    return float(drawn[0] @ np.arange(6)) if len(drawn) == 1 else drawn[0] / drawn[1][:, None]


SOURCES = [
    (SAMPLE, OF_ROWS, lambda value, count, positives: float(count @ value + positives.sum())),
    (CellSums(SAMPLE, np.array([0, 0, 1])), OF_ROWS, lambda count, residual, value: (count * residual).sum(axis=-1)),
    (PREDICTIONS, OF_ROWS, of_predictions),
    (ClassSamples(PREDICTIONS), OF_ROWS, lambda value, count: lambda v, c, a: float((c + 2 * a) @ v)),
    (VectorSums(PREDICTIONS, np.zeros((N, 1), np.int64), 1, 3), {"Labels", "Pairs"}, lambda sums: 1.5 * sums[:, 0]),
    (RowSums(CELL, RESIDUAL), {"Pairs", "Clusters", "Signs"}, of_rows),
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
    base = draw(source, scheme, statistic, Draws(KEY, 37), Stage.LABELS)
    assert len(base) == 37
    assert len(np.unique(base, axis=0)) > 1
    assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37, 3), 1), base)
    assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 21), 1), base[:21])
    assert not np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37), 2), base)
    assert not np.array_equal(draw(source, scheme, statistic, Draws(KEY + np.uint64(1), 37), 1), base)
    for piece in (1, 1000):
        monkeypatch.setattr(threads, "LARGEST_PIECE", piece)
        for n_jobs in (1, 2):
            assert np.array_equal(draw(source, scheme, statistic, Draws(KEY, 37, n_jobs), 1), base)


def test_what_is_no_source_has_no_scheme():
    with pytest.raises(TypeError, match="draws from ndarray, one of none; found Labels"):
        draw(RESIDUAL, Labels(), np.sum, Draws(KEY, 9), 1)


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=lambda scheme: type(scheme).__name__)
def test_a_large_table_is_reduced_one_resample_at_a_time(scheme, monkeypatch):
    """The same statistic, then of vectors instead of tables, with the sums of the sample's own resamples."""
    cell, shapes = np.array([0, 0, 1]), []

    def statistic(count, residual, value):
        shapes.append(count.ndim)
        return (count * np.abs(residual) + value).sum(axis=-1)

    monkeypatch.setattr(binary_cells, "LARGEST_TABLE", 2 * 40 - 1)
    found = draw(CellSums(SAMPLE, cell), scheme, statistic, Draws(KEY, 40), 1)
    assert shapes == [1] * 40

    def slow(value, count, positives):
        total = 0.0
        for b in range(2):
            v, c, a = (part[cell == b] for part in (value, count, positives))
            total += c.sum() * abs(a.sum() - c @ v) / 22 + c @ v / 22
        return total

    assert found == pytest.approx(draw(SAMPLE, scheme, slow, Draws(KEY, 40), 1), abs=1e-12)


def drawn_units(replicate, units):
    """Which units a replicate draws: by each word two, its lower half times their number, then its upper one."""
    start = np.uint64(stream(KEY, 1, replicate))
    words = [int(word(start, i)) for i in range((units + 1) // 2)]
    return [half * units >> 32 for w in words for half in (w & (2**32 - 1), w >> 32)][:units]


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("scheme", [Pairs(), Clusters(UNIT)], ids=["rows", "clusters"])
def test_sums_of_drawn_rows(scheme, models):
    unit = UNIT if isinstance(scheme, Clusters) else np.arange(N)
    cell, residual = (CELL, RESIDUAL) if models == 2 else (CELL[:, 0], RESIDUAL[:, 0])
    draws = Draws(KEY, 8)
    found = draw(RowSums(cell, residual), scheme, lambda sums, rows: np.column_stack([rows, sums]), draws, 1)
    for r in range(8):
        rows = [i for u in drawn_units(r, unit.max() + 1) for i in np.flatnonzero(unit == u)]
        sums = np.zeros(3 * models)
        for i in rows:
            for m in range(models):
                sums[CELL[i, m]] += RESIDUAL[i, m]
        assert found[r, 0] == len(rows)
        np.testing.assert_allclose(found[r, 1:], sums, rtol=0, atol=1e-12)


def signs_of(replicate, unit):
    """The sign of each row: the first bit of the word of its unit."""
    start = np.uint64(stream(KEY, 1, replicate))
    return np.array([1.0 if int(word(start, int(u))) >> 63 else -1.0 for u in unit])


@pytest.mark.parametrize("models", [1, 2])
def test_sums_of_signed_rows(models):
    cell, residual = (CELL, RESIDUAL) if models == 2 else (CELL[:, 0], RESIDUAL[:, 0])
    size = 7  # with cells that hold no row
    found = draw(RowSums(cell, residual, size), Signs(UNIT), lambda theta: theta, Draws(KEY, 8), 1)
    for r in range(8):
        theta = np.zeros(size)
        for i, sign in enumerate(signs_of(r, UNIT)):
            for m in range(models):
                theta[CELL[i, m]] += sign * RESIDUAL[i, m] / N
        np.testing.assert_allclose(found[r], theta, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scheme", [Swap(), Swap(UNIT)], ids=["rows", "clusters"])
def test_exchanged_models(scheme):
    unit = np.arange(N) if scheme.unit is None else UNIT

    def statistic(count, positives):
        return float(count @ [1.0, 10.0, 100.0] + positives @ [3.0, 5.0, 7.0])

    found = draw(ModelPair(CELL % 3, OUTCOME, 3), scheme, statistic, Draws(KEY, 8), 1)
    for r in range(8):
        count, positives = np.zeros((2, 3)), np.zeros((2, 3))
        for i, sign in enumerate(signs_of(r, unit)):
            for m in range(2):
                into = m if sign < 0 else 1 - m
                count[into, CELL[i, m] % 3] += 1
                positives[into, CELL[i, m] % 3] += OUTCOME[i, m]
        assert found[r] == pytest.approx(statistic(count[0], positives[0]) - statistic(count[1], positives[1]))


def test_draws_are_checked():
    assert Draws.of(3, 99) == Draws(key_of(3), 99, 1)
    for n_resamples, n_jobs, text in ((0, 1, "expected n_resamples"), (9, 0, "expected n_jobs")):
        with pytest.raises(ValueError, match=text):
            Draws.of(1, n_resamples, n_jobs)
    with pytest.raises(ValueError, match="expected rng None"):
        Draws.of(-1, 9)


def test_stages_keep_their_numbers():
    """Every seeded result depends on them. A comparison of two unpaired samples takes 6 and 7."""
    assert {stage: int(number) for stage, number in Stage.__members__.items()} == {
        "LABELS": 1,
        "ROWS": 2,
        "BARS": 3,
        "ROW_SIGNS": 5,
        "COMPARE": 6,
        "BINS": 6,
        "SIGNS": 7,
    }
