"""The problem of a measure and rows, as the functions pose it."""

import calibstat as cs
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.kinds.registry import find_measure


def pose(y_true, y_prob, measure, options, **rows):
    """Check measure and data, and pose the problem of their kind."""
    return problem_of(cs.Data(y_true, y_prob, **rows), find_measure(measure, options))
