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
    "dependent_rows": OfTask(20),
    "distances": OfGrid("temperature 0.1", 10_000, "binned ECE"),
    "equivalence": OfCompute(93),
    "exponents": OfCompute(0, 8, "rate_rows"),
    "grouping": OfTask(0),
    "mixture": OfGrid("perfect", 32, "10 bins"),
    "ranking": OfGrid("over-confident", 300, "ece"),
    "rare_ends": OfTask(4),
    "risk_coverage": OfTask(0),
    "size": OfGrid("uniform", 20, "ks"),
    "smoothing": OfCompute(0, 0, "rate_rows"),
    "worst_cell": OfCompute(1),
}
SLOW = {"one_side": OfCompute(112)}
STALE = {  # cells whose numbers are others today, and why the table is left as it is
    "peers": (
        OfTask(0),
        "rows of calibstat of version 0.1.0, as docs/evidence/honesty.md says; to make them takes 7 CPU minutes",
    ),
    "planning": (OfTask(0), "of version 0.1.0, and 3 of 4 cells differ; a run takes 0.1 h on two cores"),
    "rows_of_classes": (OfTask(1), "of version 0.1.0; 10 of 12 rows of a cell differ; a run takes 0.4 h on two cores"),
    "six_points": (
        OfGrid("six points", 1000, "top label"),
        "made with earlier intervals; a run takes 0.2 h on two cores",
    ),
}
AVERAGED = "what a task returns is averaged before it is in the table"
LONG = "no cell of it that takes a few seconds is known"
NOT_ASKED = {
    "added_layer": AVERAGED,
    "approximate_tests": "the cheapest cell that is known takes 9 seconds",
    "choosing": "the cheapest cell that is known takes 53 seconds",
    "choosing_a_map": "the cheapest cell that is known takes 34 seconds",
    "clusters": "the cheapest cell that is known takes 20 seconds",
    "cross_validation": LONG,
    "digit_diagrams": "all rows are of the same data sets, which is the whole study",
    "direction": "the cheapest cell that is known takes 11 seconds",
    "error_choices_of_networks": "it was made with a file of predictions that is not stored",
    "few_labels": LONG,
    "generalization_gap": AVERAGED,
    "groups": "mcgrad is needed, and each of its cases takes minutes",
    "label_noise": "each data set trains a network",
    "learned_groups": "mcgrad is needed",
    "maps": "the cheapest cell that is known takes 18 seconds",
    "monitoring": AVERAGED,
    "paper_tables": "it was made with a file of predictions that is not stored",
    "power": LONG,
    "recalibration": AVERAGED,
    "size_in_few_rows": LONG,
    "skill": LONG,
    "squares": LONG,
    "training": "each row is of a network that has to be trained",
    "truthfulness": "the cheapest cell that is known takes 18 seconds",
    "unequal_biases": "the cheapest cell that is known takes 12 seconds",
    "weights": "the cheapest cell that is known takes 19 seconds",
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
