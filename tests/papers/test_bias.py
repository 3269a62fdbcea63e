"""The study of bias: its numbers of bins, and its pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from estimate_tables import from_file, marks, table_of

import calibstat as cs
from calibstat.papers import bias


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_bins_are_read_from_labels():
    table = pd.DataFrame({"measure": ["ece", "ks", "ece, 5 bins", "ece, l2", "ece, l2, 100 bins"], "x": range(5)})
    found = bias.with_bins(table)
    assert found.to_numpy().tolist() == [["ece", 0, 15], ["ece", 2, 5], ["ece, l2", 3, 15], ["ece, l2", 4, 100]]
    assert cs.MEASURES["ece"].defaults()["n_bins"] == bias.ECE_BINS


def test_pictures_of_bias_part_the_default_from_other_bins():
    measures = {"ece": ("ece", {}), "ks": ("ks", {}), "ece, 5 bins": ("ece", {"n_bins": 5})}
    table = table_of("bias", measures=measures)
    drawn = bias.figures(from_file(table))
    assert {axes.get_title() for axes in drawn[""].axes if axes.has_data()} == {"ece", "ks"}
    axes = drawn["bins"].axes[0]
    rows = table[(table["generator"] == "1.5") & (table["n"] == 60) & table["measure"].str.startswith("ece")]
    np.testing.assert_allclose(marks(axes, "mean estimate, n = 60")[0][:, 1], rows["mean"][::-1])
    (truth,) = [line for line in axes.lines if line.get_label() == "population value"]
    np.testing.assert_allclose(truth.get_ydata(), rows["truth"][::-1])
