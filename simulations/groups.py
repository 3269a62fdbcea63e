"""Does an audit of groups find those that are wrong, and no others? Do its intervals all hold at once?

Rows have 2, 5 or 15 features with three levels each. The groups are all rows, every level, and every pair of levels of
two features with 30 rows or more: 16, 106 and 991. The promises of `audit`: in at most 5 % of the data sets it finds a
group without a wrong row, whether no row is wrong or those of one group are; and in 94 % at least (95 % is proven) the
intervals hold the mean errors of all groups at once.

Beside it are Holm's procedure over tests of each group by itself, normal and exact ones, and the rules that MCGrad
0.1.5 states for its multicalibration error: p < .05 (which it says is not adjusted for the number of groups) and more
than five sigmas. They promise nothing here. Its statistic is Kuiper's, which sees errors of any shape.

Audits of one side are asked last: with `side="over"` a group is found in which no prediction is too high in at most 5 %
of the data sets, however low predictions are and whatever other groups are, and in at most 5 % one of the limits
misses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat import generators
from calibstat.inference.auditing.audit_results import Audit
from calibstat.papers.parts.grid import FIVE
from calibstat.papers.parts.promises import MORE_MISSES, PROMISED, more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts.group_rules import INSTALLED, LEFT_OUT, LEVEL, MCGRAD, MIN_ROWS, holm, masks_of, mcgrad
from .parts.one_sided_audits import FALSE, MISSED, OneSidedCase, one_sided_cases

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20451
FEATURES = {16: 2, 106: 5, 991: 15}  # by the number of groups
AUDIT, SHAPE = "audit", "audit, shape"
RULES = {AUDIT: "bias", SHAPE: "bias and slope", "Holm, normal": "bias", "Holm, exact": "bias"}
RULES |= dict.fromkeys(MCGRAD, "kuiper")  # and the statistic of each
ASKED = ("size", "power", "overlap")  # is a group without a wrong row found, the wrong group, any with a wrong row


@dataclass(frozen=True)
class Population:
    """Draws rows with features; the engine hands on what comes with the outcomes as it is."""

    rows: Any

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Draw rows."""
        features, y, p, chance = self.rows.sample_rows(n, rng)
        return y, {"features": features, "prediction": p, "chance": chance}


