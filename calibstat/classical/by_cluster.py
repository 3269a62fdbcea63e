"""The table of clusters of a validation, such as hospitals: O/E, observed - expected, intercept and slope of each."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.number_of_events import smallest_mean
from calibstat.classical.by_cluster_result import ByCluster
from calibstat.classical.lines_of_clusters import FEWEST, RowsByCluster, intercepts, lines
from calibstat.classical.mean_over_clusters import Interval, MeanOverClusters, mean_over_clusters, no_mean
from calibstat.data.clipping import uncertain
from calibstat.data.views import BinaryView
from calibstat.result import read_only

MOST_CLUSTERS = 1000  # of a table
FEWEST_ROWS = 2  # a cluster on average, below which the table would repeat the rows
OF_BOTH = "needs both outcomes"
Line = tuple[float, float]  # intercept and slope


def why_no_table(seen: BinaryView, unit: np.ndarray) -> str:
    """Return why there is no table of these clusters; "" if there is one."""
    if seen.is_weighted:  # the binomial intervals of a cluster, and the variances of its O/E, are of rows that count
        return "needs rows that count once"
    n_clusters = int(unit.max()) + 1
    if n_clusters > MOST_CLUSTERS or unit.size < FEWEST_ROWS * n_clusters:
        return f"needs at most {MOST_CLUSTERS:,} clusters, of {FEWEST_ROWS} rows or more on average"
    return ""


def by_cluster(
    seen: BinaryView,
    unit: np.ndarray,
    names: np.ndarray | None,
    line: Line,
    clip: float | None,
    of_rows: tuple[float, Interval],
    confidence_level: float,
) -> ByCluster:
    """Return the table of clusters that are numbered by `unit`, and named in the order of the numbers.

    `line` are intercept and slope of Cox's recalibration of all rows together, of which the variances of O/E are made;
    nan if outcomes are all equal. `of_rows` is O/E of all rows with its interval.
    """
    labels = _plain(np.arange(unit.max() + 1) if names is None else names)
    order = _in_order(labels)
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    outcome, prediction = seen.float_rows()
    inside = uncertain(prediction, clip, "validation")
    rows = RowsByCluster.of(outcome, prediction, inside, place[unit])
    events, expected = rows.sums(rows.outcome), rows.sums(rows.prediction)
    large, slope = lines(rows, confidence_level)
    mean_ratio, mean_in_the_large = _means(rows, events, expected, line, confidence_level)
    columns = {
        "n": rows.n,
        "events": events.astype(np.int64),
        "expected": expected,
        **_of_sums(rows.n, events, expected, confidence_level),
        **{"in_the_large": large[:, 0].copy(), "in_the_large_interval": large[:, 1:].copy()},
        **{"slope": slope[:, 0].copy(), "slope_interval": slope[:, 1:].copy()},
    }
    return ByCluster(
        names=tuple(labels[c] for c in order),
        **{name: read_only(column) for name, column in columns.items()},
        missing=tuple(map(_missing, np.minimum(events, rows.n - events), expected, large[:, 0], slope[:, 0])),
        mean_ratio=mean_ratio,
        mean_in_the_large=mean_in_the_large,
        ratio_of_rows=of_rows[0],
        ratio_of_rows_interval=of_rows[1],
        confidence_level=confidence_level,
    )


def _of_sums(n: np.ndarray, events: np.ndarray, expected: np.ndarray, confidence_level: float) -> dict[str, np.ndarray]:
    """Return O/E and (O - E) / n of each cluster, with the intervals of `validate` for independent rows."""
    observed, predicted = events / n, expected / n
    low, rest = smallest_mean(np.stack([events, n - events]), np.stack([n, n]), (1 - confidence_level) / 2)
    ends = np.stack([low, 1 - rest], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, of_ratio = observed / predicted, ends / predicted[:, None]
    none = predicted == 0
    ratio[none], of_ratio[none] = np.nan, np.nan
    return {
        "ratio": ratio,
        "ratio_interval": of_ratio,
        "difference": observed - predicted,
        "difference_interval": ends - predicted[:, None],
    }


def _means(
    rows: RowsByCluster, events: np.ndarray, expected: np.ndarray, line: Line, confidence_level: float
) -> tuple[MeanOverClusters, MeanOverClusters]:
    """Return the means over clusters of O/E and of calibration in the large.

    Variances are those of outcomes whose probabilities are the predictions after one recalibration for all clusters, so
    that no cluster chooses its own weight, and none drops out.
    """
    from scipy.special import expit

    if np.isnan(line[0]):
        return no_mean(OF_BOTH), no_mean(OF_BOTH)
    chance = expit(line[0] + line[1] * rows.logit)
    variance = rows.sums(chance * (1 - chance))
    if (expected == 0).any() or (variance == 0).any():
        why = "needs clusters in which events are expected"
        return no_mean(why), no_mean(why)
    ratio = mean_over_clusters(events / expected, variance / expected**2, confidence_level, least=0.0)
    if min(events.sum(), (rows.n - events).sum()) < FEWEST * rows.n.size:
        return ratio, no_mean(f"needs {FEWEST} events, and {FEWEST} rows without, a cluster on average")
    half = (events + 0.5) * rows.n / (rows.n + 1)  # with half an event in one row more there always is an intercept
    return ratio, mean_over_clusters(intercepts(rows, half), 1 / variance, confidence_level)


def _missing(least: float, expected: float, large: float, slope: float) -> str:
    """Return which numbers of a cluster are nan, and why; `least` is the number of the rarer outcome."""
    if expected == 0:
        return "O/E needs a prediction above 0"
    if least == 0:
        return "intercept and slope need both outcomes"
    if np.isnan(large):
        return "intercept and slope need predictions that leave outcomes open"
    if least < FEWEST:
        return f"a slope needs {FEWEST} events, and {FEWEST} rows without"
    return "a slope needs predictions that differ, and do not separate the outcomes" if np.isnan(slope) else ""


def _plain(names: np.ndarray) -> list[int | float | str]:
    """Return labels as numbers and texts, all others written as text."""
    if names.dtype.kind == "M":
        return np.datetime_as_string(names, unit="auto").tolist()
    entries = [each.item() if isinstance(each, np.generic) else each for each in names.tolist()]
    return [
        each if isinstance(each, int | float | str) and not isinstance(each, bool) else str(each) for each in entries
    ]


def _in_order(labels: list[int | float | str]) -> np.ndarray:
    """Return the places of labels in ascending order, numbers before texts."""
    key = [(isinstance(each, str), each) for each in labels]
    return np.array(sorted(range(len(labels)), key=key.__getitem__), np.int64)
