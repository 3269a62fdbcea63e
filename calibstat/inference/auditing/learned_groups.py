"""Groups that a learner finds: it sees a part of the rows, and the groups are tested on the others.

Whether the predictions are wrong is another question, which all rows answer: the learner is fitted anew to each draw of
their labels. Both are exact, whatever the learner: the page "Behind audits of groups" has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.checks import cut, refuse_lazy, short
from calibstat.data.features import levels
from calibstat.data.groups import ALL, Groups
from calibstat.data.predictions import as_predictions
from calibstat.data.words.side import Side
from calibstat.inference.auditing.learned_results import Learned
from calibstat.inference.auditing.tree_rules import Tree, columns_of
from calibstat.inference.cross_validation.feature_rows import (
    BESIDE_FEATURES,
    beside,
    count_rows,
    row_hashes,
    rows_at,
)
from calibstat.inference.cross_validation.fitted_folds import check_estimator, check_sklearn, seeded
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.p_values import p_value
from calibstat.resampling import Draws, Labels, Stream, canonical_order, draw, fit_seeds, random_order

FITTED_DRAWS = 199  # draws of labels to which a learner is fitted anew
LEAST_VARIANCE = 1e-6  # of a row for the learner: it divides the residual
SHIFT_DIGITS = 4  # of log-odds: two processors find the same up to rounding
SHIFT_NAME = "learned shift of log-odds"


class Learner(Protocol):
    """A thing that looks for groups; the target is a shift of log-odds, one Newton step from the prediction."""

    def parts(self, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the number of the group of each row, found on all rows."""

    def named(
        self, target: np.ndarray, weight: np.ndarray, train: np.ndarray, others: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return groups of the other rows by name, found on the rows `train`."""


@dataclass(frozen=True, eq=False)
class Regressor:
    """A regressor of scikit-learn, whose predictions are cut into groups of equal size."""

    estimator: Any
    features: object
    groups: int
    key: np.uint64

    def __str__(self) -> str:
        return cut(" ".join(repr(self.estimator).split()), 200)

    def parts(self, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the number of the group of each row, found on all rows."""
        everything = np.arange(target.size)
        return levels(SHIFT_NAME, self._shift(target, weight, everything, everything), self.groups)[1]

    def named(
        self, target: np.ndarray, weight: np.ndarray, train: np.ndarray, others: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return groups of the other rows by name, found on the rows `train`."""
        names, code = levels(SHIFT_NAME, self._shift(target, weight, train, others), self.groups)
        return {name: code == k for k, name in enumerate(names)}

    def _shift(self, target: np.ndarray, weight: np.ndarray, train: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """Return what a clone that is fitted to the rows `train` predicts for the rows that are asked about."""
        from sklearn.base import clone

        model: Any = seeded(clone(self.estimator), self.key, 0, replace=False)
        model.fit(rows_at(self.features, train), target[train], sample_weight=weight[train])
        shift = np.asarray(model.predict(rows_at(self.features, asked)), np.float64).reshape(asked.size, -1)[:, 0]
        if not np.isfinite(shift).all():
            found = short(float(shift[~np.isfinite(shift)][0]))
            raise ValueError(f"expected finite predictions of the learner, found {found} of {self}")
        return np.round(shift, SHIFT_DIGITS)


def need_no_clusters(design: Design) -> None:
    """Raise if rows depend on each other, for which labels would have to be drawn by clusters."""
    if design.unit is not None:
        raise ValueError(
            "expected no cluster= beside a learner, whose p-value is of rows that are independent; found both: give "
            "levels or masks as groups, which take clusters, or one row of each cluster"
        )


def look_for_groups(
    rows: Data, asked: Groups, draws: Draws, side: Side | None, level: float
) -> tuple[np.ndarray, Groups, Learned]:
    """Return the rows that the learner did not see, the groups of them that it found, and whether there are any."""
    need_no_clusters(design_of(rows))
    view = rows.view().one_event("audit")
    y, p = view.float_rows()
    features = _features(asked.given, y.size)
    content = row_hashes(features, 0)
    order, _ = canonical_order([p, content, y])
    y, p, content, features = y[order], p[order], content[order], rows_at(features, order)
    alike = np.cumsum(np.append(True, (np.diff(p) != 0) | (content[1:] != content[:-1])))
    draws = draws.with_own_key(Stream.LEARNED)
    learner = _learner(asked, features, p, draws.key)
    train = _seen(asked, y, order, draws.key)
    _need_rows(asked, int(train.sum()), y.size)
    weight = np.maximum(p * (1 - p), LEAST_VARIANCE)
    others = np.flatnonzero(~train)
    found = learner.named((y - p) / weight, weight, np.flatnonzero(train), others)
    kept, given = np.zeros(y.size, bool), np.argsort(order[others])  # the rows not seen, in their given order
    kept[order[others]] = True
    masks = {name: mask[given] for name, mask in found.items() if mask.any()}
    both = None if side is not None else _p_of_refits(learner, y, p, weight, alike, draws)
    whether = Learned(
        pvalue=None if both is None else both[0],
        pvalue_uncertain=None if both is None else both[1],
        impossible=int((np.abs(y - p) == 1).sum()),
        n_fits=min(draws.n, FITTED_DRAWS),
        learner=str(learner),
        n=y.size,
        n_seen=int(train.sum()),
        level=level,
    )
    return kept, Groups(masks or {ALL: kept[kept]}), whether


def _features(features: object, n: int) -> Any:
    """Return features with a row for each outcome, as a frame whose columns are named by different texts."""
    given: Any = features
    refuse_lazy("groups", given)
    if hasattr(given, "tocsr"):
        raise ValueError(
            "expected features in a frame or an array for a learner, found a sparse matrix; give X.toarray()"
        )
    given = given.to_frame() if hasattr(given, "to_frame") else given
    if not hasattr(given, "columns"):
        import pandas as pd

        given = given if isinstance(given, dict) else np.asarray(given)
        if np.ndim(given) > 2:
            raise ValueError(f"expected features of shape (n, k) for a learner, found shape {np.shape(given)}")
        given = pd.DataFrame(given)
        given.columns = [name if isinstance(name, str) else f"x{name}" for name in given.columns]
    if count_rows(given) != n:
        raise ValueError(
            f"expected one row of features for each outcome, found {count_rows(given)} rows and {n} outcomes"
        )
    names = [str(name) for name in given.columns]
    if not names:
        raise ValueError("expected a data frame with a column of features, found none")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"expected columns of different names, found {short(twice[0])} more than once")
    if taken := [name for name in names if name in BESIDE_FEATURES]:
        raise ValueError(
            f"expected another name than {taken[0]!r} beside a learner, which has the prediction as a feature of this "
            "name; rename the column"
        )
    return given.set_axis(names, axis=1) if hasattr(given, "set_axis") else given


def _learner(asked: Groups, features: object, p: np.ndarray, key: np.uint64) -> Tree | Regressor:
    """Return what looks for groups among these rows."""
    if isinstance(asked.learner, str):
        check_sklearn('Groups(learner="tree")')
        return Tree(columns_of(features, p), asked.leaves, asked.min_rows, fit_seeds(key, 0, 1)[0])
    check_estimator(asked.learner, "Groups(learner=...)", ("predict",))
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(asked.learner, "sample_weight"):
        raise ValueError(
            f"expected a learner whose fit takes sample_weight, found {short(asked.learner)}; rows with predictions "
            'near 0 and 1 would outweigh all others without; learner="tree" takes it'
        )
    return Regressor(asked.learner, beside(features, p), asked.leaves, key)


def _seen(asked: Groups, y: np.ndarray, order: np.ndarray, key: np.uint64) -> np.ndarray:
    """Return which rows the learner sees, in this order of rows.

    Rows that differ in their outcomes alone stand in the order of the outcomes. A seed alone would give the learner the
    same places of such rows in every data set, so a hash of the outcomes enters the seed.
    """
    if np.ndim(asked.split):
        mask = np.asarray(asked.split)
        if mask.dtype != bool or mask.shape != y.shape:
            found = f"{mask.dtype} of shape {mask.shape}"
            raise ValueError(f"expected a boolean mask of {y.size} rows in split, found {found}")
        return np.asarray(mask[order])
    digest = np.uint64(int.from_bytes(blake2b(y.astype(np.uint8).tobytes(), digest_size=8).digest(), "little"))
    seen = np.zeros(y.size, bool)
    seen[random_order(key ^ digest, y.size)[: _size(asked, y.size)]] = True
    return seen


def _size(asked: Groups, n: int) -> int:
    """Return how many rows the learner sees, at least one and not all."""
    return min(max(round(float(asked.split) * n), 1), n - 1)  # type: ignore[arg-type]  # a number where it is no mask


def _need_rows(asked: Groups, seen: int, n: int) -> None:
    """Raise unless the learner sees enough rows for two groups, and leaves some."""
    if seen < 2 * asked.min_rows or seen == n:
        raise ValueError(
            f"expected split to leave some rows, and min_rows={asked.min_rows} or more for each of two groups that the "
            f"learner sees; found {seen:,} of {n:,} rows that it sees; give more rows, or a smaller min_rows"
        )


def _p_of_refits(
    learner: Learner, y: np.ndarray, p: np.ndarray, weight: np.ndarray, alike: np.ndarray, draws: Draws
) -> list[float]:
    """Return the p-value of all rows, and the one of rows that are predicted neither 0 nor 1.

    The learner is fitted to the observed labels, and to each draw of labels. `alike` numbers the rows that differ in
    their outcomes alone. These stand in the order of the outcomes, which a learner may look at, and so drawn labels are
    put into this order too.
    """
    variance = p * (1 - p)

    def statistic(labels: np.ndarray) -> np.ndarray:
        return np.array([of_groups(label[np.lexsort((label, alike))] - p) for label in labels])

    def of_groups(residual: np.ndarray) -> float:
        part = learner.parts(residual / weight, weight)
        sums, spread = np.bincount(part, residual), np.bincount(part, variance)
        some = spread > 0  # a group of predictions of 0 and 1 says nothing, unless one of them was impossible
        return float((sums[some] ** 2 / spread[some]).sum())

    rows = as_predictions(y, np.column_stack([1 - p, p]))
    null = draw(rows, Labels(), statistic, replace(draws, n=min(draws.n, FITTED_DRAWS)), Stream.LABELS)
    of_uncertain = of_groups(np.where(variance > 0, y - p, 0.0))  # no draw has an impossible row
    observed = np.inf if (np.abs(y - p) == 1).any() else of_uncertain
    return [p_value(each, null, "greater") for each in (observed, of_uncertain)]
