"""Numbers of labels beside a judge's answers: what the labels alone would take, less what the judge saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from calibstat.bounds.tail_bound import TailBound
from calibstat.data.checks import check_whole, short
from calibstat.data.judged_rows import FEWEST_LABELS
from calibstat.inference.designs.judged.rectified_rows import is_norm_of_residuals
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.output.wording import level_text, percent
from calibstat.planning.precision import PrecisionSize


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelSize(PrecisionSize):
    """Labels for an interval of a given width beside a judge's answers: result of `sample_size` with `judge_share`.

    Attributes
    ----------
    n : int
        The labels.
    labels_only : int
        The labels without a judge.
    judge_share : float
        The share of the noise that the judge leaves.
    judge_rows : int
        The rows with an answer of the judge, labelled or not.
    """

    labels_only: int
    judge_share: float
    judge_rows: int

    def __str__(self) -> str:
        return (
            f"{self.n} labels among {self.judge_rows:,} rows for a {level_text(self.confidence_level)} confidence "
            f"interval of width {self.width:g} for {self.of}{self.lens.with_comma}, with a judge that leaves "
            f"{percent(self.judge_share)} of the noise, if the truth is {self.alternative}; without a judge "
            f"{self.labels_only} labels ({self.method})."
        )


def need_plan_with_judge(
    share: object, rows: object, width: object, of: str | Measure | type[Measure], options: Mapping[str, Any]
) -> None:
    """Raise unless a plan with a judge has a share, rows, a width and a norm of residuals; without one it has none.

    The width of a mean of losses is not known from the share: the part of rows that nobody saw depends on the guesses.
    """
    if share is None and rows is None:
        return
    if share is None:
        raise ValueError(f"expected judge_share, the share of the noise that a judge leaves, with judge_rows={rows}")
    if not isinstance(share, int | float | np.number) or not 0 <= share < np.inf:
        raise ValueError(f"expected judge_share of at least 0, the share of an earlier interval, found {short(share)}")
    if rows is None:
        raise ValueError("expected judge_rows, the rows with an answer of the judge, beside judge_share; found none")
    check_whole("judge_rows", rows, FEWEST_LABELS + 1)
    if width is None or (isinstance(of, str) and of in ("o/e", "slope")):
        found = "no width" if width is None else repr(of)
        raise ValueError(f"expected a width and a measure such as of='ks' with judge_share, found {found}")
    if not is_norm_of_residuals(measure := find_measure(of, options)):
        raise ValueError(f"expected of= a norm of residuals such as 'ks' with judge_share, found {measure}")


def with_judge(alone: PrecisionSize, share: float, rows: int, variance: float) -> LabelSize:
    """Return the labels beside a judge that leaves this share of the noise, of residuals with this variance."""
    tail = (1 - alone.confidence_level) / 2
    given = {each.name: getattr(alone, each.name) for each in fields(PrecisionSize)}
    given["n"] = labels_needed(alone.n, share, rows, variance, tail)
    given["curve"] = tuple(
        (labels_needed(n, share, rows, variance, tail), width) for n, width in alone.curve if n <= rows
    )
    given["method"] = f"{alone.method}, and the bound of one sum with a judge"
    return LabelSize(**given, labels_only=alone.n, judge_share=float(share), judge_rows=int(rows))


def labels_needed(alone: int, share: float, rows: int, variance: float, tail: float) -> int:
    """Return the least labels at which one fixed sum has a bound as narrow as with `alone` labels and no judge.

    Of m labels among N rows a judge leaves `share` + m / N (1 - `share`) of the variance of a sum, and none of the part
    of rows that nobody saw. A share above 1, which pilots find of useless judges, takes more labels than without one.

    Statement and argument: docs/evidence/proofs/few-labels.md.
    """
    if alone > rows:
        raise ValueError(
            f"expected judge_rows of at least {alone}, the labels that such a width takes without a judge, found {rows}"
        )
    tail_bound = TailBound.of_rows(tail)

    unseen = float(tail_bound.reach(0.0, 0.0))

    def reach(labels: int, left: float) -> float:
        return max(float(tail_bound.reach(labels * variance * left, 0.0)), unseen) / labels

    wanted, low, high = reach(alone, 1.0), 0, rows
    while high - low > 1:
        middle = (low + high) // 2
        narrow = reach(middle, share + middle / rows * (1 - share)) <= wanted
        low, high = (low, middle) if narrow else (middle, high)
    return max(high, min(FEWEST_LABELS, alone))
