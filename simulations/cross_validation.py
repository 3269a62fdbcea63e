"""Do upper ends and tests from out-of-fold predictions keep what they promise? Learners, and a search of limits.

Rows are dealt to K folds at random, each fold is predicted by the model of the others, and what is asked about is the
error of the mixture: for each new row one of the K models, at random. It is known from chances at fresh features, the
same in all data sets of a cell. The triangle is promised for all learners, the mirror for efficient and penalised fits
and for Platt, isotonic and histogram maps: misses of at most .025, judged by .05. The test of folds is promised at 5 %
by its theorem where all models of the folds are calibrated, and so is twice the smaller of its p-value and of all
rows'. Of a difference of Brier scores the interval with the variance between three repeats is asked beside the one of
rows within folds.

As n grows a learner is a map of normal noise. The limits of twelve kinds are searched for those in which the mirror
misses most: random ones, then changes of the worst, which are asked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.study import Study
from calibstat.study.question import rate_of

from .parts import folds_in_the_limit as limits
from .parts.ends_in_the_limit import MEASURES, TAIL
from .parts.fold_ends import difference, errors, fold_tests, fresh_end, reach, upper_ends
from .parts.kept import Row, kept
from .parts.learners import LEARNERS, PAIRS, SMOOTH, Learner, Predict
from .parts.promises import more_often

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20629
LEVEL = 0.05
MOST_MISSES = 0.05  # of one end, whose nominal probability is .025
FRESH = 4000  # features at which errors are known
DRAWS = 399  # of the multipliers
REPEATS = 3
METHODS = "as_is", "mirror", "triangle", "fresh"
BY_OMNIBUS = "always calibrated", 200, 5  # of which the omnibus test is asked too, which takes long
TESTS = "folds", "all rows", "twice the smaller"
VARIANCES = "within folds", "within folds, doubled", "within and between"
TESTED = "always calibrated", "logistic at its truth", "logistic, 5 features"
CALIBRATED = TESTED[:2]
SLOW = "forest", "forest, 3 features selected", "boosting", "tree", "neighbours"
ASKED_OF_FIVE_FOLDS = "naive Bayes, features 3 times", "logistic, balanced classes"
AT_LENGTH = "histogram", "isotonic", "Platt", "logistic, 5 features", "ridge"
EFFORT = limits.Effort(320, 4, 20, 4, data_sets=800, inner=399, worst=3, again=20_000, inner_again=7999)
OF_OTHERS = replace(EFFORT, data_sets=500, again=6000, inner_again=3999)  # of learners that the mirror is not for
QUICK = limits.Effort(4, 1, 2, 2, data_sets=100, inner=99, worst=1, again=200, inner_again=199)


@dataclass(frozen=True)
class Cell:
    """Data sets of n rows in K folds, of one learner or one pair of them."""

    question: str
    learner: str
    n: int
    folds: int
    data_sets: int


@dataclass(frozen=True, eq=False)
class Fitted:
    """Out-of-fold predictions of rows, and those of every model at fresh features."""

    fold: np.ndarray
    prediction: np.ndarray
    at_fresh: np.ndarray


def cross_fitted(random: Random, learner: Learner, x: np.ndarray, y: np.ndarray, fold: np.ndarray, new: Any) -> Fitted:
    """Fit a model without each fold."""
    prediction = np.empty(y.size)
    at_fresh = []
    for k in range(int(fold.max()) + 1):
        own = fold == k
        model: Predict = learner(random, x[~own], y[~own])
        prediction[own] = model(x[own])
        at_fresh.append(model(new))
    return Fitted(fold, prediction, np.array(at_fresh))


def dealt(random: Random, n: int, folds: int) -> np.ndarray:
    """Deal rows to folds at random."""
    return np.asarray(random.permutation(n) % folds)


def of_intervals(random: Random, cell: Cell) -> list[Row]:
    """Ask upper ends of the error of a learner's models."""
    population, learner = LEARNERS[cell.learner]
    new = population.draw(random, FRESH)
    chance = population.chance(new)
    found = {(measure, method): [] for measure, method in product(MEASURES, METHODS)}  # type: ignore[var-annotated]
    for _ in range(cell.data_sets):
        x = population.draw(random, cell.n)
        y = (random.random(cell.n) < population.chance(x)).astype(np.int64)
        fits = cross_fitted(random, learner, x, y, dealt(random, cell.n, cell.folds), new)
        true = errors(fits.at_fresh.ravel(), (chance - fits.at_fresh).ravel())
        ends = upper_ends(random, y, fits.prediction, fits.fold, DRAWS)
        row = random.integers(0, FRESH, cell.n)
        judged = fits.at_fresh[random.integers(0, cell.folds, cell.n), row]
        outcome = (random.random(cell.n) < chance[row]).astype(np.int64)
        for k, measure in enumerate(MEASURES):
            each = ends[measure]
            low = each.low
            if low > true[k]:  # the gate by the test of folds matters only here
                low = low if 2 * min(fold_tests(random, y, fits.prediction, fits.fold, measure)) <= TAIL else 0.0
            fresh = fresh_end(outcome, judged, measure)
            for method, high in zip(METHODS, (each.as_is, each.mirror, each.triangle, fresh), strict=True):
                below = low > true[k] and method != "fresh"
                found[measure, method].append((true[k], high, true[k] > high, below))
    rows = []
    for (measure, method), values in found.items():
        truth, high, above, below = np.array(values, float).T
        row_ = _row(cell, measure, method)
        row_ |= {"truth": truth.mean(), "mean_high": high.mean(), "missed_below": int(below.sum())}
        rows.append(row_ | rate_of("missed_above", above.astype(bool)))
    return rows


