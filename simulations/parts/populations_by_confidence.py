"""Populations of answers in pieces, from the most confident ones on, whose area and errors are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

Random = Any


class Piece(NamedTuple):
    """A share of the population; the error rises from `first` to `last` on a line, and confidences may be equal."""

    share: float
    first: float
    last: float
    tied: bool = False


@dataclass(frozen=True)
class Answers:
    """Pieces whose shares add up to 1, the most confident one first.

    An answer is at a share s of the population from the most confident ones on, and its confidence is 1 - s; of a piece
    that is tied 1 - s at the end of the piece. So the error of all answers of confidence 1 - s and more is `error(s)`.
    """

    pieces: tuple[Piece, ...]

    @cached_property
    def ends(self) -> np.ndarray:
        """The shares at which pieces end."""
        ends = np.cumsum([piece.share for piece in self.pieces])
        return np.asarray(ends / ends[-1])

    @cached_property
    def _table(self) -> np.ndarray:
        """Of each piece its begin, its share, the first error, the slope, and the errors before it."""
        begin = np.append(0.0, self.ends[:-1])
        share, first, last = (np.array(column) for column in list(zip(*self.pieces, strict=True))[:3])
        share = self.ends - begin
        before = np.append(0.0, np.cumsum(share * (first + last) / 2)[:-1])
        return np.array([begin, share, first, (last - first) / share, before])

    def _at(self, s: np.ndarray) -> np.ndarray:
        return np.minimum(np.searchsorted(self.ends, s, side="left"), len(self.pieces) - 1)

    def error(self, s: np.ndarray) -> np.ndarray:
        """Return the error of all answers up to the shares s, above 0."""
        begin, _, first, slope, before = self._table[:, self._at(s)]
        inside = s - begin
        return np.asarray((before + first * inside + slope * inside**2 / 2) / s)

    def probability(self, s: np.ndarray) -> np.ndarray:
        """Return the probability that an answer at the shares s is wrong."""
        begin, _, first, slope, _ = self._table[:, self._at(s)]
        return np.asarray(first + slope * (s - begin))

    @property
    def area(self) -> float:
        """The mean of the error over the population: the integral of a + b s / 2 + c / s in each piece."""
        total = 0.0
        for piece, end, (begin, share, first, slope, before) in zip(self.pieces, self.ends, self._table.T, strict=True):
            if piece.tied:
                total += share * float(self.error(np.array(end)))
                continue
            over_s = before - first * begin + slope * begin**2 / 2
            total += over_s * np.log(end / begin) if begin > 0 else 0.0
            total += (first - slope * begin) * share + slope * (end**2 - begin**2) / 4
        return float(total)

    def largest_share(self, most: float) -> float:
        """Return the largest share whose error is at most `most`, to 1 in 20,000."""
        s = np.arange(1, 20_001) / 20_000
        allowed = s[self.error(s) <= most + 1e-12]
        return float(allowed.max()) if allowed.size else 0.0

    def draw(self, random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the confidence of n answers, whether each is wrong, and with which probability it was."""
        s = 1 - random.random(n)
        chance = self.probability(s)
        tied = np.array([piece.tied for piece in self.pieces])[self._at(s)]
        confidence = 1 - np.where(tied, self.ends[self._at(s)], s)
        return confidence, (random.random(n) < chance).astype(float), chance


def answers(*pieces: Sequence[Any]) -> Answers:
    """Return a population of these pieces."""
    return Answers(tuple(Piece(*piece) for piece in pieces))


def random_answers(random: Random, n: int, most: float) -> Answers:
    """Return a population that is hard for a threshold: errors about `most`, first pieces of few answers or a half."""
    shares, left = [], 1.0
    for _ in range(int(random.integers(0, 5))):
        few = float(random.choice([1, 3, 10, 30, 100])) * random.uniform(0.3, 2) / n
        share = min(left / 2, few if random.random() < 0.5 else 0.5 ** random.integers(1, 7) * random.uniform(0.9, 1.1))
        shares.append(share)
        left -= share
    kinds = (0.0, most / 3, most * 0.9, most * 1.0001, most * 1.02, most * 1.3, most * 3, 1.0)
    ends = np.minimum(random.choice(kinds, (len(shares) + 1, 2)), 1.0)
    ends[:, 1] = np.where(random.random(len(ends)) < 0.7, ends[:, 0], ends[:, 1])
    tied = random.random(len(ends)) < (0.0 if random.random() < 0.5 else 0.7)
    return answers(*zip([*shares, left], *ends.T.tolist(), tied.tolist(), strict=True))


def changed(population: Answers, random: Random) -> Answers:
    """Return a population like another one: shares a bit larger or smaller, and errors as well."""
    by = np.exp(random.normal(0, 0.2, (len(population.pieces), 2)))
    return answers(
        *(
            (piece.share * a, min(piece.first * b, 1.0), min(piece.last * b, 1.0), piece.tied)
            for piece, (a, b) in zip(population.pieces, by.tolist(), strict=True)
        )
    )
