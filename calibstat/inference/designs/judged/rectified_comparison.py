"""Comparisons of models on the same rows, of which few are labelled and all have a judge's answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from calibstat.bounds.intervals import ComparableInterval
from calibstat.bounds.mean_interval import MeanInterval
from calibstat.bounds.rectified_table import RectifiedRowTable
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.digits import settled
from calibstat.inference.comparing.compare_by_bootstrap import Posed, Upper, differences_of_ends
from calibstat.inference.comparing.comparison_results import Comparison
from calibstat.inference.comparing.differences import same_order
from calibstat.inference.comparing.seminorm_difference import drawn_together, upper_ends
from calibstat.inference.designs.judged.design_check import design_note, design_p_value
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, cannot_be_seen
from calibstat.inference.designs.judged.rectified_interval import judged_problem
from calibstat.inference.designs.judged.rectified_means import RectifiedLosses
from calibstat.inference.designs.judged.rectified_rows import norm_over_all_rows, rectified_table
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.resampling import Draws, Stage

DEFAULT = "brier"  # the measure of comparisons with a judge
METHOD = "bootstrap"  # of `compare`


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedComparison(Comparison):
    """Result of `compare` with `proxy`.

    Attributes
    ----------
    n : tuple of int, length M
        All rows, labelled or not.
    labelled : int
        The labelled rows.
    labels_only : Comparison
        The comparison on the labelled rows alone.
    design_pvalue : float
        The p-value of the check that the labelled rows are a random subset of all: the smallest of the models times
        their number.
    unseen : str
        What no number here shows.
    """

    labelled: int
    labels_only: Comparison
    design_pvalue: float
    unseen: str

    def __str__(self) -> str:
        only = self.labels_only
        each = zip(only.pairs, only.low, only.high, only.pvalue, strict=True)
        alone = "; ".join(
            f"{a} - {b} [{settled(low):.4g}, {settled(high):.4g}], p = {settled(p):.3g}"
            for (a, b), low, high, p in each
        )
        return (
            f"{super().__str__()}\n{self.labelled:,} labelled rows among {self.n[0]:,}, with a judge. "
            f"Labels alone: {alone}.\n{self.unseen}"
        )


def compare_judged(
    models: Mapping[str, JudgedRows],
    asked: Measure,
    draws: Draws,
    pairs: list[tuple[int, int]],
    compare: Callable[..., Comparison],
    *,
    adjust: str,
    confidence_level: float,
) -> JudgedComparison:
    """Compare rectified means or norms of models on the same rows; `compare` compares the labelled rows alone."""
    names, rows = tuple(models), list(models.values())
    problems = [judged_problem(each, asked) for each in rows]
    posed, upper = _by_losses(problems, rows) if problems[0].is_mean else _by_draws(problems, rows, pairs, draws)
    alpha = 1 - confidence_level
    differences = differences_of_ends(posed, upper(alpha), pairs, alpha, None if problems[0].is_mean else draws)
    first, chosen = rows[0], rows[0].labelled
    only = compare(
        first.outcome[chosen],
        {name: each.prediction[chosen] for name, each in models.items()},
        measure=asked,
        adjust=adjust,
        confidence_level=confidence_level,
        n_resamples=draws.n,
        rng=int(draws.key),
        n_jobs=draws.n_jobs,
    )
    design = min(1.0, len(rows) * min(design_p_value(each, draws.key, draws.n_jobs) for each in rows))
    over = ", over the cells that these rows make" if problems[0].holds_cells(always=True) else ""
    return JudgedComparison(
        **differences.fields(names, pairs, problems[0].measure.bounds, adjust),
        method=METHOD,
        paired=True,
        confidence_level=confidence_level,
        null_hypothesis=f"the measure is the same for both models in the population{over}",
        measure=problems[0].measure.named,
        lens=problems[0].lens,
        n=(first.n,) * len(rows),
        n_resamples=draws.n,
        same_order=tuple(
            problems[i].measure.is_proper and same_order(rows[i].prediction, rows[j].prediction) for i, j in pairs
        ),
        note=design_note(design),
        labelled=first.labels,
        labels_only=only,
        design_pvalue=design,
        unseen=cannot_be_seen(),
    )


Ends = Callable[[float], Upper]  # of differences at a level


def _by_losses(problems: Sequence[BinaryProblem], models: Sequence[JudgedRows]) -> tuple[Sequence[Posed], Ends]:
    """Return the losses of each model, and the ends of their differences in the same rows."""
    losses = [RectifiedLosses.of(cast("MeanLoss", problems[m].measure), rows) for m, rows in enumerate(models)]

    def upper(a: int, b: int) -> MeanInterval:
        return losses[a].minus(losses[b]).interval

    return losses, lambda alpha: upper


def _by_draws(
    problems: Sequence[BinaryProblem], models: Sequence[JudgedRows], pairs: list[tuple[int, int]], draws: Draws
) -> tuple[Sequence[Posed], Ends]:
    """Return the norms of each model, and the ends of their differences with the noise of both from the same draws."""
    posed = drawn_together([_on_all_rows(*each) for each in zip(problems, models, strict=True)], draws, Stage.COMPARE)
    both_ways = [pair for a, b in pairs for pair in ((a, b), (b, a))]

    def at(alpha: float) -> Upper:
        ends = upper_ends([(posed[a], posed[b]) for a, b in both_ways], alpha / 2)
        end_of = dict(zip(both_ways, ends, strict=True))
        return lambda a, b: end_of[a, b]

    return posed, at


def _on_all_rows(problem: BinaryProblem, rows: JudgedRows) -> tuple[ComparableInterval, TableOfRows]:
    """Return the interval of a norm on a table of all rows as one sample, and the table."""
    fixed, norm, cell, cells = norm_over_all_rows(problem, rows)
    table = RectifiedRowTable(
        cell=cell,
        residual=rows.contribution / rows.rho,
        prediction=rows.prediction,
        cells=cells,
        largest=1 / rows.rho,
        standard_error=rectified_table(rows, cell, cells).spread,
    )
    interval = fixed.interval_on(table, norm)
    interval.check()
    return interval, table
