"""Rows with features in which a learner looks for groups: calibrated ones of eight kinds, and wrong ones of five."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from calibstat.generators.distributions import Random

if TYPE_CHECKING:
    import pandas as pd

UNIFORM = tuple(f"x{k}" for k in range(6))
Features = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows: outcomes, predictions, true probabilities, features, and what looks for groups in them."""

    y: np.ndarray
    p: np.ndarray
    q: np.ndarray
    features: pd.DataFrame
    learner: Any

    @property
    def quarters(self) -> pd.DataFrame:
        """The features, uniform ones cut into quarters: the groups of a fixed audit, and of MCGrad."""
        return self.features.assign(**{name: np.floor(4 * self.features[name]).astype(int) for name in UNIFORM})


@dataclass(frozen=True)
class Population:
    """Seven features, of which x2 and x3 decide the prediction, and where it is wrong.

    Attributes
    ----------
    error : function
        Of the features: by how much log-odds of the outcome are above those of the prediction.
    shift : float
        Of the log-odds of predictions.
    values : int
        Different predictions, 0 for as many as rows.
    certain : float
        Share of the rows with predictions 0 and 1.
    texts, missing : bool
        Whether x6 has thirty names in place of four numbers, and whether a fifth of x0 is missing.
    levels : int
        Different values of the features, 0 for as many as rows.
    one_seed : bool
        Whether all data sets have the same seed, and their rows in the order of the outcomes.
    learner : str
        "tree", or "line" for a linear regression.
    """

    error: Callable[[Features], np.ndarray] = field(default=lambda x: 0 * x["x0"], repr=False)
    shift: float = 0.0
    values: int = 0
    certain: float = 0.0
    texts: bool = False
    missing: bool = False
    levels: int = 0
    one_seed: bool = False
    learner: str = "tree"

    def draw(self, random: Random, n: int) -> Drawn:
        """Draw rows."""
        import pandas as pd

        x = {name: random.random(n) for name in UNIFORM}
        if self.levels:
            x = {name: np.floor(self.levels * value) / self.levels for name, value in x.items()}
        p = expit(2 * (x["x2"] + x["x3"] - 1) + self.shift)
        p = (np.floor(self.values * p) + 0.5) / self.values if self.values else p
        number = random.integers(0, 30 if self.texts else 4, n)
        p[: int(self.certain * n)] = random.integers(0, 2, int(self.certain * n))
        with np.errstate(divide="ignore"):
            q = expit(np.log(p) - np.log1p(-p) + self.error(x))
        y = (random.random(n) < q).astype(int)
        features = pd.DataFrame({**x, "x6": number})
        if self.texts:
            features["x6"] = [f"site {k}" for k in number]
        if self.missing:
            features.loc[random.random(n) < 0.2, "x0"] = np.nan
        order = np.argsort(y, kind="stable") if self.one_seed else np.arange(n)
        return Drawn(y[order], p[order], q[order], features.iloc[order].reset_index(drop=True), self._learner)

    @property
    def _learner(self) -> Any:
        if self.learner == "tree":
            return self.learner
        from sklearn.linear_model import LinearRegression

        return LinearRegression()


CALIBRATED: Mapping[str, Population] = {
    "uniform": Population(),
    "rare": Population(shift=-4),
    "five predictions, four levels": Population(values=5, levels=4),
    "one prediction, two levels": Population(values=1, levels=2),
    "sorted by outcome, one seed, ties": Population(values=4, levels=2, one_seed=True),
    "a fifth predicted 0 or 1": Population(certain=0.2),
    "names and missing values": Population(texts=True, missing=True),
    "linear regression": Population(learner="line"),
}
WRONG: Mapping[str, Population] = {
    "box": Population(lambda x: 1.0 * ((x["x0"] > 0.3) & (x["x0"] < 0.6) & (x["x1"] > 0.7))),
    "diagonal": Population(lambda x: 0.8 * (x["x0"] + x["x1"] > 1.5)),
    "line": Population(lambda x: 0.45 * sum(x[name] - 0.5 for name in UNIFORM)),
    "stripe": Population(lambda x: 1.0 * ((x["x4"] > 0.45) & (x["x4"] < 0.55))),
}
