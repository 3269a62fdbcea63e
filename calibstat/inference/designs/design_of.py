"""The design of rows: the only place that asks how they came about."""

from __future__ import annotations

from calibstat.data.checked_rows import Data
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.cross_validated import CrossValidated
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.independent import Independent
from calibstat.inference.designs.judged_labels import Judged


def design_of(data: Data) -> Design:
    """Return the design of rows; one from outside is named by the class of its rows."""
    if data.design is not None:
        return data.design(data)
    if data.judged is not None:
        return Judged(data, independent(data))
    return CrossValidated(data) if data.fold is not None else independent(data)


def independent(data: Data) -> Independent:
    """Return the design of rows with an outcome each, by one model: independent rows or clusters."""
    return Independent(data) if data.cluster is None else Clustered(data)
