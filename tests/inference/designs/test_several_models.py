"""Designs of several models: the default measure and its options, methods, and what results say of the rows."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.designs.design_of_models import design_of_models

Y, P = cs.generators.temperature(2).sample(240, rng=1)
TWO = {"a": P, "b": P**2}
FOLDS, CLUSTERS = np.arange(240) % 4, np.arange(240) // 4
JUDGED = {"y_true": np.where(np.arange(240) % 3, np.nan, Y), "y_prob": TWO, "judge": cs.Judge(0.8 * Y + 0.1)}


def test_the_default_measure_takes_its_own_options_and_others():
    design = design_of_models(cs.Models(Y, TWO))
    assert design.found_measure(None, {}).options["bandwidth"] == 0.2
    assert design.found_measure(None, {"bandwidth": 0.5}).options["bandwidth"] == 0.5
    assert design.found_measure("ks", {}).name == "ks"
    assert design_of_models(cs.Models(Y, TWO, folds=FOLDS)).found_measure(None, {}).name == "brier"
    assert design_of_models(cs.Models(**JUDGED)).found_measure(None, {}).name == "brier"


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (cs.Models(Y, TWO, folds=FOLDS), "expected folds= without method="),
        (cs.Models(**JUDGED), "expected judge= without method=, because no study covers both, found 'swap'"),
        ({"here": (Y[:90], P[:90]), "there": (Y[90:], P[90:])}, "expected the same rows for all models"),
    ],
)
def test_rows_with_one_way_refuse_another(rows, found):
    with pytest.raises(ValueError, match=found):
        cs.compare(rows, method="swap", measure="brier")


def test_results_say_how_rows_came_about():
    asked = {"measure": "brier", "rng": 1}
    found = cs.compare(Y, TWO, cluster=CLUSTERS, **asked)
    assert str(found.rows) == "60 clusters of 4 rows each"
    assert str(cs.compare(Y, TWO, **asked).rows) == "240 independent rows"
    assert str(cs.compare(Y, TWO, folds=FOLDS, **asked).rows) == "4 folds of 60 rows"
    assert str(cs.compare(**JUDGED, **asked).rows) == "80 labelled rows among 240, with a judge"
    assert found.to_dict()["rows.clusters"] == 60
