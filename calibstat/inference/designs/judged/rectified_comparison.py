"""Comparisons of models on the same rows, of which few are labelled and all have a judge's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Self, cast

from calibstat.bounds.intervals import ComparableInterval
from calibstat.bounds.mean_interval import MeanInterval
from calibstat.bounds.rectified_table import RectifiedRowTable
from calibstat.bounds.residual_tables import TableOfRows
from calibstat.digits import settled
from calibstat.inference.comparing.differences import ComparedModels, Pairs, Way, pairs_of, same_order
from calibstat.inference.comparing.ends import ByDraws, ByEnds
from calibstat.inference.comparing.seminorm_difference import resampled_together
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.designs.judged.design_check import design_note, design_p_value
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, judged_models, rows_with_judge
from calibstat.inference.designs.judged.rectified_interval import judged_problem
from calibstat.inference.designs.judged.rectified_means import RectifiedLosses
from calibstat.inference.designs.judged.rectified_rows import norm_over_all_rows, rectified_table
from calibstat.inference.designs.paired import Paired
from calibstat.inference.designs.several_models import HowToCompare, SeveralModels
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.rows_of_results import LabelledRows, Rows
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.resampling import Draws, Stream


@dataclass(frozen=True, eq=False)
class ComparedLabels(LabelledRows):
    """The rows of a comparison with a judge.

    Attributes
    ----------
    labels_only : Comparison
        The comparison on the labelled rows alone.
    """

    labels_only: Comparison

    @property
    def compared(self) -> str:
        only = self.labels_only
        each = zip(only.pairs, only.low, only.high, only.pvalue, strict=True)
        alone = "; ".join(
            f"{a} - {b} [{settled(low):.4g}, {settled(high):.4g}], p = {settled(p):.3g}"
            for (a, b), low, high, p in each
        )
        return f"{self}. Labels alone: {alone}.\n{self.unseen}"


@dataclass(frozen=True, eq=False)
class JudgedModels(SeveralModels):
    """Models on the same rows, of which few have an outcome and all have a judge's answer."""

    default = MappingProxyType({"measure": "brier"})
    one_way = "expected judge= without method=, because no study covers both, found {}"

    @cached_property
    def rows(self) -> list[JudgedRows]:
        """The rows of each model, in one order; raise if they are not such as models are compared on."""
        rows = [*judged_models(self.models).values()]
        for word, given in {"cluster": rows[0].unit, "inclusion": rows[0].chance}.items():
            if given is not None:
                raise ValueError(f"expected judge= without {word}= to compare models, because no study covers both")
        return rows

    def pose(self, measure: Measure, draws: Draws) -> ComparedModels:
        return ComparedModels(self.names, [judged_problem(each, measure) for each in self.rows], draws)

    def way(self, compared: ComparedModels, method: str) -> Way:
        problems = [cast("BinaryProblem", each) for each in compared.problems]
        if problems[0].is_mean:
            return ByRectifiedLosses.of(problems, self.rows)
        models = [_on_all_rows(*each) for each in zip(problems, self.rows, strict=True)]
        return ByDraws(resampled_together(models, compared.draws, Stream.COMPARE), compared.draws)

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        draws = compared.draws
        least = min(design_p_value(each, draws.key, draws.n_jobs) for each in self.rows)
        labelled = Paired({name: each.data for name, each in zip(self.names, self.rows, strict=True)})
        every_pair = replace(how, pairs=pairs_of(self.names, None))
        again = Draws.of(int(draws.key), draws.n, draws.n_jobs)
        return ComparedLabels(
            **rows_with_judge(self.rows[0], min(1.0, len(self.rows) * least)),
            labels_only=labelled.compare(compared.first.measure, every_pair, again),
        )

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        return design_note(cast("ComparedLabels", rows).design_pvalue)

    def same_order(self, compared: ComparedModels, a: int, b: int) -> bool:
        one, other = self.rows[a].prediction, self.rows[b].prediction
        return compared.first.measure.is_proper and same_order(one, other)


@dataclass(frozen=True, eq=False)
class ByRectifiedLosses(ByEnds):
    """Differences of means of rectified losses, in the same rows."""

    posed: Sequence[RectifiedLosses]

    @classmethod
    def of(cls, problems: Sequence[BinaryProblem], rows: Sequence[JudgedRows]) -> Self:
        """Take the losses of each model."""
        losses = zip(problems, rows, strict=True)
        return cls([RectifiedLosses.of(cast("MeanLoss", each.measure), of) for each, of in losses])

    def upper(self, pairs: Pairs, tail: float) -> Sequence[MeanInterval]:
        return [self.posed[a].minus(self.posed[b]).interval for a, b in pairs]


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
