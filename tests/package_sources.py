"""The source files of the package, and its layers from the ground up."""

from pathlib import Path

import calibstat

ROOT = Path(calibstat.__file__).parent
LAYERS = ["compiled", "data", "measures", "output", "result", "answers_by_model", "resampling", "generators"]
LAYERS += ["inference", "classical", "planning", "monitoring", "recalibration", "plots", "reporting", "study"]
LAYERS += ["__init__", "cli"]


def sources():
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
