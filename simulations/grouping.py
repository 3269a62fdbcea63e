"""Is the low end of the grouping loss above the truth more often than it may be, and how much of the truth is found?

`grouping_loss` promises that its one-sided end at 95 % is above the grouping loss in at most 5 % of data sets, whatever
the estimator. It is tightest where the estimator knows the probability given the features, and predictions are few: so
an estimator that knows it is asked beside a logistic regression. Coarse predictions have known losses: with X uniform,
Q = X and the middle of one of B bins predicted, the Brier score is 1/6 + 1/(12 B²), of which the second part is the
grouping loss (Chidambaram and Ge 2024, appendix E). The rest of the models was made up before the first run and not
changed after it: rare groups, a curve that is not a line in log-odds, and models whose features say nothing more.

Where predictions repeat there is a p-value too, exact whatever the estimator and however wrong the predictions: so it
is asked where predictions are wrong and the feature says nothing, and counted everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20931
TAIL = 0.05
ROWS = (100, 400, 3000)
Random = Any


@dataclass(frozen=True)
class Model:
    """A model whose grouping loss by the Brier score is known.

    Attributes
    ----------
    draw : callable
        ``draw(random, n)``, the feature, the probability given it, and the prediction.
    truth : float
        The grouping loss.
    """

    draw: Callable[[Random, int], tuple[np.ndarray, np.ndarray, np.ndarray]]
    truth: float


def _coarse(bins: int) -> Model:
    def draw(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = random.random(n)
        return x, x, (np.floor(x * bins) + 0.5) / bins

    return Model(draw, 1 / (12 * bins**2))


def _groups(share: float, inside: float, outside: float) -> Model:
    """A share of the rows with one probability, the others with another, all predicted the same, too high by a half."""
    mean = share * inside + (1 - share) * outside

    def draw(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = (random.random(n) < share).astype(float)
        return x, np.where(x == 1, inside, outside), np.full(n, min(1.5 * mean, 1.0))

    return Model(draw, share * (inside - mean) ** 2 + (1 - share) * (outside - mean) ** 2)


def _nothing(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Over-confident predictions, and a feature that is the probability behind them."""
    x = random.random(n)
    return x, x, x**2 / (x**2 + (1 - x) ** 2)


