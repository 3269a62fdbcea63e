"""How fast do measures follow the distance from calibration? Exponents, a rate, and a bracket.

Definition 4.2 of Błasiok, Gopalan, Hu and Nakkiran (2023, arXiv:2211.16886): a measure is robustly complete with
exponent c if it is at most a multiple of d**c, and robustly sound with exponent s if it is at least a multiple of
d**s, d the true distance from calibration. Here d shrinks in families of finite domains on which it is known, and the
local exponent of a measure is the slope of its logarithm on the logarithm of d between the two smallest members. The
smallest slope of a measure bounds its c from above, the largest its s from below. Everything is exact: values of
populations. A stated exponent is contradicted by a family if the slope is smaller than c or larger than s, by more than
`SLACK`; it is attained if a family has it.

Theorem 9.10 says that the lower distance of samples tends to the lower distance of the population. Asked is the
exponent of the root mean square error over the number of rows; -1/2 is the rate of means.

The upper distance is known exactly up to ten predictions. Asked is how much the best merging of neighbours, an upper
bound of it, and the interval calibration error lie above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.measures.lower_and_upper_distance import contiguous_merging
from calibstat.papers.parts.grid import Measures
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study
from calibstat.study.engine import Cells, compute

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20921
SIZES = tuple(0.2 * 0.5**k for k in range(6))  # of the parameter that shrinks
SLACK = 0.05  # of a slope between two sizes of which one is half of the other
ALTERNATING = 4  # points; a measure that sees third differences alone has the exponent 3
ROUNDED = 1e-7  # values below it are rounding errors of roots

ASKED: Measures = {
    "smooth error": ("smooth_ce", {}),
    "lower distance": ("lower_distance", {"grid": 2000}),
    "upper distance": ("upper_distance", {}),
    "interval error": ("interval_ce", {}),
    "surrogate interval error": ("surrogate_interval_ce", {"precision": 1e-6}),
    "kernel error, Laplace": ("kernel_ce", {}),
    "kernel error, Gaussian": ("kernel_ce", {"kernel": "gaussian"}),
    "post-processing gap": ("post_processing_gap", {}),
    "ECE, unbinned": ("ece", {"n_bins": None}),
    "binned ECE": ("ece", {"n_bins": 20}),
}
STATED = {  # exponents c and s of the paper, or of its slides (the gap); None: none is possible
    "smooth error": (1.0, 2.0),
    "lower distance": (1.0, 2.0),
    "upper distance": (0.5, 1.0),
    "interval error": (0.5, 1.0),
    "surrogate interval error": (0.5, 1.0),
    "kernel error, Laplace": (0.5, 2.0),
    "kernel error, Gaussian": (None, None),
    "post-processing gap": (1.0, 4.0),
    "ECE, unbinned": (None, 1.0),
    "binned ECE": (None, None),
}
NUMBERS = (100, 400, 1600, 6400)
VALUES = tuple(((np.arange(51) + 0.5) / 51).tolist())  # as many as a grid of 50 intervals keeps in their places
EIGHT = tuple(((np.arange(8) + 0.5) / 8).tolist())


def _alternating(step: float) -> Any:
    """Return four points at equal distances with errors of changing sign, which have binomial weights."""
    k = np.arange(ALTERNATING)
    weight = np.array([comb(ALTERNATING - 1, int(each)) for each in k]) / 2.0 ** (ALTERNATING - 1)
    prediction = 0.5 + step * (k - k.mean()) / 4
    chance = prediction + 0.2 * (-1.0) ** k
    return cs.generators.domain(weight.tolist(), chance.tolist(), prediction.tolist())


FAMILIES: Mapping[str, Callable[[float], Any]] = {
    "gap, near world": lambda a: cs.generators.quadratic_gap(a, 1),
    "gap, far world": lambda a: cs.generators.quadratic_gap(a, 2),
    "gap, outwards": lambda a: cs.generators.interval_gap(a, a / 10),
    "two points": lambda a: cs.generators.two_point(a),
    "all too high": lambda a: cs.generators.domain((1.0,), (0.5,), (0.5 + a,)),
    "few wrong": lambda a: cs.generators.domain((a, 1 - a), (1.0, 0.5), (0.0, 0.5)),
    "alternating": _alternating,
}


def slope_rows(quick: bool) -> list[dict[str, Any]]:
    """Return distance, value and local exponent of every measure on every member of every family."""
    rows, sizes = [], SIZES[:2] if quick else SIZES
    for family, make in FAMILIES.items():
        before: dict[str, tuple[float, float]] = {}
        for size in sizes:
            member = make(size)
            distance = member.distance()
            for label, (name, options) in ASKED.items():
                value = member.truth(name, **options)
                facts = {"question": "exponent", "generator": family, "measure": label, "size": size}
                facts |= {"truth": distance, "mean": value, "exponent": np.nan}
                if label in before and min(value, before[label][1]) > ROUNDED:
                    old, was = before[label]
                    facts["exponent"] = float(np.log(value / was) / np.log(distance / old))
                before[label] = distance, value
                rows.append(facts)
    return rows


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest and the largest exponent of each measure, where, and what they say of the stated ones."""
    import pandas as pd

    rows = table[(table["question"] == "exponent") & table["exponent"].notna()]
    last = rows.loc[rows.groupby(["measure", "generator"])["size"].idxmin()].set_index("generator")
    found = []
    for measure, (c, s) in STATED.items():
        slope = last[last["measure"] == measure]["exponent"]
        low, high = float(slope.min()), float(slope.max())
        facts = {"measure": measure, "least": low, "least_where": slope.idxmin()}
        facts |= {"most": high, "most_where": slope.idxmax()}
        facts |= {"complete": _verdict(c, low, below=True), "sound": _verdict(s, high, below=False)}
        found.append(facts)
    return pd.DataFrame(found)


