"""Do upper ends and tests from out-of-fold predictions keep their guarantees? Learners, and a search of limits.

Rows are dealt to K folds at random, each fold is predicted by the model of the others, and what is asked about is the
error of the mixture: for each new row one of the K models, at random. It is known from chances at fresh features, the
same in all data sets of a cell. The triangle is promised for all learners, the mirror for efficient and penalised fits
and for Platt, isotonic and histogram maps: misses of at most .025, judged by .05. The test of folds is promised at 5 %
by its theorem where all models of the folds are calibrated, and so is twice the smaller of its p-value and of all
rows'. Of a difference of Brier scores the interval with the variance between three repeats is asked beside the one of
rows within folds, and beside the one that `compare` prints, which is the score bound with the same variance and the
one that is promised: with few events a normal interval is too short.

Maps are asked again as `report` judges a recalibrated model, from three repeats, with up to 20,000 rows.

As n grows a learner is a map of normal noise. The limits of twelve kinds are searched for those in which the mirror
misses most: random ones, then changes of the worst, which are asked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts import folds_in_the_limit as limits
from .parts.ends_in_the_limit import MEASURES, TAIL
from .parts.fold_ends import difference, errors, fold_tests, fresh_end, reach, upper_ends
from .parts.learners import LEARNERS, PAIRS, RARE_PAIRS, SMOOTH, Learner, Predict
from .parts.whole_clusters import whole

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20629
LEVEL = 0.05
MOST_MISSES = 0.05  # of one end, whose nominal probability is .025
MOST_ROWS, SHARE_OF_COPIES = 7, 0.5  # of clusters
FRESH = 4000  # features at which errors are known
DRAWS = 399  # of the multipliers
REPEATS = 3
ROWS = 200, 1000, 5000
FOLDS = 2, 5, 10
METHODS = "as_is", "mirror", "triangle", "fresh"
BY_OMNIBUS = "always calibrated", 200, 5  # of which the omnibus test is asked too, which takes long
TESTS = "folds", "all rows", "twice the smaller"
VARIANCES = "within folds", "within folds, doubled", "within and between"
INTERVALS = *VARIANCES, "compare"  # the last with the variance of the third, by the score bound
TESTED = "always calibrated", "logistic at its truth", "logistic, 5 features"
CALIBRATED = TESTED[:2]
IN_CLUSTERS = "logistic, 5 features", "logistic, prevalence .08", "Platt", "isotonic", "histogram", "naive Bayes"
MAPS = "Platt", "isotonic", "histogram"
SLOW = "forest", "forest, 3 features selected", "boosting", "tree", "neighbours"
ASKED_OF_FIVE_FOLDS = "naive Bayes, features 3 times", "logistic, balanced classes", "Platt, corrected twice"
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
    rows: ClassVar[str] = "independent"

    def clusters(self, random: Random) -> tuple[np.ndarray | None, np.ndarray]:
        """Return the cluster of each row, or None, and the row that it is a copy of."""
        return None, np.arange(self.n)


@dataclass(frozen=True)
class InClusters(Cell):
    """The same of rows in clusters: one of a tenth of all rows, others of 1 to 7; in half all rows are copies."""

    rows: ClassVar[str] = "in clusters"

    def clusters(self, random: Random) -> tuple[np.ndarray | None, np.ndarray]:
        """Draw both."""
        size = random.integers(1, MOST_ROWS + 1, self.n)
        size[0] = self.n // 10
        unit = np.repeat(np.arange(self.n), size)[: self.n]
        first = np.unique(unit, return_index=True)[1][unit]
        return unit, np.where(random.random(self.n)[first] < SHARE_OF_COPIES, first, np.arange(self.n))


@dataclass(frozen=True, eq=False)
class Rows:
    """Features and outcomes of rows, their clusters or None, and the folds that they are dealt to."""

    x: np.ndarray
    y: np.ndarray
    unit: np.ndarray | None

    def dealt(self, random: Random, folds: int) -> np.ndarray:
        """Deal rows, or whole clusters, to folds at random."""
        if self.unit is None:
            return np.asarray(random.permutation(self.y.size) % folds)
        return np.asarray(random.permutation(int(self.unit.max()) + 1) % folds)[self.unit]


def drawn(random: Random, cell: Cell, population: Any) -> Rows:
    """Draw the rows of a data set."""
    unit, copied = cell.clusters(random)
    x = population.draw(random, cell.n)[copied]
    return Rows(x, (random.random(cell.n)[copied] < population.chance(x)).astype(np.int64), unit)


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


def of_intervals(random: Random, cell: Cell) -> list[Row]:
    """Ask upper ends of the error of a learner's models."""
    population, learner = LEARNERS[cell.learner]
    new = population.draw(random, FRESH)
    chance = population.chance(new)
    found = {(measure, method): [] for measure, method in product(MEASURES, METHODS)}  # type: ignore[var-annotated]
    for _ in range(cell.data_sets):
        rows = drawn(random, cell, population)
        y, unit = rows.y, rows.unit
        fits = cross_fitted(random, learner, rows.x, y, rows.dealt(random, cell.folds), new)
        true = errors(fits.at_fresh.ravel(), (chance - fits.at_fresh).ravel())
        ends = upper_ends(random, y, fits.prediction, fits.fold, DRAWS, unit)
        fresh_unit, copied = cell.clusters(random)
        row = random.integers(0, FRESH, cell.n)[copied]
        judged = fits.at_fresh[random.integers(0, cell.folds, cell.n)[copied], row]
        outcome = (random.random(cell.n)[copied] < chance[row]).astype(np.int64)
        for k, measure in enumerate(MEASURES):
            each = ends[measure]
            low = each.low
            if low > true[k]:  # the gate by the test of folds matters only here
                low = low if 2 * min(fold_tests(random, y, fits.prediction, fits.fold, measure, unit)) <= TAIL else 0.0
            fresh = fresh_end(outcome, judged, measure, fresh_unit)
            for method, high in zip(METHODS, (each.as_is, each.mirror, each.triangle, fresh), strict=True):
                below = low > true[k] and method != "fresh"
                found[measure, method].append((true[k], high, true[k] > high, below))
    table = []
    for (measure, method), values in found.items():
        truth, high, above, below = np.array(values, float).T
        row_ = _row(cell, measure, method)
        row_ |= {"truth": truth.mean(), "mean_high": high.mean(), "missed_below": int(below.sum())}
        table.append(row_ | rate_of("missed_above", above.astype(bool)))
    return table


