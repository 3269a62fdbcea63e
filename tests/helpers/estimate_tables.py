"""Small tables of the questions about estimates, and the marks that pictures of them have."""

import io

import numpy as np
import pandas as pd

import calibstat as cs

UNIFORM = cs.generators.calibrated()
MODELS = {"1.5": cs.generators.temperature(1.5), "calibrated": UNIFORM}
FAMILY = {"steps": cs.generators.models(UNIFORM, {f"T = {t}": {"temperature": t} for t in (1, 1.5, 3)})}


def table_of(question, **changes):
    grid = {"generators": FAMILY if question == "ranking" else MODELS, "n": [30, 60, 120], "replicates": 9, "seed": 3}
    grid["measures"] = ["ece", "ks", "brier"]
    return cs.study.run(question, **{**grid, **changes})


def from_file(table):
    return pd.read_csv(io.StringIO("# facts\n" + table.to_csv(index=False)), comment="#")


def marks(axes, label):
    """Places of the marks with this label, and half the lengths of their bars, in both directions."""
    (found,) = [container for container in axes.containers if container.get_label() == label]
    segments = [segment for bars in found.lines[2] for segment in bars.get_segments()]
    half = [np.ptp(ends, axis=0) / 2 if len(ends) else (np.nan, np.nan) for ends in segments]  # no ends: not a number
    return found.lines[0].get_xydata(), np.array(half)
