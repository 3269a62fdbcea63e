"""How often is the second line of a verdict about few rows right, and what does it add to ECE?

A test of calibration states ECE with its interval. Of fewer than 1000 rows, where this interval reaches 0 and its high
end is not small, the verdict has a second line: the high end of `ks`, how far sums of outcomes and predictions up to
any prediction lie apart at most. It is shown because of what the rows say of ECE, so its misses are counted among the
data sets that have it, and among all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

import calibstat as cs
from calibstat.generators.distributions import Random, Scores
from calibstat.generators.simulator import drawing
from calibstat.inference.size_of_error import FEW_ROWS, SMALL, SizeOfError
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20961
LEVEL = 0.95
ROWS = (100, 300, 900, 10_000)
REPLICATES = 1000
LARGE = 0.10  # an error below which a person would call few rows informative
PROMISED = ("called small, and ECE is above 2 points", "second line is wrong", "high end of ks misses")
MEASURES = ("ece", "ks", "kernel_ce")
LAWS = {
    "even": "uniform",
    "near 50 %": stats.beta(20, 20),
    "near 5 %": stats.beta(1, 19),
    "four values": {0.05: 0.4, 0.2: 0.3, 0.5: 0.2, 0.9: 0.1},
}
ERRORS: dict[str, Callable[[Scores], cs.generators.Generator]] = {
    "calibrated": lambda law: cs.generators.calibrated(law),
    "too far apart": lambda law: cs.generators.temperature(1.5, law),
    "too low": lambda law: cs.generators.shift(0.4, law),
    "a little too low": lambda law: cs.generators.shift(0.14, law),  # of even predictions by a little over 2 points
}


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask for all verdicts of all populations."""
    import pandas as pd
    from joblib import Parallel, delayed

    cells = [(n, law, error) for n in (ROWS[:2] if quick else ROWS) for law in LAWS for error in ERRORS]
    found = Parallel(n_jobs=n_jobs)(delayed(rows_of)(*cell, 20 if quick else REPLICATES) for cell in cells)
    return pd.DataFrame([row for rows in found for row in rows])


def rows_of(n: int, law: str, error: str, replicates: int) -> list[Row]:
    """Count what verdicts say of data sets of a population, and how often it is wrong."""
    generator = ERRORS[error](LAWS[law])
    truth = {measure: generator.truth(measure) for measure in MEASURES}
    _, random = drawing(n, np.random.SeedSequence([SEED, n, [*LAWS].index(law), [*ERRORS].index(error)]))
    samples = (generator.sample(n, rng=random) for _ in range(replicates))
    found = np.array([said(y, p, random) for y, p in samples])
    high, is_small, is_shown = dict(zip(MEASURES, found.T[:3], strict=True)), found[:, 3] > 0, found[:, 4] > 0
    # the convention is of the rows, so that it moves with their mean outcome; what it calls small is at most SMALL
    head = {"generator": f"{error}, {law}", "n": n, "replicates": replicates}
    missed = high["ks"] < truth["ks"]
    counted = {
        "called small": is_small,
        PROMISED[0]: is_small & (truth["ece"] > SMALL),
        "second line is shown": is_shown,
        PROMISED[1]: missed & is_shown,
        PROMISED[2]: missed,
    }
    rows = [{"question": question} | head | rate_of("count", data) for question, data in counted.items()]
    for measure in MEASURES:
        row = {"question": f"high end of {measure} is below 10 points"} | head | rate_of("count", high[measure] < LARGE)
        rows.append(row | {"truth": truth[measure], "mean_high": float(high[measure].mean())})
    return rows


def said(y: np.ndarray, p: np.ndarray, random: Random) -> list[float]:
    """Return the high ends of the measures, whether the error is called small, and whether a second line is shown."""
    seed = int(random.integers(2**32))
    found = {m: cs.confidence_interval(y, p, measure=m, confidence_level=LEVEL, rng=seed) for m in MEASURES}
    size = SizeOfError.of(found["ece"], rate=float(y.mean()))
    return [*(each.high for each in found.values()), size.is_small, y.size < FEW_ROWS and size.says_little]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the populations of which a high end of a 95 % interval is too low in more than 2.5 % of data sets."""
    rows = table[table["question"].isin(PROMISED)]
    return more_often(rows, rows["count"], (1 - LEVEL) / 2, len(rows))


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how wide each measure is for calibrated predictions, and how often the second line is wrong."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    wide, wrong = figure.subplots(1, 2)
    calibrated = table[table["generator"] == "calibrated, even"]
    for measure, hue, marker in zip(MEASURES, colors().values(), "os^", strict=False):
        rows = calibrated[calibrated["question"] == f"high end of {measure} is below 10 points"]
        wide.plot(rows["n"], 100 * rows["mean_high"], f"{marker}-", ms=4, color=hue, label=measure)
    wide.set(xscale="log", xlabel="rows", ylabel="mean high end, points", title="calibrated predictions")
    wide.legend(frameon=False)
    rows = table[table["question"] == "second line is wrong"]
    reach = [100 * (rows["rate"] - rows["low"]), 100 * (rows["high"] - rows["rate"])]
    wrong.errorbar(rows["n"], 100 * rows["rate"], yerr=reach, fmt="o", ms=3, lw=1, color="black")
    wrong.axhline(100 * (1 - LEVEL) / 2, color="black", ls="--", lw=1)
    wrong.set(xscale="log", xlabel="rows", ylabel="second line is wrong, % of data sets", title="all populations")
    return {"": figure}


study = Study(
    question="How often is the second line of a verdict about few rows right, and what does it add to ECE?",
    seed=SEED,
    runtime_hours=0.25,
    table=table,
    figures=figures,
    violations=violations,
)