def of_repeats(random: Random, cell: Cell) -> list[Row]:
    """Ask intervals of the package from three repeats, for maps as `report` judges them after recalibration."""
    population, learner = LEARNERS[cell.learner]
    new = population.draw(random, FRESH)
    chance = population.chance(new)
    found = np.zeros((len(MEASURES), 3, cell.data_sets))  # the error, and the ends
    for i in range(cell.data_sets):
        rows = drawn(random, cell, population)
        folds = [rows.dealt(random, cell.folds) for _ in range(REPEATS)]
        fits = [cross_fitted(random, learner, rows.x, rows.y, fold, new) for fold in folds]
        true = [errors(each.at_fresh.ravel(), (chance - each.at_fresh).ravel()) for each in fits]
        data = cs.Data(rows.y, np.stack([each.prediction for each in fits], axis=1), folds=np.stack(folds, axis=1))
        for k, measure in enumerate(MEASURES):
            seed = int(random.integers(2**31))
            interval = cs.confidence_interval(data, measure=measure, method="mirror", n_resamples=DRAWS, rng=seed)
            found[k, :, i] = np.mean(true, axis=0)[k], interval.low, interval.high
    table = []
    for measure, (truth, low, high) in zip(MEASURES, found, strict=True):
        row = _row(cell, measure, "mirror") | {"truth": truth.mean(), "mean_high": high.mean()}
        row |= {"missed_below": int((low > truth).sum())}
        table.append(row | rate_of("missed_above", truth > high))
    return table


def of_tests(random: Random, cell: Cell) -> list[Row]:
    """Ask how often tests reject a learner's models."""
    population, learner = LEARNERS[cell.learner]
    new = population.draw(random, 1)
    asked = ("ks", "omnibus") if (cell.learner, cell.n, cell.folds) == BY_OMNIBUS else ("ks",)
    found = np.zeros((len(asked), len(TESTS), cell.data_sets), bool)
    for i in range(cell.data_sets):
        rows = drawn(random, cell, population)
        fits = cross_fitted(random, learner, rows.x, rows.y, rows.dealt(random, cell.folds), new)
        for k, measure in enumerate(asked):
            folds, together = fold_tests(random, rows.y, fits.prediction, fits.fold, measure, rows.unit)
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
    counts = np.zeros((len(INTERVALS), 4, cell.data_sets))  # misses below and above, the width, and whether 0 is out
    truth = np.zeros(cell.data_sets)
    for i in range(cell.data_sets):
        rows = drawn(random, cell, population)
        x, y, unit = rows.x, rows.y, rows.unit
        loss, fold, true, predicted = [], [], [], []
        for _ in range(REPEATS):
            fold.append(rows.dealt(random, cell.folds))
            one, two = (cross_fitted(random, each, x, y, fold[-1], new) for each in (first, second))
            predicted.append((one.prediction, two.prediction))
            loss.append((y - one.prediction) ** 2 - (y - two.prediction) ** 2)
            true.append(float(((one.at_fresh - chance) ** 2 - (two.at_fresh - chance) ** 2).mean()))
        truth[i] = np.mean(true)
        alone, within, _ = difference(loss[:1], fold[:1], unit)
        mean, same, between = difference(loss, fold, unit)
        asked = ((alone, within, true[0]), (alone, 2 * within, true[0]), (mean, same + between, truth[i]))
        for v, (middle, variance, value) in enumerate(asked):
            wide = reach(variance, cell.n)
            counts[v, :, i] = verdict(middle - wide, middle + wide, value)
        counts[-1, :, i] = verdict(*of_package(rows, np.array(predicted), np.array(fold)), truth[i])
    rows_ = []
    for v, method in enumerate(INTERVALS):
        below, above, width, found = counts[v]
        row = _row(cell, "brier", method) | {"truth": truth.mean(), "mean_width": width.mean()}
        row |= {"found": int(found.sum())}
        row |= {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
        rows_.append(row | rate_of("misses", (below + above).astype(bool)))
    return rows_


def verdict(low: float, high: float, truth: float) -> tuple[bool, bool, float, bool]:
    """Return whether an interval lies above and below the truth, its width, and whether 0 lies outside."""
    return truth < low, truth > high, high - low, low > 0 or high < 0


def of_package(rows: Rows, predicted: np.ndarray, fold: np.ndarray) -> tuple[float, float]:
    """Return the ends of `compare`; `predicted` has shape (R, 2, n) and `fold` shape (R, n)."""
    models = {"one": predicted[:, 0].T, "two": predicted[:, 1].T}
    found = cs.compare(rows.y, models, folds=fold.T, cluster=whole(rows.unit), measure="brier")
    return float(found.low[0]), float(found.high[0])


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
    "repeats": of_repeats,
    "test": of_tests,
    "difference": of_differences,
}


