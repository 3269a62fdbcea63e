"""Differences between models of counted rows: of squared kernel errors, and of mean losses, without draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, of_counted_losses
from calibstat.bounds.square_bound import bound_of_sample
from calibstat.data.engines.counted_rows import CountedRows
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.inference.comparing.compare_by_bootstrap import p_value_of_ends
from calibstat.inference.comparing.compare_by_squares import Kinds, bounds_of_kinds, differences_of_bounds
from calibstat.inference.comparing.differences import Differences, by_name, zero_if_rounding
from calibstat.inference.comparing.mean_difference import row_differences
from calibstat.inference.problems.problem import Problem

QUADRATIC = "brier"  # the loss of which it is known how little cells change it
FROM_CELLS = ("kernel_ce_squared", QUADRATIC)
INSTEAD = "give the rows themselves, or a random part of them"


def by_counts(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    counted: CountedRows,
    alpha: float,
    method: str,
) -> tuple[Differences, str]:
    """Compare models whose problems are posed on kinds of rows; also return what cells changed, in words."""
    first, n_cells = problems[0], counted.n_cells
    if method != "bootstrap":
        raise ValueError(f"expected method 'bootstrap' for counted rows, found {method!r}, which draws rows; {INSTEAD}")
    if n_cells and first.is_mean and first.measure.name != QUADRATIC:
        raise ValueError(
            f"expected {QUADRATIC} or the default measure for rows counted in {n_cells:,} cells, found "
            f"{first.measure}, which may change much where predictions near 0 or 1 move a little; round "
            f"predictions, so that fewer are different, or {INSTEAD}"
        )
    if first.is_mean:
        return _by_losses(problems, pairs, counted, alpha), _note(counted, _off_by_losses(names, pairs, counted))
    if first.laplace_bandwidth is None or first.compares:
        raise ValueError(
            f"expected the default measure, brier or log_loss for counted rows, found {first.measure}, whose "
            f"comparison draws rows; {INSTEAD}"
        )
    off = _off_by_squares(names, pairs, counted, first.laplace_bandwidth)
    return _by_squares(names, problems, pairs, counted, alpha), _note(counted, off)


def _by_squares(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    counted: CountedRows,
    alpha: float,
) -> Differences:
    """Compare squared errors: how they vary is known from the kinds, the errors from the cells of each model."""
    group, bandwidth = by_name(names, range(len(names))), problems[0].laplace_bandwidth
    kinds = Kinds.of([problems[m] for m in group], count=counted.count)
    single, bounds = bounds_of_kinds([kinds], {m: (0, k) for k, m in enumerate(group)}, pairs, bandwidth, paired=True)
    if counted.n_cells and bandwidth is not None:
        single = [bound_of_sample(counted.samples[name], bandwidth) for name in names]
        estimates = [single[a].estimate - single[b].estimate for a, b in pairs]
        bounds = [replace(bound, estimate=each) for bound, each in zip(bounds, estimates, strict=True)]
    n = int(counted.count.sum())
    return differences_of_bounds(single, bounds, pairs, (n,) * len(names), alpha)


def _by_losses(
    problems: list[Problem], pairs: list[tuple[int, int]], counted: CountedRows, alpha: float
) -> Differences:
    """Compare mean losses, each difference as the mean of the differences of the rows."""
    losses = [problem.losses() for problem in problems]

    def interval(a: int, b: int) -> MeanInterval:
        each = row_differences(losses[a], losses[b], same_outcomes=True)
        return of_counted_losses(each.title, each.loss, counted.count, each.possible, each.bounds)

    n = int(counted.count.sum())
    estimates = np.array([each.loss @ counted.count / n for each in losses])
    difference = [zero_if_rounding(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max()) for a, b in pairs]
    ends = [(interval(a, b), interval(b, a)) for a, b in pairs]
    return Differences(
        estimates,
        np.array(difference),
        np.array([-below.high(alpha / 2) for _, below in ends]),
        np.array([above.high(alpha / 2) for above, _ in ends]),
        np.array([p_value_of_ends(above, below, None) for above, below in ends]),
        (n,) * len(problems),
    )


# --- what cells change -----------------------------------------------------------------------------------------------


def _off_by_squares(
    names: tuple[str, ...], pairs: list[tuple[int, int]], counted: CountedRows, bandwidth: float
) -> float:
    """Return the most by which a difference of squared errors is off.

    If predictions move by at most d, the mean over pairs of r r' k changes by at most 2 d R (1 + R / h), where R bounds
    the mean absolute residual on the way: the derivative of r f is -f + r f', and |f| <= R and |f'| <= R / h.
    """
    change = [_moved_square(counted.samples[name], bandwidth) for name in names]
    return max(change[a] + change[b] for a, b in pairs)


def _moved_square(sample: Sample, bandwidth: float) -> float:
    value, count, positives = sample.arrays
    n = count.sum()
    residual = (positives @ (1 - value) + (count - positives) @ value) / n + sample.moved
    return float(2 * sample.moved * residual * (1 + residual / bandwidth) * n / (n - 1))


def _off_by_losses(names: tuple[str, ...], pairs: list[tuple[int, int]], counted: CountedRows) -> float:
    """Return the most by which a difference of Brier scores is off: the squares of rows of a kind about their mean."""
    return max(max(counted.spread[names[a]], counted.spread[names[b]]) for a, b in pairs) if counted.n_cells else 0.0


def _note(counted: CountedRows, off: float) -> str:
    if not counted.n_cells:
        return ""
    return (
        f"Rows were counted in {counted.count.size:,} kinds, by the outcome and the cell of each prediction, of width "
        f"1/{counted.n_cells:,}. The difference is off by at most {settled(off):.1e}. How much it varies, from "
        "which the ends "
        "of the interval and p are computed, is approximate: for it predictions moved by at most "
        f"{settled(counted.moved):.1e}."
    )