def of_tests(random: Random, cell: Cell) -> list[Row]:
    """Ask how often tests reject a learner's models."""
    population, learner = LEARNERS[cell.learner]
    new = population.draw(random, 1)
    asked = ("ks", "omnibus") if (cell.learner, cell.n, cell.folds) == BY_OMNIBUS else ("ks",)
    found = np.zeros((len(asked), len(TESTS), cell.data_sets), bool)
    for i in range(cell.data_sets):
        x = population.draw(random, cell.n)
        y = (random.random(cell.n) < population.chance(x)).astype(np.int64)
        fits = cross_fitted(random, learner, x, y, dealt(random, cell.n, cell.folds), new)
        for k, measure in enumerate(asked):
            folds, together = fold_tests(random, y, fits.prediction, fits.fold, measure)
            found[k, :, i] = np.array([folds, together, 2 * min(folds, together)]) <= LEVEL
    return [
        _row(cell, measure, test) | rate_of("rejections", found[k, t])
        for k, measure in enumerate(asked)
        for t, test in enumerate(TESTS)
    ]


def of_differences(random: Random, cell: Cell) -> list[Row]:
    """Ask intervals of the difference of the Brier scores of two learners' models."""
    population, first, second = PAIRS[cell.learner]
    new = population.draw(random, FRESH)
    chance = population.chance(new)
    counts = np.zeros((len(VARIANCES), 3, cell.data_sets))  # misses below and above, and how far it reaches
    truth = np.zeros(cell.data_sets)
    for i in range(cell.data_sets):
        x = population.draw(random, cell.n)
        y = (random.random(cell.n) < population.chance(x)).astype(np.int64)
        loss, fold, true = [], [], []
        for _ in range(REPEATS):
            fold.append(dealt(random, cell.n, cell.folds))
            one, two = (cross_fitted(random, each, x, y, fold[-1], new) for each in (first, second))
            loss.append((y - one.prediction) ** 2 - (y - two.prediction) ** 2)
            true.append(float(((one.at_fresh - chance) ** 2 - (two.at_fresh - chance) ** 2).mean()))
        truth[i] = np.mean(true)
        alone, within, _ = difference(loss[:1], fold[:1])
        mean, rows, between = difference(loss, fold)
        asked = ((alone, within, true[0]), (alone, 2 * within, true[0]), (mean, rows + between, truth[i]))
        for v, (middle, variance, value) in enumerate(asked):
            wide = reach(variance, cell.n)
            counts[v, :, i] = value < middle - wide, value > middle + wide, wide
    rows_ = []
    for v, method in enumerate(VARIANCES):
        below, above, wide_ = counts[v]
        row = _row(cell, "brier", method) | {"truth": truth.mean(), "mean_width": 2 * wide_.mean()}
        row |= {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
        rows_.append(row | rate_of("misses", (below + above).astype(bool)))
    return rows_


def _row(cell: Cell, measure: str, method: str) -> Row:
    return {
        "question": cell.question,
        "generator": cell.learner,
        "n": cell.n,
        "folds": cell.folds,
        "measure": measure,
        "method": method,
        "replicates": cell.data_sets,
    }


def of_limits(learner: str, measure: str, quick: bool) -> list[Row]:
    """Search the limits of a learner in which the mirror misses most."""
    random = _random("limit", learner, measure)
    effort = QUICK if quick else EFFORT if learner in limits.SMOOTH else OF_OTHERS
    tried, found = limits.worst_limits(random, learner, measure, effort)
    rows = []
    for limit, misses in found:
        counts = {"as_is": misses.as_is, "mirror": misses.mirror, "triangle": misses.triangle}
        for method, count in counts.items():
            cell = Cell("limit", learner, limit.spread.size, limit.folds, misses.data_sets)
            row = _row(cell, measure, method) | {"tried": tried}
            rows.append(row | rate_of("missed_above", np.arange(misses.data_sets) < count))
    return rows


QUESTIONS: Mapping[str, Callable[[Random, Cell], list[Row]]] = {
    "interval": of_intervals,
    "test": of_tests,
    "difference": of_differences,
}


def cells(quick: bool) -> list[Cell]:
    """Return what is asked of learners."""
    if quick:
        found = [Cell("interval", name, 100, 2, 3) for name in ("logistic, 5 features", "histogram", "tree")]
        return [*found, Cell("test", TESTED[0], 100, 2, 3), Cell("difference", "Platt", 100, 2, 3)]
    named = [name for name in LEARNERS if name not in (*SLOW, *ASKED_OF_FIVE_FOLDS, *CALIBRATED)]
    found = [Cell("interval", name, 200, 5, 200) for name in named]
    found += [Cell("interval", name, 1000, 5, 100) for name in (*named, *ASKED_OF_FIVE_FOLDS)]
    found += [Cell("interval", name, 5000, 5, 60) for name in AT_LENGTH]
    found += [Cell("interval", name, 200, folds, 100) for folds in (2, 10) for name in named]
    found += [Cell("interval", name, 1000, 10, 100) for name in ("histogram", "isotonic")]
    found += [Cell("interval", name, 200, 5, 40) for name in SLOW]
    found += [Cell("test", name, 200, folds, 600) for folds in (2, 5, 10) for name in TESTED]
    found += [Cell("difference", name, 200, folds, 200) for folds in (2, 5, 10) for name in PAIRS]
    return found


def _random(*key: object) -> Random:
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return drawing(1, np.random.SeedSequence([SEED, int.from_bytes(digest, "little")]))[1]


def asked(cell: Cell, store: Path | None) -> list[Row]:
    """Return the rows of a cell, kept in a file of the store."""
    return kept(store, (cell, SEED), lambda: QUESTIONS[cell.question](_random(cell), cell))


def searched(learner: str, measure: str, quick: bool, store: Path | None) -> list[Row]:
    """Return the rows of a search, kept in a file of the store."""
    return kept(store, ("limit", learner, measure, quick, SEED), lambda: of_limits(learner, measure, quick))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask about learners and search limits; what the store has is not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    tasks = [delayed(asked)(cell, store) for cell in cells(quick)]
    names = list(limits.LEARNERS)[:: 6 if quick else 1]
    tasks += [delayed(searched)(name, measure, quick, store) for name in names for measure in MEASURES]
    found = Parallel(n_jobs=n_jobs)(tasks)
    return pd.DataFrame([row for rows in found for row in rows])


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that miss, or reject, more often than is promised."""
    import pandas as pd

    of_ends = table[table["question"].isin(("interval", "limit"))]
    smooth = of_ends["generator"].isin((*SMOOTH, *limits.SMOOTH))
    ends = of_ends[(of_ends["method"] == "triangle") | ((of_ends["method"] == "mirror") & smooth)]
    lows = of_ends[(of_ends["method"] == "as_is") & (of_ends["question"] == "interval")]
    lows = lows[lows["measure"] != "ece"]  # whose low end is always 0 with folds, because this one fails
    tests = table[table["generator"].isin(CALIBRATED) & table["method"].isin(("folds", "twice the smaller"))]
    differences = table[table["method"] == "within and between"]
    both = differences["missed_below"] + differences["missed_above"]
    number = len(ends) + len(lows) + len(tests) + len(differences)
    parts = [
        more_often(ends, ends["missed_above"], MOST_MISSES, number),
        more_often(lows, lows["missed_below"], MOST_MISSES, number),
        more_often(tests, tests["rejections"], LEVEL, number),
        more_often(differences, both, LEVEL, number),
    ]
    return pd.concat(parts)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the most misses of each end, of learners and in limits, and how long the ends are beside fresh ones."""
    return {
        "": draw_misses(table[table["question"] == "interval"]),
        "limits": draw_misses(table[table["question"] == "limit"]),
        "widths": draw_widths(table[table["question"] == "interval"]),
    }


LOOKS = {"as_is": ("grey", "s"), "mirror": ("orange", "^"), "triangle": ("blue", "o")}


def draw_misses(table: pd.DataFrame) -> Figure:
    """Draw for each learner and measure the largest share of data sets whose error lies above each end."""
    rates = table.groupby(["generator", "measure", "method"], sort=False)["rate"].max()
    figure, axes, names = _panels(table)
    for ax, measure in zip(axes, MEASURES, strict=True):
        for method, (color, marker) in LOOKS.items():
            shown = [rates.get((name, measure, method), np.nan) for name in names]
            ax.plot(shown, range(len(names)), marker, ms=5, alpha=0.8, color=color, label=method.replace("_", " "))
        ax.axvline(TAIL, color="black", lw=1, label="nominal")
        ax.axvline(MOST_MISSES, color="black", ls="--", lw=1, label="promised")
        ax.set_xscale("symlog", linthresh=0.1)
        ax.set_xlim(-0.003, 1)
        ax.set_xticks([0, 0.025, 0.05, 0.1, 0.3, 1], ["0", "", ".05", ".1", ".3", "1"])
    figure.supxlabel("largest share of data sets with the error above the end", fontsize="medium")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, frameon=False)
    return figure


