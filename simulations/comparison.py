"""Is a difference between two models noise? Levels, coverage and power of comparisons on the same rows.

What is checked here, cell by cell: at 5%, `compare` finds a difference in at most 5% of data sets in which there is
none, and its interval misses the true difference in at most 5%, for every measure that it offers. Among the cells are
rare outcomes, and models of which two weighted sums of residuals nearly tie. "swap" promises the former where the
models are exchangeable. The default, squares, finds a temperature of 1.5 beside a calibrated model in at least .70 of
data sets of 1000 rows. Its power stands beside the power of scores and of other errors in nine pairs of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calibstat import generators
from calibstat.papers.parts.grid import Grid, Measures
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEVEL = 0.05
POWER = 0.7
POINTS = 60  # values of each of the two parts of the covariates
SPREAD = 1.28  # of each part of the log-odds; chances are then nearly uniform
NO_DIFFERENCE = 1e-6  # to which temperatures are solved for; noise is 4000 times as large
NEGLIGIBLE = 5e-4  # mean difference over cells that each data set makes for each model, of models that are equal
OVER = 1.5  # temperature of an over-confident model
ALIKE = "both calibrated, alike", "both over-confident, alike"
SHARPER = "both calibrated, one sharper"
CONSTANT = "both calibrated, one constant"
EQUAL = "equally over-confident, one sharper", "over- against under-confident"
DIFFERENT = "calibrated against temperature 1.5"
SQUARES = "kernel_ce_squared"  # the default
MEASURES: Measures = {
    SQUARES: ("kernel_ce_squared", {"bandwidth": 0.2}),
    "kernel_ce": ("kernel_ce", {}),
    "ece": ("ece", {}),
    "ece, quantile": ("ece", {"strategy": "quantile"}),
    "ece, 50 bins": ("ece", {"n_bins": 50}),
    **{name: (name, {}) for name in ("ks", "kuiper", "smooth_ce", "two_bin_ce", "decision_loss", "brier", "log_loss")},
}
HARD = (SQUARES, "kernel_ce", "ks", "kuiper", "ece", "smooth_ce", "two_bin_ce", "decision_loss", "brier", "log_loss")
AROUND = np.array([0.6, 0.8, 1, 1.2, 1.4])  # five predictions about one
Model = tuple[str, float]  # what it sees of the covariates, "first", "second", "both" or "none", and its temperature


@dataclass(frozen=True)
class TwoModels:
    """Two models on a square of 60 x 60 equally likely points, whose log-odds are the sum of two normal scores.

    Each reports the chance of outcome 1 given what it sees, its log-odds multiplied by a temperature.
    """

    A: Model
    B: Model

    n_classes: ClassVar[int] = 2

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw independent rows: outcomes, and the predictions of both models."""
        random = np.random.default_rng(rng)
        point = random.integers(0, POINTS**2, n)
        y = (random.random(n) < _chances()["both"][point]).astype(np.int64)
        return y, {name: predictions(model)[point] for name, model in (("A", self.A), ("B", self.B))}

    @property
    def models(self) -> dict[str, generators.Generator]:
        """Both models alone."""
        return {"A": population(self.A), "B": population(self.B)}


@dataclass(frozen=True)
class Atoms:
    """Two models of few kinds of rows, by their probabilities, chances of outcome 1 and predictions."""

    probability: tuple[float, ...]
    chance: tuple[float, ...]
    A: tuple[float, ...]
    B: tuple[float, ...]

    n_classes: ClassVar[int] = 2

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw independent rows: outcomes, and the predictions of both models."""
        random = np.random.default_rng(rng)
        kind = random.choice(len(self.chance), n, p=self.probability)
        y = (random.random(n) < np.array(self.chance)[kind]).astype(np.int64)
        return y, {"A": np.array(self.A)[kind], "B": np.array(self.B)[kind]}

    @property
    def models(self) -> dict[str, generators.Generator]:
        """Both models alone."""
        return {name: generators.domain(self.probability, self.chance, p) for name, p in (("A", self.A), ("B", self.B))}


def atoms(probability: Any, chance: Any, first: Any, second: Any) -> Atoms:
    """Return two models on rows of these kinds."""
    parts = (np.asarray(part, np.float64) for part in (probability, chance, first, second))
    return Atoms(*(tuple(part.tolist()) for part in parts))


def rare(n: int) -> dict[str, Atoms]:
    """Return two models that predict one number for every row, half and one and a half times the prevalence."""
    prevalence = {"prevalence .02": 0.02, "3 events": 3 / n, "10 events": 10 / n}
    return {
        f"{label}, too low and too high": atoms([1], [chance], [0.5 * chance], [1.5 * chance])
        for label, chance in prevalence.items()
    }


def hard(measure: str, n: int, **options: Any) -> dict[str, Atoms]:
    """Return models of which the measure is the same, and that were told apart too often."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    chance = (np.arange(100) + 0.5) / 100
    share, shifted = np.full(100, 0.01), expit(logit(chance) + 0.15)
    found = {"shift .15 up and down": atoms(share, chance, shifted, expit(logit(chance) - 0.15))}

    def solved(share: Any, chance: Any, first: Any, second: Any, low: float, high: float) -> Atoms:
        def apart(size: float) -> float:
            return difference(atoms(share, chance, first, second(size)), measure, **options)

        size = brentq(apart, low, high, xtol=1e-10)
        return atoms(share, chance, first, second(size))

    found["shift .15 against temperature"] = solved(
        share, chance, shifted, lambda t: expit(t * logit(chance)), 1.001, 6.0
    )
    over = expit(1.2 * logit(chance))
    found["nearly identical"] = atoms(share, chance, over, over + 1e-9 * (-1.0) ** np.arange(100))
    if measure in ("brier", "log_loss"):
        return found
    for units in (0.5, 1.0):  # half are predicted .1 and never happen; the others as much too low, within noise
        rest = 0.4 * AROUND
        both = np.r_[0, rest + 0.2 + units * np.sqrt(0.24 / (n / 2))]
        found[f"rivals {units:g} against shift"] = solved(
            [0.5, *[0.1] * 5], both, np.r_[0.1, rest], lambda s, both=both: np.clip(both + s, 0, 1), 0.001, 0.3
        )
    return found


