"""Generators that several test files share."""

import numpy as np
from scipy import stats

from calibstat.generators import (
    always_wrong,
    calibrated,
    coarsened,
    dirichlet,
    distorted,
    domain,
    features,
    gaussian_mixture,
    groups,
    hidden,
    high_frequency,
    interval_gap,
    label_noise,
    prevalence,
    quadratic_gap,
    shift,
    six_points,
    temperature,
)


def by_thirds(x):
    """The third of [0, 1] in which a score is."""
    return np.minimum(x * 3, 2).astype(int)


FIVE = [0.1, 0.3, 0.5, 0.7, 0.9]
CALIBRATED = [calibrated(), calibrated(FIVE), calibrated(stats.beta(0.1, 0.1))]
CALIBRATED += [gaussian_mixture(0, -2), gaussian_mixture(0, 0)]


# Independent simulation: 40 samples of 50,000 rows, whose estimates are means of many terms; the mean of the 40 is
# compared with the truth by the t distribution, at 1e-6 a comparison. The allowance is for bias of order B / n.
SIMULATED = [  # a family, and another member of it, whose truths must be told apart
    (temperature(1.5), temperature(1.7)),
    (shift(0.4), shift(0.5)),
    (shift(0.5, FIVE), shift(0.6, FIVE)),
    (gaussian_mixture(1, 1), gaussian_mixture(1, 1.3)),
    (temperature(0.6, stats.beta(2, 3)), temperature(0.5, stats.beta(2, 3))),
]


COMPOSED = [
    distorted(calibrated(), s_shape=0.9),
    distorted(calibrated(), temperature=3, subgroup=0.4),
    prevalence(calibrated(stats.beta(2, 3)), 0.1),
    groups({"a": (0.4, temperature(2)), "b": (0.4, shift(1, stats.beta(2, 3))), "c": (0.2, calibrated([0.3, 0.6]))}),
    prevalence(groups({"up": (0.5, gaussian_mixture(1, 1)), "down": (0.5, gaussian_mixture(0, -3))}), 0.3),
    features(calibrated(), {"sex": {"f": 0.6, "m": 0.4}, "site": 3}, [({"sex": "f", "site": 0}, {"temperature": 3})]),
    domain([0.2, 0.3, 0.5], [0.1, 0.9, 0.4], [0.4, 0.4, 0.7]),
    quadratic_gap(0.2),
    interval_gap(0.2, -0.05),
    high_frequency(5),
    distorted(coarsened(temperature(2), by_thirds), shift=0.5),
]
ONE_PREDICTION = [hidden(), temperature(3, {0.2: 0.3, 0.6: 0.7})]
ROTATION = [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]]


FAMILIES = [
    six_points(),
    always_wrong(4, 0.2),
    dirichlet((1, 2, 3)),
    dirichlet((0.5, 1, 2), temperature=2),
    dirichlet((1, 1, 1), scale=(0.5, 1, 2), shift=(0, 0.5, -0.5)),
    dirichlet((2, 1, 1), matrix=ROTATION, shift=(0.1, 0, 0)),
    label_noise(dirichlet((1, 1, 1)), 0.3),
    label_noise(six_points(), 0.5),
]
