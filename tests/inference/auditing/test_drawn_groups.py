"""Groups of an audit, and what independent rows answer: nothing is drawn that is not asked for."""

import numpy as np
import pytest

from calibstat.inference.auditing.drawn_groups import OF_INDEPENDENT_ROWS, DrawnGroups
from calibstat.inference.auditing.group_statistic import GroupRoots, Strata
from calibstat.resampling import Draws

P = np.array([0.2, 0.4, 0.6, 0.8])
MASKS = np.array([[1, 1, 1, 1], [1, 1, 0, 0]], bool)


def groups_of(label, drawn, side=None):
    strata = Strata.of(P, np.ones(4), 1)
    statistic = GroupRoots.of(P, np.ones(4), strata, MASKS, False, side)
    positives = np.stack([np.bincount(strata.stratum, mask * label, strata.size) for mask in MASKS])
    return DrawnGroups(None, statistic, positives, Draws.of(1, 3), drawn)


def not_asked():
    raise AssertionError


def test_rows_events_and_means_are_those_of_groups():
    groups = groups_of(np.array([1, 0, 1, 1]), not_asked)
    assert groups.rows.tolist() == [4, 2]
    assert groups.ones.tolist() == [3, 1]
    assert groups.predicted == pytest.approx([0.5, 0.3])
    assert OF_INDEPENDENT_ROWS.clusters is None
    assert OF_INDEPENDENT_ROWS.roots(groups).shape == (2, 1)


def test_limits_and_roots_draw_nothing():
    low, high = OF_INDEPENDENT_ROWS.limits(groups_of(np.ones(4), not_asked, "under"), 0.05)
    assert high is None
    assert low.shape == (2,)


def test_p_values_are_from_draws_that_are_drawn_once():
    times = []

    def drawn():
        times.append(1)
        return np.array([[0.0, 9.0], [9.0, 0.0], [0.0, 0.0]])

    groups = groups_of(np.ones(4), drawn)
    pvalue, adjusted = OF_INDEPENDENT_ROWS.p_values(groups)
    assert pvalue.tolist() == [0.5, 0.5]
    assert adjusted.tolist() == [0.75, 0.75]
    assert OF_INDEPENDENT_ROWS.p_values(groups, certain=False)[0].tolist() == [0.5, 0.5]
    assert times == [1]


def test_one_side_has_nothing_beyond():
    assert OF_INDEPENDENT_ROWS.beyond(groups_of(np.ones(4), not_asked, "over"), 0.95) is None