def _verdict(stated: float | None, seen: float, *, below: bool) -> str:
    """Say whether the extreme slope contradicts a stated exponent, attains it, or neither."""
    if stated is None:
        return "none stated"
    beyond = stated - seen if below else seen - stated
    return "contradicted" if beyond > SLACK else "attained" if beyond > -SLACK else "not attained"


@dataclass(frozen=True)
class LowerDistances:
    """Asks for the lower distance."""

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return it on a grid of 50 intervals."""
        return [cs.estimate(data, measure="lower_distance", grid=50)]


def models() -> dict[str, Any]:
    """Return models with 51 predictions."""
    return {
        "temperature 2": cs.generators.temperature(2, VALUES),
        "shift .5": cs.generators.shift(0.5, VALUES),
        "calibrated": cs.generators.calibrated(VALUES),
    }


def rate_rows(quick: bool, n_jobs: int | None) -> list[dict[str, Any]]:
    """Return the error of the lower distance over the number of rows."""
    chosen, numbers, replicates = models(), NUMBERS[:2] if quick else NUMBERS, 20 if quick else 200
    groups = [(label, n) for label in chosen for n in numbers]
    cells = Cells(groups, chosen, replicates, SEED, LowerDistances(), ["lower_distance"])
    found = compute(cells, None, n_jobs, "lower distances")[:, :, 0]
    rows = []
    for g, (label, n) in enumerate(groups):
        truth = chosen[label].truth("lower_distance", grid=50)
        square = (found[:, g] - truth) ** 2
        rmse = float(np.sqrt(square.mean()))
        facts = {"question": "rate", "generator": label, "measure": "lower distance", "n": n, "truth": truth}
        facts |= {"replicates": replicates, "mean": found[:, g].mean(), "rmse": rmse}
        rows.append(facts | {"rmse_se": square.std(ddof=1) / np.sqrt(replicates) / (2 * rmse)})
    return rows


def rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the exponent of the error over the number of rows of each model, and its standard error.

    It is the slope of least squares of the logarithms, whose errors are independent.
    """
    import pandas as pd

    rows, found = table[table["question"] == "rate"], []
    for label, part in rows.groupby("generator", sort=False):
        x = np.log(part["n"].to_numpy(float))
        weight = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        error = (part["rmse_se"] / part["rmse"]).to_numpy(float)
        facts = {"generator": label, "exponent": float(weight @ np.log(part["rmse"].to_numpy(float)))}
        found.append(facts | {"se": float(np.sqrt((weight**2 * error**2).sum()))})
    return pd.DataFrame(found)


