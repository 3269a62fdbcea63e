"""The calibrated law of predictions that is nearest to a sample: the lower distance without the error of a grid."""

from __future__ import annotations

import numpy as np

from calibstat.measures.lower_and_upper_distance import apart, least_move

TOLERANCE = 2e-10  # of the condition of calibration between points: above the tolerance of HiGHS at the points
LEAST_STEP = 1e-6  # no point is added nearer to another: there the condition fails by less than 2e-12
POINT_ROUNDS = 50  # at most, of added points; 13 are usual, of 150 samples the most was 16


def nearest_law(value: np.ndarray, share: np.ndarray, hits: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the lower distance to 2e-10, the points of a nearest calibrated law, ascending, and their masses.

    Arguments are distinct ascending predictions, the shares of the rows at each, and of the rows with outcome 1.

    The dual programme has two 1-Lipschitz functions f0 and f1 with (1 - u) f0(u) + u f1(u) <= 0 for all u. It is solved
    with this condition at 0, 1 and the predictions; then at points between them too, where the lowest 1-Lipschitz
    functions with the values found violate it most; and so on. If the largest violation is e, f0 - e and f1 - e satisfy
    the condition everywhere, so that the value is at most e too large. The multipliers of the conditions are the masses
    of the law. Predictions within 1e-9 of each other, of 0 or of 1 are taken for one.

    docs/evidence/proofs/lower-distance.md.
    """
    value = apart(value, np.array([0.0, 1.0]))
    point = np.unique(np.concatenate([[0.0, 1.0], value]))
    at = np.searchsorted(point, value)
    for _ in range(POINT_ROUNDS):
        distance, weights, mass = least_move(
            point, np.bincount(at, share, point.size), np.bincount(at, hits, point.size)
        )
        added = _violated(point, *weights)
        if not added.size:
            return distance, point, mass
        point = np.union1d(point, added)
        at = np.searchsorted(point, value)
    raise RuntimeError(f"the nearest calibrated law was not found in {POINT_ROUNDS} rounds")


def _violated(point: np.ndarray, f0: np.ndarray, f1: np.ndarray) -> np.ndarray:
    """Return for each gap between points where the condition is violated most, if it is.

    Between p and q the lowest function with slopes up to 1 falls to a kink and rises from there. (1 - u) f0 + u f1 is
    linear where both fall or both rise, and strictly concave only where f0 rises and f1 falls already: so its maximum
    is at a kink or, between the kinks, where its slope is 0.
    """
    p, q = point[:-1], point[1:]
    kinks = [np.clip((p + q + f[:-1] - f[1:]) / 2, p, q) for f in (f0, f1)]
    rising, falling = f0[1:] - q, f1[:-1] + p  # f0 = rising + u, f1 = falling - u
    level = np.minimum(np.maximum((1 - rising + falling) / 4, kinks[0]), np.maximum(*kinks))
    places = np.stack([*kinks, level])
    lowest = [np.maximum(f[:-1] - (places - p), f[1:] - (q - places)) for f in (f0, f1)]
    excess = (1 - places) * lowest[0] + places * lowest[1]
    worst = excess.argmax(axis=0)
    gap = np.arange(p.size)
    place, by = places[worst, gap], excess[worst, gap]
    return place[(by > TOLERANCE) & (place - p > LEAST_STEP) & (q - place > LEAST_STEP)]