@dataclass(frozen=True)
class Rules:
    """Asks every rule about a data set; nan is for what is not asked."""

    n_resamples: int
    shape: bool

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the number of groups, whether all intervals hold, and three answers of each rule."""
        y, columns = data
        features, p, chance = columns["features"], columns["prediction"], columns["chance"]
        audit = self.audit(y, p, features, rng)
        masks = masks_of(audit.names, features)
        found = {AUDIT: audit.pvalue_adjusted <= LEVEL, **dict(holm(y, p, masks))}
        if self.shape:
            found[SHAPE] = self.audit(y, p, features, rng, shape=True).pvalue_adjusted <= LEVEL
        if INSTALLED:
            found |= dict(mcgrad(y, p, features, masks))
        wrong = np.abs(chance - p) > 1e-9
        truth = masks @ (chance - p) / audit.rows
        covered = np.all((audit.low <= truth) & (truth <= audit.high))
        touched = np.array(masks[:, wrong].any(axis=1))
        bad = touched & (masks == wrong).all(axis=1)
        answers = [any_of(found.get(rule), group) for rule in RULES for group in (~touched, bad, touched)]
        return [len(masks), float(covered), *answers]

    def audit(self, y: np.ndarray, p: np.ndarray, features: Any, rng: Any, shape: bool = False) -> Audit:
        """Return the audit of all levels and pairs of levels."""
        options: dict[str, Any] = {"confidence_level": PROMISED, "n_resamples": self.n_resamples}
        found = cs.audit(y, p, cs.Groups(features, min_rows=MIN_ROWS), shape=shape, rng=rng, **options)
        assert isinstance(found, Audit)
        return found


def any_of(found: np.ndarray | None, group: np.ndarray) -> float:
    """Return whether any of some groups is found, nan if the rule was not asked or there are none."""
    return float(found[group].any()) if found is not None and group.any() else np.nan


@dataclass(frozen=True)
class Case:
    """Data sets of one kind and size."""

    label: str
    rows: Any
    n: int
    groups: int
    replicates: int
    rules: Rules


def calibrated() -> dict[str, Any]:
    """Return calibrated predictions: of two prevalences, without ties and with a few values."""
    from scipy.stats import beta

    rare = [0.002, 0.005, 0.008, 0.012, 0.023]
    return {
        "prevalence .5": generators.calibrated(),
        "prevalence .5, five scores": generators.calibrated(FIVE),
        "prevalence .01": generators.calibrated(beta(1, 99)),
        "prevalence .01, five scores": generators.calibrated(rare),
    }


def wrong() -> dict[str, tuple[Any, dict[str, int], dict[str, float]]]:
    """Return the true probabilities, the group that is wrong, and how its predictions are distorted.

    In the rare ones predictions of the wrong group are about .025 on average.
    """
    from scipy.stats import beta

    uniform, level, both = generators.calibrated(), {"f0": 0}, {"f0": 0, "f1": 0}
    return {
        "one level, shift .4": (uniform, level, {"shift": 0.4}),
        "one intersection, shift .8": (uniform, both, {"shift": 0.8}),
        "one intersection, temperature 2.5": (uniform, both, {"temperature": 2.5}),
        "rare, one intersection, shift -1.2": (generators.calibrated(beta(2, 23)), both, {"shift": -1.2}),
        "rare, one level, shift 2": (generators.calibrated(beta(2, 568)), level, {"shift": 2}),
    }


def cases(quick: bool) -> Iterator[Case]:
    """Return all that is asked."""
    for groups, k in FEATURES.items():
        many = groups > 106  # which take long
        if quick and many:
            continue
        levels = {f"f{i}": 3 for i in range(k)}
        null_sets, sets = (3, 3) if quick else (200, 150) if many else (400, 300)
        null_draws, draws = (39, 39) if quick else (199, 999)
        for label, model in calibrated().items():
            for n in [500] if quick else [500, 5000]:
                rules = Rules(null_draws, shape=not many or (n == 500 and "five" not in label))
                yield Case(label, generators.features(model, levels), n, groups, null_sets, rules)
        for label, (model, group, error) in wrong().items():
            rows = generators.features(model, levels, [(group, error)])
            yield Case(label, rows, 2000, groups, sets, Rules(draws, shape=True))


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Count what every rule finds; cases of which the store has the outcome are not asked about again."""
    import pandas as pd

    if not INSTALLED:
        print(LEFT_OUT, file=sys.stderr)
    found = [stored(store, (case, SEED, INSTALLED), partial(counted, case, n_jobs)) for case in cases(quick)]
    of_one_side = one_sided_cases(FEATURES, quick)
    found += [stored(store, (case, SEED), partial(of_side, case, n_jobs)) for case in of_one_side]
    return pd.DataFrame([row for rows in found for row in rows])


def counted(case: Case, n_jobs: int | None) -> list[Row]:
    """Return the rows of the table of a case."""
    label = f"{case.label}, {case.groups} groups"
    columns = ["groups", "covered", *(f"{rule}, {question}" for rule in RULES for question in ASKED)]
    cells = Cells([(label, case.n)], {label: Population(case.rows)}, case.replicates, SEED, case.rules, columns)
    answers = compute(cells, None, n_jobs, f"{label}, {case.n} rows").reshape(case.replicates, len(columns))
    fixed = {"generator": case.label, "n": case.n, "groups": case.groups, "mean_groups": float(answers[:, 0].mean())}

    def row(question: str, method: str, name: str, observed: np.ndarray) -> Row:
        described = {"measure": RULES[method], "method": method, "level": LEVEL, "replicates": case.replicates}
        return {"question": question, **fixed, **described, **rate_of(name, observed == 1)}

    found = [row("coverage", AUDIT, "covered", answers[:, 1]) | {"level": PROMISED}]
    of_rules = answers[:, 2:].reshape(case.replicates, len(RULES), len(ASKED))
    for rule, answer in zip(RULES, of_rules.swapaxes(0, 1), strict=True):
        for question, observed in zip(ASKED, answer.T, strict=True):
            if not np.isnan(observed).any():
                found.append(row(question, rule, "rejections", observed))
    return found


