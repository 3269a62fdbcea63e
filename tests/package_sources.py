"""The source files of the package, and its layers from the ground up."""

from pathlib import Path

import calibstat

ROOT = Path(calibstat.__file__).parent
LAYERS = ["compiled", "data", "measures", "output", "result", "resampling", "generators", "inference", "classical"]
LAYERS += ["planning", "monitoring", "recalibration", "plots", "reporting", "study", "__init__", "cli"]


def sources():
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
