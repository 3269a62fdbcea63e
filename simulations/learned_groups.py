"""Does a learner that looks for groups keep its promises, and does it find more than groups that were fixed?

Rows have seven features, of which two decide the prediction: six uniform ones and one with four levels. The predictions
are right, or wrong in a box of two features, beyond a diagonal, along a line through six features, or in a stripe of
one. Five ways to look for what is wrong are compared, all with a tree of at most eight leaves:

- "refits": is the p-value of all rows at most .05, for which the tree is fitted anew to each draw of labels?
- "split": is any leaf significant on the half that the tree did not see?
- "forward": five parts, each tested by the leaves of a tree fitted to the parts before it, p-values by Fisher's method;
- "fixed": is any of the quarters of features, or of their pairs, significant on all rows?
- the two rules of MCGrad 0.1.5 for the same quarters and pairs, which promise nothing here.

Calibrated predictions are asked about in eight populations: with ties, few levels, rare outcomes, predictions of 0 and
1, missing values, rows sorted by their outcomes and one seed for all data sets, and a linear regression as the learner.

The last table is of the leaf with the largest error on the half that the tree saw: its error there, on the other half,
and in the population.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.tree_rules import Tree, columns_of
from calibstat.papers.parts.promises import more_often
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts.group_rules import INSTALLED, LEFT_OUT, masks_of, mcgrad
from .parts.learned_rows import CALIBRATED, WRONG, Drawn, Population

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20651
LEVEL = 0.05
BLOCKS = 5
LEAVES, MIN_ROWS = 8, 30
WAYS = ("refits", "split", "forward", "fixed")
LOOKS = {"refits": "refits of the tree", "split": "split", "forward": "five blocks", "fixed": "fixed groups"}
Seed = np.random.SeedSequence


@dataclass(frozen=True)
class Case:
    """Data sets of one kind."""

    question: str
    label: str
    population: Population
    n: int
    replicates: int
    draws: int


def cases(quick: bool) -> list[Case]:
    """Return all that is asked."""
    sets, draws, rows = (4, 19, 300) if quick else (400, 59, 2000)
    few = 19 if quick else 39
    found = [Case("size", label, each, rows // 2, sets, few) for label, each in CALIBRATED.items()]
    found += [Case("power", label, each, rows, sets, draws) for label, each in WRONG.items()]
    kinds = {"right": Population(), "box": WRONG["box"], "line": WRONG["line"]}
    return [*found, *(Case("chosen", label, each, rows, sets, few) for label, each in kinds.items())]


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask about every population; cases of which the store has the outcome are not asked about again."""
    import pandas as pd

    if not INSTALLED:
        print(LEFT_OUT, file=sys.stderr)
    ask: Mapping[str, Callable[[Case, int | None], list[Row]]] = {"size": size, "power": power, "chosen": chosen}
    found = [stored(store, (case, SEED, INSTALLED), partial(ask[case.question], case, n_jobs)) for case in cases(quick)]
    return pd.DataFrame([row for rows in found for row in rows])


def of_each(case: Case, ask: Callable[[Drawn, int, Case], list[float]], n_jobs: int | None) -> np.ndarray:
    """Return what is found in each data set."""
    from joblib import Parallel, delayed

    seeds = Seed([SEED, case.n, *f"{case.question} {case.label}".encode()]).spawn(case.replicates)
    return np.array(Parallel(n_jobs=n_jobs)(delayed(_one)(case, ask, seed) for seed in seeds))


def _one(case: Case, ask: Callable[[Drawn, int, Case], list[float]], seed: Seed) -> list[float]:
    random = drawing(case.n, seed)[1]
    rows = case.population.draw(random, case.n)
    return ask(rows, 1 if case.population.one_seed else int(random.integers(2**31)), case)


def audit_of(rows: Drawn, seed: int, case: Case) -> Audit:
    """Return the audit of what the learner finds."""
    groups = cs.Groups(rows.features, learner=rows.learner)
    found = cs.audit(rows.y, rows.p, groups, rng=seed, n_resamples=case.draws)
    assert isinstance(found, Audit)
    return found


def size(case: Case, n_jobs: int | None) -> list[Row]:
    """Return how often calibrated predictions are found to be wrong, and how often a limit misses."""

    def ask(rows: Drawn, seed: int, case: Case) -> list[float]:
        audit = audit_of(rows, seed, case)
        learned = audit.learned
        assert learned is not None
        assert learned.pvalue is not None
        assert audit.low is not None
        assert audit.high is not None
        missed = bool((audit.low > 1e-12).any() or (audit.high < -1e-12).any())
        return [learned.pvalue <= LEVEL, float(audit.pvalue_adjusted.min()) <= LEVEL, missed]

    answers = of_each(case, ask, n_jobs).T
    return [row(case, how, found) for how, found in zip(("refits", "split", "limits"), answers, strict=True)]


def power(case: Case, n_jobs: int | None) -> list[Row]:
    """Return how often each way finds that predictions are wrong."""

    def ask(rows: Drawn, seed: int, case: Case) -> list[float]:
        audit, quarters = audit_of(rows, seed, case), rows.quarters
        learned = audit.learned
        assert learned is not None
        assert learned.pvalue is not None
        fixed = cs.audit(rows.y, rows.p, cs.Groups(quarters), rng=seed, n_resamples=case.draws)
        assert isinstance(fixed, Audit)
        smallest = [learned.pvalue, audit.pvalue_adjusted.min(), forward(rows, seed, case)]
        found = [p <= LEVEL for p in (*smallest, fixed.pvalue_adjusted.min())]
        masks = masks_of(fixed.names, quarters) if INSTALLED else None
        if masks is not None:
            found += [bool(by.any()) for _, by in mcgrad(rows.y, rows.p, quarters, masks)]
        return found

    answers = of_each(case, ask, n_jobs).T
    names = (*WAYS, "MCGrad, p < .05", "MCGrad, sigma > 5")
    return [row(case, how, found) for how, found in zip(names, answers, strict=False)]


