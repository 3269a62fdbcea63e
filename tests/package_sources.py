"""The source files of the package, and its layers from the ground up."""

from pathlib import Path

import calibstat

ROOT = Path(calibstat.__file__).parent
LAYERS = ["compiled", "data", "measures", "result", "resampling", "generators", "inference", "classical", "planning"]
LAYERS += ["output", "monitoring", "recalibration", "plots", "study", "__init__", "cli"]


def sources():
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
