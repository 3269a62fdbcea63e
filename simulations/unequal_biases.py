"""Do biases that differ between models decide a comparison? Appendix A.1 and section 4.3 of Vaicenavicius et al. 2019.

The estimate of a binned error is too high, the more so the more bins a model's predictions fill. So of two models on
the same rows the one with spread predictions looks worse, whatever is true. Both the order of the two estimates and
`compare`, whose default is the difference of squared kernel errors, are asked which model is better: where both models
are calibrated, where the spread one is better, and where it is worse. The promise of `compare`: a difference that is
not there is found at 5 % in at most 5 % of data sets. The paper's own way, a p-value for each model, is beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20439
LEVEL = 0.05
NAMES = ("narrow", "spread", "found", "worse", "p_narrow", "p_spread")


@dataclass(frozen=True)
class TwoModels:
    """Outcomes of chances that one model spreads over the unit interval and the other narrows to a few values.

    The narrow model predicts the mean chance of each of `groups` equal groups of rows by their chance, moved by
    `narrow`; the spread model predicts chances whose log-odds are times `spread`.
    """

    groups: int
    narrow: float = 0.0
    spread: float = 1.0

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw outcomes, with the predictions of both."""
        n, random = drawing(n, rng)
        chance = random.random(n)
        group = np.minimum((chance * self.groups).astype(int), self.groups - 1)
        logit = np.log(chance / (1 - chance))
        narrow = (group + 0.5) / self.groups + self.narrow
        spread = 1 / (1 + np.exp(-self.spread * logit))
        return (random.random(n) < chance).astype(np.int64), {"narrow": narrow, "spread": spread}


# what is true: the sign of the spread model's error minus the narrow one's
MODELS = {
    "both calibrated, one value": (TwoModels(1), 0),
    "both calibrated, five values": (TwoModels(5), 0),
    "narrow off by .03": (TwoModels(1, narrow=0.03), -1),
    "spread with temperature 1.3": (TwoModels(5, spread=1.3), 1),
}


@dataclass(frozen=True)
class Asks:
    """Asks for both estimates, for the comparison and for both p-values."""

    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the estimates by `ece`, whether a difference is found and its sign, and the p-values by `ece`."""
        y, p = data
        few: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng}
        of_each = [cs.estimate(y, p[name], measure="ece") for name in ("narrow", "spread")]
        found = cs.compare(y, p, **few)
        tests = [cs.calibration_test(y, p[name], measure="ece", **few).pvalue for name in ("narrow", "spread")]
        sign = float(np.sign(found.difference[0])) * (1 if found.pairs[0] == ("spread", "narrow") else -1)
        return [*of_each, float(found.pvalue[0] <= LEVEL), sign, *tests]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count how often each way calls the spread model worse, or better."""
    import pandas as pd

    replicates, n_resamples = (20, 99) if quick else (500, 199)
    rows: list[dict[str, Any]] = []
    for n in [300] if quick else [300, 1000, 5000]:
        for label, (model, sign) in MODELS.items():
            cells = Cells([(label, n)], {label: model}, replicates, SEED, Asks(n_resamples), [*NAMES])
            found = dict(zip(NAMES, compute(cells, None, n_jobs, f"{label}, {n}")[:, 0].T, strict=True))
            claims = {side: (found["found"] == 1) & (found["worse"] == side) for side in (-1, 1)}
            low = {name: found[f"p_{name}"] <= LEVEL for name in ("narrow", "spread")}
            what: dict[str, Any] = {"question": "comparison", "generator": label, "n": n, "measure": "ece"}
            what |= {"method": "compare", "level": LEVEL, "replicates": replicates, "truth": sign}
            what |= rate_of("differences", found["found"] == 1)
            what |= {f"mean_{name}": found[name].mean() for name in ("narrow", "spread")}
            what |= {"estimate_spread_worse": (found["spread"] > found["narrow"]).mean()}
            what |= {"compare_spread_worse": claims[1].mean(), "compare_spread_better": claims[-1].mean()}
            what |= {"rejects_spread_alone": (low["spread"] & ~low["narrow"]).mean()}
            what |= {"rejects_narrow_alone": (low["narrow"] & ~low["spread"]).mean()}
            rows.append(what)
    return pd.DataFrame(rows)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which a difference is found too often that is not there."""
    equal = table[table["truth"] == 0]
    return more_often(equal, equal["differences"], LEVEL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each way calls the spread model worse, a panel for each truth."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    ways = {
        "estimate_spread_worse": "its ECE is larger",
        "rejects_spread_alone": "it alone is rejected",
        "compare_spread_worse": "compare finds it worse",
        "compare_spread_better": "compare finds it better",
    }
    hues = list(colors().values())
    for ax, label in zip(figure.subplots(1, len(MODELS), sharey=True), MODELS, strict=True):
        rows = table[table["generator"] == label]
        for (column, name), hue, marker in zip(ways.items(), hues, "osD^", strict=False):
            ax.plot(rows["n"], rows[column], marker=marker, color=hue, label=name)
        ax.axhline(LEVEL, color="black", ls="--", lw=1)
        ax.set(xscale="log", ylim=(-0.03, 1.03), xlabel="rows")
        ax.set_xticks(rows["n"], rows["n"])
        ax.set_xticks([], minor=True)
        ax.set_title(label, fontsize="medium")
    figure.axes[0].set_ylabel("share of data sets")
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=4, frameon=False, title="The spread model:")
    return {"": figure}


study = Study(
    question="Do biases that differ between models decide a comparison?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    figures=figures,
    violations=violations,
)
