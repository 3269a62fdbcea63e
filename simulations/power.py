"""Which test loses least? How far is each below the best of all tests on offer?

On fixed predictions every test is asked about the same alternatives (`parts/alternatives.py`, where their amplitudes
come from too). Its loss in a cell is the power of the best test there less its own. A test that is only approximate
counts as the best only where its size, on the same predictions, is within the exact limit.

The promise: the test by default, `omnibus`, has the lowest mean loss, at most .15, and the tests by resampling keep
their level. The largest loss of a cell is none: beyond these alternatives it may be anything, and on those of "blind",
which were chosen because the test by default does badly, it is large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from calibstat.papers.parts.grid import DEFAULT
from calibstat.papers.parts.promises import FALSE_ALARM
from calibstat.resampling import Draws, key_of
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored

from .parts.alternatives import (
    OLD,
    SEARCH_SETS,
    SEED,
    Design,
    Rows,
    amplitude,
    designs,
    kind,
    sample_of,
    truth,
)
from .parts.blind_spots import BLIND, blind_designs
from .parts.losses import draw_alternatives, draw_losses, draw_numbers, summary
from .parts.tests_on_offer import Drawing, Offered, on_offer

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

LEVEL = 0.05
MOST_LOSS = 0.15
QUICK, FULL = (199, 100, 40), (1999, 2000, 500)  # draws of the null distribution, calibrated data sets, data sets
CELLS = 200  # of a table whose mean losses are judged; with fewer they are noise


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Ask every test about every design; designs of which the store has the outcome are not asked about again."""
    import pandas as pd
    from joblib import Parallel, delayed

    effort = QUICK if quick else FULL
    asked = designs() + blind_designs()
    if quick:
        asked = [Design(d.distribution, d.n, d.alternatives[:2]) for d in asked if d.n <= 100][:3]
    asked = sorted(asked, key=lambda design: -design.n)  # the longest first
    found = Parallel(n_jobs=n_jobs)(delayed(asked_about)(design, effort, store) for design in asked)
    rows = pd.DataFrame([row for rows in found for row in rows])
    return with_losses(rows).sort_values(["question", "n", "distribution"], kind="stable", ignore_index=True)


def asked_about(design: Design, effort: tuple[int, int, int], store: Path | None) -> list[Row]:
    """Return the rows of a design, kept in a file of the store."""
    return stored(store, (design, effort, SEED), lambda: list(answered(design, *effort)))


def answered(design: Design, n_null: int, n_calibrated: int, n_sets: int) -> Iterator[Row]:
    """Yield the rejections of every test, of calibrated data sets and of those of each alternative."""
    draws = [Draws(key_of(design.seed(1000 + use)), n) for use, n in enumerate((n_null, n_calibrated, SEARCH_SETS))]
    rows = design.rows()
    offered = on_offer(Drawing(sample_of(rows), draws[0]))
    cell = {"distribution": design.distribution, "n": design.n, "level": LEVEL}
    for name, test in offered.items():
        found = test.pvalues(None, draws[1])
        yield {
            "question": "size",
            **cell,
            "alternative": "",
            "kind": "",
            "amplitude": 0.0,
            **counted(name, test, found),
        }
    for number, (alternative, shape) in enumerate(design.shapes(rows).items()):
        best = partial(best_power, [offered[name] for name in OLD if name in offered], rows, shape, draws[2])
        size = amplitude(best, rows, shape)
        chance = truth(rows, shape, size)
        fresh = Draws(key_of(design.seed(2000 + number)), n_sets)
        for name, test in offered.items():
            yield {
                "question": "blind" if alternative in BLIND else "power",
                **cell,
                "alternative": alternative,
                "kind": "blind" if alternative in BLIND else kind(alternative),
                "amplitude": size,
                **counted(name, test, test.pvalues(chance, fresh)),
            }


def best_power(tests: list[Offered], rows: Rows, shape: np.ndarray, draws: Draws, size: float) -> float:
    """Return the largest power of some tests."""
    chance = truth(rows, shape, size)
    return max(float((test.pvalues(chance, draws) <= LEVEL).mean()) for test in tests)


def counted(name: str, test: Offered, pvalue: np.ndarray) -> Row:
    """Return the columns of one test."""
    rejected = int((pvalue <= LEVEL).sum())
    return {
        "measure": name,
        "method": "labels" if test.exact else "limit",
        "replicates": pvalue.size,
        "refused": int(np.isnan(pvalue).sum()),
        "rejections": rejected,
        "rate": rejected / pvalue.size,
    }


def with_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Add whether the size on the same predictions is within its limit, and how far below the best such test."""
    rows = rows.drop_duplicates(ignore_index=True)  # sizes on predictions that two designs share
    size = rows[rows["question"] == "size"]
    size = size.assign(valid=(size["method"] == "labels") | (size["rejections"] <= most(size["replicates"].iloc[0])))
    keys = ["distribution", "n", "measure"]
    rows = rows.merge(size[[*keys, "valid"]], on=keys, how="left")
    of_valid = rows["rate"].where(rows["valid"])
    best = of_valid.groupby([rows[key] for key in ("question", "distribution", "n", "alternative")]).transform("max")
    return rows.assign(loss=(best - rows["rate"]).where(rows["question"] != "size"))


def most(replicates: int) -> int:
    """Return the most rejections of calibrated data sets that a test of this level may have, with a false alarm."""
    from calibstat.study import most_rejections

    return most_rejections(LEVEL, int(replicates), FALSE_ALARM)


def most_by_resampling(n_null: int, replicates: int, false_alarm: float) -> int:
    """Return the same for a test by resampling whose data sets share one null distribution.

    How many of so many further draws are beyond the smallest of its largest level * (n_null + 1) values has this beta
    binomial distribution if none are tied.
    """
    from scipy.stats import betabinom

    beyond = round(LEVEL * (n_null + 1))
    return int(betabinom.isf(false_alarm, replicates, beyond, n_null + 1 - beyond))


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return tests by resampling that do not keep their level, and tests that lose no more than that by default."""
    import pandas as pd

    sizes = table[(table["question"] == "size") & (table["method"] == "labels")]
    replicates = int(sizes["replicates"].iloc[0])
    n_null = {calibrated: null for null, calibrated, _ in (QUICK, FULL)}[replicates]
    limit = most_by_resampling(n_null, replicates, FALSE_ALARM / len(sizes))
    found = [sizes[sizes["rejections"] > limit]]
    cells = table[table["question"] == "power"]
    if len(cells) >= CELLS * cells["measure"].nunique():
        mean = cells.groupby("measure")["loss"].mean()
        ahead = mean[(mean <= mean[DEFAULT]) & (mean.index != DEFAULT)]
        too_much = mean[(mean > MOST_LOSS) & (mean.index == DEFAULT)]
        found.append(summary(cells).loc[[*ahead.index, *too_much.index]].reset_index())
    return pd.concat(found)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the losses of all tests, those of some by number of rows, and the power against each alternative."""
    cells = table[table["question"] == "power"]
    return {"": draw_losses(cells), "rows": draw_numbers(cells), "alternatives": draw_alternatives(cells)}


study = Study(
    question="Which test loses least?",
    seed=SEED,
    runtime_hours=0.2,
    table=table,
    takes_store=True,
    figures=figures,
    violations=violations,
)