def merging_rows(quick: bool) -> list[dict[str, Any]]:
    """Return how far merging of neighbours and the interval error are above the upper distance of data sets."""
    rows, replicates = [], 10 if quick else 200
    chosen = {"temperature 2": cs.generators.temperature(2, EIGHT), "calibrated": cs.generators.calibrated(EIGHT)}
    for n in (50, 200):
        for label in (*chosen, "random chances"):
            values = np.empty((replicates, 3))
            for k, seed in enumerate(np.random.SeedSequence([SEED, n, len(label)]).spawn(replicates)):
                random = drawing(n, seed)[1]
                chance = random.random(len(EIGHT)).tolist()
                weight = [1 / len(EIGHT)] * len(EIGHT)
                family = chosen.get(label) or cs.generators.domain(weight, chance, EIGHT)
                rows_of_data = cs.Sample.from_rows(*family.sample(n, int(random.integers(2**31))))
                values[k] = [
                    cs.estimate(rows_of_data, measure="upper_distance"),
                    contiguous_merging(*rows_of_data.arrays),
                    cs.estimate(rows_of_data, measure="interval_ce"),
                ]
            upper = values[:, 0]
            for measure, value in (("merging of neighbours", values[:, 1]), ("interval error", values[:, 2])):
                more = value / upper
                facts = {"question": "merging", "generator": label, "measure": measure, "n": n}
                facts |= {"replicates": replicates, "truth": upper.mean(), "mean": more.mean(), "sd": more.std(ddof=1)}
                rows.append(facts | {"same": float((value <= upper + 1e-12).mean()), "most": more.max()})
    return rows


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Return exponents, the error of the lower distance, and what merging of neighbours costs."""
    import pandas as pd

    return pd.DataFrame([*slope_rows(quick), *rate_rows(quick, n_jobs), *merging_rows(quick)])


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the range of exponents of each measure beside the stated ones, and the error of the lower distance."""
    import seaborn as sns

    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 2, 6.2, 4)
    axes, beside = grid[0]
    color = sns.color_palette("colorblind")
    rows = table[(table["question"] == "exponent") & table["exponent"].notna()]
    last = rows.loc[rows.groupby(["measure", "generator"])["size"].idxmin()]
    places = {measure: k for k, measure in enumerate(STATED)}
    families = list(last["generator"].unique())
    for family, marker, hue in zip(families, "osD^v<>", color, strict=False):
        own = last[last["generator"] == family]
        axes.plot(own["exponent"], own["measure"].map(places), marker, color=hue, ms=5, ls="", label=family, alpha=0.8)
    for measure, k in places.items():
        for stated in STATED[measure]:
            if stated is not None:
                axes.plot([stated] * 2, [k - 0.35, k + 0.35], color="black", lw=1)
    axes.set(yticks=list(places.values()), yticklabels=list(places), ylim=(len(places) - 0.5, -0.5), xlim=(-0.2, 4.2))
    axes.set_xlabel("exponent of the true distance; lines: stated c and s")
    axes.legend(frameon=False, fontsize="x-small", loc="lower right")
    for (label, part), hue in zip(
        table[table["question"] == "rate"].groupby("generator", sort=False), color, strict=False
    ):
        beside.errorbar(part["n"], part["rmse"], 2 * part["rmse_se"], marker="o", color=hue, label=str(label))
    beside.set(xscale="log", yscale="log", xlabel="rows")
    beside.set_ylabel("error of the lower distance ± 2 standard errors")
    beside.legend(frameon=False, fontsize="small")
    return {"": figure}


study = Study(
    question="How fast do measures follow the distance from calibration, and the lower distance its population value?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    figures=figures,
)
