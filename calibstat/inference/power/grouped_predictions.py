"""Fixed predictions of very many values in groups of close ones, so that what is planned costs the same for any n."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.data.views import BinaryView
from calibstat.inference.problems.problem import Problem
from calibstat.measures.components.deviations import cells_of_time


def with_few_values(problem: Problem) -> Problem:
    """Return a problem of one outcome whose predictions have about as few values as its measure needs; others as given.

    Rows of several classes, and rows with weights, are drawn one by one.
    """
    data = problem.view
    if not isinstance(data, BinaryView) or data.is_weighted:
        return problem
    summary = grouped(data.counted("power"), problem.measure.most_values)
    return problem if summary is data.sample else replace(problem, view=replace(data, rows=None, summary=summary))


def grouped(sample: Sample, most: int) -> Sample:
    """Return a sample whose predictions are the means of close ones, or the same sample if it has few.

    A group has at most 2 / `most` of the rows or a single prediction; 0 and 1 stay by themselves.
    """
    if sample.value.size <= most:
        return sample
    value, count, positives = sample.arrays
    cell = cells_of_time(value, count, most)
    first = np.searchsorted(cell, np.arange(cell[-1] + 1))
    last = np.append(first[1:], value.size) - 1
    rows, events = (np.add.reduceat(part, first) for part in (count, positives))
    expected = cell_sums(cell, *sample.arrays)[2] * rows.sum()
    mean = np.clip(expected / rows, value[first], value[last])  # rounding must not bring equal groups about
    return Sample(mean, rows, events)
