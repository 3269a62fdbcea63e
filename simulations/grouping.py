"""Is the low end of the grouping loss above the truth more often than it may be, and how much of the truth is found?

`grouping_loss` promises that its one-sided end at 95 % is above the grouping loss in at most 5 % of data sets, whatever
the estimator. It is tightest where the estimator knows the probability given the features, and predictions are few: so
an estimator that knows it is asked beside a logistic regression. Coarse predictions have known losses: with X uniform,
Q = X and the middle of one of B bins predicted, the Brier score is 1/6 + 1/(12 B²), of which the second part is the
grouping loss (Chidambaram and Ge 2024, appendix E). The rest of the models was made up before the first run and not
changed after it: rare groups, a curve that is not a line in log-odds, and models whose features say nothing more.
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


def estimators() -> dict[str, Any]:
    """Return the estimators by name."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    first = FunctionTransformer(np.delete, kw_args={"obj": 1, "axis": 1})  # without the column that it must not know
    return {"knows": Knows(), "logistic": make_pipeline(first, LogisticRegression())}


def rows_of(label: str, estimator: str, n: int, replicates: int) -> dict[str, Any]:
    """Return how often the low end is above the truth, and the mean estimate and end."""
    model, one = MODELS[label], estimators()[estimator]
    found = []
    for seed in np.random.SeedSequence([SEED, n, *f"{label}{estimator}".encode()]).spawn(replicates):
        random = drawing(n, seed)[1]
        x, q, p = model.draw(random, n)
        y = (random.random(n) < q).astype(int)
        if 5 <= y.sum() <= n - 5:  # else there are folds to fit to in which nothing happens
            answer = cs.grouping_loss(one, np.column_stack([x, q]), y, p, rng=int(random.integers(2**31)))
            found.append((answer.estimate, answer.low))
    estimate, low = np.array(found).reshape(-1, 2).T
    facts = {"question": "grouping", "generator": label, "method": estimator, "n": n, "truth": model.truth}
    facts |= {"replicates": estimate.size, "missed": int((low > model.truth + 1e-12).sum()), "level": TAIL}
    facts |= {"mean": estimate.mean(), "se": estimate.std(ddof=1) / np.sqrt(estimate.size)}
    return facts | {"mean_low": low.mean(), "shown": float((low > 0).mean())}


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask for every model, estimator and number of rows."""
    import pandas as pd
    from joblib import Parallel, delayed

    cells = [(label, n) for label in MODELS for n in (ROWS[:1] if quick else ROWS)]
    jobs = [(label, "knows", n, 10 if quick else 400) for label, n in cells]
    jobs += [(label, "logistic", n, 4 if quick else 60) for label, n in cells if n <= 400]
    return pd.DataFrame(Parallel(n_jobs=n_jobs)(delayed(rows_of)(*job) for job in jobs))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which the end is above the truth too often."""
    return more_often(table, table["missed"], TAIL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the share of misses, and the mean end beside the truth."""
    import seaborn as sns

    from calibstat.plots.style import PALETTE

    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 2, 5.4, 4, sharey=True)
    missed, found = grid[0]
    places = {label: k for k, label in enumerate(MODELS)}
    for color, ((method, n), part) in zip(PALETTE, table.groupby(["method", "n"], sort=False), strict=False):
        y = part["generator"].map(places) + 0.12 * (list(ROWS).index(int(str(n))) - 1)
        marker, by = ("o", "estimator that knows the truth") if method == "knows" else ("x", "logistic regression")
        look: dict[str, Any] = {"color": color, "ms": 5, "label": f"{by}, {n} rows"}
        missed.plot(part["missed"] / part["replicates"], y, marker, **look)
        known = part["truth"] > 0
        found.plot((part["mean_low"] / part["truth"])[known], y[known], marker, **look)
    missed.axvline(TAIL, color="black", lw=1)
    missed.set(yticks=list(places.values()), yticklabels=list(places), ylim=(len(places) - 0.5, -0.5))
    missed.set_xlabel("share of data sets with the end above the truth")
    found.set_xlabel("mean low end, as a share of the truth")
    found.set_xlim(-0.02, 1.02)
    figure.legend(*missed.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return {"": figure}


study = Study(
    question="Is the low end of the grouping loss above the truth too often, and how much of the truth is found?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
