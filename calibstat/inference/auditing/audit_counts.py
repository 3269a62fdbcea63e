"""Audits of counted rows: how many rows have which levels of features, outcome and prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibstat.data.groups import groups_of_levels
from calibstat.data.named_lens import EVENT
from calibstat.data.words.side import Side
from calibstat.inference.auditing.audit import audit_of
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.counted_groups import CountedGroups
from calibstat.inference.auditing.group_statistic import Strata
from calibstat.resampling import Draws
from calibstat.resampling.sources import AtomSums

Levels = Sequence[tuple[Sequence[str], np.ndarray]]  # of each column: their names, and the number of each atom's level


def audit_counts(
    levels: Levels,
    atom: np.ndarray,
    prediction: np.ndarray,
    number: np.ndarray,
    ones: np.ndarray,
    shared: np.ndarray,
    *,
    depth: int,
    min_rows: int,
    shape: bool,
    side: Side | None,
    confidence_level: float,
    draws: Draws,
) -> Audit:
    """Return the audit of rows that are counted by atom and prediction, in fields of `CountedGroups`.

    Rows of an atom have the same level of each column. Labels of all rows of an atom and a stratum are drawn at once,
    as their sum, so that other numbers are drawn than for the rows themselves, with the same distribution.
    """
    rows = np.bincount(atom, number)

    def size(bits: np.ndarray) -> float:
        return float(rows @ np.unpackbits(bits, count=rows.size))

    made = groups_of_levels(levels, rows.size, depth=depth, min_rows=min_rows, size=size)
    # so that draws do not depend on the order of columns and levels
    atoms = np.argsort(made.membership(np.unique(prediction, return_inverse=True)[1], number, atom), kind="stable")
    member = np.stack([*made.masks(atoms)])
    atom = np.argsort(atoms)[atom]
    order = np.lexsort((atom, prediction))
    atom, prediction, number, ones, shared = (each[order] for each in (atom, prediction, number, ones, shared))

    def sums(strata: Strata) -> AtomSums:
        return AtomSums(prediction, number, atom, strata.stratum, strata.size, member)

    counted = CountedGroups(prediction, number, ones, shared, lambda g: member[g][atom], made)
    return audit_of(counted, sums, EVENT, shape=shape, side=side, confidence_level=confidence_level, draws=draws)
