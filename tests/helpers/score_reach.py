"""The reach of the score bound of a mean, row by row: the oracle of its formula."""

import numpy as np
from scipy import stats


def score_reach(loss, most, level):
    """The root of x**2 = z**2 v / n + b k / n x for z of Student's t and k = (2 z**2 + 4) / 3."""
    n, z = len(loss), stats.t.isf((1 - level) / 2, len(loss) - 1)
    variance = sum((x - loss.mean()) ** 2 for x in loss) * n / (n - 1)
    size = most - loss.mean()
    third = sum((x - loss.mean()) ** 3 for x in loss)
    b = min((max(third, 0) + 2 * size**3) / (variance + 2 * size**2), size)
    k = (2 * z**2 + 4) / 3
    return np.roots([1, -b * k / n, -(z**2) * variance / n**2]).max()