def _noise(share: float, factor: float) -> Model:
    """Seven predictions, the largest 7/8 of the share, all wrong by the same factor, and a feature of no use."""

    def draw(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = random.integers(1, 8, n) / 8 * share
        return random.random(n), factor * p, p

    return Model(draw, 0.0)


def _wave(random: Random, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A probability of 1/2 + .3 sin(2 pi x), and 1/2 predicted: the mean square of the wave is .045."""
    x = random.random(n)
    return x, 0.5 + 0.3 * np.sin(2 * np.pi * x), np.full(n, 0.5)


MODELS: Mapping[str, Model] = {
    "1 bin": _coarse(1),
    "2 bins": _coarse(2),
    "4 bins": _coarse(4),
    "groups .35 and .65": _groups(0.5, 0.65, 0.35),
    "rare group": _groups(0.05, 0.6, 0.05),
    "rare outcome": _groups(0.3, 0.06, 0.005),
    "group without events": _groups(0.1, 0.0, 0.2),
    "wave": Model(_wave, 0.045),
    "nothing more": Model(_nothing, 0.0),
    "noise, too high": _noise(1.0, 0.8),
    "noise, rare, too low": _noise(0.05, 2.0),
}


class Knows:
    """An estimator that knows the probability given the features: it is their second column."""

    classes_ = np.array([0, 1])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return no parameters."""
        return {}

    def set_params(self) -> Knows:
        """Change nothing."""
        return self

    def fit(self, X: object, y: np.ndarray, /) -> Knows:
        """Learn nothing."""
        return self

    def predict_proba(self, X: object) -> np.ndarray:
        """Return the second column."""
        q = np.asarray(X)[:, 1]
        return np.column_stack([1 - q, q])


LOOK = {
    "knows": ("o", "estimator that knows the truth"),
    "logistic": ("x", "logistic regression"),
    "tree": ("^", "tree"),
}


def estimators() -> dict[str, Any]:
    """Return the estimators by name."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.tree import DecisionTreeClassifier

    first = FunctionTransformer(np.delete, kw_args={"obj": 1, "axis": 1})  # without the column that it must not know
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=1)
    learners = {"logistic": LogisticRegression(), "tree": tree}
    return {"knows": Knows()} | {name: make_pipeline(first, learner) for name, learner in learners.items()}


def rows_of(label: str, estimator: str, n: int, replicates: int) -> dict[str, Any]:
    """Return how often the low end is above the truth, the mean estimate and end, and how often p is at most .05."""
    model, one = MODELS[label], estimators()[estimator]
    found = []
    for seed in np.random.SeedSequence([SEED, n, *f"{label}{estimator}".encode()]).spawn(replicates):
        random = drawing(n, seed)[1]
        x, q, p = model.draw(random, n)
        y = (random.random(n) < q).astype(int)
        if 5 <= y.sum() <= n - 5:  # else there are folds to fit to in which nothing happens
            answer = cs.grouping_loss(one, np.column_stack([x, q]), y, p, rng=int(random.integers(2**31)))
            found.append((answer.estimate, answer.low, np.nan if answer.pvalue is None else answer.pvalue))
    estimate, low, pvalue = np.array(found).reshape(-1, 3).T
    facts = {"question": "grouping", "generator": label, "method": estimator, "n": n, "truth": model.truth}
    facts |= {"replicates": estimate.size, "missed": int((low > model.truth + 1e-12).sum()), "level": TAIL}
    facts |= {"mean": estimate.mean(), "se": estimate.std(ddof=1) / np.sqrt(estimate.size)}
    facts |= {"mean_low": low.mean(), "shown": float((low > 0).mean())}
    return facts | {"tested": int((pvalue >= 0).sum()), "rejected": int((pvalue <= TAIL).sum())}


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask for every model, estimator and number of rows."""
    import pandas as pd
    from joblib import Parallel, delayed

    cells = [(label, n) for label in MODELS for n in (ROWS[:1] if quick else ROWS)]
    jobs = [(label, "knows", n, 10 if quick else 400) for label, n in cells]
    jobs += [
        (label, learner, n, 4 if quick else 400 if label.startswith("noise") else 60)
        for learner in ("logistic", "tree")
        for label, n in cells
        if n <= 400 or label.startswith("noise")
    ]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(delayed(rows_of)(*job) for job in jobs))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which the end is above the truth too often, or the p-value finds what is not there."""
    import pandas as pd

    nothing = table[(table["truth"] == 0) & (table["tested"] > 0)]
    rows = len(table) + len(nothing)
    missed, found = more_often(table, table["missed"], TAIL, rows), more_often(nothing, nothing["rejected"], TAIL, rows)
    return pd.concat([missed, found]).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the share of misses, the mean end beside the truth, and how often p is at most .05."""
    import seaborn as sns

    from calibstat.plots.style import PALETTE

    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 3, 4, 4.4, sharey=True)
    missed, found, rejected = grid[0]
    places = {label: k for k, label in enumerate(MODELS)}
    for color, ((method, n), part) in zip(PALETTE, table.groupby(["method", "n"], sort=False), strict=False):
        y = part["generator"].map(places) + 0.12 * (list(ROWS).index(int(str(n))) - 1)
        marker, by = LOOK[str(method)]
        look: dict[str, Any] = {"color": color, "ms": 5, "label": f"{by}, {n} rows"}
        missed.plot(part["missed"] / part["replicates"], y, marker, **look)
        known = part["truth"] > 0
        found.plot((part["mean_low"] / part["truth"])[known], y[known], marker, **look)
        rejected.plot((part["rejected"] / part["tested"].where(part["tested"] > 0)), y, marker, **look)
    for axes in (missed, rejected):
        axes.axvline(TAIL, color="black", lw=1)
    missed.set(yticks=list(places.values()), yticklabels=list(places), ylim=(len(places) - 0.5, -0.5))
    missed.set_xlabel("share of data sets\nwith the end above the truth")
    found.set_xlabel("mean low end,\nas a share of the truth")
    rejected.set_xlabel("share of data sets\nwith p at most .05")
    rejected.set_xlim(-0.02, 1.02)
    found.set_xlim(-0.02, 1.02)
    figure.legend(*missed.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return {"": figure}


study = Study(
    question="Is the low end of the grouping loss above the truth too often, and does its p-value keep its level?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
