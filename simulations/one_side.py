"""Does a test of one side keep its level, and what does it find?

The promise of `side="over"` ("under"): if every row has outcome 1 with at least (at most) its predicted probability,
whatever the earlier outcomes, a test at the 5 % level finds something in at most 5 % of data sets. It is asked of eight
kinds of predictions, with outcomes from the predictions and with outcomes far inside of what is allowed, with weights
and with `stop_after`. With `cluster=` it is promised for outcomes that are alike within clusters; without, it is not,
and question "dependence" says how often the tests of independent rows reject then.

The power is asked of twenty errors of one direction, whose sizes are found so that the best of nine tests has about
.8, and of six errors of both directions. The promise: over the twenty the one-sided omnibus has on average .05 more
than the two-sided one. Rating grades are asked too: Jeffreys' test and the binomial test beside the audit by grade, of
one year and of several in which loans default together; and the exact test of clusters beside random signs and
Student's t.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row, stored

from .parts.alike_outcomes import BESIDE, EXACT, ROWS, TestsOfClusters, TestsOfRows, dependent, in_clusters
from .parts.errors_of_one_side import DIRECTED, ERRORS, LEVEL, ONE, TWO, Found
from .parts.laws_of_one_side import allowed
from .parts.pictures_of_one_side import draw_dependence, draw_levels, draw_power
from .parts.rating_grades import BY_GRADE, PROMISED, RULES, Rules, enumerated, portfolios
from .parts.years_of_loans import RulesOfYears, years

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20529
GAIN = 0.05  # of the one-sided omnibus over the two-sided one, on average over the errors of one direction
NULL_DRAWS, POWER_SETS, YEARS_SETS = 4999, 1000, 500


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask all questions; what the store has is not asked again."""
    import pandas as pd

    sets = 10 if quick else 2000
    found: list[Row] = []
    for law in allowed(quick):
        names = [(each, "labels") for each in law.measures]
        found += asked(store, n_jobs, "size", law, law, names, sets)
    for rows in dependent(quick):
        by_rows = TestsOfRows(rows.side)
        names = [*((each, ROWS) for each in by_rows.measures), ("mean", EXACT)]
        found += asked(store, n_jobs, "dependence", rows, by_rows, names, sets)
    for rows in in_clusters(quick):
        question = "clusters, power" if rows.too_high else "clusters, size"
        names = [("mean", each) for each in BESIDE]
        found += asked(store, n_jobs, question, rows, TestsOfClusters(rows.side), names, sets)
    for portfolio in portfolios(quick):
        question = "grades, power" if portfolio.error else "grades, size"
        names = [("by grade" if rule in BY_GRADE else rule, rule) for rule in RULES]
        found += asked(store, n_jobs, question, portfolio, Rules(), names, sets)
    for loans in years(quick):
        question = "years, size" if loans.factor == 1 else "years, power"
        rules = RulesOfYears(loans.clusters)
        found += asked(store, n_jobs, question, loans, rules, rules.names, 10 if quick else YEARS_SETS)
    found += enumerated()
    effort = (199, 50) if quick else (NULL_DRAWS, POWER_SETS)
    for name in list(ERRORS)[:: 10 if quick else 1]:
        error = Found(name, *effort, SEED)
        found += stored(store, error, error.rows)
    return pd.DataFrame(found)


def asked(
    store: Path | None,
    n_jobs: int | None,
    question: str,
    law: Any,
    ask: Any,
    names: Sequence[tuple[str, str]],
    replicates: int,
) -> list[Row]:
    """Return the rows of a law, kept in a file of the store."""
    what = question, law, ask, replicates, SEED
    return stored(store, what, partial(counted, n_jobs, question, law, ask, names, replicates))


def counted(
    n_jobs: int | None, question: str, law: Any, ask: Any, names: Sequence[tuple[str, str]], replicates: int
) -> list[Row]:
    """Count in how many data sets of a law each test rejects; of rules that answer 1 or 0, how many say 1."""
    side = getattr(law, "side", "under")
    more = {key: getattr(law, key) for key in ("clusters", "icc") if hasattr(law, key)}
    told = {"question": question, "generator": named(law), "n": law.n, "side": side, **more}
    title = f"{question}: {named(law)}, {side}, {more}"
    cells = Cells([(title, law.n)], {title: law}, replicates, SEED, ask, [", ".join(name) for name in names])
    answers = compute(cells, None, n_jobs, title)[:, 0]
    rejected = answers == 1 if isinstance(ask, Rules | RulesOfYears) else answers <= LEVEL
    return [
        told
        | {"measure": measure, "method": method, "level": LEVEL, "replicates": replicates}
        | rate_of("rejections", np.asarray(rejected[:, k]))
        for k, (measure, method) in enumerate(names)
    ]


def named(law: Any) -> str:
    """Return what is drawn, in words."""
    error = getattr(law, "error", "")
    return f"{law.label}, {error}" if error else str(law.label)


def promised(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about data sets in which a test finds something in at most 5 %."""
    sizes = table[table["question"].isin(["size", "clusters, size", "grades, size", "years, size", "dependence"])]
    keeps = ["labels", EXACT, *PROMISED]
    return sizes[sizes["method"].isin(keeps)]


def gain(table: pd.DataFrame) -> tuple[float, float]:
    """Return how much more power the one-sided omnibus has than the two-sided one, and its standard error.

    On average over the errors of one direction; the error is that of the data sets, not of the choice of the errors.
    """
    power = table[(table["question"] == "power") & (table["measure"] == "omnibus")]
    rate = power.pivot(index="generator", columns="method", values="rate")
    variance = (power["rate"] * (1 - power["rate"]) / power["replicates"]).sum()
    return float((rate[ONE] - rate[TWO]).mean()), float(np.sqrt(variance) / len(rate))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return tests that find too often what is not there, and the power of the omnibus if it gains too little."""
    import pandas as pd

    levels = promised(table)
    found = [more_often(levels, levels["rejections"], LEVEL)]
    power = table[(table["question"] == "power") & (table["measure"] == "omnibus")]
    if power["generator"].nunique() == len(DIRECTED):
        more, error = gain(table)
        if more + 3.1 * error < GAIN:
            found.append(power)
    return pd.concat(found)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the levels, the power, and how often tests reject where outcomes of rows are alike."""
    power = table[table["question"].isin(["power", "power, both directions"])]
    alike = table[table["question"].isin(["dependence", "clusters, size"])]
    return {
        "level": draw_levels(promised(table)),
        "power": draw_power(power),
        "alike": draw_dependence(alike),
    }


study = Study(
    question="Does a test of one side keep its level, and what does it find?",
    seed=SEED,
    runtime_hours=0.15,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
