"""How often high ends miss where events are rare, over their level: exact tables of one and of two kinds of rows.

``python benchmarks/rare_ends.py results.jsonl [--seconds 600] [--seed 0]`` draws designs at random, computes an
interval for each pair of counts, weighs the misses with binomial probabilities for a grid of true chances, and appends
a line for each design. A run that was stopped goes on with the next design. It prints the worst of all lines of the
file, for each measure and level, and how many tables there are: 20 designs a minute, 5000 populations in half a minute.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from scipy.stats import binom

import calibstat as cs
from calibstat.measures.kinds.registry import find_measure

TAILS = (0.05, 0.025, 0.0025, 0.00025)
MEASURES = {
    "ece": ("ece", {}),
    "ece, one bin": ("ece", {"n_bins": 1}),
    "ks": ("ks", {}),
    "two_bin_ce": ("two_bin_ce", {}),
    "kernel_ce": ("kernel_ce", {}),
    "kernel_ce, .2": ("kernel_ce", {"bandwidth": 0.2}),
}
MOST_EVENTS = 20.0  # expected of one kind, of which there are two
FAR = 7.0  # standard deviations up to which counts are looked at
CHANCES = 16  # true chances of each kind


def highs(measure, value: np.ndarray, rows: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the ends at all levels for each vector of counts, shape (tables, levels)."""
    order = np.argsort(value)
    samples = (cs.Sample.from_counts(value[order], rows[order], each[order]) for each in positives)
    return np.array([[interval.high(tail) for tail in TAILS] for interval in map(measure.interval, samples)])


def error(measure, value: np.ndarray, rows: np.ndarray, chance: np.ndarray) -> float:
    """Return the error of rows with these true chances."""
    order = np.argsort(value)
    theta = (rows * (chance - value) / rows.sum())[order]
    if hasattr(measure, "cells"):
        return float(np.abs(np.bincount(measure.cells(value[order], rows[order]), theta)).sum())
    return float(measure.norm(value[order], theta))


def worst(measure, value: np.ndarray, rows: np.ndarray, most: np.ndarray) -> tuple[list[float], list[list[float]]]:
    """Return the largest miss over its level for any true chances, and the expected rare outcomes where it is."""
    is_high = value > 0.5
    last = np.minimum(rows, most + FAR * np.sqrt(most + 1) + 6).astype(int)
    counts = [np.arange(k + 1) for k in last]
    seen = np.stack(np.meshgrid(*counts, indexing="ij"), axis=-1).reshape(-1, value.size)
    ends = highs(measure, value, rows, np.where(is_high, rows - seen, seen))
    means = [np.append(0.05, np.linspace(0.3, one, CHANCES)) for one in most]
    missed, where = np.zeros(len(TAILS)), [[0.0]] * len(TAILS)
    for mean in np.stack(np.meshgrid(*means, indexing="ij"), axis=-1).reshape(-1, value.size):
        chance = np.where(is_high, 1 - mean / rows, mean / rows)
        weight = np.prod(binom.pmf(seen, rows, mean / rows), axis=1)
        below = weight @ (ends < error(measure, value, rows, chance) * (1 - 1e-12)) / TAILS
        for j in np.flatnonzero(below > missed):
            missed[j], where[j] = below[j], mean.round(2).tolist()
    return missed.round(3).tolist(), where


def design(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, rows and the most expected rare outcomes, of one kind or of two."""
    kinds = random.integers(1, 3)
    rows = random.choice([40, 60, 100, 200, 300, 600, 1000], kinds).astype(float)
    predicted = np.exp(random.uniform(np.log(0.3), np.log(12), kinds))
    rare = np.minimum(predicted / rows, 0.45)
    value = np.where(random.random(kinds) < 0.5, rare, 1 - rare)
    if kinds == 2 and random.random() < 0.2:
        value[1] = random.uniform(0.1, 0.9)
    value = value.round(6) if kinds == 1 or value[0] != value[1] else value[:1]
    return value, rows[: value.size], np.minimum(MOST_EVENTS * 1.4 / value.size**0.5, 0.9 * rows[: value.size])


def main() -> None:
    """Go on with a file, and print the worst of all its lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.file.read_text().splitlines()] if given.file.exists() else []
    until = time.monotonic() + given.seconds
    with given.file.open("a") as out:
        while time.monotonic() < until:
            number = sum(line["seed"] == given.seed for line in lines)
            value, rows, most = design(np.random.default_rng((given.seed, number)))
            name = list(MEASURES)[number % len(MEASURES)]
            measure, options = MEASURES[name]
            missed, where = worst(find_measure(measure, options), value, rows, most)
            line = {"seed": given.seed, "measure": name, "value": value.tolist(), "rows": rows.tolist()}
            lines.append(line | {"missed": missed, "where": where, "populations": (CHANCES + 1) ** value.size})
            out.write(json.dumps(lines[-1]) + "\n")
            out.flush()
    print(f"{len(lines)} tables, {sum(line['populations'] for line in lines)} populations; worst misses over the level")
    for name in MEASURES:
        own = [line for line in lines if line["measure"] == name]
        for j, tail in enumerate(TAILS):
            if own:
                most_missed = max(own, key=lambda line: line["missed"][j])
                print(f"{name:16} {tail:<8g} {most_missed['missed'][j]:.2f}", end="  ")
                print(f"rows {most_missed['rows']} at {most_missed['value']}, expected {most_missed['where'][j]}")


if __name__ == "__main__":
    main()
