"""Random limits of squared kernel errors as n grows, and how often their intervals miss.

Errors of the size of the noise make two Gaussian vectors, or of a single model one, and n U the difference of their
squared lengths less what noise adds to them; a part of infinitely many small terms adds normal noise of its own. A data
set is one draw of the vectors, so that a search of limits costs a thousandth of one of populations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.generators.distributions import Random

MOST_DIMENSIONS = 4


@dataclass(frozen=True, eq=False)
class Limit:
    """Two Gaussian vectors, side by side: their mean and covariance, and the variance of the small terms.

    `sign` is 1 for the parts of the first model and -1 for those of the second.
    """

    mean: np.ndarray
    covariance: np.ndarray
    sign: np.ndarray
    small: float

    @property
    def difference(self) -> float:
        """The difference of the squared errors, times n."""
        return float(self.sign @ self.mean**2)

    def misses(self, random: Random, data_sets: int, alpha: float) -> tuple[int, int]:
        """Return how many intervals of data sets lie above the difference, and below it."""
        from scipy.special import ndtri

        z = float(ndtri(1 - alpha / 2))
        variance, axes = np.linalg.eigh(self.covariance)  # some are of fewer dimensions: 0 but for rounding
        x = self.mean + random.normal(size=(data_sets, self.mean.size)) @ (axes * np.sqrt(variance.clip(0))).T
        estimate = x**2 @ self.sign - self.sign @ np.diag(self.covariance)
        estimate += np.sqrt(self.small) * random.normal(size=data_sets)
        along = x * self.sign @ self.covariance
        linear = 4 * ((x * self.sign) * along).sum(axis=1)
        bend = 4 * (along**2 @ self.sign) / np.maximum(linear, 1e-300)
        signed = self.sign[:, None] * self.covariance
        quadratic = 2 * np.trace(signed @ signed) + self.small
        spread = z * np.sqrt(linear + (1 + max(z / 1.96, 1) ** 3) * quadratic)
        low = estimate - spread - z**2 * np.maximum(-bend, 0)
        high = estimate + spread + z**2 * np.maximum(bend, 0)
        return int((low > self.difference).sum()), int((high < self.difference).sum())


def random_limit(random: Random, *, equal: bool = False, alone: bool = False) -> Limit:
    """Draw a limit, in which both errors are equal or not, or one of a single model."""
    first, second = random.integers(1, MOST_DIMENSIONS + 1, 2)
    if alone:
        first, second = first + second, 0
    size = first + second
    factor = random.normal(size=(size, int(random.integers(1, size + 1))))
    factor *= np.exp(random.normal(0, random.choice([0.3, 1.5]), size))[:, None]
    covariance = factor @ factor.T / factor.shape[1]
    sign = np.repeat([1.0, -1.0], [first, second])
    mean = random.normal(size=size) * np.exp(random.uniform(-2, 4)) * np.sqrt(np.diag(covariance))
    if random.random() < 0.3:  # along one direction alone, which the other model may share or not
        mean *= random.random(size) < 0.5
    small = float(np.exp(random.uniform(-4, 3))) * random.integers(0, 2)
    limit = Limit(mean, covariance, sign, small)
    return with_equal_errors(limit) if equal else limit


def changed(random: Random, limit: Limit, *, equal: bool = False) -> Limit:
    """Change a limit a little."""
    size = np.exp(random.uniform(-4, -1))
    scale = np.exp(random.normal(0, size, limit.mean.size))
    turn = np.eye(limit.mean.size) + size * random.normal(size=limit.covariance.shape) / 2
    covariance = turn @ (limit.covariance * np.outer(scale, scale)) @ turn.T
    mean = limit.mean * np.exp(random.normal(0, size, limit.mean.size))
    mean = mean + size * random.normal(size=mean.size) * np.sqrt(np.diag(covariance))
    found = Limit(mean, covariance, limit.sign, limit.small * float(np.exp(random.normal(0, size))))
    return with_equal_errors(found) if equal else found


def with_equal_errors(limit: Limit) -> Limit:
    """Return the limit with the mean of the second model scaled to the length of the first."""
    is_first = limit.sign > 0
    lengths = [float(np.sqrt((limit.mean[part] ** 2).sum())) for part in (is_first, ~is_first)]
    if min(lengths) == 0:
        return Limit(np.zeros(limit.mean.size), limit.covariance, limit.sign, limit.small)
    mean = np.where(is_first, limit.mean, limit.mean * (lengths[0] / lengths[1]))
    return Limit(mean, limit.covariance, limit.sign, limit.small)
