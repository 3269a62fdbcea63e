"""One cell of every stored table is made again: code of today gives the numbers that pages quote.

``pytest -m slow`` makes the cells that take more than some seconds.
"""

import pandas as pd
import pytest
from one_cell import OfCompute, OfGrid, OfTask, missing, recomputed, stored_table
from simulation_files import STORED

CHEAP = {
    "audits_of_clusters": OfCompute(39),
    "bands": OfCompute(12),
    "bias": OfGrid("calibrated", 100, "ece"),
    "bins": OfGrid("near 1", 1000, ["even, l1, 10 bins", "the Brier score"]),
    "classes": OfGrid("3 classes, uniform", 200, "top_label: brier"),
    "comparison": OfGrid("both calibrated, alike", 300, "ece"),
    "consistency": OfGrid("calibrated", None, "ece"),
    "coverage": OfGrid("calibrated", 50, "ks"),
    "dependent_days": OfTask(0),
    "distances": OfGrid("temperature 0.1", 10_000, "binned ECE"),
    "equivalence": OfCompute(93),
    "exponents": OfCompute(0, 8, "rate_rows"),
    "mixture": OfGrid("perfect", 32, "10 bins"),
    "planning": OfTask(76),
    "ranking": OfGrid("over-confident", 300, "ece"),
    "rare_ends": OfTask(4),
    "risk_coverage": OfTask(0),
    "size": OfGrid("uniform", 20, "ks"),
    "smoothing": OfCompute(0, 0, "rate_rows"),
    "worst_cell": OfCompute(1),
}
SLOW = {
    "approximate_tests": OfCompute(0, 6),
    "choosing_a_map": OfCompute(3),
    "clusters": OfCompute(27),
    "direction": OfCompute(15),
    "maps": OfCompute(19),
    "one_side": OfCompute(112),
    "truthfulness": OfCompute(1, 1),
    "unequal_biases": OfCompute(1),
    "weights": OfCompute(1, 8),
}
STALE = {  # cells whose numbers are others today, and why the table is left as it is
    "peers": (
        OfTask(0),
        "rows of calibstat of version 0.1.0, as docs/honesty.md says; to make them takes 7 CPU minutes",
    ),
    "rows_of_classes": (OfTask(1), "of version 0.1.0; a run takes 0.4 h on two cores"),
}
AVERAGED = "what a task returns is averaged before it is in the table"
LONG = "no cell takes less than half a minute"
NOT_ASKED = {
    "added_layer": AVERAGED,
    "choosing": LONG,
    "cross_validation": LONG,
    "dependent_rows": LONG,
    "digit_diagrams": "all rows are of the same data sets, which is the whole study",
    "error_choices_of_networks": "it was made with a file of predictions that is not stored",
    "few_labels": LONG,
    "generalization_gap": AVERAGED,
    "grouping": LONG,
    "groups": "mcgrad is needed, and no cell takes less than half a minute",
    "label_noise": "each data set trains a network",
    "learned_groups": "mcgrad is needed",
    "monitoring": AVERAGED,
    "paper_tables": "it was made with a file of predictions that is not stored",
    "power": LONG,
    "recalibration": AVERAGED,
    "six_points": LONG,
    "size_in_few_rows": LONG,
    "squares": LONG,
    "training": "each row is of a network that has to be trained",
    "without_bins": LONG,
    "worst_case": LONG,
}


def test_every_stored_table_has_a_cell_or_a_reason():
    listed = [*CHEAP, *SLOW, *STALE, *NOT_ASKED]
    assert sorted(listed) == sorted(STORED)
    assert all(NOT_ASKED.values())


def differing(name, cell):
    """The rows of a cell that the stored table does not have."""
    rows = recomputed(name, cell)
    assert len(rows)
    return missing(rows, stored_table(name)).to_dict("records")


@pytest.mark.parametrize("name", CHEAP)
def test_a_cheap_cell_is_as_stored(name):
    assert differing(name, CHEAP[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_cell_is_as_stored(name):
    assert differing(name, SLOW[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STALE)
def test_a_table_that_is_called_stale_is(name):
    """If not, it has been made again: it belongs to the others."""
    assert differing(name, STALE[name][0])


@pytest.mark.parametrize("name", ["mixture", "dependent_days", "equivalence"])  # of a grid, a task, a call
def test_a_digit_that_has_changed_is_found(name):
    table, rows = stored_table(name), recomputed(name, CHEAP[name])
    assert missing(rows, table).empty
    column = {"mixture": "mean", "dependent_days": "mean_width", "equivalence": "claims"}[name]
    place = rows_of(rows.iloc[:1], table)
    number = table.loc[place, column].item()
    table[column] = table[column].where(table.index != place[0], changed(number))
    assert len(missing(rows, table)) == 1


def rows_of(rows, table):
    """The places of the rows of a table that are some recomputed rows."""
    return [i for i in table.index if missing(rows, table.loc[[i]]).empty]


def changed(number):
    """The number with another fourth digit; of a count one more."""
    return number + 1 if isinstance(number, int) else number * 1.001


def test_another_text_and_a_number_that_is_gone_are_found():
    table = pd.DataFrame({"measure": ["ks", "ece"], "n": [10, 20], "rate": [0.25, None]})
    assert missing(table, table).empty
    assert missing(table.assign(rate=[0.250001, None]), table).empty  # the seventh digit
    assert len(missing(table.assign(measure=["ks", "ks"]), table)) == 1
    assert len(missing(table.assign(rate=[None, None]), table)) == 1
    assert len(missing(table.assign(n=[10, 21]), table)) == 1
