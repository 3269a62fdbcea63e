"""Distortions of predictions: temperature, shift and S-shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.generators.distributions import solve


@dataclass(frozen=True)
class Distortion:
    """An increasing map of predictions on the scale of log-odds x, which avoids rounding near 0 and 1.

    First x becomes temperature x + shift. Then the prediction v becomes S(v) = v + a sin(4 pi v) / (4 pi), a = s_shape.
    With sinc(z) = sin(pi z) / (pi z) it is S(v) = v (1 + a sinc(4 v)), and 1 - S(v) = S(1 - v).
    """

    temperature: float = 1.0
    shift: float = 0.0
    s_shape: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"expected temperature positive and finite, found {self.temperature!r}")
        if not np.isfinite(self.shift):
            raise ValueError(f"expected shift finite, found {self.shift!r}")
        if not -1 < self.s_shape < 1:
            raise ValueError(f"expected s_shape between -1 and 1, found {self.s_shape!r}")

    @property
    def trivial(self) -> bool:
        """Whether the map is the identity."""
        return self.temperature == 1 and self.shift == 0 and self.s_shape == 0

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Return the distorted log-odds."""
        return self._bend(self.temperature * x + self.shift)

    def undo(self, x: np.ndarray) -> np.ndarray:
        """Return the log-odds that `apply` maps to x."""
        if self.s_shape:
            reach = np.log1p(abs(self.s_shape)) - np.log1p(-abs(self.s_shape))  # _bend moves nothing further
            x = solve(self._bend, x, x - reach, x + reach)
        return (x - self.shift) / self.temperature

    def slope(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of `apply`."""
        from scipy.special import expit

        if not self.s_shape:
            return np.full(np.shape(x), float(self.temperature))
        x = self.temperature * x + self.shift
        v, a = expit(x), self.s_shape
        ends = (1 + a * np.sinc(4 * v)) * (1 + a * np.sinc(4 * expit(-x)))
        return self.temperature * (1 + a * np.cos(4 * np.pi * v)) / ends

    def _bend(self, x: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        if not self.s_shape:
            return x
        return x + np.log1p(self.s_shape * np.sinc(4 * expit(x))) - np.log1p(self.s_shape * np.sinc(4 * expit(-x)))


def distort(p: np.ndarray, distortions: Sequence[Distortion]) -> np.ndarray:
    """Return predictions after distortions; without any they are not rounded."""
    from scipy.special import expit, logit

    if not distortions:
        return p
    with np.errstate(divide="ignore"):
        odds = logit(p)
    for distortion in distortions:
        odds = distortion.apply(odds)
    return np.asarray(expit(odds))
