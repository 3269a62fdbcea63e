"""Does an audit of rows in clusters find the groups that are wrong, and no others? Do its intervals hold at once?

Outcomes of a cluster depend on each other: a share of the clusters has one uniform number for all rows ("alike"), or
normal variables with a correlation decide the outcomes ("icc"). Clusters have equal sizes, geometric ones, or one of
them has a third of the rows. Groups lie across clusters (features of rows), or a cluster lies in one of them (features
of clusters, and one prediction for all rows of a cluster). Groups are all levels of two features with three levels, and
their pairs. Of many labels a row the cluster is the row and the groups are the classes.

Nothing is promised of groups in which a cluster has several rows; of the others the level is proven. Beside it are the
audit that takes rows as independent, the audit of one random row of each cluster, and Holm's procedure over the test of
clusters in each group; and Student's intervals of clusters, each at the level .05 / number of groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.row_clusters import shared_uniform
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import PROMISED, more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, Models, compute
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20971
LEVEL = 0.05
CLUSTERS, ROWS, ONE, HOLM = "clusters", "rows as independent", "one row of each cluster", "Holm, clusters"
HONEST, STUDENT = "clusters", "Student's t"
MIN_ROWS = 10
LOGITS = {0.5: (0.0, 1.2), 0.1: (-2.6, 1.0), 0.01: (-5.0, 0.8)}  # mean and sd, by about the prevalence


@dataclass(frozen=True)
class Population:
    """Rows in clusters with groups; a level of the first feature may have the wrong predictions.

    Attributes
    ----------
    clusters, size : int
        Number of clusters, and mean number of rows of one; of many labels the classes.
    prevalence : float
        About the mean prediction, a key of `LOGITS`.
    alike, icc : float
        Share of clusters with one uniform number, and correlation of normal variables in all other clusters.
    sizes : {"equal", "geometric", "one giant"}
        Sizes of clusters.
    groups : {"across", "of clusters", "classes"}
        Where groups lie.
    exclusive : bool
        Whether exactly one class of a row is observed.
    shift : float
        By how much the log-odds of the wrong group are larger than predicted.
    """

    clusters: int
    size: int
    prevalence: float = 0.5
    alike: float = 0.0
    icc: float = 0.0
    sizes: str = "equal"
    groups: str = "across"
    exclusive: bool = False
    shift: float = 0.0

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        of = "rows of {} classes" if self.groups == "classes" else "clusters of {}"
        sizes = "" if self.sizes == "equal" else f", {self.sizes}"
        how = "exclusive" if self.exclusive else f"{self.alike:.0%} alike" if self.alike else f"icc {self.icc:g}"
        where = "" if self.groups == "classes" else f", groups {self.groups}"
        wrong = f", shift {self.shift:g}" if self.shift else ""
        return f"{self.clusters} {of.format(self.size)}{sizes}, prevalence {self.prevalence:g}, {how}{where}{wrong}"

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw outcomes, with predictions, clusters and two features; `n` is about the number of rows."""
        _, random = drawing(n, rng)
        unit = np.repeat(np.arange(self.clusters), self._sizes(random))
        feature = self._features(random, unit)
        if self.exclusive:
            prob = np.exp(random.normal(0, 1.2, (self.clusters, self.size)))
            prob /= prob.sum(axis=1, keepdims=True)
            observed = (random.random(self.clusters)[:, None] > np.cumsum(prob, axis=1)[:, :-1]).sum(axis=1)
            y, p = (observed[:, None] == np.arange(self.size)).ravel(), prob.ravel()
            return y.astype(np.int64), {"prediction": p, "cluster": unit, "feature": feature}
        x = random.normal(*LOGITS[self.prevalence], unit.size)
        if self.groups == "of clusters":
            x = x[np.unique(unit, return_index=True)[1]][unit]
        chance = 1 / (1 + np.exp(-x - self.shift * (feature[:, 0] == 0)))
        y = (self._uniform(random, unit) < chance).astype(np.int64)
        return y, {"prediction": 1 / (1 + np.exp(-x)), "cluster": unit, "feature": feature}

    def _sizes(self, random: Random) -> np.ndarray:
        if self.sizes == "geometric":
            return np.asarray(random.geometric(1 / self.size, self.clusters))
        size = np.full(self.clusters, self.size)
        size[0] += (self.sizes == "one giant") * self.size * self.clusters // 2
        return size

    def _features(self, random: Random, unit: np.ndarray) -> np.ndarray:
        if self.groups == "classes":
            return np.tile(np.arange(self.size), self.clusters)[:, None]
        rows = self.clusters if self.groups == "of clusters" else unit.size
        feature = random.integers(0, 3, (rows, 2))
        return np.asarray(feature[unit] if self.groups == "of clusters" else feature)

    def _uniform(self, random: Random, unit: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr

        if not self.icc:
            return shared_uniform(random, unit, random.random(self.clusters) < self.alike)
        own, shared = random.normal(size=unit.size), random.normal(size=self.clusters)[unit]
        return np.asarray(ndtr(np.sqrt(self.icc) * shared + np.sqrt(1 - self.icc) * own))


@dataclass(frozen=True)
class Ask:
    """Asks rules about a data set: which find a group that is right, and which the wrong one; and about intervals."""

    rules: tuple[str, ...]
    n_resamples: int
    wrong: bool

    @property
    def columns(self) -> list[str]:
        """The names of the answers."""
        of_rules = [f"{rule}, {what}" for rule in self.rules for what in ("right", "wrong")]
        return of_rules if self.wrong else [*of_rules, "groups", *(f"{each}, {what}" for each in (HONEST, STUDENT)
                                                                  for what in ("covered", "width"))]  # fmt: skip

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers."""
        y, columns = data
        p, unit, feature = columns["prediction"], columns["cluster"], columns["feature"]
        masks = groups_of(feature)
        bad = np.array([bool(mask[feature[:, 0] == 0].any()) & self.wrong for mask in masks])
        level = np.array([name == "f0 = 0" for name in masks_names(feature)])
        answers: list[float] = []
        audits = {}
        for rule in self.rules:
            if rule == CLUSTERS:
                audits[rule] = cs.audit(y, p, named(masks), cluster=unit, n_resamples=self.n_resamples, rng=rng)
                found = found_by(audits[rule], masks)
            else:
                found = self.found(rule, y, p, unit, masks, rng)
            answers += [float(found[~bad].any()), float(found[level].any())]
        if self.wrong:
            return answers
        audit = audits[CLUSTERS]
        limits = np.array([audit.low, audit.high]), students(y - p, unit, masks)
        shown = [(float(((low <= 1e-12) & (high >= -1e-12)).all()), float((high - low).mean())) for low, high in limits]
        return [*answers, float(len(masks)), *np.ravel(shown).tolist()]

    def found(
        self, rule: str, y: np.ndarray, p: np.ndarray, unit: np.ndarray, masks: np.ndarray, rng: Any
    ) -> np.ndarray:
        """Return which groups a rule finds."""
        options: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng}
        if rule == HOLM:
            kept = [unit[mask].min() < unit[mask].max() for mask in masks]
            pvalue = np.ones(len(masks))
            for g in np.flatnonzero(kept):
                mask = masks[g]
                test = cs.calibration_test(y[mask], p[mask], measure="mean", cluster=unit[mask], n_resamples=999, rng=1)
                pvalue[g] = test.pvalue
            return np.asarray(holm(pvalue) <= LEVEL)
        if rule == ONE:
            order = drawing(unit.size, rng)[1].permutation(unit.size)
            row = order[np.unique(unit[order], return_index=True)[1]]
            there = masks[:, row].any(axis=1)
            found = np.zeros(len(masks), bool)
            audit = cs.audit(y[row], p[row], named(masks[there][:, row]), **options)
            found[there] = found_by(audit, masks[there][:, row])
            return found
        return found_by(cs.audit(y, p, named(masks), **options), masks)


def groups_of(feature: np.ndarray) -> np.ndarray:
    """Return the masks of all rows, of the levels of the features and of pairs of them, with some rows each."""
    return np.array([mask for _, mask in _groups(feature)])


def masks_names(feature: np.ndarray) -> Iterator[str]:
    """Return the names of the same groups."""
    return (name for name, _ in _groups(feature))


def _groups(feature: np.ndarray) -> list[tuple[str, np.ndarray]]:
    levels = [[(f"f{c} = {k}", feature[:, c] == k) for k in np.unique(feature[:, c])] for c in range(feature.shape[1])]
    made = [("all rows", np.ones(len(feature), bool)), *(each for column in levels for each in column)]
    if len(levels) > 1:
        made += [(f"{a} and {b}", one & other) for a, one in levels[0] for b, other in levels[1]]
    return [each for each in made if each[1].sum() >= MIN_ROWS or each[0] == "f0 = 0"]


def named(masks: np.ndarray) -> dict[str, np.ndarray]:
    """Return groups by number, without all rows, which an audit adds."""
    return {str(g): mask for g, mask in enumerate(masks) if not mask.all()} or {"all": masks[0]}


def found_by(audit: Any, masks: np.ndarray) -> np.ndarray:
    """Return which groups an audit finds; of groups with the same rows it has the first."""
    place = {audit.names[g]: audit.pvalue_adjusted[g] <= LEVEL for g in range(len(audit.names))}
    names = ["all rows" if mask.all() else str(g) for g, mask in enumerate(masks)]
    return np.array([bool(place.get(name, False)) for name in names])


def students(residual: np.ndarray, unit: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return Student's limits of the mean residual of each group, of clusters, within -1 and 1."""
    from scipy.special import stdtrit

    limits = []
    for mask in masks:
        own = np.unique(unit[mask], return_inverse=True)[1]
        total, rows = np.bincount(own, residual[mask]), np.bincount(own)
        mean, k = total.sum() / rows.sum(), rows.size
        reach = 2.0
        if k > 1:
            spread = np.sqrt(k / (k - 1) * ((total - mean * rows) ** 2).sum()) / rows.sum()
            reach = -float(stdtrit(k - 1, LEVEL / (2 * len(masks)))) * spread
        limits.append((max(mean - reach, -1.0), min(mean + reach, 1.0)))
    return np.array(limits).T


def holm(pvalue: np.ndarray) -> np.ndarray:
    """Return Holm's adjusted p-values."""
    from calibstat.inference.p_values import holm

    return holm(pvalue)


@dataclass(frozen=True)
class Case:
    """Data sets of a population."""

    population: Population
    replicates: int
    ask: Ask


def right(quick: bool) -> Iterator[tuple[Population, bool]]:
    """Return calibrated populations, and whether each is asked quickly."""
    for icc in (0.0, 0.1, 0.3, 1.0):
        yield Population(60, 10, icc=icc), icc == 0.3
    yield Population(60, 10, alike=0.3), False
    for sizes in ("equal", "geometric", "one giant"):
        yield Population(60, 10, alike=1.0, sizes=sizes, groups="of clusters"), sizes == "geometric"
    yield Population(60, 10, icc=0.3, sizes="geometric"), False
    yield Population(60, 10, icc=0.3, sizes="one giant"), False
    yield Population(12, 30, icc=0.3), False
    yield Population(12, 30, alike=1.0, groups="of clusters"), False
    yield Population(200, 5, 0.1, icc=0.3), False
    yield Population(200, 5, 0.1, alike=1.0, groups="of clusters"), False
    yield Population(200, 5, 0.01, icc=0.3), False
    yield Population(200, 5, 0.01, alike=1.0), False
    for exclusive, alike, icc in ((False, 0.0, 0.0), (False, 0.0, 0.3), (False, 1.0, 0.0), (True, 0.0, 0.0)):
        yield Population(150, 5, alike=alike, icc=icc, groups="classes", exclusive=exclusive), False
    yield Population(150, 20, icc=0.3, groups="classes"), False
    yield Population(150, 20, 0.01, icc=0.3, groups="classes"), False


def wrong() -> Iterator[Population]:
    """Return populations of which a level of the first feature, or a class, is wrong."""
    yield Population(60, 10, icc=0.0, shift=0.7)
    yield Population(60, 10, icc=0.3, shift=0.7)
    yield Population(60, 10, alike=1.0, groups="of clusters", shift=1.5)
    yield Population(20, 20, icc=0.3, shift=0.9)
    yield Population(200, 5, 0.1, icc=0.3, shift=0.7)
    yield Population(200, 10, 0.01, icc=0.1, shift=1.3)
    yield Population(150, 5, icc=0.3, groups="classes", shift=0.6)
    yield Population(150, 20, icc=0.3, groups="classes", shift=0.8)
    yield Population(400, 20, 0.01, icc=0.3, groups="classes", shift=1.4)


def cases(quick: bool) -> Iterator[Case]:
    """Return all that is asked."""
    for population, quickly in right(quick):
        if quick and quickly:
            yield Case(population, 3, Ask((CLUSTERS, ROWS), 39, wrong=False))
        if not quick:
            yield Case(population, 1000, Ask((CLUSTERS,), 99, wrong=False))
            yield Case(population, 200, Ask((ROWS, ONE), 99, wrong=True))
    for population in [*wrong()][: 1 if quick else None]:
        rules = (CLUSTERS, ROWS, ONE, HOLM)
        yield Case(population, 3 if quick else 100, Ask(rules, 39 if quick else 199, wrong=True))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Count what every rule finds, and how often intervals hold."""
    import pandas as pd

    found = [stored(store, (case, SEED), partial(counted, case, n_jobs)) for case in cases(quick)]
    return pd.DataFrame([row for rows in found for row in rows])


def counted(case: Case, n_jobs: int | None) -> list[Row]:
    """Return the rows of the table of a case."""
    population, columns = case.population, case.ask.columns
    n = population.clusters * population.size
    cells = Cells([(population.label, n)], {population.label: population}, case.replicates, SEED, case.ask, columns)
    answers = compute(cells, None, n_jobs, population.label).reshape(case.replicates, len(columns))
    column = dict(zip(columns, answers.T, strict=True))
    fixed: Row = {"generator": population.label, "n": n, "clusters": population.clusters, "measure": "mean",
                  "level": LEVEL, "replicates": case.replicates}  # fmt: skip
    found: list[Row] = []
    for rule in case.ask.rules:
        of_rule = {"method": rule, **fixed}
        found.append({"question": "size", **of_rule, **rate_of("rejections", column[f"{rule}, right"] == 1)})
        if population.shift:
            found.append({"question": "power", **of_rule, **rate_of("rejections", column[f"{rule}, wrong"] == 1)})
    if not case.ask.wrong:
        for method in (HONEST, STUDENT):
            covered, width = column[f"{method}, covered"] == 1, float(column[f"{method}, width"].mean())
            row = {"question": "coverage", "method": method, **fixed, **rate_of("covered", covered)}
            found.append(row | {"level": PROMISED, "mean_width": width, "mean_groups": float(column["groups"].mean())})
    return found


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return where audits of clusters find right groups, or their intervals miss, more often than in 5 %."""
    import pandas as pd

    of_clusters = table[table["method"] == CLUSTERS]
    size, held = of_clusters[of_clusters["question"] == "size"], of_clusters[of_clusters["question"] == "coverage"]
    promises, missed = len(size) + len(held), held["replicates"] - held["covered"]
    return pd.concat(
        [
            more_often(size, size["rejections"], LEVEL, promises),
            more_often(held, missed, LEVEL, promises),
        ]
    )


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each rule finds a right group of calibrated rows, and the wrong group."""
    calibrated = table[(table["question"] == "size") & ~table["generator"].str.contains("shift")]
    titles = {
        "false": "share of calibrated data sets in which a group is found",
        "power": "share of data sets in which the wrong group is found",
    }
    parts = {"false": calibrated, "power": table[table["question"] == "power"]}
    return {name: by_rule(part, titles[name]) for name, part in parts.items()}


def by_rule(table: pd.DataFrame, title: str) -> Figure:
    """Draw the rate of each rule."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    labels = list(dict.fromkeys(table["generator"]))
    color = dict(zip((CLUSTERS, ROWS, ONE, HOLM), colors().values(), strict=False))
    figure = Figure(figsize=(9, 1.4 + 0.32 * len(labels)), layout="constrained")
    ax = figure.subplots()
    for k, (rule, rows) in enumerate(table.groupby("method", sort=False)):
        place = [labels.index(label) + 0.15 * (k - 1) for label in rows["generator"]]
        error = [rows["rate"] - rows["low"], rows["high"] - rows["rate"]]
        ax.errorbar(rows["rate"], place, xerr=error, fmt="oDXP"[k], ms=4, lw=1, color=color[str(rule)], label=rule)
    ax.axvline(LEVEL, color="black", ls="--", lw=1)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_yticks(range(len(labels)), labels, fontsize="small")
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    figure.supxlabel(f"{title}\n(bars: exact 95 % limits; dashed: 5 %)", fontsize="medium")
    return figure


study = Study(
    question="Does an audit of rows in clusters find the groups that are wrong, and no others?",
    seed=SEED,
    runtime_hours=0.25,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