@lru_cache(maxsize=1)
def _chances() -> dict[str, np.ndarray]:
    """Return the chance of outcome 1 at every point, given the first part, the second, both or none."""
    from scipy.special import expit, ndtri

    score = SPREAD * ndtri((np.arange(POINTS) + 0.5) / POINTS)
    both = expit(score[:, None] + score)
    seen = {"first": both.mean(axis=1, keepdims=True), "second": both.mean(axis=0, keepdims=True), "both": both}
    seen["none"] = both.mean(keepdims=True)
    return {name: np.broadcast_to(chance, both.shape).ravel() for name, chance in seen.items()}


@lru_cache(maxsize=64)
def predictions(model: Model) -> np.ndarray:
    """Return the predictions of a model at every point."""
    from scipy.special import expit, logit

    view, temperature = model
    chance = _chances()[view]
    return chance if temperature == 1 else expit(temperature * logit(chance))


@lru_cache(maxsize=64)
def population(model: Model) -> generators.Generator:
    """Return one model on the square."""
    weight = [POINTS**-2.0] * POINTS**2
    return generators.domain(weight, _chances()["both"].tolist(), predictions(model).tolist())


def difference(pair: TwoModels | Atoms, measure: str, **options: Any) -> float:
    """Return the measure of A less that of B in the population."""
    first, second = (model.truth(measure, **options) for model in pair.models.values())
    return first - second


def different() -> dict[str, TwoModels | Atoms]:
    """Return pairs of a better calibrated model, the first, and a worse one."""
    from scipy.special import expit, logit

    chance = (np.arange(100) + 0.5) / 100
    share = np.full(100, 0.01)
    log_odds = logit(chance)
    long_wave, short_wave = (
        chance + size * np.sin(2 * np.pi * periods * chance) for periods, size in ((1, 0.1), (2, 0.14))
    )
    seen = [predictions((view, 1.0)) for view in ("both", "first", "second")]
    rare = 0.02 * np.exp(np.linspace(-1, 1, 40))
    return {
        DIFFERENT: TwoModels(("both", 1.0), ("both", OVER)),
        "calibrated against shift .3": atoms(share, chance, chance, expit(log_odds + 0.3)),
        "calibrated against wave of 1 period": atoms(share, chance, chance, long_wave),
        "calibrated against wave of 2 periods": atoms(share, chance, chance, short_wave),
        "temperature 1.2 against 1.6": TwoModels(("both", 1.2), ("both", 1.6)),
        "dull calibrated against sharp temperature 1.5": TwoModels(("first", 1.0), ("both", OVER)),
        "other features, calibrated against temperature 2": TwoModels(("first", 1.0), ("second", 2.0)),
        "other features, calibrated against shift .3": atoms(
            np.full(POINTS**2, POINTS**-2.0), seen[0], seen[1], expit(logit(seen[2]) + 0.3)
        ),
        "rare (.02), calibrated against shift .7": atoms(np.full(40, 1 / 40), rare, rare, expit(logit(rare) + 0.7)),
    }


def equal(measure: str, options: Mapping[str, Any]) -> dict[str, TwoModels]:
    """Return pairs of different models of which the measure is the same."""
    from scipy.optimize import brentq

    def temperature(view: str, target: float, low: float, high: float) -> float:
        return brentq(lambda t: population((view, t)).truth(measure, **options) - target, low, high, xtol=1e-9)

    duller, over = ("first", OVER), ("both", OVER)
    sharper = ("both", temperature("both", population(duller).truth(measure, **options), 1.0, 10.0))
    under = ("both", temperature("both", population(over).truth(measure, **options), 0.3, 1.0))
    return dict(zip(EQUAL, (TwoModels(sharper, duller), TwoModels(over, under)), strict=True))