def leaves(rows: Drawn, seen: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the rows of each leaf, by its rule, of a tree that has seen some of them."""
    weight = rows.p * (1 - rows.p)
    tree = Tree(columns_of(rows.features, rows.p), LEAVES, MIN_ROWS, seed)
    return tree.named((rows.y - rows.p) / weight, weight, np.flatnonzero(seen), np.arange(rows.y.size))


def forward(rows: Drawn, seed: int, case: Case) -> float:
    """Return Fisher's p-value of blocks, each of which is tested by a tree fitted to the blocks before it."""
    from scipy.stats import chi2

    block = drawing(rows.y.size, Seed([SEED, seed]))[1].permutation(rows.y.size) % BLOCKS
    total = 0.0
    for k in range(1, BLOCKS):
        here = block == k
        masks = {name: mask[here] for name, mask in leaves(rows, block < k, seed).items() if mask[here].any()}
        found = cs.audit(rows.y[here], rows.p[here], masks or {"all rows": here[here]}, rng=seed, n_resamples=999)
        assert isinstance(found, Audit)
        total -= 2 * np.log(found.pvalue_adjusted.min())
    return float(chi2.sf(total, 2 * (BLOCKS - 1)))


def chosen(case: Case, n_jobs: int | None) -> list[Row]:
    """Return the error of the leaf that is largest where it was found: there, on the other half, and in truth."""

    def ask(rows: Drawn, seed: int, case: Case) -> list[float]:
        seen = drawing(rows.y.size, Seed([SEED, seed]))[1].permutation(rows.y.size) < rows.y.size // 2
        residual, found = rows.y - rows.p, leaves(rows, seen, seed)
        if not found:
            return [np.nan] * 3
        mask = max(found.values(), key=lambda mask: abs(residual[mask & seen].mean()))
        sign = np.sign(residual[mask & seen].mean())
        parts = (residual[mask & seen], residual[mask & ~seen], (rows.q - rows.p)[mask & ~seen])
        return [float(sign * part.mean()) if part.size else np.nan for part in parts]

    answers = of_each(case, ask, n_jobs)
    answers = answers[~np.isnan(answers).any(axis=1)]
    facts = {"question": case.question, "generator": case.label, "n": case.n, "replicates": len(answers)}
    names = ("rows that found it", "other half", "truth")
    return [
        {**facts, "method": name, "mean": float(each.mean()), "se": float(each.std(ddof=1) / len(answers) ** 0.5)}
        for name, each in zip(names, answers.T, strict=True)
    ]


def row(case: Case, method: str, found: np.ndarray) -> Row:
    """Return a row of the table."""
    facts = {"question": case.question, "generator": case.label, "method": method, "n": case.n, "level": LEVEL}
    return facts | {"replicates": found.size, "rejections": int(found.sum()), "rate": float(found.mean())}


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return where calibrated predictions are found to be wrong too often, or a limit misses too often."""
    right = table[table["question"] == "size"]
    return more_often(right, right["rejections"], LEVEL, len(right))


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each way finds an error, and the error of the worst leaf where it was found and elsewhere."""
    return {"power": _power(table), "chosen": _chosen(table)}


def _power(table: pd.DataFrame) -> Figure:
    import seaborn as sns

    from calibstat.plots.style import PALETTE

    found = table[table["question"] == "power"]
    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 1, 5.2, 3.6)
    axes, labels = grid[0, 0], list(dict.fromkeys(found["generator"]))
    for k, (method, color) in enumerate(zip(LOOKS, PALETTE, strict=False)):
        part = found[found["method"] == method]
        place = [labels.index(label) + 0.15 * (k - 1.5) for label in part["generator"]]
        axes.plot(part["rate"], place, "osD^"[k], color=color, ms=6, label=LOOKS[method])
    axes.set(yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.5, -0.5), xlim=(0, 1))
    axes.set_xlabel("share of data sets in which the error is found")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return figure


def _chosen(table: pd.DataFrame) -> Figure:
    import seaborn as sns

    from calibstat.plots.style import PALETTE

    found = table[table["question"] == "chosen"]
    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, 1, 5.2, 3.2)
    axes, labels = grid[0, 0], list(dict.fromkeys(found["generator"]))
    for k, (method, part) in enumerate(found.groupby("method", sort=False)):
        place = [labels.index(label) + 0.2 * (k - 1) for label in part["generator"]]
        axes.plot(100 * part["mean"], place, "osD"[k], color=PALETTE[k], ms=7, label=method)
    axes.axvline(0, color="black", lw=1)
    axes.set(yticks=range(len(labels)), yticklabels=labels, ylim=(len(labels) - 0.5, -0.5))
    axes.set_xlabel("mean error of the worst leaf, percentage points")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


study = Study(
    question="Does a learner that looks for groups keep its promises, and find more than fixed groups?",
    seed=SEED,
    runtime_hours=0.5,
    table=table,
    figures=figures,
    violations=violations,
    takes_store=True,
)
