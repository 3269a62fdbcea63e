"""One cell of every stored table is made again: code of today gives the numbers that pages quote."""

import pandas as pd
import pytest
from one_cell import OfCompute, OfFunction, OfGrid, OfTasks, Swapped, missing, recomputed, stored_table
from simulation_files import STORED


def of_known_truth(study):
    """The rows about the first model whose truth is known."""
    models = dict([next(iter(study.wide(quick=False).items()))])
    options = study.settings(quick=False, splits=2, agreement=False)
    found = study.with_truths(study.found_in(models, options, None, 1), models)
    return found[found["question"].isin(study.KEPT)].assign(models="known truth")


def of_one_network(study):
    """The temperatures that are fitted to each error of the first network."""
    networks = dict([next(iter(study.networks(quick=False).items()))])
    options = {name: option.default for name, option in study.OPTIONS.items()} | {"splits": study.SPLITS["networks"]}
    found = study.found_in(networks, options, None, 1).drop(columns=["low", "high", "classes"])
    found = found[(found["question"] == "each error") & (found["against"] != "log loss")]
    return found[found["way"] == "local"]  # where errors are flat, the other search hangs on the last digits


def of_one_pass(study):
    """The gains of temperatures after one pass of the networks that are trained by log loss."""
    with Swapped(study, "PASSES", study.PASSES[:1]), Swapped(study, "RECIPES", {"log loss": study.RECIPES["log loss"]}):
        found = study.table(quick=False, n_jobs=1)
    return found[(found["layer"] == "temperature") & (found["score"] == "log loss")]


def of_first_passes(study):
    """What is seen of the first start in its first five passes."""
    return [row for row in study.during(1, 6, 499) if row["question"] == "during" and row["passes"] <= 5]


CELLS = {
    "added_layer": OfFunction(of_one_pass),
    "approximate_tests": OfCompute(0, 6),
    "audits_of_clusters": OfCompute(39),
    "bands": OfCompute(12),
    "bias": OfGrid("calibrated", 100, "ece"),
    "bins": OfGrid("near 1", 1000, ["even, l1, 10 bins", "the Brier score"]),
    "choosing": OfCompute(8),
    "choosing_a_map": OfCompute(10),
    "classes": OfGrid("3 classes, uniform", 200, "top_label: brier"),
    "clusters": OfCompute(212),
    "comparison": OfGrid("both calibrated, alike", 300, "ece"),
    "consistency": OfGrid("calibrated", None, "ece"),
    "coverage": OfGrid("calibrated", 50, "ks"),
    "cross_validation": OfTasks(207),
    "dependent_days": OfTasks(0),
    "dependent_rows": OfTasks(20),
    "digit_diagrams": OfTasks(*range(40)),  # all rows are of the same data sets, so that this is the whole study
    "direction": OfCompute(81),
    "distances": OfGrid("temperature 0.1", 10_000, "binned ECE"),
    "equivalence": OfCompute(93),
    "error_choices_of_networks": OfFunction(of_one_network),
    "exponents": OfCompute(0, 8, "rate_rows"),
    "few_labels": OfTasks(117),
    "generalization_gap": OfTasks(0, 1, 2),
    "grouping": OfTasks(0),
    "groups": OfFunction(
        lambda study: study.of_side(next(study.one_sided_cases(study.FEATURES, quick=False)), n_jobs=1)
    ),
    "label_noise": OfGrid("0", None, "ECE"),
    "learned_groups": OfFunction(lambda study: study.chosen(study.cases(quick=False)[-1], n_jobs=1)),
    "maps": OfCompute(24),
    "mixture": OfGrid("perfect", 32, "10 bins"),
    "monitoring": OfFunction(lambda study: study._sequence(0, study.Sizes())),
    "one_side": OfCompute(112),
    "paper_tables": OfFunction(of_known_truth),
    "peers": OfTasks(0),
    "planning": OfTasks(0),
    "power": OfTasks(44),
    "ranking": OfGrid("over-confident", 300, "ece"),
    "rare_ends": OfTasks(4),
    "risk_coverage": OfTasks(0),
    "rows_of_classes": OfTasks(1),
    "six_points": OfGrid("six points", 1000, "top label"),
    "size": OfGrid("uniform", 20, "ks"),
    "size_in_few_rows": OfTasks(3),
    "skill": OfTasks(55),
    "smoothing": OfCompute(0, 0, "rate_rows"),
    "squares": OfFunction(lambda study: study._search_limits(study.HIGH_END, 0.2, [study.SEED, 3, 200], quick=False)),
    "training": OfFunction(of_first_passes),
    "truthfulness": OfCompute(1),
    "unequal_biases": OfCompute(7),
    "weights": OfCompute(2, 6),
    "without_bins": OfTasks(16),
    "worst_case": OfTasks(45),
    "worst_cell": OfCompute(1),
}
NOT_ASKED = {
    "recalibration": "it was made with a file of predictions that is not stored",
}


def test_every_stored_table_has_a_cell_or_a_reason():
    listed = [*CELLS, *NOT_ASKED]
    assert sorted(listed) == sorted(STORED)
    assert all(NOT_ASKED.values())


def differing(name, cell):
    """The rows of a cell that the stored table does not have."""
    rows = recomputed(name, cell)
    assert len(rows)
    return missing(rows, stored_table(name)).to_dict("records")


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_as_stored(name):
    assert differing(name, CELLS[name]) == []


OF_EACH_KIND = {"mixture": "mean", "dependent_days": "mean_width", "equivalence": "claims", "learned_groups": "mean"}


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_digit_that_has_changed_is_found(name):
    table, rows = stored_table(name), recomputed(name, CELLS[name])
    assert missing(rows, table).empty
    column = OF_EACH_KIND[name]
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