def grids(quick: bool) -> list[Grid]:
    """Return models that can be exchanged, others that cannot, one grid of equal ones for each measure, and power."""
    alike = (TwoModels(("first", t), ("second", t)) for t in (1.0, OVER))
    shared: Grid = {
        "question": "comparison",
        "n": [100] if quick else [300, 1000],
        "measures": {"kernel_ce": MEASURES["kernel_ce"], "ece": MEASURES["ece"]} if quick else MEASURES,
        "n_resamples": 39 if quick else 79,  # 2.5% of one more is whole
        "level": LEVEL,
        "replicates": 10 if quick else 150,
    }
    many = {} if quick else {"replicates": 300}
    exchangeable = dict(zip(ALIKE, alike, strict=True))
    calibrated = {SHARPER: ("first", 1.0), CONSTANT: ("none", 1.0)}
    of_calibrated = {name: TwoModels(("both", 1.0), other) for name, other in calibrated.items()}
    apart = dict(list(different().items())[:2]) if quick else different()
    finding = {name: MEASURES[name] for name in ((SQUARES,) if quick else (SQUARES, "brier", "log_loss", "ece", "ks"))}
    return [
        {**shared, "generators": exchangeable | of_calibrated},
        {**shared, "generators": exchangeable, "methods": ["swap"], "n": shared["n"][:1]},
        {
            **shared,
            "generators": apart,
            "measures": finding,
            **({} if quick else {"n": [100, 300, 1000, 5000], "replicates": 1000}),
        },
        *(
            {**shared, "generators": equal(name, options), "measures": {label: (name, options)}}
            for label, (name, options) in shared["measures"].items()
        ),
        *(
            {**shared, "generators": pairs, "measures": {name: MEASURES[name]}, "n": [n], **many}
            for name in (HARD[:1] if quick else HARD)
            for n, pairs in ((100, rare(100)), (1000, rare(1000) | hard(name, 1000, **MEASURES[name][1])))
        ),
    ]


def without_difference(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which both models have the same measure."""
    return table[table["truth"].abs() < np.where(table["measure"] == SQUARES, NO_DIFFERENCE, NEGLIGIBLE)]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which there are too many false findings, too many misses, or too few true findings."""
    import pandas as pd

    null, interval = without_difference(table), table[table["method"] == "bootstrap"]
    found = table[(table["generator"] == DIFFERENT) & (table["measure"] == SQUARES) & (table["n"] == 1000)]
    parts = [
        more_often(null, null["rejections"], LEVEL),
        more_often(interval, interval["missed_below"] + interval["missed_above"], LEVEL),
        more_often(found, found["replicates"] - found["rejections"], 1 - POWER),
    ]
    return pd.concat(parts).drop_duplicates()


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the rates of false findings, and the power."""
    null = without_difference(table)
    names = (
        null["generator"].str.replace(", ", ",\n").str.replace(" against ", "\nagainst ").str.replace(" and ", "\nand ")
    )
    return {"": plot(null.assign(generator=names)), "power": draw_power(table)}


def draw_power(table: pd.DataFrame) -> Figure:
    """Draw how often each measure finds a difference, for each pair of models that differ."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    looks = {
        SQUARES: ("blue", "o"),
        "brier": ("green", "s"),
        "log_loss": ("orange", "^"),
        "ece": ("red", "D"),
        "ks": ("purple", "v"),
    }
    pairs = [name for name in different() if name in set(table["generator"])]
    figure = Figure(figsize=(10, 1.4 + 0.42 * len(pairs)), layout="constrained")
    numbers = sorted(set(table["n"][table["generator"].isin(pairs)]))
    axes = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for ax, n in zip(axes, numbers, strict=True):
        for measure, (color, marker) in looks.items():
            rows = table[(table["n"] == n) & (table["measure"] == measure) & table["generator"].isin(pairs)]
            place = [pairs.index(name) for name in rows["generator"]]
            ax.plot(rows["rate"], place, marker, color=hue[color], ms=6, alpha=0.8, label=measure)
        ax.set_title(f"n = {n}", fontsize="medium")
        ax.set_xlim(-0.03, 1.03)
    axes[0].set_yticks(range(len(pairs)), pairs, fontsize="small")
    axes[0].set_ylim(len(pairs) - 0.5, -0.5)
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False)
    figure.supxlabel("share of data sets in which a difference is found at 5 %", fontsize="medium")
    return figure


study = Study(
    question="Is a difference between two models noise?",
    seed=20290,
    runtime_hours=0.2,
    grids=grids,
    figures=figures,
    violations=violations,
)
