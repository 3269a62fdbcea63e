"""How often does the test of rows in clusters reject a calibrated model?

Outcomes of a cluster depend on each other: in a share of the clusters all rows have one uniform number, and outcome 1
where it is below their prediction, which is as alike as calibrated outcomes can be. The test by signs of clusters is
approximate, and nothing is promised: these are the rates to know. Beside it is the exact test of independent rows,
which takes clusters for evidence. The power is that against predictions whose logits are .7 too high.

Clusters of unequal sizes are asked apart: large ones of a rare outcome beside single rows, log-normal sizes, one giant
cluster, and two kinds of which only one has rows that are alike; the power is that against logits .5 too high.

A search draws populations at random, and asks the worst five, and the worst one of an earlier search, again with fresh
data sets. Five errors in eight kinds of clusters show the power of `omnibus` beside `ece`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.row_clusters import shared_uniform
from calibstat.generators.simulator import drawing
from calibstat.study import Study
from calibstat.study.engine import Cells, Models, compute
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts.random_clusters import KNOWN, Population, Wrong, wrong_cases

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20481
LEVEL = 0.05
MEASURES = ("ece", "ks", "omnibus")
METHODS = ("sign_flip", "independent rows")
ALL_MEASURES = ("ece", "ks", "kernel_ce", "omnibus")  # of clusters of unequal sizes
SHIFT = 0.7
UNEQUAL_SHIFT = 0.5
SMALL_PART = 3  # cases of unequal sizes that are asked quickly
POPULATIONS, SEARCHED, WORST = 200, 50, 5  # of the search: data sets of each population, and how many are asked again


@dataclass(frozen=True)
class Clustered:
    """Rows in clusters of one size; a share of the clusters has outcomes that are as alike as they can be."""

    clusters: int
    size: int
    prevalence: float
    alike: float
    shift: float

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        return f"{self.clusters} clusters of {self.size}, prevalence {self.prevalence:g}, {self.alike:.0%} alike"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.clusters * self.size

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions and clusters; `n` is the number of rows."""
        _, random = drawing(n, rng)
        unit = np.repeat(np.arange(self.clusters), self.size)
        chance = random.beta(2, 2 / self.prevalence - 2, unit.size)
        return outcomes(random, unit, chance, random.random(self.clusters) < self.alike, self.shift)


@dataclass(frozen=True)
class Unequal:
    """Clusters of a size and a chance each; a share of those of each chance has outcomes that are alike."""

    label: str
    size: tuple[int, ...]
    chance: tuple[float, ...]
    alike: tuple[float, ...]
    shift: float = 0.0

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return len(self.size)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.size)

    @property
    def prevalence(self) -> float:
        """The mean chance of a row."""
        return round(float(np.average(self.chance, weights=self.size)), 6)

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions and clusters; `n` is the number of rows."""
        _, random = drawing(n, rng)
        unit = np.repeat(np.arange(self.clusters), self.size)
        together = random.random(self.clusters) < np.array(self.alike)
        return outcomes(random, unit, np.array(self.chance)[unit], together, self.shift)


def outcomes(random: Random, unit: np.ndarray, chance: np.ndarray, together: np.ndarray, shift: float) -> Models:
    """Draw outcomes of these chances, by one number of a cluster that is `together`, with shifted predictions."""
    uniform = shared_uniform(random, unit, together)
    odds = np.exp(shift) * chance / (1 - chance)
    return (uniform < chance).astype(np.int64), {"prediction": odds / (1 + odds), "cluster": unit}


@dataclass(frozen=True)
class Tests:
    """Asks each measure and method for its p-value."""

    n_resamples: int
    measures: tuple[str, ...] = MEASURES
    methods: tuple[str, ...] = METHODS

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values."""
        y, columns = data
        p, found = columns["prediction"], []
        for measure, method in product(self.measures, self.methods):
            given = {"cluster": columns["cluster"]} if method == "sign_flip" else {}
            given |= {"sample_weight": columns["weight"]} if "weight" in columns else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # that there are few clusters, which is what is asked
                test = cs.calibration_test(y, p, measure=measure, n_resamples=self.n_resamples, rng=rng, **given)
            found.append(test.pvalue)
        return found


def cases(quick: bool) -> list[Clustered]:
    """Return what is asked: calibrated models, and for the power those with predictions that are too high."""
    number, size = ([15, 30], [5]) if quick else ([15, 30, 100, 300], [5, 20])
    grid = product(number, size, [0.5, 0.01], [0.0, 0.6, 1.0], [0.0, SHIFT])
    return [Clustered(*each) for each in grid if each[-1] == 0 or each[-2] == 0.6]


