"""The rows that rms::val.prob and pROC judged: `python tests/helpers/val_prob_rows.py` writes them for val_prob.R."""

from pathlib import Path

import numpy as np
from scipy.special import expit, logit

FOLDER = Path(__file__).parents[1] / "classical" / "val_prob"
NAMES = ("over_confident", "rare", "small")  # distinct predictions; rare events and many ties; fewer than 100 rows


def drawn(name):
    """Return outcomes and predictions of a data set, by its seeded rule."""
    random = np.random.default_rng(NAMES.index(name))
    if name == "over_confident":
        p = random.beta(0.8, 1.0, 500).clip(0.002, 0.998).round(6)
        truth = expit(0.3 + 0.6 * logit(p))
    elif name == "rare":
        p = random.beta(1.2, 12.0, 900).clip(0.001, 1).round(3)
        truth = expit(-0.4 + logit(p) - 0.08 * (logit(p) + 3) ** 2)
    else:
        p = random.beta(2.0, 2.0, 80).clip(0.01, 0.99).round(2)
        truth = p
    return (random.random(p.size) < truth).astype(int), p


def stored(name):
    """Return outcomes and predictions of a data set, as R read them."""
    y, p = np.loadtxt(FOLDER / f"{name}.csv", delimiter=",", skiprows=1).T
    return y.astype(int), p


if __name__ == "__main__":
    for each in NAMES:
        lines = [f"{y},{p:.6g}" for y, p in zip(*drawn(each), strict=True)]
        (FOLDER / f"{each}.csv").write_text("\n".join(["y,p", *lines, ""]))
