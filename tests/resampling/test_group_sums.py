"""Labels in packed words, counted in groups: against plain loops over the same words, and against probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibstat.resampling import Draws, Labels, Stream, draw, group_sums, packed
from calibstat.resampling.streams import GOLDEN, first_state, mix

N = 150  # more than two words
GENERATOR = np.random.default_rng(3)
PREDICTION = np.sort(np.round(GENERATOR.random(N), 1))  # ties, 0 and 1
STRATUM = np.minimum((PREDICTION * 3).astype(int), 2)
LABELS = Labels()
MASKS = np.vstack([np.ones((1, N), bool), GENERATOR.random((4, N)) < 0.4, np.arange(N) == 7])


def drawn(n=40, n_jobs=1, scheme=LABELS, masks=MASKS, stratum=STRATUM, size=4):
    source = packed(PREDICTION, stratum, size, masks)
    return draw(source, scheme, lambda positives: positives.copy(), Draws.of(5, n, n_jobs), Stream.LABELS)


STRATA = st.tuples(st.integers(0, 3), st.booleans(), st.booleans(), st.booleans())


@given(st.lists(STRATA, min_size=1, max_size=200), st.sampled_from([4, 5]))
def test_rows_are_counted(rows, size):
    """Of labels that are given, in any order of the strata, with empty ones, the last one too, or with rows in all."""
    stratum, label, *masks = (np.array(column) for column in zip(*rows, strict=True))
    source = packed(np.full(len(rows), 0.5), stratum, size, masks)
    words = group_sums._words(label, source.index, source.edge[-1])
    found = group_sums._counted(words[None], source.masks, source.edge)[0]
    slow = [[np.sum(mask & label & (stratum == s)) for s in range(size)] for mask in masks]
    assert found.tolist() == np.array(slow).tolist()


def test_draws_are_those_of_the_words():
    """Row by row in Python: the label of a row is whether the first 63 bits of the word at its place are small."""
    found = drawn()
    key, golden = Draws.of(5, 1).key, int(GOLDEN)
    place, after = {}, 0
    for s in range(4):  # every stratum begins with a new word of 64 rows
        rows = np.flatnonzero(s == STRATUM)
        place |= {row: after + k for k, row in enumerate(rows)}
        after += -(-rows.size // 64) * 64
    for r in (0, 1, 33, 39):
        state = int(first_state(key, int(Stream.LABELS), r))
        words = [int(mix(np.uint64((state + (place[i] + 1) * golden) % 2**64))) >> 1 for i in range(N)]
        label = np.array([word < PREDICTION[i] * 2**63 for i, word in enumerate(words)])
        slow = [[np.sum(label & mask & (s == STRATUM)) for s in range(4)] for mask in MASKS]
        assert np.array_equal(found[r], slow)


def test_threads_and_pieces_do_not_show(monkeypatch):
    whole = drawn(100)
    assert np.array_equal(whole, drawn(100, n_jobs=2))
    assert np.array_equal(whole[:30], drawn(30))
    monkeypatch.setattr(group_sums, "BLOCK", 7)
    assert np.array_equal(whole, drawn(100))


def in_limits(ones, draws, chance, tests):
    tail = 1e-4 / tests
    return stats.binom.ppf(tail, draws, chance) <= ones <= stats.binom.isf(tail, draws, chance)


@pytest.mark.parametrize("truth", [None, np.linspace(1, 0, N)])
def test_every_row_has_its_probability(truth):
    """Every row a group of its own; neighbours are independent: both have outcome 1 with the product."""
    chance = PREDICTION if truth is None else truth
    found = drawn(2000, scheme=Labels(truth), masks=np.eye(N, dtype=bool)).sum(axis=2)
    assert all(in_limits(found[:, i].sum(), 2000, chance[i], 2 * N) for i in range(N))
    both = np.sum(found[:, 1:] * found[:, :-1], axis=0)
    assert all(in_limits(both[i], 2000, chance[i] * chance[i + 1], 2 * N) for i in range(N - 1))
    wrong = np.clip(chance + 0.1, 0, 1)
    assert not all(in_limits(found[:, i].sum(), 2000, wrong[i], 2 * N) for i in range(N))


def test_groups_share_labels():
    """In every draw the rows of a group and of all others make up all rows."""
    found = drawn(200, masks=[MASKS[1], ~MASKS[1], MASKS[0]])
    assert np.array_equal(found[:, 0] + found[:, 1], found[:, 2])
    assert found[:, 0].std(axis=0).max() > 0
