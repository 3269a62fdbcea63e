"""What every question shares: rows depend on the seed and the cell alone."""

import numpy as np
import pandas as pd
import pytest
from asked_questions import CALIBRATED, CELL, COLUMNS, GENERATORS, METHODS, SHIFTED, ask


@pytest.mark.parametrize("question", COLUMNS)
def test_a_row_depends_on_the_seed_and_its_cell_alone(question):
    whole = ask(question)
    generators = GENERATORS.get(question, SHIFTED)
    one = list(generators)[-1:]
    alone = ask(
        question,
        generators={label: generators[label] for label in one},
        n=[20, 40, 80] if question == "consistency" else 40,
        measures={"ks": ("ks", {})},
        methods=METHODS[question][-1:],
    )
    same = whole.merge(alone[[c for c in (*CELL, "against") if c in alone]])
    pd.testing.assert_frame_equal(same, alone, check_exact=True)


def test_another_seed_label_or_n_draws_other_data():
    def means(**changes):
        return ask("bias", measures=["brier"], **changes)["mean"].tolist()

    first = means(generators={"a": SHIFTED["shift"], "b": SHIFTED["shift"]}, n=[60, 61])
    other = means(generators={"a": SHIFTED["shift"], "b": SHIFTED["shift"]}, n=[60, 61], seed=6)
    assert len(set(first + other)) == 8


def test_all_methods_and_measures_see_the_same_data_and_resamples():
    table = ask("coverage", measures={"one": ("ece", {}), "same": ("ece", {"n_bins": 15})})
    for _, part in table.groupby(["generator", "n"]):
        assert part["mean_estimate"].nunique() == 1
        assert part.groupby("method")["mean_width"].nunique().tolist() == [1, 1]


class WithoutTruth:
    """Rows whose population value nobody can ask for."""

    is_calibrated = True

    def sample(self, n, rng):
        return CALIBRATED["uniform"].sample(n, rng)


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        *((q, "ks") for q in ("coverage", "bias", "consistency", "ranking")),
        ("coverage", ("ece", {"n_bins": "cube_root"})),
    ],
)
def test_a_generator_without_truth_is_named_before_the_run(question, measure):
    """It was an AttributeError, at the end of the run."""
    generators = {"uniform": CALIBRATED["uniform"], "other": WithoutTruth()}
    changes = {"generators": generators, "measures": {"m": measure} if isinstance(measure, tuple) else [measure]}
    changes |= {"same_rows": False} if question == "ranking" else {}
    with pytest.raises(ValueError, match=r"expected truth\(measure, \*\*options\) of generator 'other', found none"):
        ask(question, **changes)
    if question == "coverage":
        assert len(ask("size", generators=generators, n=20, measures=["ks"], methods=["labels"], replicates=2)) == 2


class Says:
    """A generator that says this population value of every measure."""

    is_calibrated = True

    def __init__(self, value):
        self.value = value

    def sample(self, n, rng):
        return CALIBRATED["uniform"].sample(n, rng)

    def truth(self, measure, **options):
        return self.value


@pytest.mark.parametrize("question", ["coverage", "bias", "consistency"])
@pytest.mark.parametrize(
    ("said", "written"), [(3.5e-17, "0.0"), (-3.5e-17, "0.0"), (2.9e-10, "0.0"), (2e-9, "2e-09"), (-0.25, "-0.25")]
)
def test_a_truth_that_rounding_alone_parts_from_0_is_0(question, said, written):
    """Otherwise another processor, or the same one with another number of threads, writes another table."""
    measures = {"ks": ("ks", {}), **({"cells": ("ece", {"n_bins": "cube_root"})} if question == "coverage" else {})}
    numbers = [20, 40, 80] if question == "consistency" else [20]
    table = ask(question, generators={"a": Says(said)}, measures=measures, n=numbers, replicates=3)
    assert {repr(float(truth)) for truth in table["truth"]} == {written}


def test_truths_that_rounding_alone_parts_have_no_order():
    models = {"a": Says(0.0), "b": Says(1e-16)}
    table = ask("ranking", same_rows=False, generators=models, measures=["ks"], n=20, replicates=3)
    assert np.isnan(table["correlation"]).all()
    models["b"] = Says(1e-6)
    table = ask("ranking", same_rows=False, generators=models, measures=["ks"], n=20, replicates=3)
    assert not np.isnan(table["correlation"]).any()