def kinds(label: str, *kind: tuple[int, int, float, float]) -> Unequal:
    """Return clusters of kinds, each so many clusters of a size, with a chance and the share that is alike."""
    size = tuple(each[1] for each in kind for _ in range(each[0]))
    chance = tuple(each[2] for each in kind for _ in range(each[0]))
    alike = tuple(each[3] for each in kind for _ in range(each[0]))
    return Unequal(label, size, chance, alike)


def log_normal(clusters: int, alike: float, shift: float = 0.0) -> Unequal:
    """Return clusters whose sizes are quantiles of a log-normal distribution, with median 10 and sd 1 of the log."""
    from scipy.special import ndtri

    size = np.maximum(1, np.rint(10 * np.exp(ndtri((np.arange(clusters) + 0.5) / clusters)))).astype(int)
    label = f"{clusters} clusters of log-normal sizes, prevalence 0.3, {alike:.0%} alike"
    return Unequal(label, tuple(size.tolist()), (0.3,) * clusters, (alike,) * clusters, shift)


def unequal_cases(quick: bool) -> list[Unequal]:
    """Return what is asked of clusters of unequal sizes; logits are too high in the last."""
    beside = [(6, 100, 0.1, 40), (8, 50, 0.05, 40), (6, 20, 0.1, 40), (10, 30, 0.05, 100), (15, 50, 0.02, 60)]
    beside += [(20, 20, 0.05, 30), (20, 100, 0.05, 20), (30, 100, 0.05, 30), (6, 100, 0.1, 600), (30, 20, 0.03, 500)]
    found = [
        kinds(
            f"{large} of {size} rows at {chance:g}, {single} of 1 at 0.5", (large, size, chance, 1), (single, 1, 0.5, 1)
        )
        for large, size, chance, single in beside
    ]
    found.append(kinds("20 of 30 rows at 0.05, 20 of 30 at 0.95", (20, 30, 0.05, 1), (20, 30, 0.95, 1)))
    found += [log_normal(60, alike) for alike in (0.0, 0.3, 0.6, 1.0)]
    four = [(29, 24, 0.9536, 0.9), (25, 6, 0.48758, 0.9), (11, 11, 0.2814, 0.9), (12, 2, 0.69603, 0.9)]
    rows = sum(number * size for number, size, _, _ in four)
    found += [kinds(f"four kinds, a giant at {each[2]:.2g}", *four, (1, 5 * rows, *each[2:])) for each in four[:2]]
    found.append(kinds("6 of 100 rows at 0.1, 100 of 100 at 0.5 not alike", (6, 100, 0.1, 1), (100, 100, 0.5, 0)))
    found += [log_normal(60, alike, UNEQUAL_SHIFT) for alike in (0.0, 0.3, 0.6, 1.0)]
    return [*found[:SMALL_PART], found[-1]] if quick else found


Case = Clustered | Unequal | Population | Wrong
SEARCH = Tests(99, ("omnibus",), ("sign_flip",))
BY_ERRORS = Tests(99, ("omnibus", "ece"), ("sign_flip",))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all tests about all cases; those that the store has are not asked again."""
    import pandas as pd

    few, fresh, power = (3, 10, 3) if quick else (SEARCHED, 400, 100)

    def rows_of(question: str, case: Case, tests: Tests, replicates: int) -> list[Row]:
        asked = question, case, tests, replicates
        return stored(store, (asked, SEED), partial(counted, *asked, n_jobs))

    found = []
    for which, part, tests in (
        ("", cases(quick), Tests(199)),
        (", unequal", unequal_cases(quick), Tests(199, ALL_MEASURES)),
    ):
        for case in part:
            found += rows_of(("power" if case.shift else "size") + which, case, tests, fresh)
    first = [
        rows_of("size, random", Population(number), SEARCH, few)[0]
        for number in range(POPULATIONS)[: 4 if quick else None]
    ]
    worst = sorted(range(len(first)), key=lambda number: -first[number]["rejections"])[: 1 if quick else WORST]
    again = [
        rows_of("size, worst of random", Population(number, again=True), SEARCH, fresh)[0] for number in [KNOWN, *worst]
    ]
    wrong = [rows_of("power, errors", case, BY_ERRORS, power) for case in wrong_cases()[: 2 if quick else None]]
    return pd.DataFrame([*found, *first, *again, *chain.from_iterable(wrong)])


def counted(question: str, case: Case, tests: Tests, replicates: int, n_jobs: int | None) -> list[Row]:
    """Count how often each test rejects in the data sets of a case."""
    label = f"{case.label}, shift {case.shift:g}" if isinstance(case, Clustered | Unequal) else case.label
    names = list(product(tests.measures, tests.methods))
    cells = Cells([(label, case.rows)], {label: case}, replicates, SEED, tests, [", ".join(name) for name in names])
    answers = compute(cells, None, n_jobs, label)[:, 0]
    told = {"question": question, "generator": case.label, "n": case.rows, "clusters": case.clusters}
    told |= {"prevalence": case.prevalence, "alike": float(np.max(case.alike))}
    return [
        told
        | {"measure": measure, "method": method, "level": LEVEL, "replicates": replicates}
        | rate_of("rejections", answers[:, k] <= LEVEL)
        for k, (measure, method) in enumerate(names)
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each test rejects, against the number of clusters, and of clusters of unequal sizes."""
    return {"": equal_sizes(table), "unequal": unequal_sizes(table)}


