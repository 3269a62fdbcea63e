"""Recalibrated rows as a frame that is indexed as the arrays of scikit-learn are, too."""

from __future__ import annotations

from typing import Any

import pandas as pd


class FrameOfRows(pd.DataFrame):
    """A data frame whose columns are also had by place, ``prob[:, 1]``, as in arrays that classifiers return."""

    def __getitem__(self, key: object) -> Any:
        by_place = isinstance(key, tuple) and any(isinstance(part, slice) for part in key)
        found: Any = self.iloc if by_place else super()
        return found.__getitem__(key)
