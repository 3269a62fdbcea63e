"""The study of consistency: of which measures it asks."""

import math

import pytest

import calibstat as cs
from calibstat.papers import consistency


def test_measures_without_a_known_truth_have_no_order():
    assert consistency.with_truth({"ks": ("ks", {})}) == {"ks": ("ks", {})}

    @cs.measure("unknown_truth", title="t", formula="f", reference="r", bounds=(0, 1))
    def unknown_truth(value, count, positives):
        """Return the share of positives."""
        return positives.sum() / count.sum()

    try:
        assert consistency.with_truth({"unknown": ("unknown_truth", {}), "ks": ("ks", {})}) == {"ks": ("ks", {})}
    finally:
        cs.measures.kinds.registry._REGISTRY.pop("unknown_truth")


def test_a_fixed_number_of_bins_is_inconsistent_for_the_error_without_bins():
    """Of temperature 1/2 the error without bins is ln(2)/2 - 1/4; 5 bins tend to less, and no rows mend that."""
    grid = {**consistency.grids(True)[1], "n": [500, 2000, 8000], "replicates": 40, "methods": ["rmse"]}
    table = cs.study.run(**grid, seed=1).set_index("measure")
    assert table["truth"].tolist() == pytest.approx([math.log(2) / 2 - 0.25] * 3, abs=1e-6)
    assert table.loc["5 bins", "error_8000"] > 0.9 * table.loc["5 bins", "error_2000"]
    assert table.loc["50 bins", "error_8000"] < 0.7 * table.loc["50 bins", "error_2000"]
    own = cs.study.run(**{name: value for name, value in grid.items() if name != "target"}, seed=1)
    assert own.set_index("measure").loc["5 bins", "order"] > 0.4  # against its own value it converges
