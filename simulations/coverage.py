"""Does every interval cover what it says? How often, where the truth is known?

What is promised here, cell by cell: method="honest" at 95% covers in at least 94% of samples, at and away from
calibration, with rare outcomes, sums that nearly tie, certain groups, waves, few clusters and rows drawn from real data
sets; at other levels it misses at most 1.2 times as often as it says. Widths over those of a normal interval, where the
truth is more than three standard deviations of the estimate from 0, are shown. The bootstrap intervals, and that of Sun
et al. (2024) for the L2 error, are here to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import generators
from calibstat.generators.generator import Generator
from calibstat.measures.kinds.registry import find_measure, is_affordable
from calibstat.papers.parts.grid import FIVE, Grid, Measures, every_measure
from calibstat.papers.parts.promises import PROMISED, missed_too_often
from calibstat.study import Study
from calibstat.study import plot as plot_study
from calibstat.study.question import rate_of

from .parts.cases import Case
from .parts.finite_populations import REAL, RealRows
from .parts.hard_cells import at_ends, at_noise, few_clusters, rare, rival_classes, waves
from .parts.search import Counts, Recipe, recipes
from .parts.sun import sun_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20262
HOURS = 1.0  # of one core, about; numbers of data sets are in proportion to it
ROWS = 50, 200, 1000, 5000
REPLICATES = 1000
SLOW = ("smooth_ece",)  # not with the most rows
MOST_ASKED = ("ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "brier", "log_loss")  # others in a part of the data sets
LESS = 0.1
ALONE: Measures = {"weighted_ce": ("weighted_ce", {})}  # what no loop over all measures asks
WIDE, WIDEST = 1.5, 2.2  # on average, and in each cell, times the width of a normal interval
FAR = 3  # standard deviations of the estimate, beyond which the truth is far from 0
Row = dict[str, Any]


def replicates(quick: bool, share: float = 1.0) -> int:
    """Return the number of data sets of each cell."""
    return 10 if quick else round(REPLICATES * share * HOURS)


def models() -> dict[str, Any]:
    """Return populations that are the same for any number of rows, with predictions away from 0 and 1."""
    uniform = generators.calibrated()
    return {
        "calibrated": uniform,
        **{f"temperature {beta}": generators.temperature(beta) for beta in (1.05, 1.2, 1.5, 2.0, 0.7)},
        **{f"shift {delta}": generators.shift(delta) for delta in (0.1, 0.3)},
        "five scores": generators.calibrated(FIVE),
        "five scores, temp. 1.5": generators.temperature(1.5, FIVE),
        "S-shape 0.9": generators.distorted(uniform, s_shape=0.9),
        "subgroup of 20%, shift 1.5": generators.distorted(uniform, shift=1.5, subgroup=0.2),
        "prevalence 30%, was 50%": generators.prevalence(uniform, 0.3),
        "two normal classes": generators.gaussian_mixture(0, -2),
        **rare(),
        "15 waves": waves(),
    }


def with_ends() -> dict[str, Any]:
    """Return populations in which 0 and 1 may be predicted: no interval for the log loss can then be valid."""
    return {"at 0 and 1": at_ends()} | {name: RealRows(name) for name in REAL}


def honest_measures() -> Measures:
    """Return the measures that have an honest interval."""
    every = every_measure()
    return {label: (name, o) for label, (name, o) in every.items() if find_measure(name, o).has_form} | ALONE


def often(measures: Measures) -> Measures:
    """Return those of the measures that most people ask for, in any bins, but not in another norm."""
    return {label: each for label, each in measures.items() if each[0] in MOST_ASKED and "norm" not in each[1]}


def seldom(measures: Measures) -> Measures:
    """Return the others."""
    return {label: each for label, each in measures.items() if label not in often(measures)}


def bounded(measures: Measures) -> Measures:
    """Return the measures that are never infinite."""
    return {label: each for label, each in measures.items() if np.isfinite(find_measure(*each).info.bounds[1])}


def grids(quick: bool) -> list[Grid]:
    """Return grids of the honest intervals, of other levels, of classes, and of bootstrap intervals.

    Populations whose errors are of the size of the noise are others for each number of rows. BCa evaluates a measure
    once for each row, hence few rows.
    """
    honest = honest_measures()
    shared: Grid = {
        "question": "coverage",
        "methods": ["honest"],
        "n_resamples": 99,
        "level": PROMISED,
        "replicates": replicates(quick),
    }
    found: list[Grid] = []
    for n in ROWS[:1] if quick else ROWS:
        asked = {label: each for label, each in honest.items() if label in ALONE or is_affordable(each[0], n)}
        if n == max(ROWS):
            asked = {label: each for label, each in asked.items() if each[0] not in SLOW}
        here = some(models(), "calibrated", "rare .01, a third") if quick else models()
        ends = {} if quick else with_ends()
        parts = [(often(asked), LESS)] if n == max(ROWS) else [(often(asked), 1.0), (seldom(asked), LESS)]
        for part, times in parts:
            grid = {**shared, "n": [n], "replicates": replicates(quick, times)}
            found += [{**grid, "generators": here | at_noise(n), "measures": part}] if part else []
            found += [{**grid, "generators": ends, "measures": bounded(part)}] if ends and bounded(part) else []
        found += [{**shared, "n": [n], "generators": rival_classes_at(n), "measures": CLASSES}]
    for level in (0.9,) if quick else (0.9, 0.99):
        for n in ROWS[:1] if quick else (200, 1000):
            few = some(models(), "calibrated", "temperature 1.5", "rare .01, a third") | at_noise(n)
            fast = {label: each for label, each in often(honest).items() if each[0] not in SLOW}
            grid = {**shared, "n": [n], "generators": few, "measures": fast, "level": level}
            grid = {**grid, "replicates": replicates(quick, 0.3)}
            found += [{**grid, "n_resamples": 199}]
    seen = some(models(), "calibrated", "temperature 1.5", "five scores", "rare .01, a third")
    bootstrap: Grid = {**shared, "generators": seen, "measures": often(honest), "n_resamples": 39 if quick else 199}
    bootstrap = {**bootstrap, "replicates": replicates(quick, 0.3)}
    found += [{**bootstrap, "n": ROWS[:1] if quick else [200, 1000], "methods": ["percentile", "basic"]}]
    found += [
        {**bootstrap, "n": ROWS[:1] if quick else [200], "methods": ["bca"], "replicates": replicates(quick, 0.2)}
    ]
    return found


CLASSES: Measures = {f"class-wise ece, {how}": ("ece", {"lens": f"class_wise_{how}"}) for how in ("mean", "max")}


def rival_classes_at(n: int) -> dict[str, Any]:
    """Return models of three classes whose errors nearly tie."""
    return {f"rival classes {units:g}": rival_classes(n, units) for units in (0, 0.5, 1)}


def some(found: Mapping[str, Any], *labels: str) -> dict[str, Any]:
    """Return those of the populations."""
    return {label: found[label] for label in labels}


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask about few clusters, and about the interval of Sun et al., which are no questions of a grid."""
    import pandas as pd
    from joblib import Parallel, delayed

    times = replicates(quick, 0.3)
    tasks = [
        partial(of_clusters, label, case, recipe, times)
        for label, case in few_clusters().items()
        for recipe in recipes(["ece", "ks"] if quick else None)
        if recipe.kind == "Clusters" and recipe.level == PROMISED
    ]
    for n in ROWS[:1] if quick else ROWS:
        here = models() | at_noise(n) | ({} if quick else with_ends())
        tasks += [partial(of_sun, label, generator, n, times) for label, generator in here.items()]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(delayed(task)() for task in tasks))


