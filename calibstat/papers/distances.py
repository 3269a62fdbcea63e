"""Measures as distances from calibration: figure 2 and table 1 of Błasiok et al. (2023).

Section 10 of arXiv:2211.16886 draws measures over a family of temperatures, one sample of 10,000 rows each; here are
many, and what the paper could not draw: the interval calibration error, whose computation it leaves open, and the lower
distance. Lemma 4.5 shows why no measure can do better than a square root: on `quadratic_gap` the bounds between the
measures are attained. Table 1 asks four things of a measure; here each mark comes from a number, and the number from a
construction that breaks what can be broken:

- continuous: how much does it jump where predictions move by 1e-5?
- complete: how large is it for calibrated models?
- sound: how small is it for models that are not, in units of the square of the lower distance, below which no measure
  needs to fall?
- estimable: how far from its population value is the mean estimate from 10,000 rows of a calibrated model?

The paper's completeness should also be robust: near calibration a measure must be small. Where it is continuous at
calibrated models it is, so the first column answers that too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import Sample, estimate, generators
from calibstat.digits import settled
from calibstat.measures.lower_and_upper_distance import contiguous_merging
from calibstat.papers.parts.grid import FIVE, Grid, Measures
from calibstat.papers.parts.kernel_estimators import ESTIMATORS
from calibstat.plots.studies.estimates import panels
from calibstat.plots.style import PALETTE
from calibstat.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20269
ROWS = 10_000  # as in the paper
TEMPERATURES = (0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1, 1.2, 1.5, 2, 2.5, 3.5, 5, 7, 10)
ALPHAS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45)
ROW_DRAWS = 100  # of each randomised estimator
NEARBY = 1e-5  # how far predictions move in search of a jump

RESAMPLED: Measures = {  # with the paper's options
    "binned ECE": ("ece", {"n_bins": 20}),
    "binned ECE + width": ("ece_width", {"n_bins": 20}),
    "kernel error": ("kernel_ce", {}),
    "surrogate interval error": ("surrogate_interval_ce", {"precision": 0.01}),
    "interval error": ("interval_ce", {}),
    "smooth error": ("smooth_ce", {}),
    "lower distance": ("lower_distance", {"grid": 400}),
}
COMPARED_MEASURES: Measures = {  # the paper's rows, what it adds, and what has come since
    "ECE, unbinned": ("ece", {"n_bins": None}),
    "binned ECE": ("ece", {"n_bins": 20}),
    "binned ECE + width": ("ece_width", {"n_bins": 20}),
    "Brier score": ("brier", {}),
    "log loss": ("log_loss", {}),
    "normalized cross entropy": ("normalized_log_loss", {}),
    "KS": ("ks", {}),
    "Kuiper (ECCE)": ("kuiper", {}),
    "kernel error, Gaussian": ("kernel_ce", {"kernel": "gaussian"}),
    "kernel error, Laplace": ("kernel_ce", {}),
    "smooth error": ("smooth_ce", {}),
    "SmoothECE": ("smooth_ece", {}),
    "interval error": ("interval_ce", {}),
    "surrogate interval error": ("surrogate_interval_ce", {}),
    "post-processing gap": ("post_processing_gap", {}),
    "CORP miscalibration": ("mcb", {}),
    "lower distance": ("lower_distance", {"grid": 200}),
    "upper distance": ("upper_distance", {}),
}
FINITE = {  # for each property the constructions that may break it
    "moved: two points": generators.two_point(NEARBY),
    "tied: two points": generators.two_point(0),
    "moved: gap, outwards": generators.interval_gap(0.3, NEARBY),
    "tied: gap, outwards": generators.quadratic_gap(0.3),
    "moved: gap, inwards": generators.interval_gap(0.3, -NEARBY),
    "tied: gap, inwards": generators.quadratic_gap(0.3),
    "calibrated: five scores": generators.calibrated(FIVE),
    "wrong: opposite errors in a bin": generators.domain((0.5, 0.5), (1.0, 0.05), (0.51, 0.54)),
    "wrong: two points": generators.two_point(-0.25),
}
CONTINUOUS = {"calibrated: uniform": generators.calibrated(), "wrong: 16 waves": generators.high_frequency(16)}
LIMITS = {"continuous": 0.01, "complete": 0.01, "sound": 0.1, "estimable": 0.1}  # sound: at least; others: at most


def grids(quick: bool) -> list[Grid]:
    """Return two grids for the curves, and for the table one of finite and one of continuous distributions."""
    temperatures = TEMPERATURES[::8] if quick else TEMPERATURES
    alphas = ALPHAS[::3] if quick else ALPHAS
    upper: Measures = {"upper distance": ("upper_distance", {})}
    everywhere = {label: chosen for label, chosen in COMPARED_MEASURES.items() if chosen not in upper.values()}
    cells: list[tuple[Mapping[str, Any], Measures]] = [
        ({f"temperature {t:g}": generators.temperature(1 / t) for t in temperatures}, RESAMPLED),
        ({f"alpha {a:g}": generators.quadratic_gap(a) for a in alphas}, RESAMPLED | upper),
        (FINITE, COMPARED_MEASURES),
        (CONTINUOUS, everywhere),
    ]
    shared = {"question": "bias", "n": [2000] if quick else [ROWS], "replicates": 2 if quick else 20}
    return [{**shared, "generators": models, "measures": measures} for models, measures in cells]


def judge(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each measure and property: the number seen, where, and whether the property holds.

    A number is nan where there is nothing to see it in, and then `holds` is false.
    """
    import pandas as pd

    rows = table[table["measure"].isin(COMPARED_MEASURES)].set_index(["generator", "measure"])
    truth, mean = rows["truth"].unstack("generator"), rows["mean"].unstack("generator")
    nearest = truth.loc["lower distance"]
    found = []
    for measure in (label for label in COMPARED_MEASURES if label in truth.index):
        own = truth.loc[measure]
        numbers = {
            "continuous": {name: abs(own[f"moved: {name}"] - own[f"tied: {name}"]) for name in _named("moved")},
            "complete": {name: own[f"calibrated: {name}"] for name in _named("calibrated")},
            "sound": {name: own[f"wrong: {name}"] / nearest[f"wrong: {name}"] ** 2 for name in _named("wrong")},
            "estimable": {"uniform": abs(mean.loc[measure]["calibrated: uniform"] - own["calibrated: uniform"])},
        }
        for name, seen in numbers.items():
            known = {where: float(number) for where, number in seen.items() if not np.isnan(number)}
            worst = (min if name == "sound" else max)(known, key=known.__getitem__) if known else ""
            number = known.get(worst, np.nan)
            holds = number >= LIMITS[name] if name == "sound" else number <= LIMITS[name]
            found.append({"measure": measure, "property": name, "number": number, "where": worst, "holds": holds})
    return pd.DataFrame(found)


