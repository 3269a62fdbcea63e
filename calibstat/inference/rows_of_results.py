"""Rows as results say them: how they came about, in words, with the numbers that only such rows have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibstat.data.clusters import Unseen, cluster_sizes, clusters_in_words
from calibstat.data.folds_of_rows import folds_in_words
from calibstat.inference.words_on_clusters import cautions, of_shared_outcomes, supposed
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class Rows(Result):
    """Independent rows.

    Attributes
    ----------
    n : int
        Number of rows.
    """

    n: int

    def __str__(self) -> str:
        return f"{self.n:,} independent row{'s' * (self.n != 1)}"

    @property
    def collected(self) -> str:
        """The units of which more would say more."""
        return "rows"

    @property
    def counted(self) -> str:
        """The rows as a line of a result counts them."""
        return f"n = {self.n}"

    def answer(self, pvalue: float) -> str:
        """Return the verdict of a test where these rows have one of their own; else nothing."""
        return ""

    @property
    def remark(self) -> str:
        """The words beside the verdict of a test; nothing of most rows."""
        return ""

    def tested(self, pvalues: Mapping[str, float]) -> Rows:
        """Return the same with what a test by several ways to draw such rows says, which found these p-values."""
        return self

    @property
    def premises(self) -> str:
        """On what a p-value rests, before the null hypothesis; nothing of most rows."""
        return ""

    def bound(self, low: float, high: float, confidence_level: float, method: str) -> str:
        """Return what an interval says of the error of the models; nothing of most rows."""
        return ""

    @property
    def how(self) -> str:
        """The use of more than outcomes and predictions by a test, before the lens; nothing of most rows."""
        return ""

    @property
    def unseen(self) -> str:
        """The words on what no number of a result shows; nothing of most rows."""
        return ""

    @property
    def compared(self) -> str:
        """The words below the last line of a comparison; nothing of most rows."""
        return ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Warnings about intervals of such rows, a sentence each, above the numbers; none of most rows."""
        return ()

    @property
    def no_noise_floor(self) -> str:
        """The reason why nobody knows what a calibrated model would show on such rows; empty where it is known."""
        return ""

    @property
    def beside(self) -> str:
        """The end of the first line of an interval, after its lens."""
        return f", {self.counted}.\n"

    def scope(self, method: str) -> str:
        """Return the models that an interval is for, in words; nothing of one model and fresh rows."""
        return ""


@dataclass(frozen=True, eq=False)
class ClustersOfRows(Rows):
    """Rows in clusters, of which whole clusters are independent.

    Attributes
    ----------
    clusters : int
        Number of clusters with rows of positive weight.
    smallest, largest : int
        The fewest and the most rows of a cluster.
    effective : float
        How many clusters of equal size say about as much.
    in_words : str
        The clusters in words.
    assumption : str
        What an interval supposes of clusters that are absent from the rows; empty of tests.
    cautions : tuple of str
        Warnings about an interval, a sentence each.
    remark : str
        Why a test finds nothing, where only its most cautious way to draw clusters does not; else empty.
    """

    clusters: int
    smallest: int
    largest: int
    effective: float
    in_words: str
    assumption: str = ""
    cautions: tuple[str, ...] = ()
    remark: str = ""

    @classmethod
    def of(cls, n: int, unit: np.ndarray, weight: np.ndarray | None = None) -> ClustersOfRows:
        """Return rows whose clusters `unit` numbers from 0."""
        return cls(n, *cluster_sizes(unit, weight), clusters_in_words(unit, weight))

    def supposing(
        self, unseen: Unseen, confidence_level: float, like_observed: bool = True, further: Sequence[str] = ()
    ) -> ClustersOfRows:
        """Return the same with what an interval supposes; `like_observed` if it may be what the default supposes.

        `further` are warnings beside those of the number of clusters and their sizes.
        """
        return replace(
            self,
            assumption=supposed(unseen, self.clusters, confidence_level, like_observed),
            cautions=(*cautions(self.clusters, self.effective), *further),
        )

    def tested(self, pvalues: Mapping[str, float]) -> ClustersOfRows:
        return replace(self, remark=of_shared_outcomes(pvalues, self.clusters))

    def __str__(self) -> str:
        return self.in_words

    @property
    def collected(self) -> str:
        return "clusters"

    @property
    def unseen(self) -> str:
        return self.assumption

    @property
    def compared(self) -> str:
        return self.assumption

    @property
    def no_noise_floor(self) -> str:
        return "calibration does not say how the outcomes of a cluster depend on each other"


@dataclass(frozen=True, eq=False)
class Folds(Rows):
    """Rows that were predicted out of the folds of cross-validation.

    Attributes
    ----------
    folds, repeats : int
        Number of folds, and of repeats.
    in_words : str
        The folds, and clusters if there are any, in words.
    """

    folds: int
    repeats: int
    in_words: str

    @staticmethod
    def words(fold: np.ndarray, repeats: int, unit: np.ndarray | None) -> str:
        """Return folds and clusters in words."""
        clusters = "" if unit is None else f", {clusters_in_words(unit)}"
        return f"{folds_in_words(fold, repeats)}{clusters}"

    def __str__(self) -> str:
        return self.in_words

    @property
    def no_noise_floor(self) -> str:
        return "each prediction depends on the outcomes of the other folds"

    @property
    def counted(self) -> str:
        return f"n = {self.n} in {self.folds} folds{f', {self.repeats} repeats' if self.repeats > 1 else ''}"


@dataclass(frozen=True, eq=False)
class LabelledRows(Rows):
    """Rows of which few have an outcome, and all have a judge's answer.

    Attributes
    ----------
    n : int
        All rows, labelled or not.
    labelled : int
        The labelled rows.
    design_pvalue : float
        The exact p-value of the check that the labelled rows are a random subset of all.
    not_seen : str
        What no number here shows.
    """

    labelled: int
    design_pvalue: float
    not_seen: str

    def __str__(self) -> str:
        return f"{self.labelled:,} labelled rows among {self.n:,}, with a judge"

    @property
    def counted(self) -> str:
        return f"{self.labelled:,} labelled rows among {self.n:,}"

    @property
    def no_noise_floor(self) -> str:
        return "calibration does not say how the judge and the outcomes depend on each other"

    @property
    def unseen(self) -> str:
        return self.not_seen
