"""What other packages made of stored rows, see ask_peer_maps.py."""

import csv
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("peer_maps.csv")


def stored():
    """Columns of each data set by its name: y, p, and predictions by the names of maps of other packages."""
    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = list(dict.fromkeys(row["data"] for row in rows))
    return {name: _columns([row for row in rows if row["data"] == name]) for name in names}


def _columns(rows):
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0] if key != "data"}


def binary_log_loss(y, q):
    """The mean log loss."""
    return -np.where(y == 1, np.log(q), np.log1p(-q)).mean()


def falls(p, q):
    """Whether a map decreases somewhere from one prediction to a larger one."""
    return bool((np.diff(q[np.argsort(p, kind="stable")]) < -1e-12).any())
