"""The combinations of benchmarks/, their answers and how two of them are compared, for tests of numbers that stay."""

import sys

from project_folder import PROJECT

sys.path.append(str(PROJECT / "benchmarks"))  # at the end: nothing of it hides another module

from calls import calls
from calls import texts as texts_of_calls
from combinations import combinations, register
from paired_run import check_enough, difference, differences, main, new_fields, other_words, run
from recorded import REFUSED, answer, entries, exact, read_line, recorded
from rows_of_calls import rows as rows_of_calls
from spellings import SPELLINGS, has_answer, meant, spelled

__all__ = [
    "REFUSED",
    "SPELLINGS",
    "answer",
    "calls",
    "check_enough",
    "combinations",
    "difference",
    "differences",
    "entries",
    "exact",
    "has_answer",
    "main",
    "meant",
    "new_fields",
    "other_words",
    "read_line",
    "recorded",
    "register",
    "rows_of_calls",
    "run",
    "spelled",
    "texts_of_calls",
]
