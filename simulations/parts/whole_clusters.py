"""Clusters any of which may be absent, whatever it is: the rule that assumes nothing, of which these studies are."""

from __future__ import annotations

from typing import overload

import numpy as np

import calibstat as cs


@overload
def whole(unit: np.ndarray) -> cs.Clusters: ...
@overload
def whole(unit: None) -> None: ...
def whole(unit: np.ndarray | None) -> cs.Clusters | None:
    """Return clusters that may hide any other; None without clusters."""
    return None if unit is None else cs.Clusters(unit, unseen="clusters")
