"""Two examples of rows in clusters: the default interval beside what a competent user would do otherwise.

A forecaster compares two systems on 730 days of 150 forecasts; a clinician validates a model in 12 hospitals of 400
patients. Run as ``python benchmarks/intervals_of_clusters.py``; it takes some seconds.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit
from scipy.stats import t as student

import calibstat as cs
from calibstat.digits import settled

Ends = tuple[float, float]
TAIL = 0.025


def forecasts(days: int = 730, rows: int = 150) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Return outcomes, predictions of two systems, and days; the old system's log-odds follow the weather too little.

    Both miss what all forecasts of a day share.
    """
    random = np.random.default_rng(1)
    day = np.repeat(np.arange(days), rows)
    weather = random.normal(0, 0.9, day.size)
    shared = random.normal(0, 0.4, days)[day] + random.normal(0, 0.4, days)[day] * weather
    y = (random.random(day.size) < expit(weather - 1.1 + shared)).astype(int)
    return y, {"new": expit(weather - 1.1), "old": expit(0.72 * weather - 1.1)}, day


def patients(hospitals: int = 12, rows: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return outcomes, predictions and hospitals; log-odds are too low by 0.3, and more or less so by hospital."""
    random = np.random.default_rng(5)
    hospital = np.repeat(np.arange(hospitals), rows)
    risk = random.normal(-1.15, 0.8, hospital.size)
    y = (random.random(hospital.size) < expit(risk + 0.3 + random.normal(0, 0.2, hospitals)[hospital])).astype(int)
    return y, expit(risk), hospital


def rivals(total: np.ndarray, size: np.ndarray) -> dict[str, Ends]:
    """Return intervals of a ratio of sums over clusters: Student's, CR2 with its degrees of freedom, a bootstrap."""
    clusters, n = total.size, float(size.sum())
    mean = float(total.sum()) / n
    part, share = total - size * mean, size / n
    plain = float(student.isf(TAIL, clusters - 1)) * math.sqrt(clusters / (clusters - 1) * float((part**2).sum())) / n
    products = share**2 * n  # Bell and McCaffrey 2002, of a mean
    freedom = n**2 / (float((size**2).sum()) + float(products.sum()) ** 2 - float((products**2).sum()))
    corrected = float(student.isf(TAIL, freedom)) * math.sqrt(float((part**2 / (1 - share)).sum())) / n
    drawn = np.random.default_rng(1).integers(clusters, size=(9999, clusters))
    low, high = np.quantile(total[drawn].sum(axis=1) / size[drawn].sum(axis=1), [TAIL, 1 - TAIL]).tolist()
    return {
        "Student's t of clusters": (mean - plain, mean + plain),
        "CR2, Bell-McCaffrey": (mean - corrected, mean + corrected),
        "bootstrap of clusters": (low, high),
    }


def table() -> dict[str, dict[str, Ends]]:
    """Return the intervals of each number, by method."""
    y, p, day = forecasts()
    losses = (y - p["new"]) ** 2 - (y - p["old"]) ** 2
    found: dict[str, dict[str, Ends]] = {"Brier score, new - old": {}, "O/E": {}, "calibration in the large": {}}
    found["Brier score, new - old"] |= rivals(np.bincount(day, losses), np.bincount(day).astype(float))
    outcome, prediction, hospital = patients()
    found["O/E"] |= rivals(np.bincount(hospital, outcome), np.bincount(hospital, prediction))
    for unseen in ("observed", "clusters", "rows"):
        name = f'calibstat, unseen="{unseen}"'
        compared = cs.compare(y, p, measure="brier", cluster=cs.Clusters(day, unseen=unseen))
        found["Brier score, new - old"][name] = float(compared.low[0]), float(compared.high[0])
        validated = cs.validate(outcome, prediction, cluster=cs.Clusters(hospital, unseen=unseen))
        found["O/E"][name] = validated.intervals["ratio"]
        found["calibration in the large"][name] = validated.intervals["in_the_large"]
    return found


def main() -> None:
    """Print the table."""
    for number, intervals in table().items():
        print(number)
        for method, (low, high) in intervals.items():
            print(f"  {method:<28} {settled(low):.4g} to {settled(high):.4g}")


if __name__ == "__main__":
    main()