def of_clusters(label: str, case: Case, recipe: Recipe, times: int) -> Row:
    """Count how often an interval with clusters covers."""
    found = Counts(case).add(recipe, times, 99, [SEED, *label.encode(), *recipe.label.encode()])
    answered = found.asked - found.refused
    return row_of(
        label,
        case.n,
        f"clusters: {recipe.label}",
        "honest",
        truth=np.full(times, found.truth / times),
        below=np.arange(times) < found.below,
        above=np.arange(times) >= times - found.above,
        refused=found.refused,
        mean_width=found.width / answered if answered else np.nan,
    )


def of_sun(label: str, generator: Generator, n: int, times: int) -> Row:
    """Count how often the interval of Sun et al. covers the binned L2 error."""
    from calibstat import Sample

    seeds = np.random.SeedSequence([SEED, n, *label.encode()]).spawn(times)
    found = np.array([sun_interval(Sample.from_rows(*generator.sample(n, seed)), PROMISED) for seed in seeds])
    low, high, estimate = found.T
    truth = np.full(times, generator.truth("ece", norm="l2"))
    return row_of(
        label,
        n,
        "ece, l2",
        "Sun et al.",
        truth=truth,
        below=truth < low,
        above=truth > high,
        refused=0,
        floored=0,
        mean_width=float((high - low).mean()),
        mean_estimate=float(estimate.mean()),
        sd_estimate=float(estimate.std(ddof=1)),
    )


def row_of(
    label: str,
    n: int,
    measure: str,
    method: str,
    *,
    truth: np.ndarray,
    below: np.ndarray,
    above: np.ndarray,
    **more: Any,
) -> Row:
    """Return a row like those of the grids."""
    cell = {"question": "coverage", "generator": label, "n": n, "measure": measure, "method": method}
    counts = {"level": PROMISED, "replicates": truth.size, "truth": float(truth.mean())}
    misses = {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
    return cell | counts | rate_of("covered", ~(below | above)) | misses | more


def widths(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells whose truth is far from 0, with the width over that of a normal interval of the estimate."""
    from scipy.special import ndtri

    far = table[table["truth"] > FAR * table["sd_estimate"]]
    normal = 2 * ndtri((1 + far["level"]) / 2) * far["sd_estimate"]
    return far.assign(relative_width=far["mean_width"] / normal)


def too_wide(table: pd.DataFrame) -> pd.DataFrame:
    """Return the honest intervals that are too wide; if they are so on average, all above the promised average."""
    relative = widths(table[table["method"] == "honest"])
    ratio = relative["relative_width"]
    return relative[ratio > (WIDE if ratio.mean() > WIDE else WIDEST)][table.columns]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the honest intervals that miss too often; widths are shown and not promised.

    Intervals that are for the predictions at hand are not judged by the value of the population.
    """
    given = [label for label, each in honest_measures().items() if find_measure(*each).condition]
    return missed_too_often(table[~table["measure"].isin(given)])


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the coverage at each number of rows, that of other levels, and widths."""
    usual = table[table["level"] == PROMISED]
    parts = {f"{n}_rows": usual[usual["n"] == n] for n in ROWS}
    clusters = usual[usual["measure"].str.startswith("clusters")]
    parts["clusters"] = clusters.assign(measure=clusters["measure"].str.removeprefix("clusters: "))
    parts |= {f"{100 * float(level):g}": rows for level, rows in table.groupby("level") if level != PROMISED}  # type: ignore[arg-type]
    return {ending: plot_study(rows) for ending, rows in parts.items() if len(rows)}


study = Study(
    question="Does every interval cover what it says?",
    seed=SEED,
    runtime_hours=HOURS,
    grids=grids,
    table=table,
    figures=figures,
    violations=violations,
)
