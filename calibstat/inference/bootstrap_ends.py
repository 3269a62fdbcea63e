"""The ends of bootstrap intervals and of brackets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.inference.honest_ends import HonestEnds
from calibstat.inference.problems.problem import Posed, Problem
from calibstat.resampling import Draws
from calibstat.resampling.quantiles import quantiles


def bracket_interval(problem: Problem, alpha: float, draws: Draws) -> tuple[float, float]:
    """Return the honest low end of the measure below and the honest high end of the measure above, as a bracket.

    Statement and argument: docs/evidence/proofs/brackets.md.
    """
    bracket = problem.bracket()
    below, above = (
        HonestEnds.of(replace(problem, measure=measure).in_order("confidence_interval"), draws)
        for measure in (bracket.below, bracket.above)
    )
    return bracket.share * below.low(alpha), bracket.times * above.high(alpha) + bracket.width


def bootstrap_interval(posed: Posed, estimate: float, method: str, alpha: float, draws: Draws) -> tuple[float, float]:
    """Return the ends of a percentile, basic or BCa bootstrap interval."""
    resampled = posed.draw_pairs(draws)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if method == "bca":
        levels = _bca_levels(posed, estimate, resampled, levels)
    low, high = map(float, quantiles(resampled, levels))
    if method == "basic":  # what is infinite stays so
        return (estimate, estimate) if np.isinf(estimate) else (2 * estimate - high, 2 * estimate - low)
    return low, high


def _bca_levels(posed: Posed, estimate: float, resampled: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Move the levels for bias and acceleration (Efron 1987), the bias kept finite if all draws lie on one side."""
    from scipy.special import ndtr, ndtri

    below = np.count_nonzero(resampled < estimate) + np.count_nonzero(resampled == estimate) / 2
    bias = ndtri((below + 0.5) / (resampled.size + 1))
    weight, influence = _influence(*posed.jackknife())
    squares = weight @ influence**2
    acceleration = weight @ influence**3 / (6 * squares**1.5) if squares > 0 else 0.0
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))


def _influence(weight: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows are of each kind and their influence."""
    if np.isinf(left_out).any():  # beside infinite influences the others are nothing
        left_out = np.isinf(left_out).astype(np.float64)
    return weight, weight @ left_out / weight.sum() - left_out