def equal_sizes(table: pd.DataFrame) -> Figure:
    """Draw the rates of clusters of one size."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    parts = [("size", 0.5), ("size", 0.01), ("power", 0.5), ("power", 0.01)]
    looks = {("ece", "sign_flip"): ("blue", "o", "-"), ("ks", "sign_flip"): ("green", "s", "-")}
    looks |= {("omnibus", "sign_flip"): ("purple", "v", "-"), ("ece", "independent rows"): ("orange", "^", ":")}
    looks |= {("ks", "independent rows"): ("red", "D", ":"), ("omnibus", "independent rows"): ("grey", "<", ":")}
    for ax, (question, prevalence) in zip(figure.subplots(2, 2, sharex=True).flat, parts, strict=True):
        part = table[(table["question"] == question) & (table["prevalence"] == prevalence) & (table["alike"] > 0)]
        for (measure, method), (color, marker, line) in looks.items():
            rows = part[(part["measure"] == measure) & (part["method"] == method)]
            most = rows.groupby("clusters")["rate"]
            shown = most.max() if question == "size" else most.min()
            label = f"{measure}, {method.replace('sign_flip', 'signs of clusters')}"
            ax.plot(shown.index, shown, ls=line, marker=marker, color=hue[color], ms=5, label=label)
        ax.axhline(LEVEL, color="black", ls="--", lw=1)
        which = "calibrated: the largest rate" if question == "size" else f"logits {SHIFT} too high: the smallest rate"
        ax.set_title(f"prevalence {prevalence:g}, {which}", fontsize="medium")
        ax.set_xscale("log")
        ax.set_xticks([15, 30, 100, 300], ["15", "30", "100", "300"])
        ax.minorticks_off()
        ax.set_ylim(-0.02, 1.02)
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=2, frameon=False)
    figure.supxlabel("clusters", fontsize="medium")
    figure.supylabel("share of data sets with p ≤ .05", fontsize="medium")
    return figure


def unequal_sizes(table: pd.DataFrame) -> Figure:
    """Draw the rates of clusters of unequal sizes, each with its exact limits."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    part = table[(table["method"] == "sign_flip") & table["question"].str.endswith("unequal")]
    figure = Figure(figsize=(9, 6.4), layout="constrained")
    looks = {"ece": ("blue", "o"), "ks": ("green", "s"), "kernel_ce": ("orange", "^"), "omnibus": ("purple", "v")}
    heights = [int(number) for number in part.groupby("question", sort=False)["generator"].nunique()]
    sides = figure.subplots(2, 1, height_ratios=heights, sharex=True)
    for ax, (question, rows) in zip(sides, part.groupby("question", sort=False), strict=True):
        names = list(rows["generator"].unique())
        for shift, measure in enumerate(rows["measure"].unique()):
            color, marker = looks[measure]
            each = rows[rows["measure"] == measure]
            place = np.arange(len(names)) + 0.2 * (shift - 1.5)
            reach = [each["rate"] - each["low"], each["high"] - each["rate"]]
            ax.errorbar(each["rate"], place, xerr=reach, fmt=marker, ms=4, lw=1, color=hue[color], label=measure)
        ax.axvline(LEVEL, color="black", ls="--", lw=1)
        ax.set_yticks(range(len(names)), names, fontsize="small")
        ax.set_ylim(len(names) - 0.5, -0.5)
        which = "calibrated" if str(question).startswith("size") else f"logits {UNEQUAL_SHIFT} too high"
        ax.set_title(which, fontsize="medium")
    sides[0].legend(frameon=False, loc="lower right")
    sides[0].set_xlim(-0.02, 1.02)
    figure.supxlabel("share of data sets with p ≤ .05", fontsize="medium")
    return figure


study = Study(
    question="How often does the test of rows in clusters reject a calibrated model?",
    seed=SEED,
    runtime_hours=0.7,
    table=table,
    takes_store=True,
    figures=figures,
)