def cells(quick: bool) -> list[Cell]:
    """Return what is asked of learners."""
    if quick:
        found = [Cell("interval", name, 100, 2, 3) for name in ("logistic, 5 features", "histogram", "tree")]
        found += [Cell("repeats", "histogram", 100, 2, 2)]
        found += [InClusters(question, "Platt", 200, 2, 3) for question in ("interval", "difference")]
        return [*found, Cell("test", TESTED[0], 100, 2, 3), Cell("difference", "Platt", 100, 2, 3)]
    fast = [name for name in LEARNERS if name not in (*SLOW, *ASKED_OF_FIVE_FOLDS, *CALIBRATED)]
    few, some, many = ROWS
    found = [Cell("interval", name, few, k, 1000) for k in FOLDS for name in fast]
    found += [Cell("interval", name, some, 5, 1000) for name in (*fast, *ASKED_OF_FIVE_FOLDS)]
    found += [Cell("interval", name, some, k, 300) for k in (2, 10) for name in fast]
    found += [Cell("interval", name, many, 5, 400) for name in fast]
    found += [Cell("interval", name, few, k, 200) for k in FOLDS for name in SLOW]
    found += [Cell("interval", name, some, 5, 200) for name in SLOW]
    found += [Cell("repeats", name, n, 5, 300) for n in (*ROWS, 20_000) for name in MAPS]
    found += [Cell("test", name, few, k, 1000) for k in FOLDS for name in TESTED]
    found += [Cell("test", name, some, 5, 1000) for name in TESTED]
    found += [Cell("difference", name, few, k, 500) for k in FOLDS for name in PAIRS if name not in RARE_PAIRS]
    found += [Cell("difference", name, 300, 5, 500) for name in RARE_PAIRS]
    found += [Cell("difference", name, some, 5, 500) for name in PAIRS]
    found += [InClusters("interval", name, n, 5, 300) for n in (few, some) for name in IN_CLUSTERS]
    found += [InClusters("test", name, some, 5, 300) for name in CALIBRATED]
    return found + [InClusters("difference", name, some, 5, 300) for name in PAIRS]


def _random(*key: object) -> Random:
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return drawing(1, np.random.SeedSequence([SEED, int.from_bytes(digest, "little")]))[1]


def asked(cell: Cell, store: Path | None) -> list[Row]:
    """Return the rows of a cell, kept in a file of the store."""
    found = stored(store, (cell, SEED), lambda: QUESTIONS[cell.question](_random(cell), cell))
    return [row | {"rows": cell.rows} for row in found]


def searched(learner: str, measure: str, quick: bool, store: Path | None) -> list[Row]:
    """Return the rows of a search, kept in a file of the store."""
    return stored(store, ("limit", learner, measure, quick, SEED), lambda: of_limits(learner, measure, quick))


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

    of_ends = table[table["question"].isin(("interval", "repeats", "limit"))]
    smooth = of_ends["generator"].isin((*SMOOTH, *limits.SMOOTH))
    ends = of_ends[(of_ends["method"] == "triangle") | ((of_ends["method"] == "mirror") & smooth)]
    lows = of_ends[(of_ends["method"] == "as_is") & (of_ends["question"] == "interval")]
    lows = lows[lows["measure"] != "ece"]  # whose low end is always 0 with folds, because this one fails
    lows = pd.concat([lows, of_ends[of_ends["question"] == "repeats"]])
    tests = table[table["generator"].isin(CALIBRATED) & table["method"].isin(("folds", "twice the smaller"))]
    differences = table[table["method"] == "compare"]
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
    in_clusters = table["rows"] == InClusters.rows
    named = table.assign(generator=table["generator"].where(~in_clusters, table["generator"] + ", in clusters"))
    learners = named[named["question"] == "interval"]
    return {
        "": draw_misses(learners),
        "limits": draw_misses(named[named["question"] == "limit"]),
        "widths": draw_widths(learners),
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
    question="Do upper ends and tests from out-of-fold predictions keep their guarantees?",
    seed=SEED,
    runtime_hours=3.0,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
