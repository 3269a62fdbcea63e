"""Is the stated power the measured power? For detectable effects and for sample sizes.

For ten sets of predictions of 100, 1000 and 10,000 rows, `detectable_effect` states in each family of alternatives the
effect that the omnibus test finds with probability .8. Then new labels are drawn under that effect, and judged by a new
distribution under calibration. `sample_size` is asked for the rows at which the same effect is found with that
probability, if they are drawn anew; then its power is measured with new rows and labels.

The promise is a power between .75 and .85, up to the exact binomial limits. Nothing is promised where no effect of a
family is found with that probability, however large.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.inference.power.alternatives import ALTERNATIVES, Family
from calibstat.papers.parts.promises import FALSE_ALARM
from calibstat.study import Study, most_rejections
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20371
LOW, HIGH = 0.75, 0.85
CONFIDENCES = (0.34, 0.99)  # the least and the largest confidence in the most likely of several classes


def predictions(n: int) -> dict[str, np.ndarray]:
    """Return ten sets of n predictions, spread like distributions, so that nothing of them is drawn."""
    from scipy.stats import beta, norm

    u = (np.arange(n) + 0.5) / n
    normal = norm.ppf(u)

    def expit(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-x))

    return {
        "uniform": u,
        "logit-normal": expit(1.5 * normal),
        "rare, mean .02": expit(-4.4 + normal),
        "beta(.5, .5)": beta(0.5, 0.5).ppf(u),
        "ends": np.where(u < 0.5, 0.02 + 0.08 * u, 0.94 + 0.08 * (u - 0.5)),
        "forest of 100, ties": np.round(100 * beta(0.6, 1.4).ppf(u)) / 100,
        "five scores": np.array([0.05, 0.2, 0.4, 0.6, 0.85])[np.minimum((5 * u).astype(int), 4)],
        "confidences": CONFIDENCES[0] + (CONFIDENCES[1] - CONFIDENCES[0]) * beta(2.5, 1.2).ppf(u),
        "near .5": 0.5 + 0.1 * (u - 0.5),
        "constant .3": np.full(n, 0.3),
    }


def answers(name: str, n: int, family: Family, quick: bool) -> list[dict[str, Any]]:
    """Return the rows of a table for one set of predictions and one family."""
    p = predictions(n)[name]
    drawn: dict[str, Any] = {"n_resamples": 199, "n_datasets": 40} if quick else {}
    found = cs.detectable_effect(p, families=family.name, rng=SEED, **drawn)
    about = {"generator": name, "n": n, "family": family.name, "effect": found.effect[0], "ece": found.ece[0]}
    if not np.isfinite(found.effect[0]):
        missed = {"rows": n, "replicates": 0, "rejections": 0, "rate": found.largest_power[0]}
        return [{"question": "effect", **about, **missed, "low": np.nan, "high": np.nan}]
    stated = {family.parameter: float(found.effect[0])}
    parts = [stated_effect(p, stated, quick), stated_size(p, stated, quick)]
    return [{"question": question, **about, **part} for question, part in zip(("effect", "size"), parts, strict=True)]


def stated_effect(p: np.ndarray, stated: dict[str, float], quick: bool) -> dict[str, Any]:
    """Measure the power of a detectable effect with new labels."""
    replicates, resamples = (40, 199) if quick else (2000, 4999)
    found = cs.power(p, stated, n_datasets=replicates, n_resamples=resamples, rng=SEED + 1)
    return {"rows": p.size, **counted(found, replicates)}


def counted(found: Any, replicates: int) -> dict[str, Any]:
    """Return the rejections behind a power."""
    rejected = np.arange(replicates) < round(found.power * replicates)
    return {"replicates": replicates, **rate_of("rejections", rejected)}


def stated_size(p: np.ndarray, stated: dict[str, float], quick: bool) -> dict[str, Any]:
    """Measure the power of a sample size with new rows and labels."""
    replicates = 40 if quick else 2000
    drawn: dict[str, Any] = {"n_datasets": 40, "n_resamples": 199} if quick else {}
    rows = cs.sample_size(p, stated, rng=SEED, **drawn).n
    again: dict[str, Any] = {
        "n_datasets": replicates,
        "n_sets": 4 if quick else 20,
        "n_resamples": 199 if quick else 1999,
    }
    found = cs.power(p, stated, rows, rng=SEED + 1, **again)
    return {"rows": rows, **counted(found, replicates)}


def cells(quick: bool) -> list[tuple[str, int, Family]]:
    """Return what is asked: predictions, rows and families."""
    names = list(predictions(10))
    asked = product(names[:1] if quick else names, (100,) if quick else (100, 1000, 10_000), ALTERNATIVES.values())
    return [(name, n, family) for name, n, family in asked if not (name.startswith("constant") and is_same(family))]


def is_same(family: Family) -> bool:
    """Whether the family is, for a constant prediction of .3, another one again: temperatures are shifts there."""
    return family.parameter == "temperature"


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """State and measure the power of every cell."""
    import pandas as pd
    from joblib import Parallel, delayed

    jobs = Parallel(n_jobs=n_jobs or 1)(delayed(answers)(*cell, quick) for cell in cells(quick))
    return pd.DataFrame([row for rows in jobs for row in rows])


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which the measured power is not between .75 and .85, up to the exact binomial limits."""
    promised = table[table["replicates"] > 0]
    share = FALSE_ALARM / max(len(promised), 1) / 2
    most = np.array([most_rejections(HIGH, int(r), share) for r in promised["replicates"]])
    misses = np.array([most_rejections(1 - LOW, int(r), share) for r in promised["replicates"]])
    return promised[(promised["rejections"] > most) | (promised["replicates"] - promised["rejections"] > misses)]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the measured power of each set of predictions."""
    import matplotlib.pyplot as plt

    measured = table[table["replicates"] > 0]
    names = list(dict.fromkeys(measured["generator"]))
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
    titles = {"effect": "Detectable effects", "size": "Sample sizes"}
    colors = {n: f"C{i}" for i, n in enumerate(dict.fromkeys(measured["n"]))}
    for ax, (question, title) in zip(axes, titles.items(), strict=True):
        part = measured[measured["question"] == question]
        ax.axvspan(LOW, HIGH, color=".92", label="promised")
        for i, (n, color) in enumerate(colors.items()):
            rows = part[part["n"] == n]
            y = [names.index(name) + 0.2 * (i - 1) for name in rows["generator"]]
            ax.plot(rows["rate"], y, "o", color=color, alpha=0.6, label=f"n = {n:,}")
        ax.set(title=title, xlabel="Measured power; .8 was stated", yticks=range(len(names)), yticklabels=names)
    axes[0].invert_yaxis()
    axes[1].legend(fontsize="small")
    return {"": figure}


study = Study(
    question="Is the stated power the measured power?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
