"""Audits of groups: for which groups of rows the predictions are wrong, and by how much at least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

import numpy as np

from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level, check_switch, short
from calibstat.data.groups import GivenGroups, Groups, as_groups, given_groups
from calibstat.data.labels import check_row_names
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.words.side import Side, check_side
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.counted_groups import CountedGroups
from calibstat.inference.auditing.drawn_groups import OF_INDEPENDENT_ROWS, DrawnGroups, IndependentRows
from calibstat.inference.auditing.group_statistic import STRATA, GroupRoots, Strata
from calibstat.inference.auditing.impossible_in_groups import ImpossibleInGroups
from calibstat.inference.auditing.learned_groups import look_for_groups
from calibstat.inference.auditing.rows_in_clusters import RowsInClusters
from calibstat.inference.designs.design_of import design_of
from calibstat.inference.designs.question_of_rows import Reason, question
from calibstat.inference.problems.certain_rows import CertainRows
from calibstat.resampling import Draws, Labels, Stream, canonical_order, draw, packed
from calibstat.resampling.rng import Rng
from calibstat.resampling.sources import AtomSums, GroupSums
from calibstat.result import read_only

IN_GROUPS = "of the rows of each group, at the level alpha / number of groups"
ROWS_OF_GROUPS = {
    "sample_weight": Reason(
        "its limits are for counts of rows, not for sums of weights",
        f"ask cs.calibration_test(y, p, sample_weight=...) {IN_GROUPS}",
    ),
}


@question("cluster", because=ROWS_OF_GROUPS)
def audit(
    rows: Data,
    /,
    groups: GivenGroups | None = None,
    *,
    shape: bool = False,
    side: Side | None = None,
    lens: AnyLens = None,
    confidence_level: float = 0.95,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    **about: Unpack[AboutRows],
) -> Audit:
    """Test for which groups of rows the predictions are wrong, all groups together, and bound their errors.

    >>> import calibstat as cs, numpy as np, pandas as pd
    >>> y, p = cs.generators.calibrated().sample(4000, rng=1)
    >>> people = pd.DataFrame({"sex": ["woman", "man"] * 2000, "age": np.arange(4000) // 2 % 80 + 18})
    >>> bad = (people.sex == "woman") & (people.age > 60)
    >>> result = cs.audit(y, np.where(bad, p**2, p), people, rng=1)  # too low for women over 60
    >>> result.names[result.found[0]]
    'sex = woman and age > 77'

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`. Rows count equally, and rows, or with `cluster=` rows of different clusters, are independent.
    groups : data frame, mapping from name to boolean array, boolean array of shape (n,) or (n, G), or Groups
        Features: groups are levels of columns, and intersections of two. Columns of more than 4 numbers are cut at
        quartiles, dates into at most 36 periods; other values are levels, and so are missing ones. `Groups` says more,
        or names a learner. Or masks, which may overlap. All rows are always the first group.
    shape : bool
        Whether to test also if predictions are too far apart or too close together within a group.
    side : {"over", "under"}, optional
        Whether only predictions that are too high, or only those too low, are looked for; fixed before the outcomes are
        seen. Each limit is then one-sided, and `shape` and `beyond` have no side.
    lens : str or Lens, optional
        A lens with a binary outcome: "top_label", the default of more than two classes, or `lenses.one_class`.
    confidence_level : float
        Between 0 and 1; of all intervals at once. Groups are found if their adjusted p-value is at most 1 minus it.
    n_resamples : int
        Number of draws of labels, at least 1.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    Audit
        `Answers`, a mapping from name to this, for several models, each audited by itself at the full level.

    Raises
    ------
    ValueError, ImportError
        If data or arguments are not as described (the first offending row, column or group is named), or there are more
        than 10,000 groups; if a learner is named and scikit-learn is not installed.

    Notes
    -----
    Null hypothesis: given the predictions and the groups of all rows, every outcome is 1 independently with its
    predicted probability. So groups have to be made without the outcomes. The probability that any group whose rows all
    have their predicted probabilities gets an adjusted p-value of at most a is at most a (Westfall and Young). The
    intervals hold for any outcome probabilities of G groups at once. ``result.beyond`` says which groups deviate
    otherwise than the other rows at the same predictions. With `cluster=` p-values and intervals are exact for groups
    in which no cluster has two rows, with `side=` all p-values; others are approximate, and `beyond` is None. With a
    learner, groups are of the rows that it did not see, and ``result.learned`` has an exact p-value of all rows. Cost:
    `n_resamples` passes over the rows, and G n / 4 bytes; of a learner 200 fits.

    References
    ----------
    Westfall, Young 1993, Resampling-Based Multiple Testing; Breslow, Day 1980, Statistical Methods in Cancer Research
    1, chapter 7; Hoeffding 1956, doi:10.1214/aoms/1177728178; Clopper, Pearson 1934, doi:10.1093/biomet/26.4.404.
    """
    asked = given_groups(groups)
    check_level("confidence_level", confidence_level)
    side = side_of_audit(side, shape)
    draws = Draws.of(rng, n_resamples, n_jobs)
    check_row_names(rows.rows.y_true, asked.given, ("y_true", "groups"))

    def of(part: Data, named: Groups) -> Audit:
        return _audit_of_rows(part, named, shape=shape, side=side, confidence_level=confidence_level, draws=draws)

    if asked.learner is None:
        return of(rows, asked)
    kept, found, learned = look_for_groups(rows, asked, draws, side, round(1 - confidence_level, 15))
    answer = of(rows.part(kept), found)
    impossible = answer.impossible
    if impossible is not None and impossible.first is not None:
        impossible = replace(impossible, first=int(np.flatnonzero(kept)[impossible.first]))
    return replace(answer, learned=learned, impossible=impossible)


def _audit_of_rows(
    rows: Data, groups: Groups, *, shape: bool, side: Side | None, confidence_level: float, draws: Draws
) -> Audit:
    """Return the audit of groups that are fixed."""
    view = rows.view().one_event("audit")
    y, p = view.float_rows()
    made = as_groups(groups, y.size)
    # so that draws do not depend on the given order of the rows
    order, unit = canonical_order([p, made.membership(np.unique(p, return_inverse=True)[1]), y], design_of(rows).unit)
    y, p = y[order], p[order]
    how: IndependentRows = OF_INDEPENDENT_ROWS
    if unit is not None:
        need_no_shape(shape)
        how = RowsInClusters(unit, y, p, len(made.names), lambda g: made.mask(g, order), rows.unseen, confidence_level)

    def packed_rows(strata: Strata) -> GroupSums:
        return packed(p, strata.stratum, strata.size, made.masks(order))

    return audit_of(
        CountedGroups(p, np.ones(p.size), y, p, lambda g: made.mask(g, order), made),
        packed_rows,
        view.lens,
        shape=shape,
        side=side,
        confidence_level=confidence_level,
        draws=draws,
        first_impossible=CertainRows.of(view, side).first,
        how=how,
    )


def side_of_audit(side: object, shape: object) -> Side | None:
    """Return the side of an audit; raise if it is none, or beside slopes, whose weights have both signs."""
    if check_switch("shape", shape) and side is not None:
        raise ValueError(f"expected shape=False beside side={short(side)}: a slope has no side; found shape=True")
    return check_side(side)


def need_no_shape(shape: bool) -> None:
    """Raise if slopes are asked about in clusters."""
    if shape:
        raise ValueError(
            "expected shape=False with cluster=: audits of clusters are tests of numbers of events, which see no "
            f"slope; found shape=True: ask cs.calibration_test(y, p, cluster=...) {IN_GROUPS}"
        )


def audit_of(
    rows_of: CountedGroups,
    source_of: Callable[[Strata], GroupSums | AtomSums],
    lens: NamedLens,
    *,
    shape: bool,
    side: Side | None,
    confidence_level: float,
    draws: Draws,
    first_impossible: int | None = None,
    how: IndependentRows = OF_INDEPENDENT_ROWS,
) -> Audit:
    """Return the audit of counted rows, of which the labels are drawn from the source for their strata."""
    p, number, made = rows_of.prediction, rows_of.number, rows_of.groups
    strata = Strata.of(p, number, STRATA if shape else 1)
    statistic = GroupRoots.of(p, number, strata, map(rows_of.mask, range(len(made.names))), shape, side)
    positives = rows_of.positives(strata.stratum, strata.size)

    def of_labels(drawn: np.ndarray) -> np.ndarray:
        return statistic.largest(statistic(drawn))

    def drawn() -> np.ndarray:
        return draw(source_of(strata), Labels(), of_labels, draws, Stream.LABELS)

    groups = DrawnGroups(rows_of, statistic, positives, draws, drawn)
    roots, (pvalue, adjusted) = how.roots(groups), how.p_values(groups)
    rows, ones, predicted = groups.rows, groups.ones, groups.predicted
    low, high = how.limits(groups, 1 - confidence_level)
    return Audit(
        names=made.names,
        rows=read_only(rows.astype(np.int64)),
        predicted=read_only(predicted),
        observed=read_only(ones / rows),
        error=read_only(ones / rows - predicted),
        low=None if low is None else read_only(low),
        high=None if high is None else read_only(high),
        root=read_only(roots[:, 0]),
        slope=read_only(roots[:, 1]) if shape else None,
        pvalue=read_only(pvalue),
        pvalue_adjusted=read_only(adjusted),
        beyond=how.beyond(groups, confidence_level),
        null_hypothesis=str(how.null_hypothesis(lens, side)),
        lens=lens,
        left_out=made.left_out,
        n=int(number.sum()),
        n_resamples=draws.n,
        confidence_level=float(confidence_level),
        impossible=_impossible(how, groups, first_impossible, 1 - confidence_level),
        side=side,
        clusters=how.clusters,
    )


def _impossible(
    how: IndependentRows, groups: DrawnGroups, first: int | None, level: float
) -> ImpossibleInGroups | None:
    """Return what is to be said of rows that were predicted to be impossible and happened."""
    number = groups.statistic.impossible(groups.positives)
    if not number.any():
        return None
    pvalue, adjusted = how.p_values(groups, certain=False)
    return ImpossibleInGroups(
        names=groups.rows_of.groups.names,
        number=read_only(number),
        first=first,
        total_certain=int(groups.statistic.rows[0, [0, -1]].sum()),
        pvalue=read_only(pvalue),
        pvalue_adjusted=read_only(adjusted),
        level=round(level, 15),
    )
