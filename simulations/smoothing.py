"""Does kernel regression find the error as its bandwidth shrinks, and does the order of models depend on it?

Theorem 4.9 of Chidambaram and Ge (2024, arXiv:2406.04068) says that their estimate of the expected divergence tends to
it if the bandwidth sigma tends to 0 and n sigma² / log n to infinity: with sigma = n**-rate for rates between 0 and
1/2. Asked here are rates on both sides, for models whose expected divergence is an integral. The claim is found of a
rate if the root mean square error of the largest samples is at most half of the error with a hundredth of their rows,
and more than three standard errors below it; not settled if it falls by less.

Appendix H says that the order of recalibrations is the same for bandwidths from .01 to .05, that bandwidths above .1
smooth too much (H.1), and that the Epanechnikov kernel does not change the order (H.2). Here five models of each of ten
networks for digits are ordered by every bandwidth and both kernels. The order is compared with that by the Gaussian
kernel of bandwidth .05, by Kendall's rank correlation, whose errors are over networks. A file that is given by --data
is one more network; of one network there is no error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.data.clipping import needed
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.prediction_files import read_predictions
from calibstat.papers.parts.recalibrations import BEFORE, RECALIBRATIONS, REPLACED, fitted_to, recalibrated
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study
from calibstat.study.engine import Cells, compute

from .paper_tables import networks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20911
RATES = (0.1, 0.2, 0.3, 0.45, 0.7, 1.0)
BY_THEOREM = (0.1, 0.2, 0.3, 0.45)
ROWS = (100, 1000, 10_000)  # with a rate of 1 the bandwidth of 10,000 rows is the least that is taken
ESTIMATORS = ("direct", "plug_in")
HALF = 0.5  # of the error of a hundredth of the rows
SURE = 3.0  # standard errors

COMPARED = (BEFORE, "temperature", "histogram, by class", "isotonic", REPLACED)
KERNELS = ("gaussian", "epanechnikov")
BANDWIDTHS = (0.01, 0.03, 0.05, 0.1, 0.25)
REFERENCE = ("gaussian", 0.05)
SPLITS = 8  # of the rows of each network


def models() -> dict[str, Any]:
    """Return models whose expected divergence is an integral; rates were tried on the first two alone."""
    from scipy.stats import beta

    return {
        "temperature 2": cs.generators.temperature(2),
        "temperature 1/2": cs.generators.temperature(0.5),
        "shift .5, mean .3": cs.generators.shift(0.5, beta(3, 7)),
        "calibrated": cs.generators.calibrated(),
    }


@dataclass(frozen=True)
class Asks:
    """Asks for both estimates with every rate."""

    rates: Sequence[float]

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the estimates, rate by rate."""
        return [
            cs.estimate(data, measure="regression_ce", bandwidth=1, rate=rate, estimator=estimator)
            for rate, estimator in product(self.rates, ESTIMATORS)
        ]


def rate_rows(quick: bool, n_jobs: int | None) -> list[dict[str, Any]]:
    """Return the error of both estimates for every model, number of rows and rate."""
    chosen, numbers = models(), ROWS[:2] if quick else ROWS
    chosen = dict(list(chosen.items())[:: 3 if quick else 1])
    replicates = 20 if quick else 400
    groups = [(label, n) for label in chosen for n in numbers]
    columns = [f"{rate:g}: {estimator}" for rate, estimator in product(RATES, ESTIMATORS)]
    found = compute(Cells(groups, chosen, replicates, SEED, Asks(RATES), columns), None, n_jobs, "rates")
    rows = []
    for g, (label, n) in enumerate(groups):
        limit = chosen[label].truth("regression_ce", bandwidth=1, rate=0.2)
        for k, (rate, estimator) in enumerate(product(RATES, ESTIMATORS)):
            error = found[:, g, k] - limit
            square = error**2
            facts = {"question": "rate", "generator": label, "n": n, "method": estimator, "rate": rate}
            facts |= {"bandwidth": n**-rate, "replicates": replicates, "truth": limit}
            facts |= {"mean": found[:, g, k].mean(), "sd": found[:, g, k].std(ddof=1)}
            rmse = float(np.sqrt(square.mean()))
            facts |= {"rmse": rmse, "rmse_se": square.std(ddof=1) / np.sqrt(replicates) / (2 * max(rmse, 1e-300))}
            rows.append(facts)
    return rows


def judged(table: pd.DataFrame) -> pd.DataFrame:
    """Return, for each model, estimate and rate, whether the error falls as the theorem says."""
    import pandas as pd

    rows, verdicts = table[table["question"] == "rate"], []
    for (label, method, rate), part in rows.groupby(["generator", "method", "rate"], sort=False):
        few, many = (part[part["n"] == n].iloc[0] for n in (part["n"].min(), part["n"].max()))
        ratio = many["rmse"] / few["rmse"]
        gap, error = few["rmse"] - many["rmse"], np.hypot(few["rmse_se"], many["rmse_se"])
        verdict = "found" if ratio <= HALF and gap > SURE * error else "rises" if gap <= 0 else "not settled"
        facts = {"generator": label, "method": method, "rate": rate, "ratio": ratio, "verdict": verdict}
        verdicts.append(facts | {"by_theorem": rate in BY_THEOREM})
    return pd.DataFrame(verdicts)


