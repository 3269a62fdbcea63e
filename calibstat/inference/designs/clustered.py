"""Rows in clusters, whole clusters of which are independent."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import cast

import numpy as np

from calibstat.data.clusters import Unseen, clusters_in_words
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design import NO_STUDY, HowToTest
from calibstat.inference.designs.independent import REPORT_NEEDS_A_LENS, Independent
from calibstat.inference.events_of_clusters import events_test
from calibstat.inference.honest_ends import NoInterval
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Posed, Problem
from calibstat.inference.rows_of_results import ClustersOfRows, Rows
from calibstat.inference.sign_flip import sign_flip_test
from calibstat.inference.words_on_clusters import of_bootstrap, of_neighbours
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


class Clustered(Independent):
    """Rows of a cluster may depend on each other."""

    word = "cluster"
    one_sided_measure = "mean"
    refuses = MappingProxyType(
        {
            "null": "how outcomes of a cluster depend on each other, a map does not say",
            "resample": NO_STUDY,
            "stop_after": NO_STUDY,
        }
    )

    sections = replace(
        Independent.sections,
        has_detectable_effect=False,
        compares_costly=False,
        audits_as_given=True,
        by_rows=(
            "take rows as independent, whatever their clusters: with positive dependence within clusters p-values are "
            "too small and intervals too short."
        ),
        refuses={
            **Independent.sections.refuses,
            "cluster": {"shape": "the error without bins is of independent rows", "lens": REPORT_NEEDS_A_LENS},
        },
    )

    @property
    def units(self) -> np.ndarray:
        """The number of the cluster of each row."""
        assert self.data.cluster is not None
        return self.data.cluster

    def need_no_clusters(self, message: str) -> None:
        raise ValueError(message)

    def described(self, n: int, weight: np.ndarray | None = None) -> Rows:
        return ClustersOfRows.of(n, self.units, weight)

    def test(self, measure: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        problem = problem_of(self.data, measure)
        rows = self.described(int(problem.n), problem.weight)
        if how.side is not None:
            return events_test(problem, self.units, how.side, rows)
        return sign_flip_test(problem, self.units, draws, rows)

    def posed(self, problem: Problem, method: str) -> Posed:
        if method in ("percentile", "basic"):
            return problem.whole_clusters(self.units)
        why = problem.why_no_clusters if method == "honest" else ""
        clusters = problem.honest_in_clusters(self.units) if method == "honest" and not why else None
        if clusters is None:
            raise NoInterval(
                f"no {method} interval with clusters is known for {problem.title}{', because ' * bool(why)}{why}; "
                "it has the methods percentile, basic"
            )
        return clusters

    def interval_of(self, problem: Problem, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        found = super().interval_of(problem, method, confidence_level, draws)
        rows = cast("ClustersOfRows", found.rows)
        unseen = Unseen(self.data.unseen, problem.view.rarest(self.units).count)
        if method != "honest":
            return replace(found, rows=replace(rows, cautions=tuple(of_bootstrap(rows.clusters))))
        like_observed = problem.is_mean or problem.compares or problem.laplace_bandwidth is not None
        alike: list[str] = []
        if problem.is_mean:
            with suppress(ValueError):  # of an infinite loss, in a row of weight 0 too
                alike = of_neighbours(problem.losses().loss, self.units, self.unit_names, problem.weight)
        return replace(found, rows=rows.supposing(unseen, confidence_level, like_observed, alike))

    def introduced(self, rows: str) -> str:
        """Return a sentence about rows, and how many clusters they are in."""
        return f"{rows} Rows are in {clusters_in_words(self.units, self.data.rows.weight(self.data.n)[0])}."

    def sampled(self, problem: Problem) -> str:
        return clusters_in_words(self.units, problem.weight)