def _named(part: str) -> list[str]:
    """Name the constructions of this part."""
    return [label.partition(": ")[2] for label in FINITE | CONTINUOUS if label.startswith(part)]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw measures over temperatures and over the gap, the table, and randomised estimates of the kernel error."""
    return {
        "": draw_temperatures(_part(table, "temperature")),
        "gap": draw_gap(_part(table, "alpha")),
        "table": draw_table(judge(table)),
        "kernel": draw_kernel(),
    }


def _part(table: pd.DataFrame, word: str) -> pd.DataFrame:
    """Return the rows of generators whose label is this word and a number, with the number in a column `x`."""
    rows = table[table["generator"].str.match(rf"{word} [\d.]+$")]
    return rows.assign(x=rows["generator"].str.removeprefix(f"{word} ").astype(float))


def _curves(rows: pd.DataFrame, column: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return x and a column of each measure."""
    parts = rows.sort_values("x").groupby("measure", sort=False)
    return {str(label): (part["x"].to_numpy(), part[column].to_numpy()) for label, part in parts}


def _looks() -> dict[str, dict[str, Any]]:
    """Give every measure of the two curves its colour and marker."""
    names = [*RESAMPLED, "upper distance"]
    order = (7, 4, 2, 9, 3, 0, 1, 8)  # the greys for what is not consistent
    return {
        name: {"color": PALETTE[k], "marker": marker, "markersize": 4.5, "label": name}
        for name, k, marker in zip(names, order, "ovs^DPXd", strict=True)
    }


def draw_temperatures(rows: pd.DataFrame) -> Figure:
    """Draw mean estimates over the temperature, and where the true distance can be."""
    figure, grid = panels(1, 1, 8, 4.6)
    axes, curves, looks = grid[0, 0], _curves(rows, "mean"), _looks()
    x, lower = curves["lower distance"]
    style = {"color": "0.6", "alpha": 0.25, "linewidth": 0}
    axes.fill_between(
        x, lower, [merged(t, int(rows["n"].iloc[0])) for t in x], label="the true distance is in here", **style
    )
    for factor in (0.5, 2):
        bound = factor * curves["smooth error"][1]
        axes.plot(x, bound, color=looks["smooth error"]["color"], linestyle=":", label="smooth error / 2, × 2")
    for name, (x, y) in curves.items():
        axes.plot(x, y, **looks[name])
    axes.set(xscale="log", xlabel="temperature (1: calibrated, below: over-confident)", ylabel="mean estimate")
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10) if x.min() <= t <= x.max()]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    _legend(figure, axes)
    figure.supxlabel(f"n = {rows['n'].iloc[0]}, replicates: {rows['replicates'].iloc[0]}", fontsize="small")
    return figure


def merged(temperature: float, n: int) -> float:
    """Return the least mean move of one sample if neighbouring predictions are merged: no true distance is larger."""
    family = generators.temperature(1 / temperature)
    return contiguous_merging(*Sample.from_rows(*family.sample(n, np.random.SeedSequence(SEED))).arrays)


