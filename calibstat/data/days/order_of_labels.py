"""The order of labels that have one: numbers, dates, and periods of pandas."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from calibstat.data.checks import is_real


def places(labels: np.ndarray) -> np.ndarray | None:
    """Return the place of each label in their order, from 0, the same of equal ones; None if they have no order."""
    import pandas as pd

    if labels.dtype.kind in "iufmM":
        return np.unique(labels, return_inverse=True)[1]
    if labels.dtype.kind != "O":
        return None
    try:
        code, names = pd.factorize(labels)
        return np.unique(names, return_inverse=True)[1][code] if _have_order(names.tolist()) else None
    except (TypeError, ValueError):  # without a hash; dates with and without a time or a zone; periods of two lengths
        return None


def _have_order(labels: list[Any]) -> bool:
    """Whether all labels are numbers, all are dates, or all are periods of pandas."""
    import pandas as pd

    if all(is_real(label) and not isinstance(label, bool | np.bool_) for label in labels):
        return True
    return any(all(isinstance(label, kind) for label in labels) for kind in (date, pd.Period))
