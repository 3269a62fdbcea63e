"""What calls of the smoke run answer, as JSON: ``python tests/helpers/smoke_answers.py [NAME ...]``, by default all."""

import json
import sys

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


def in_json(found):
    """Numbers and texts of an answer; pages, frames and pictures, which are made of these, by their type."""
    if isinstance(found, Result):
        return in_json(found.to_dict())
    if isinstance(found, dict):
        return {str(key): in_json(each) for key, each in found.items()}
    if isinstance(found, tuple | list):
        return [in_json(each) for each in found]
    if isinstance(found, bool | int | float | str) or found is None:
        return "page" if isinstance(found, str) and found.startswith("<") else found
    return in_json(found.tolist()) if hasattr(found, "tolist") else type(found).__name__


def answers(names):
    """The answers to these calls."""
    return {name: in_json(CALLS[name]()) for name in names}


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1:] or CALLS)))
