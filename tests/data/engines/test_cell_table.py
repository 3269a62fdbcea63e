"""The table of a GROUP BY: what its whole numbers mean, and tables that no query has returned."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from compared_samples import arrays

import calibstat as cs
from calibstat.data.engines.cell_table import COARSE, FINE, TABLE_CELLS

TABLE = {
    "cell": [3],
    "n_rows": [2],
    "count": [2],
    "positives": [1],
    "lowest": [3 / TABLE_CELLS + 1e-7],
    "highest": [3 / TABLE_CELLS + 3e-7],
    "offsets": [0],
    "fine_offsets": [0],
}


def test_the_mean_is_the_exact_one_rounded_once():
    p = np.array([TABLE["lowest"][0], TABLE["highest"][0]])
    above = [(Fraction(v) - Fraction(3 / TABLE_CELLS)) * COARSE * FINE for v in p]
    assert all(each.denominator == 1 for each in above)
    coarse = sum(each // FINE for each in above)
    fine = sum(each % FINE for each in above)
    sample = cs.Sample.from_cells({**TABLE, "offsets": [int(coarse)], "fine_offsets": [int(fine)]})
    mean = float(sum(Fraction(v) for v in p) / 2)
    assert sample.value.tolist() == [mean]
    assert sample.moved == max(p[1] - mean, mean - p[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": None}, "found none called 'cell'"),
        ({"offsets": [2.0**60]}, "expected whole numbers in column 'offsets' of the answer"),
        ({"offsets": [0.5]}, "expected whole numbers in column 'offsets' of the answer"),
        *[
            ({"offsets": [other]}, "expected whole numbers in column 'offsets' of the answer, found others or rounded")
            for other in (None, "x", math.nan, math.inf, 2**70, Decimal("0.5"), Decimal("nan"))
        ],
        ({"site": [pd.NA], "by": "site"}, "expected a group in column 'site', found 2 missing values"),
        ({"n_rows": [0]}, "expected at least one row, found none"),
        ({"count": [2**36]}, r"expected fewer than 2\*\*36 rows in a cell, found 68,719,476,736"),
        ({"cell": [-1]}, "expected 0 or 1 in column 'label', found 2 missing values"),
    ],
)
def test_other_tables_are_refused(change, message):
    table = {name: column for name, column in (TABLE | change).items() if column is not None}
    by = table.pop("by", None)
    with pytest.raises(ValueError, match=message):
        cs.Sample.from_cells(table, by=by)


def test_decimals_that_are_whole_are_the_whole_numbers():
    decimals = {name: [Decimal(entry)] for name, (entry,) in TABLE.items() if isinstance(entry, int)}
    assert arrays(cs.Sample.from_cells(TABLE | decimals)) == arrays(cs.Sample.from_cells(TABLE))


@pytest.mark.parametrize(
    ("site", "ascending"),
    [
        (["b", 1, "a"], ["a", "b", 1]),  # no order of texts and numbers: that of ('a',), ('b',) and (1,) as texts
        ([10, 9, 1], [1, 9, 10]),
    ],
)
def test_groups_come_in_ascending_order_or_where_there_is_none_by_their_text(site, ascending):
    table = {name: 3 * column for name, column in TABLE.items()}
    assert list(cs.Sample.from_cells({**table, "site": site}, by="site")) == ascending
