"""Base class of all results, with conversion to a dictionary and to a data frame."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def plain_values(value: Any) -> Any:
    """Convert results, arrays, tuples and NumPy scalars, also nested ones, to types that JSON has."""
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: plain_values(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain_values(entry) for entry in value]
    return value


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Result:
    """A frozen result of a function of calibstat."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON; nested results become dictionaries."""
        return {field.name: plain_values(getattr(self, field.name)) for field in fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the scalar fields as a data frame of one row."""
        import pandas as pd

        return pd.DataFrame([{k: v for k, v in self.to_dict().items() if not isinstance(v, list | dict)}])
