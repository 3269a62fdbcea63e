"""The randomised estimators of the squared Laplace kernel error, for comparison with the exact value of `kernel_ce`.

Sections 8.3 and 8.4 of Błasiok, Gopalan, Hu, Nakkiran (2023, arXiv:2211.16886) estimate the mean over all pairs of rows
of r_i r_j exp(-abs(v_i - v_j) / bandwidth) at random, in linear time, because they take the exact value to be quadratic
in the number of rows. After sorting it is one pass, so nobody needs these. They are not measures: two calls on the same
data give two values, and nothing but resampling may draw there. Each is unbiased, given the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from calibstat import Sample

Estimator = Callable[[Sample, float, np.random.Generator], float]

PAIRS = 10  # a row, the paper's choice


def subsampled(sample: Sample, bandwidth: float, random: np.random.Generator) -> float:
    """Average over ten times as many pairs as rows, drawn with replacement. It may be negative."""
    row = np.repeat(np.arange(sample.value.size), sample.count.astype(np.int64))
    first, second = row[random.integers(row.size, size=(2, PAIRS * row.size))]
    residual = sample.positives / sample.count - sample.value  # the mean over rows with this prediction
    near = np.exp(-np.abs(sample.value[first] - sample.value[second]) / bandwidth)
    return float((residual[first] * residual[second] * near).mean())


def random_fourier(sample: Sample, bandwidth: float, random: np.random.Generator) -> float:
    """Return the squared size of the residuals' Fourier transform at one random frequency (the paper's algorithm 1).

    The Laplace kernel is the characteristic function of the Cauchy distribution.
    """
    frequency = random.standard_cauchy() / bandwidth
    return float(np.abs(np.exp(1j * frequency * sample.value) @ sample.residual) ** 2)


def random_binning(sample: Sample, bandwidth: float, random: np.random.Generator) -> float:
    """Sum the squared residuals of bins of one random width, randomly shifted (the paper's algorithm 2).

    With a width from Gamma(2, bandwidth) two predictions share a bin with probability exp(-distance / bandwidth).
    """
    width = random.gamma(2, bandwidth)
    bins = np.floor((sample.value + random.uniform(0, width)) / width)
    first = np.flatnonzero(np.diff(bins, prepend=-1))
    return float((np.add.reduceat(sample.residual, first) ** 2).sum())


ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {"10 n pairs": subsampled, "random Fourier": random_fourier, "random binning": random_binning}
)
