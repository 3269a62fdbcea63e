"""The study of planning: its predictions, a promise that can be broken, its picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from simulation_files import study_file

import calibstat as cs
from calibstat.inference.power.alternatives import ALTERNATIVES

planning = study_file("planning")


@pytest.fixture(scope="module")
def table():
    return planning.table(quick=True, n_jobs=1)


@pytest.mark.parametrize("n", [100, 1000])
def test_ten_sets_of_predictions(n):
    found = planning.predictions(n)
    assert len(found) == 10
    for p in found.values():
        assert p.shape == (n,)
        assert ((p >= 0) & (p <= 1)).all()
    assert found["rare, mean .02"].mean() == pytest.approx(0.02, abs=0.005)
    assert np.unique(found["forest of 100, ties"]).size <= 100
    assert np.unique(found["five scores"]).size == 5


def test_the_quick_table_asks_all_families(table):
    assert set(table["family"]) == set(ALTERNATIVES)
    assert set(table["question"]) == {"effect", "size"}
    assert table["rows"][table["question"] == "effect"].eq(100).all()


def test_all_cells_are_asked():
    cells = planning.cells(False)
    assert len(cells) == 10 * 3 * 4 - 3 * 2  # temperatures of a constant prediction are shifts
    assert {n for _, n, _ in cells} == {100, 1000, 10_000}


def test_a_row_is_what_the_functions_say(table):
    row = table.iloc[0]
    p = planning.predictions(100)[row["generator"]]
    found = cs.detectable_effect(p, families=row["family"], rng=planning.SEED, n_resamples=199, n_datasets=40)
    assert row["effect"] == found.effect[0]
    again = cs.power(p, {"temperature": row["effect"]}, n_datasets=40, n_resamples=199, rng=planning.SEED + 1)
    assert row["rate"] == again.power


def test_the_promise_can_be_broken(table):
    made = table.assign(replicates=np.where(table["replicates"] > 0, 2000, 0), rejections=1600)
    assert planning.violations(made).empty
    measured = made.index[made["replicates"] > 0]
    made.loc[measured[0], "rejections"] = 1400
    made.loc[measured[-1], "rejections"] = 1800
    assert planning.violations(made).index.tolist() == [measured[0], measured[-1]]


def test_the_picture_shows_the_table(table):
    (figure,) = planning.figures(table).values()
    figure.draw_without_rendering()
    plt.close("all")
