"""What calls of the smoke run answer, as JSON: ``python tests/helpers/smoke_answers.py [NAME ...]``, by default all."""

import json
import sys
from collections.abc import Mapping

import numpy as np
import smoke

from calibstat.result import Result

TIED = np.repeat([0.0, 0.2, 0.5, 1.0], 12)  # 0 and 1 are exact: no rounding may make them wrong
TIED_Y = (np.arange(48) % 12 < 12 * TIED).astype(int)
WEIGHT = 0.1 + np.arange(48) % 7
CALLS = {
    **smoke.CALLS,
    "tied weights": lambda: smoke.cs.calibration_test(TIED_Y, TIED, sample_weight=WEIGHT, **smoke.FEW),
    "pairs": lambda: smoke.cs.confidence_interval(TIED_Y, TIED, measure="kernel_ce_squared", **smoke.FEW),
}
UNSEEDED = {"detectable_effect"}  # without a seed its answers differ
OF_THE_PROCESS = {"measure", "plot", "study", "ReliabilityDisplay"}  # they change the registry, or draw with pyplot
ASKED = sorted(set(smoke.CALLS) - UNSEEDED - OF_THE_PROCESS)  # from any process and thread


def in_json(found):
    """Numbers and texts of an answer; pages, frames and pictures, which are made of these, by their type."""
    if isinstance(found, Result):
        return in_json(found.to_dict())
    if isinstance(found, Mapping):
        return {str(key): in_json(each) for key, each in found.items()}
    if isinstance(found, tuple | list):
        return [in_json(each) for each in found]
    if isinstance(found, bool | int | float | str) or found is None:
        return "page" if isinstance(found, str) and found.startswith("<") else found
    return in_json(found.tolist()) if hasattr(found, "tolist") else type(found).__name__


def answers(names):
    """The answers to these calls."""
    return {name: in_json(CALLS[name]()) for name in names}


def answer(name):
    """The answer to the call of a public name, as text, without its picture."""
    smoke.drawn = in_json  # pyplot is for one thread
    if name == "report":
        return json.dumps(in_json(smoke.cs.report(smoke.Y, smoke.TWO, rng=1)))
    return json.dumps(in_json(smoke.CALLS[name]()))


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1:] or CALLS)))
