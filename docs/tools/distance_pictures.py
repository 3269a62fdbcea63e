"""Draw the pictures of distances.md: ``python docs/tools/distance_pictures.py``.

The two curves are those of ``calibstat study distances``, from its table in simulations/results.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import calibstat as cs
from calibstat.papers import distances
from calibstat.plots.style import PALETTE

IMAGES = Path(__file__).parents[1] / "images"
SIMULATIONS = Path(__file__).parents[2] / "simulations"
TABLE = SIMULATIONS / "results" / "distances.csv"
ALPHA = 0.2
BLUE, ORANGE = PALETTE[:2]
LOW, HIGH, RARE = 0.5 - ALPHA, 0.5 + ALPHA, ALPHA / (1 + 2 * ALPHA)


def worlds() -> plt.Figure:
    """Draw the two worlds of one law: the points, and the nearest calibrated prediction of each."""
    figure, grid = plt.subplots(1, 2, figsize=(8.5, 4), sharey=True, layout="constrained")
    nearest = {1: (LOW, 0.5, 0.5, HIGH), 2: (0.5,) * 4}
    for axes, (variant, goal) in zip(grid, nearest.items(), strict=True):
        family = cs.generators.quadratic_gap(ALPHA, variant)
        weight, chance, prediction = family._columns()
        axes.plot([0, 1], [0, 1], color="0.4", linestyle="--", linewidth=1, zorder=1)
        aside = np.array([-0.015, 0.015, -0.015, 0.015]) if variant == 2 else np.zeros(4)  # or points hide each other
        x = np.array(prediction) + aside
        axes.scatter(x, chance, s=900 * np.array(weight), color=BLUE, edgecolor="white", zorder=3)
        for place, height, to in zip(x, chance, goal, strict=True):
            if abs(place - to) > 0.05:
                style = {"arrowstyle": "->", "color": ORANGE, "linewidth": 2, "shrinkA": 6}
                axes.annotate("", (to, height), (place, height), arrowprops=style, zorder=2)
        axes.set(xlim=(0, 1), ylim=(-0.05, 1.05), xlabel="prediction")
        axes.set_title(f"world {variant}: distance {family.distance():.3g}")
    grid[0].set_ylabel("chance of outcome 1")
    return figure


def moves(after: dict[float, tuple[float, float]], title: str) -> plt.Figure:
    """Draw rows by prediction and outcome, before and after they moved; shares of outcomes 0 and 1 at each place."""
    figure, grid = plt.subplots(2, 1, figsize=(6.5, 4), sharex=True, sharey=True, layout="constrained")
    before = {LOW: (0.25, 0.25), HIGH: (0.25, 0.25)}
    for axes, rows, words in zip(grid, (before, after), ("as predicted", title), strict=True):
        for place, (zeros, ones) in rows.items():
            axes.bar(place, ones, 0.05, color=BLUE, label="outcome 1")
            axes.bar(place, zeros, 0.05, bottom=ones, color=ORANGE, label="outcome 0")
            frequency = ones / (ones + zeros)
            calibrated = abs(frequency - place) < 1e-9
            axes.text(place, ones + zeros + 0.03, f"{frequency:.0%} are 1\n{'✓' if calibrated else '✗'}", ha="center")
        axes.set(title=words, ylabel="share of rows", ylim=(0, 1.4))
    grid[1].set(xlabel="prediction", xlim=(0.1, 0.9), xticks=[LOW, 0.5, HIGH])
    entries = dict(zip(*reversed(grid[0].get_legend_handles_labels()), strict=True))
    figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=2, frameon=False)
    return figure


def lower() -> plt.Figure:
    """Let each row go its own way: ones from below and zeros from above meet in the middle."""
    stay = 0.5 - RARE
    after = {LOW: (stay * (1 - LOW), stay * LOW), 0.5: (RARE, RARE), HIGH: (stay * (1 - HIGH), stay * HIGH)}
    return moves(after, f"each row on its own: mean move {2 * RARE * ALPHA:.3g}")


def upper() -> plt.Figure:
    """Keep equal predictions together."""
    return moves({0.5: (0.5, 0.5)}, f"equal predictions together: mean move {ALPHA:.3g}")


def main() -> None:
    """Draw and save all."""
    matplotlib.use("agg")
    y, p = cs.generators.temperature(2).sample(1000, 1)
    figures = {"distance_worlds": worlds(), "distance_lower": lower(), "distance_upper": upper()}
    for name in ("smooth_ce", "interval_ce", "kernel_ce", "post_processing_gap"):
        figures[f"distance_{name}"] = cs.plot(cs.detail(y, p, measure=name)).figure
    if TABLE.exists():
        table = pd.read_csv(TABLE, comment="#")
        figures["distance_temperatures"] = distances.draw_temperatures(distances._part(table, "temperature"))
        figures["distance_gap"] = distances.draw_gap(distances._part(table, "alpha"))
    for name, figure in figures.items():
        figure.savefig(IMAGES / f"{name}.png", dpi=90)
        plt.close(figure)


if __name__ == "__main__":
    main()