def of_side(case: OneSidedCase, n_jobs: int | None) -> list[Row]:
    """Return the rows of audits of one side."""
    label = f"{case.label}, {case.groups} groups"
    columns = ["groups", "false", "missed", "found"]
    cells = Cells([(label, case.n)], {label: Population(case.rows)}, case.replicates, SEED, case.ask, columns)
    answers = compute(cells, None, n_jobs, f"{label}, {case.n} rows").reshape(case.replicates, len(columns))
    fixed = {"generator": case.label, "n": case.n, "groups": case.groups, "mean_groups": float(answers[:, 0].mean())}
    fixed |= {"measure": "bias", "method": f"audit, {case.ask.side}", "level": LEVEL, "replicates": case.replicates}
    asked = {FALSE: answers[:, 1], MISSED: answers[:, 2], "power, one side": answers[:, 3]}
    return [
        {"question": question, **fixed, **rate_of("rejections", answer == 1)}
        for question, answer in asked.items()
        if not np.isnan(answer).any()
    ]


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return where audits find groups without a wrong row too often, and where intervals do not hold often enough."""
    import pandas as pd

    size = table[(table["question"] == "size") & table["method"].isin([AUDIT, SHAPE])]
    held = table[table["question"] == "coverage"]
    one_side = table[table["question"].isin([FALSE, MISSED])]
    promises = len(size) + len(held) + len(one_side)
    missed = held["replicates"] - held["covered"]
    return pd.concat(
        [
            more_often(size, size["rejections"], LEVEL, promises),
            more_often(held, missed, MORE_MISSES * (1 - PROMISED), promises),
            more_often(one_side, one_side["rejections"], LEVEL, promises),
        ]
    )


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each rule finds a group without a wrong row, and how often the wrong group."""
    size, power = (table[table["question"] == question] for question in ("size", "power"))
    return {
        "false": by_rule(size, "share of data sets in which a group without a wrong row is found"),
        "power": by_rule(power, "share of data sets in which the wrong group is found"),
    }


def by_rule(table: pd.DataFrame, title: str) -> Figure:
    """Draw the rate of each rule, in a panel for each number of groups."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    table = table.assign(label=[f"{row.generator}\n{row.n:,} rows" for row in table.itertuples()])
    labels = list(dict.fromkeys(table["label"]))
    color = dict(zip(RULES, colors().values(), strict=False))
    parts = table.groupby("groups")
    figure = Figure(figsize=(9, 1.4 + 0.55 * len(labels)), layout="constrained")
    panels = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
    for ax, (groups, part) in zip(panels, parts, strict=True):
        for k, (rule, rows) in enumerate((rule, part[part["method"] == rule]) for rule in RULES):
            place = [labels.index(label) + 0.12 * (k - 2.5) for label in rows["label"]]
            error = [rows["rate"] - rows["low"], rows["high"] - rows["rate"]]
            ax.errorbar(rows["rate"], place, xerr=error, fmt="oDXPs^"[k], ms=4, lw=1, color=color[rule], label=rule)
        ax.axvline(LEVEL, color="black", ls="--", lw=1)
        ax.set_title(f"{groups} groups", fontsize="medium")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(len(labels) - 0.5, -0.5)
    panels[0].set_yticks(range(len(labels)), labels, fontsize="small")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel(f"{title}\n(bars: exact 95 % limits; dashed: 5 %)", fontsize="medium")
    return figure


study = Study(
    question="Does an audit of groups find those that are wrong, and no others?",
    seed=SEED,
    runtime_hours=0.35,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