def order_rows(name: str, y: np.ndarray, p: np.ndarray, splits: int) -> list[dict[str, Any]]:
    """Return the mean error of every model of a network by every kernel and bandwidth, and how far orders agree."""
    from scipy.stats import kendalltau

    errors = {each: np.zeros((splits, len(COMPARED))) for each in product(KERNELS, BANDWIDTHS)}
    for k, seed in enumerate(np.random.SeedSequence(SEED).spawn(splits)):
        order = drawing(y.size, seed)[1].permutation(y.size)
        fitted, rest = np.split(order, [fitted_to(y.size)])
        makes = {each: RECALIBRATIONS[each] for each in COMPARED if each != BEFORE}
        answers, _ = recalibrated(makes, y[fitted], p[fitted], p[rest], k, needed(p))
        for (kernel, bandwidth), error in errors.items():
            measure = cs.measures.RegressionCE(kernel=kernel, bandwidth=bandwidth)
            error[k] = [cs.estimate(y[rest], answers[model], measure=measure) for model in COMPARED]
    rows, expected = [], errors[REFERENCE].mean(axis=0)
    for (kernel, bandwidth), error in errors.items():
        mean = error.mean(axis=0)
        shared = {"generator": name, "n": y.size - fitted_to(y.size), "kernel": kernel, "bandwidth": bandwidth}
        shared["replicates"] = splits
        for m, model in enumerate(COMPARED):
            facts = {"question": "error", "method": model, "mean": mean[m], "sd": error[:, m].std(ddof=1)}
            rows.append(shared | facts)
        agreement = float(kendalltau(mean, expected).statistic)
        rows.append(shared | {"question": "order", "method": "Kendall", "mean": agreement})
    return rows


def agreement(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean agreement over networks, its standard error, and in how many the order is the very same."""
    rows = table[(table["question"] == "order") & ~table["generator"].str.startswith("file ")]
    of_network = rows.groupby(["kernel", "bandwidth"], sort=False)["mean"]
    found = of_network.agg(mean="mean", sd="std", networks="size", same=lambda tau: int((tau > 1 - 1e-9).sum()))
    return found.assign(se=found["sd"] / np.sqrt(found["networks"])).reset_index()


def table(*, quick: bool, n_jobs: int | None = None, data: Sequence[Path] = ()) -> pd.DataFrame:
    """Return errors by rate, and orders by bandwidth and kernel."""
    import pandas as pd

    sources = {name: source.rows() for name, source in networks(quick).items()}
    sources |= {f"file {path.stem}": read_predictions(path) for path in data}
    rows = rate_rows(quick, n_jobs)
    for name, (y, p) in sources.items():
        rows += order_rows(name, y, p, 2 if quick else SPLITS)
    return pd.DataFrame(rows)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw errors over the number of rows, and agreement over bandwidths."""
    return {"rates": draw_rates(table), "orders": draw_orders(table)}


def draw_rates(table: pd.DataFrame) -> Figure:
    """Draw the root mean square error over the number of rows, a line for each rate."""
    import seaborn as sns

    rows = table[table["question"] == "rate"]
    labels = list(rows["generator"].unique())
    with sns.axes_style("whitegrid"):
        figure, grid = panels(len(ESTIMATORS), len(labels), 2.9, 2.8, sharex=True, sharey=True)
    colors = sns.color_palette("viridis", len(RATES))
    for i, method in enumerate(ESTIMATORS):
        for j, label in enumerate(labels):
            axes = grid[i, j]
            for rate, color in zip(RATES, colors, strict=True):
                own = rows[(rows["method"] == method) & (rows["generator"] == label) & (rows["rate"] == rate)]
                style = "-" if rate in BY_THEOREM else "--"
                axes.errorbar(own["n"], own["rmse"], 2 * own["rmse_se"], color=color, ls=style, marker="o", ms=3)
            axes.set(xscale="log", yscale="log")
            axes.set_title(f"{label}, {method.replace('_', '-')}", fontsize="small")
    handles = [
        axes.plot([], [], color=c, ls="-" if r in BY_THEOREM else "--")[0] for r, c in zip(RATES, colors, strict=True)
    ]
    names = [f"n^−{rate:g}" for rate in RATES]
    figure.legend(handles, names, title="bandwidth", loc="outside right upper", frameon=False)
    figure.supxlabel("rows", fontsize="medium")
    figure.supylabel("root mean square error ± 2 standard errors", fontsize="medium")
    return figure


def draw_orders(table: pd.DataFrame) -> Figure:
    """Draw how far the order by each bandwidth and kernel agrees with the order by the Gaussian kernel of .05."""
    import seaborn as sns

    found = agreement(table)
    with sns.axes_style("whitegrid"):
        figure, ((axes,),) = panels(1, 1, 6.4, 4)
    color = sns.color_palette("colorblind")
    for kernel, hue, marker in zip(KERNELS, color, "os", strict=False):
        own = found[found["kernel"] == kernel]
        axes.errorbar(own["bandwidth"], own["mean"], 2 * own["se"], color=hue, marker=marker, label=kernel, capsize=3)
    files = table[(table["question"] == "order") & table["generator"].str.startswith("file ")]
    for (name, of), own in files.groupby(["generator", "kernel"]):
        hue = color[KERNELS.index(str(of))]
        axes.plot(own["bandwidth"], own["mean"], color=hue, ls=":", label=f"{of}, {name}")
    axes.set(xscale="log", xticks=BANDWIDTHS, xticklabels=[f"{b:g}" for b in BANDWIDTHS], xlabel="bandwidth")
    axes.minorticks_off()
    axes.set_ylabel(
        f"Kendall's correlation with the order by\n{REFERENCE[0]}, {REFERENCE[1]:g}; ± 2 errors over networks"
    )
    axes.set_ylim(top=1.05)
    axes.legend(frameon=False, fontsize="small", loc="lower left")
    return figure


study = Study(
    question="Does kernel regression find the error as its bandwidth shrinks, and do orders of models depend on it?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_data=True,
    figures=figures,
)
