"""Which functions of the package one call runs: how deep they call each other, in how many files, how often each."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from unittest.mock import patch

from package_sources import ROOT

from calibstat import compiled

INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")  # calls or not, by the version of Python
KERNEL = "Kernel.__call__"  # a compiled kernel


@dataclass
class Profile:
    """The calls of one run: how often each function of each file was called, and how many were open at most."""

    calls: Counter = field(default_factory=Counter)
    deepest: int = 0

    @property
    def files(self):
        return {file for file, _ in self.calls}

    def times(self, folder, *functions):
        """How often functions of these names were called that are in a folder."""
        return sum(
            times for (file, name), times in self.calls.items() if name in functions and file.startswith(f"{folder}/")
        )


def profiled(call, *given, warm_up=(), root=ROOT):
    """The profile of ``call(*given)``, of Python functions in the files below a folder; compiled kernels are not seen.

    ``call(*warm_up)`` is made before, so that nothing is loaded or compiled; of other data, so that nothing is known.
    """
    with patch.object(compiled, "FIRST_SECONDS", 0.0):
        call(*warm_up)
    found, depth, inside = Profile(), 0, f"{root}/"

    def watch(frame, event, _):
        nonlocal depth
        code = frame.f_code
        if event not in ("call", "return") or code.co_name in INLINE or not code.co_filename.startswith(inside):
            return
        if code.co_qualname == KERNEL:
            return
        depth += 1 if event == "call" else -1
        if event == "call":
            found.calls[code.co_filename.removeprefix(inside), code.co_name] += 1
            found.deepest = max(found.deepest, depth)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call(*given)
    finally:
        sys.setprofile(before)
    return found
