"""Net benefit of acting on predictions above a threshold, in true positives per row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibstat.data.checks import check_level
from calibstat.data.single_precision import edges_for
from calibstat.measures.kinds.base import Info
from calibstat.measures.kinds.mean_loss import MeanLoss


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetBenefit(MeanLoss):
    """The net benefit of acting where the prediction is at least a threshold t (Vickers, Elkin 2006).

    It is the share of rows that are true positives, less t / (1 - t) times the share that are false positives: t is the
    probability of outcome 1 at which acting and not acting are equally good. Larger is better; never acting has 0. It
    is not a calibration error and has no name in `calibstat.MEASURES`; give it as ``measure=NetBenefit(threshold=0.2)``
    to `estimate`, `confidence_interval` and `compare`.

    Option: `threshold`, between 0 and 1. Cost: one sort of the rows, then one pass.

    Examples
    --------
    >>> import calibstat as cs
    >>> act = cs.measures.NetBenefit(threshold=0.2)
    >>> cs.estimate([1, 0, 0, 1], [0.9, 0.3, 0.1, 0.1], measure=act)  # (1 - 1/4) / 4
    0.1875
    """

    name = "net_benefit"
    info = Info(
        title="Net benefit",
        formula=r"\frac1n \sum_i 1\{v_i \ge t\} \bigl(y_i - \tfrac{t}{1 - t} (1 - y_i)\bigr)",
        reference="Vickers, Elkin 2006, Decision curve analysis, doi:10.1177/0272989X06295361",
        bounds=(-math.inf, 1),
        tail="two-sided",
        complete=False,
        symmetric=False,
        larger_is_better=True,
    )
    threshold: float = 0.5

    def check(self) -> None:
        check_level("threshold", self.threshold)

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.threshold / (1 - self.threshold), 1.0

    def loss(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        acts = (value >= edges_for(value, self.threshold)).astype(np.float64)
        return acts * self.bounds[0], acts
