"""What other packages make of the same rows, for the tests of calibration maps: ``peer_maps.csv``.

It needs NumPy and the packages alone: ``pip install betacal venn-abers probmetrics`` in an environment of
their own, then ``python tests/helpers/ask_peer_maps.py``. The first line has their versions, each further one a row
with its outcome and prediction and what they predict after they were fitted to all rows of its data set.
"""

import csv
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from betacal import BetaCalibration
from probmetrics.calibrators import get_calibrator
from venn_abers import VennAbers

STORED = Path(__file__).with_name("peer_maps.csv")
PACKAGES = ("betacal", "venn-abers", "probmetrics", "scikit-learn", "numpy")


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return outcomes and predictions by the name of the data set."""
    rng = np.random.default_rng(20170)
    x = rng.normal(0, 1.5, 200)
    tied = rng.integers(1, 10, 200) / 10
    rare = rng.normal(-3, 1, 300)
    logits = {  # of the outcomes, and of the predictions
        "over-confident": (x / 2, x),
        "S-shaped": (x + 0.4 * x * np.abs(x), x),
        "one side flat": (np.where(x > 0, 1.5, 1.5 + 2 * x), x),
        "tied": (np.log(tied / (1 - tied)) - 0.5, np.log(tied / (1 - tied))),
        "rare": (rare, rare + 0.5),
    }
    found = {}
    for name, (true, given) in logits.items():
        y = (rng.random(true.size) < 1 / (1 + np.exp(-true))).astype(np.int64)
        found[name] = y, np.round(1 / (1 + np.exp(-given)), 6)
    return found


def predictions(y: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """Return what each package predicts for the rows that it was fitted to."""
    both = np.column_stack((1 - p, p))
    peer = VennAbers()
    peer.fit(both, y)
    merged, pair = peer.predict_proba(both)
    quadratic = get_calibrator("quadratic-scaling").fit(both, y).predict_proba(both)
    return {
        "betacal": BetaCalibration("abm").fit(p[:, None], y).predict(p[:, None]),
        "venn_abers_0": pair[:, 0],
        "venn_abers_1": pair[:, 1],
        "venn_abers": merged[:, 1],
        "quadratic": np.asarray(quadratic)[:, 1],
    }


def main() -> None:
    """Write the file."""
    warnings.simplefilter("ignore")
    with STORED.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {', '.join(f'{name} {version(name)}' for name in PACKAGES)}\n")
        writer = None
        for name, (y, p) in data_sets().items():
            found = predictions(y, p)
            for i in range(y.size):
                row = {"data": name, "y": y[i], "p": p[i], **{key: f"{each[i]:.12g}" for key, each in found.items()}}
                if writer is None:
                    writer = csv.DictWriter(file, row, lineterminator="\n")
                    writer.writeheader()
                writer.writerow(row)


if __name__ == "__main__":
    main()
