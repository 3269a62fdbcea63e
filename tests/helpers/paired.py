"""The combinations of benchmarks/, their answers and how two of them are compared, for tests of numbers that stay."""

import sys

from project_folder import PROJECT

sys.path.append(str(PROJECT / "benchmarks"))  # at the end: nothing of it hides another module

from combinations import combinations, register
from paired_run import check_enough, difference, differences, run
from recorded import REFUSED, answer, entries, exact, read_line, recorded

__all__ = [
    "REFUSED",
    "answer",
    "check_enough",
    "combinations",
    "difference",
    "differences",
    "entries",
    "exact",
    "read_line",
    "recorded",
    "register",
    "run",
]
