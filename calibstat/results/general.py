"""The general calibration error under all combinations of its switches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("index", "name", "binning", "max_prob", "class_conditional", "threshold", "norm", "value")


@dataclass(frozen=True)
class GceFamily(Result):
    """What `gce_family` found: the 32 general calibration errors, in the order of their index.

    One of the named members is also readable by its name, as in ``family["SCE"]``.

    Attributes
    ----------
    index : ndarray of int64, shape (32,)
        16 if adaptive + 8 if all probabilities + 4 if the classes are pooled + 2 if thresholded + 1 if L2.
    name : ndarray of str, shape (32,)
        "ECE", "class-conditional ECE", "SCE", "ACE", "TACE" or "RMSCE"; empty for the members without a name.
    binning : ndarray of str, shape (32,)
        "even" for bins of equal width, "adaptive" for as near equal numbers of probabilities as ties allow.
    max_prob : ndarray of bool, shape (32,)
        Whether only the largest probability of each row enters.
    class_conditional : ndarray of bool, shape (32,)
        Whether each class has bins of its own.
    threshold : ndarray of float64, shape (32,)
        Only probabilities above it enter.
    norm : ndarray of str, shape (32,)
        "l1" or "l2".
    value : ndarray of float64, shape (32,)
        The error, from 0 to 1.
    n_bins : int, "cube_root" or None
        Number of bins, as it was asked for.
    n, n_classes : int
        Rows and classes.
    """

    index: np.ndarray
    name: np.ndarray
    binning: np.ndarray
    max_prob: np.ndarray
    class_conditional: np.ndarray
    threshold: np.ndarray
    norm: np.ndarray
    value: np.ndarray
    n_bins: int | str | None
    n: int
    n_classes: int

    def __getitem__(self, name: str) -> float:
        if not name or name not in self.name:
            raise KeyError(f"expected one of {', '.join(filter(None, self.name))}; found {name!r}")
        return float(self.value[self.name == name][0])

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each of the 32 errors."""
        import pandas as pd

        return pd.DataFrame({column: getattr(self, column) for column in COLUMNS})

    def __str__(self) -> str:
        above = f"above {self.threshold.max():g}"
        norms = f"{'L1':>12}{'L2':>12}{f'L1 {above}':>16}{f'L2 {above}':>16}"
        lines = [
            f"General calibration error of whole vectors, {self.n_classes} classes, n_bins = {self.n_bins}, "
            f"n = {self.n}",
            f"{'bins':<10}{'probabilities':<15}{'classes':<10}{norms}",
        ]
        for i in range(0, self.value.size, 4):
            probabilities = "largest" if self.max_prob[i] else "all"
            classes = "apart" if self.class_conditional[i] else "together"
            l1, l2, l1_above, l2_above = self.value[i : i + 4]
            values = f"{l1:>12.4g}{l2:>12.4g}{l1_above:>16.4g}{l2_above:>16.4g}"
            lines.append(f"{self.binning[i]:<10}{probabilities:<15}{classes:<10}{values}")
        lines.append(", ".join(f"{name} = {self[name]:.4g}" for name in self.name if name))
        return "\n".join(lines)
