"""Labels drawn given the predictions in packed words, counted in groups of rows that may overlap."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from calibstat.compiled import first_calls, jit, short_calls
from calibstat.resampling.binary_labels import threshold
from calibstat.resampling.schemes import Draws, Labels
from calibstat.resampling.sources import GroupSums, OfLabels
from calibstat.resampling.streams import GOLDEN, first_state, first_states, mix, words
from calibstat.resampling.threads import announced_pieces, chunks

WORD_BITS = 64  # labels in a word
BLOCK = 32  # draws that are counted together, so that each mask is read once for all of them
TILE = 1024  # words of labels that are counted together: the words of all draws stay in the cache


def packed(prediction: np.ndarray, stratum: np.ndarray, size: int, masks: Iterable[np.ndarray]) -> GroupSums:
    """Return rows with these predictions in `size` strata, numbered from 0, and groups given by masks of shape (n,).

    Each stratum begins with a new word. The seeded draws depend on the order of the rows within a stratum.
    """
    words = -(-np.bincount(stratum, minlength=size) // WORD_BITS)
    edge = np.append(0, np.cumsum(words))
    order = np.argsort(stratum, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(stratum, minlength=size)))[:-1]
    index = np.empty(order.size, np.int64)
    index[order] = np.arange(order.size) + (edge[:-1] * WORD_BITS - first)[stratum[order]]
    return GroupSums(prediction, index, edge, np.stack([_words(mask, index, edge[-1]) for mask in masks]))


def positives_of_groups(
    source: GroupSums, scheme: Labels, statistic: OfLabels, draws: Draws, stream: int
) -> np.ndarray:
    """Return ``statistic(positives)`` of all resamples, a few at a time."""
    limit = np.zeros(source.edge[-1] * WORD_BITS, np.uint64)
    limit[source.index] = threshold(scheme.chances(source.prediction))

    def replicates(first: int, last: int) -> np.ndarray:
        labels = _labels(draws.key, stream, first, last, limit)
        groups = short_calls(len(source.masks), labels.size)
        return statistic(np.concatenate([_counted(labels, source.masks[a:b], source.edge) for a, b in groups], axis=1))

    rows = f"{draws.n:,} draws of {source.index.size:,} rows in {len(source.masks):,} groups"
    pieces = chunks(draws.n, draws.n_jobs, BLOCK)
    return np.concatenate(
        announced_pieces(replicates, pieces, draws.n_jobs, f"{rows}; fewer groups or n_jobs=-1 take less")
    )


def _words(mask: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
    """Return one bit for each row, at its place in `size` words."""
    bits = np.zeros(size * WORD_BITS, bool)
    bits[index] = mask
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


# --- kernels ---------------------------------------------------------------------------------------------------------


def _labels_in_arrays(key: np.uint64, stream: int, first: int, last: int, limit: np.ndarray) -> np.ndarray:
    drawn = words(first_states(key, stream, first, last), 0, limit.size).T >> np.uint64(1) < limit
    return np.packbits(np.ascontiguousarray(drawn), axis=1, bitorder="little").view("<u8").astype(np.uint64)


@first_calls(lambda key, stream, first, last, limit: 4e-8 * (last - first) * limit.size, _labels_in_arrays)
@jit
def _labels(key: np.uint64, stream: int, first: int, last: int, limit: np.ndarray) -> np.ndarray:
    """Draw the labels of replicates first..last, each in words of 64; what adds up to a word becomes vector code."""
    words = limit.size // 64
    drawn = np.empty((last - first, words), np.uint64)
    one = np.uint64(1)
    for b in range(last - first):
        state = np.uint64(first_state(key, stream, first + b))
        for w in range(words):
            bits = np.uint64(0)
            for k in range(64):
                z = mix(state + (np.uint64(w * 64 + k) + one) * GOLDEN)
                bits |= np.uint64((z >> one) < limit[w * 64 + k]) << np.uint64(k)
            drawn[b, w] = bits
    return drawn


def _counted_in_arrays(labels: np.ndarray, masks: np.ndarray, edge: np.ndarray) -> np.ndarray:
    shared = np.bitwise_count(labels[:, None] & masks)
    upto = np.append(np.zeros((*shared.shape[:2], 1), np.int64), np.cumsum(shared, axis=2, dtype=np.int64), axis=2)
    return np.asarray(np.diff(upto[:, :, edge]))


@first_calls(lambda labels, masks, edge: 2e-9 * len(masks) * labels.size, _counted_in_arrays)
@jit
def _counted(labels: np.ndarray, masks: np.ndarray, edge: np.ndarray) -> np.ndarray:
    """Count the bits that labels, shape (B, W), share with masks, shape (G, W), in strata of words: (B, G, S)."""
    draws, groups, strata = labels.shape[0], masks.shape[0], edge.size - 1
    counts = np.zeros((draws, groups, strata), np.int64)
    for s in range(strata):
        for begin in range(edge[s], edge[s + 1], TILE):
            end = min(begin + TILE, edge[s + 1])
            for g in range(groups):
                mask = masks[g, begin:end]
                for b in range(draws):
                    counts[b, g, s] += _shared_bits(labels[b, begin:end], mask)
    return counts


@jit
def _shared_bits(one: np.ndarray, other: np.ndarray) -> int:
    """Count the bits that two sequences of words share; compilers know these steps as one instruction."""
    ones = np.uint64(0)
    for w in range(one.size):
        x = one[w] & other[w]
        x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        ones += (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return int(ones)
