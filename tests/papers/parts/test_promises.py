"""What honest intervals promise: rows that break a promise are found, and no others."""

import pandas as pd
import pytest

from calibstat.papers.parts.promises import FALSE_ALARM, missed_too_often, more_often
from calibstat.study import most_rejections


def at_the_limit(promise, excess):
    """Six cells in which one has so many more misses than a promise of that rate still allows."""
    table = pd.DataFrame({"method": "honest", "level": 0.95, "replicates": [1000] * 3 + [400] * 3})
    missed = [most_rejections(promise, replicates, FALSE_ALARM / 6) for replicates in table["replicates"]]
    table["covered"] = table["replicates"] - missed
    table.loc[4, "covered"] -= excess
    return table


@pytest.mark.parametrize(("excess", "broken"), [(0, []), (1, [4])])
def test_exactly_the_planted_fault_is_found(excess, broken):
    table = at_the_limit(0.06, excess)  # 1.2 times .05
    assert missed_too_often(table).index.tolist() == broken
    assert more_often(table, table["replicates"] - table["covered"], 0.06).index.tolist() == broken
    assert missed_too_often(table.assign(method="basic")).empty


def test_misses_are_judged_by_the_level():
    table = at_the_limit(0.06, 1)
    assert missed_too_often(table.assign(level=0.9)).empty
    assert len(missed_too_often(table.assign(level=0.99))) == 6
