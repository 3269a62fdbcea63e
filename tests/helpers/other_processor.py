"""Numbers as another processor might round them: each multiplied by 1 + 1e-13 u, u uniform between -1 and 1.

The bits of a number decide its u, because a processor rounds the same number the same way each time. Whole numbers
stay what they are: they count or number something.
"""

import sys

import numpy as np

from calibstat.data import cell_sums
from calibstat.inference.auditing.group_statistic import GroupRoots
from calibstat.inference.auditing.other_rows import Neighbours
from calibstat.measures.components.deviations import Diagnostics
from calibstat.measures.components.local_components import Scales
from calibstat.measures.components.smooth_components import Components
from calibstat.monitoring import evidence
from calibstat.recalibration import choose_map

ROUNDING = 1e-13
METHODS = [
    (GroupRoots, "__call__"),  # groups
    (Neighbours, "compare"),
    (Components, "roots_of"),  # cells
    (Scales, "parts_of"),
    (Diagnostics, "_statistic"),  # classes
]
FUNCTIONS = [  # by the modules that use them
    (cell_sums, "cell_sums"),
    (cell_sums, "vector_sums"),
    (choose_map, "_losses"),
    (evidence, "start_probabilities"),
]


def uniform(bits, seed):
    """A number between -1 and 1 for each of so many bits, and another one under another seed."""
    mixed = bits + np.uint64(seed)
    for shift in (33, 29, 32):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0xFF51AFD7ED558CCD)
    return (mixed >> np.uint64(11)) / 2.0**52 - 1


def moved(value, seed):
    """The same with each float multiplied, whatever holds it."""
    if isinstance(value, np.ndarray | float):
        given = np.asarray(value)
        if given.dtype != np.float64:
            return value
        with np.errstate(over="ignore"):
            other = given * (
                1 + ROUNDING * uniform(np.ascontiguousarray(given).view(np.uint64).reshape(given.shape), seed)
            )
        return np.where(given == np.rint(given), given, other)[()]
    if isinstance(value, tuple):
        parts = [moved(part, seed) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def use_another_processor(monkeypatch, seed):
    """Let statistics of groups, cells and classes return what another processor might."""

    def rounded_otherwise(function):
        return lambda *given, **named: moved(function(*given, **named), seed)

    for owner, name in METHODS:
        monkeypatch.setattr(owner, name, rounded_otherwise(getattr(owner, name)))
    for home, name in FUNCTIONS:
        function = getattr(home, name)
        for module in [each for each in sys.modules.values() if getattr(each, "__name__", "").startswith("calibstat")]:
            if getattr(module, name, None) is function:
                monkeypatch.setattr(module, name, rounded_otherwise(function))