def draw_widths(table: pd.DataFrame) -> Figure:
    """Draw the mean high ends as multiples of the honest one of as many fresh rows, over all numbers of rows."""
    means = table.pivot_table(index=["generator", "measure", "n", "folds"], columns="method", values="mean_high")
    ratio = means.div(means["fresh"], axis=0).groupby(level=[0, 1]).mean()
    figure, axes, names = _panels(table)
    for ax, measure in zip(axes, MEASURES, strict=True):
        for method, (color, marker) in LOOKS.items():
            shown = [ratio.loc[(name, measure), method] for name in names]
            ax.plot(shown, range(len(names)), marker, ms=5, alpha=0.8, color=color, label=method.replace("_", " "))
        ax.axvline(1, color="black", lw=1)
    figure.supxlabel("mean high end / mean honest high end of as many fresh rows", fontsize="medium")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def _panels(table: pd.DataFrame) -> tuple[Figure, Any, list[str]]:
    from matplotlib.figure import Figure

    names = list(table["generator"].unique())
    figure = Figure(figsize=(10, 1.6 + 0.25 * len(names)), layout="constrained")
    axes = figure.subplots(1, len(MEASURES), sharey=True)
    axes[0].set_yticks(range(len(names)), names, fontsize="small")
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    for ax, measure in zip(axes, MEASURES, strict=True):
        ax.set_title(measure, fontsize="medium")
    return figure, axes, names


study = Study(
    question="Do upper ends and tests from out-of-fold predictions keep what they promise?",
    seed=SEED,
    runtime_hours=0.2,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