def draw_gap(rows: pd.DataFrame) -> Figure:
    """Draw population values over alpha with proven bounds, and the two distances that a distribution may have."""
    figure, grid = panels(1, 1, 8, 5)
    axes, curves, looks = grid[0, 0], _curves(rows, "truth"), _looks()
    x, lower = curves["lower distance"]
    bounds = {  # 1/2 lower <= smCE <= 2 lower; upper <= intCE <= 4 sqrt(lower)
        "smooth error": (lower / 2, 2 * lower, "half to twice the lower distance"),
        "interval error": (curves["upper distance"][1], 4 * np.sqrt(lower), "upper distance to 4 √lower"),
    }
    for name, (low, high, words) in bounds.items():
        style = {"color": looks[name]["color"], "alpha": 0.15, "linewidth": 0}
        axes.fill_between(x, low, high, label=f"bounds of the {name}:\n{words}", **style)
    for name in ("upper distance", "interval error", "surrogate interval error", "kernel error", "lower distance",
                 "smooth error"):  # fmt: skip
        axes.plot(*curves[name], **looks[name])
    for variant, line in ((1, "--"), (2, ":")):
        distance = [generators.quadratic_gap(float(a), variant).distance() for a in x]
        axes.plot(x, distance, color="black", linestyle=line, label=f"true distance, world {variant}", zorder=3)
    axes.set(xscale="log", yscale="log", xlabel="alpha", ylabel="population value")
    _legend(figure, axes)
    return figure


def _legend(figure: Figure, axes: Axes) -> None:
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))  # one entry a label
    style: dict[str, Any] = {"ncols": 3, "frameon": False, "fontsize": "small"}
    figure.legend(list(entries.values()), list(entries), loc="outside upper center", **style)


def draw_table(found: pd.DataFrame) -> Figure:
    """Draw ticks and crosses with their numbers."""
    import matplotlib.pyplot as plt

    measures, properties = list(found["measure"].unique()), list(LIMITS)
    figure, axes = plt.subplots(figsize=(9, 1.5 + 0.36 * len(measures)), layout="constrained")
    for measure, name, number, where, holds in found[["measure", "property", "number", "where", "holds"]].to_numpy():
        x, y, known = properties.index(name), measures.index(measure), not np.isnan(number)
        mark, color = ("✓", "#0072b2") if holds else ("✗" if known else "–", "#d55e00")
        axes.text(x - 0.42, y, mark, color=color, va="center", fontsize=13)
        axes.text(x - 0.28, y, f"{settled(number):.2g}  {where}" if known else "", va="center", size=7.5)
    axes.set(xlim=(-0.5, len(properties) - 0.5), ylim=(len(measures) - 0.5, -0.5))
    limits = {name: f"{name}\n({'≥' if name == 'sound' else '≤'} {limit:g})" for name, limit in LIMITS.items()}
    axes.set_xticks(range(len(properties)), list(limits.values()))
    axes.set_yticks(range(len(measures)), measures)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    for line in range(1, len(measures), 2):
        axes.axhspan(line - 0.5, line + 0.5, color="0.95", linewidth=0, zorder=0)
    words = "continuous: largest jump; complete: largest value if calibrated;\n"
    words += "sound: smallest value over squared lower distance; estimable: bias at a calibrated model"
    axes.set_xlabel(words, fontsize="small")
    return figure


def draw_kernel() -> Figure:
    """Draw how far randomised estimates of the squared kernel error scatter about the exact value of the same rows."""
    figure, grid = panels(1, 1, 7, 3.2)
    axes = grid[0, 0]
    sample = Sample.from_rows(*generators.temperature(2).sample(ROWS, np.random.SeedSequence(SEED)))
    random = np.random.default_rng(np.random.SeedSequence([SEED, 1]))
    for row, (name, estimator) in enumerate(ESTIMATORS.items()):
        found = [estimator(sample, 1.0, random) for _ in range(ROW_DRAWS)]
        axes.plot(found, row + random.uniform(-0.25, 0.25, ROW_DRAWS), ".", markersize=4, alpha=0.5, label=name)
        axes.plot([np.mean(found)] * 2, [row - 0.35, row + 0.35], color="black", linewidth=2)
    axes.axvline(estimate(sample, measure="kernel_ce") ** 2, color="black", linestyle="--", linewidth=1.2)
    axes.set_yticks(range(len(ESTIMATORS)), list(ESTIMATORS))
    axes.set(xlabel=f"estimate of the squared kernel error of one sample, {ROW_DRAWS} draws each\n"
                    "bar: their mean; dashed: the exact value, which is one pass over the sorted rows")  # fmt: skip
    axes.set_xlim(left=min(0, axes.get_xlim()[0]))
    axes.grid(visible=False, axis="y")
    return figure


study = Study(
    question="Which measure tells how far from calibrated a model is?",
    seed=SEED,
    runtime_hours=0.01,
    grids=grids,
    figures=figures,
)
