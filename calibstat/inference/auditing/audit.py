"""Audits of groups: for which groups of rows the predictions are wrong, and by how much at least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Never, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.data.checked_rows import Models, OneModel, Outcomes, RowArguments, as_data
from calibstat.data.checks import check_level, check_switch
from calibstat.data.groups import GivenGroups, as_groups
from calibstat.data.labels import check_row_names
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import NamedLens
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.auditing.counted_groups import CountedGroups
from calibstat.inference.auditing.group_statistic import STRATA, GroupRoots, Strata
from calibstat.inference.auditing.other_rows import against_other_rows
from calibstat.inference.equivalence import smallest_mean
from calibstat.inference.p_values import p_value, step_down
from calibstat.resampling import Draws, Labels, Stage, canonical_order, draw, packed
from calibstat.resampling.rng import Rng
from calibstat.resampling.sources import AtomSums, GroupSums
from calibstat.result import read_only

BY_ROWS = "it draws the label of each row independently, and its limits are for counts of rows, not for sums of weights"


class AuditArguments(RowArguments, total=False):
    """The arguments of `audit` beside outcomes and predictions."""

    depth: int
    min_rows: int
    n_quantiles: int
    shape: bool
    confidence_level: float
    n_resamples: int
    rng: Rng
    n_jobs: int


@overload
def audit(y_true: ArrayLike, y_prob: ArrayLike, groups: GivenGroups, **arguments: Unpack[AuditArguments]) -> Audit: ...
@overload
def audit(
    y_true: OneModel, y_prob: None = None, *, groups: GivenGroups, **arguments: Unpack[AuditArguments]
) -> Audit: ...
@overload
def audit(
    y_true: Models, y_prob: None = None, *, groups: GivenGroups, **arguments: Unpack[AuditArguments]
) -> Answers[Audit]: ...
@overload
def audit(
    y_true: ArrayLike, y_prob: Mapping[str, Any], groups: GivenGroups, **arguments: Unpack[AuditArguments]
) -> Answers[Audit]: ...
def audit(
    y_true: Outcomes,
    y_prob: Predicted = None,
    groups: GivenGroups | None = None,
    *,
    depth: int = 2,
    min_rows: int = 30,
    n_quantiles: int = 4,
    shape: bool = False,
    confidence_level: float = 0.95,
    lens: AnyLens = None,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    **unknown: Never,
) -> Audit | Answers[Audit]:
    """Test for which groups of rows the predictions are wrong, all groups together, and bound their errors.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        Outcomes, 0 or 1, or classes; one for each row. Or `Predictions`, and None for `y_prob`.
    y_prob : array_like, shape (n,) or (n, K), or mapping from name to array_like
        Predicted probabilities; or one array for each model on the same rows, each audited by itself at the full level.
    groups : data frame, mapping from name to boolean array of shape (n,), or boolean array, shape (n,) or (n, G)
        A data frame (pandas or polars) of features, one row for each outcome. Every value of a column of texts,
        booleans or categories is a level; so is every value of numbers with at most `n_quantiles` different ones.
        Other numbers are cut at quantiles, and dates into the finest of days, months, quarters and years that makes at
        most 36. Missing values are a level. Groups are all levels, and intersections of levels of different columns.
        Or masks, which may overlap, of any size above 0. All rows are always the first group.
    depth : int
        How many levels may intersect, at least 1.
    min_rows : int
        Levels and intersections with fewer rows are left out.
    n_quantiles : int
        Number of parts into which quantiles cut a column of numbers, at least 2; fewer if quantiles coincide.
    shape : bool
        Whether to test also if predictions are too far apart or too close together within a group, by the slope of
        their logits.
        It sees errors whose mean over the group is 0, and costs a little power against others.
    confidence_level : float
        Between 0 and 1; of all intervals at once. Groups are significant if their adjusted p-value is at most 1 minus
        it.
    lens : str or Lens, optional
        The reduction of K classes to a binary outcome: "top_label", the default of more than two classes, or a lens
        made by `lenses.one_class`.
    labels, pos_label
        As for `estimate`.
    n_resamples : int
        Number of draws of labels, at least 1.
    rng : None, int, SeedSequence or Generator
        The source of randomness; with an int the result is the same in every run.
    n_jobs : int
        Number of threads; -1 means one for each core. Results do not depend on it.

    Returns
    -------
    Audit
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row, column or group is named), there are more than 10,000
        groups, rows are lacking because `y_true` is a `Sample`, the lens does not show a binary outcome, or an argument
        is out of range.

    Notes
    -----
    Null hypothesis: given the predictions and the groups of all rows, every outcome is 1 independently with its
    predicted probability. So all groups at once are calibrated, and groups have to be made without the outcomes.

    Statistic of a group: the signed root of the likelihood ratio of a common error of the logits of its rows, of which
    the residual sum is the only part that labels change; with `shape` the larger one of it and the same for a factor
    on the logits. Labels are drawn from the predictions for all groups together, so the smallest adjusted p-value is
    exact for the null hypothesis, for any number of rows and any overlap. Adjusted p-values are by Westfall and
    Young: the probability that any group has one of at most a, although every one of its rows has the predicted
    probability, is at most a, whatever holds in the other groups. It is not promised for a group whose mean is
    predicted rightly while its rows are not: the page on groups says why, and has the proof.

    The intervals are by Clopper and Pearson, at (1 - `confidence_level`) / (2 G) for each end of G groups, in
    the form for unequal probabilities (Hoeffding): they hold for any outcome probabilities and need no draws. They
    assume less than the test, so that a group may be significant while its interval touches 0.

    ``result.beyond`` says which groups deviate otherwise than the other rows at the same predictions. Its null
    hypothesis of a group: within each stratum of some 32 neighbouring predictions (fewer if there are fewer than 1000
    rows) the log-odds of the rows of the group and of all others differ from the predicted ones by the same amount,
    whatever it is. Given the number of rows with outcome 1 in each stratum, how many of them are in the group has a
    known distribution (conditional logistic regression), from which p-values and limits of odds ratios are computed
    without draws; rows of a stratum whose log-odds differ by at most .05 count as alike. Holm's steps adjust for the
    number of groups, whatever holds in the others. If what all rows have in common changes within a stratum it is
    approximate: in the tests, with 100 and 1000 rows, a group is found in less than 5 % of data sets. Two groups that
    make up all rows deviate from each other both or neither.

    Rows must be independent, and count equally: there is no `cluster` and no `sample_weight`, because the label of each
    row is drawn independently, and the limits are of counts of rows. A group that is not significant is not shown to be
    calibrated. Groups that are looked at after the outcomes, or predictions fitted to the same rows, break all of this.
    Cost: n_resamples passes over the rows, and over G bits for each of them, and some hundred nanoseconds for each row
    and group; memory of G n / 4 bytes. With G groups no
    adjusted p-value is below 1 / (n_resamples + 1), which is independent of G.

    References
    ----------
    Westfall, Young 1993, Resampling-Based Multiple Testing; Breslow, Day 1980, Statistical Methods in Cancer Research
    1, chapter 7 (conditional logistic regression); Hoeffding 1956, doi:10.1214/aoms/1177728178; Clopper, Pearson 1934,
    doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> import calibstat as cs, numpy as np, pandas as pd
    >>> y, p = cs.generators.calibrated().sample(4000, rng=1)
    >>> people = pd.DataFrame({"sex": ["woman", "man"] * 2000, "age": np.arange(4000) // 2 % 80 + 18})
    >>> bad = (people.sex == "woman") & (people.age > 60)
    >>> result = cs.audit(y, np.where(bad, p**2, p), people, n_quantiles=2, rng=1)  # too low for women over 60
    >>> first = result.found[0]
    >>> result.names[first], len(result.names)
    ('sex = woman and age > 57', 9)
    >>> bool(0 < result.low[first] < result.error[first] < result.high[first])
    True
    """
    data = as_data(audit, y_true, y_prob, unknown, by_rows=BY_ROWS, lens=lens, labels=labels, pos_label=pos_label)
    if isinstance(data, Models):
        return ask_each(audit, data, locals())
    if groups is None:
        raise ValueError("expected groups, features of the rows or groups of them, found none")
    check_level("confidence_level", confidence_level)
    check_switch("shape", shape)
    draws = Draws.of(rng, n_resamples, n_jobs)
    check_row_names(data.rows.y_true, groups, ("y_true", "groups"))
    seen = data.seen().one_event("audit")
    y, p = seen.float_rows()
    made = as_groups(groups, y.size, depth=depth, min_rows=min_rows, n_quantiles=n_quantiles)
    # so that draws do not depend on the given order of the rows
    order, _ = canonical_order([p, made.membership(np.unique(p, return_inverse=True)[1])])
    y, p = y[order], p[order]

    def packed_rows(strata: Strata) -> GroupSums:
        return packed(p, strata.stratum, strata.size, made.masks(order))

    return audit_of(
        CountedGroups(p, np.ones(p.size), y, p, lambda g: made.mask(g, order), made),
        packed_rows,
        seen.lens,
        shape=shape,
        confidence_level=confidence_level,
        draws=draws,
    )


def audit_of(
    rows_of: CountedGroups,
    source_of: Callable[[Strata], GroupSums | AtomSums],
    lens: NamedLens,
    *,
    shape: bool,
    confidence_level: float,
    draws: Draws,
) -> Audit:
    """Return the audit of counted rows, of which the labels are drawn from the source for their strata."""
    p, number, made = rows_of.prediction, rows_of.number, rows_of.groups
    strata = Strata.of(p, number, STRATA if shape else 1)
    statistic = GroupRoots.of(p, number, strata, map(rows_of.mask, range(len(made.names))), shape)
    positives = rows_of.positives(strata.stratum, strata.size)
    roots = statistic(positives[None])[0]
    null = draw(source_of(strata), Labels(), lambda drawn: np.abs(statistic(drawn)).max(axis=-1), draws, Stage.LABELS)
    largest = np.abs(roots).max(axis=-1)
    first = np.flatnonzero(np.diff(rows_of.shared, prepend=-1.0))  # the first row of each shared prediction

    def counts(g: int) -> tuple[np.ndarray, float]:
        return np.add.reduceat(number * rows_of.mask(g), first), float(positives[g].sum())

    rows, ones = statistic.rows.sum(axis=1), positives.sum(axis=1).astype(np.float64)
    predicted = statistic.expected.sum(axis=1) / rows
    tail = (1 - confidence_level) / (2 * rows.size)
    return Audit(
        names=made.names,
        rows=read_only(rows.astype(np.int64)),
        predicted=read_only(predicted),
        observed=read_only(ones / rows),
        error=read_only(ones / rows - predicted),
        low=read_only(smallest_mean(ones, rows, tail) - predicted),
        high=read_only(1 - smallest_mean(rows - ones, rows, tail) - predicted),
        root=read_only(roots[:, 0]),
        slope=read_only(roots[:, 1]) if shape else None,
        pvalue=read_only(np.array([p_value(*each, "greater") for each in zip(largest, null.T, strict=True)])),
        pvalue_adjusted=read_only(step_down(largest, null)),
        beyond=against_other_rows(
            rows_of.shared[first],
            np.add.reduceat(rows_of.ones, first),
            counts,
            made.names,
            confidence_level,
            draws.n_jobs,
        ),
        null_hypothesis=f"given the predictions and the groups of all rows, {lens.subject} is observed in every "
        "row independently with its predicted probability: all groups at once are calibrated (exact).",
        lens=lens,
        left_out=made.left_out,
        n=int(number.sum()),
        n_resamples=draws.n,
        confidence_level=float(confidence_level),
    )
