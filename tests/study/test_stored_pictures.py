"""Pictures of studies in files: which table they say that they show, and that saying so changes no colour."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from calibstat.study.stored_pictures import name_of_table, save_picture, table_shown, write_table_shown
from calibstat.study.study_tables import write_table

TABLE = pd.DataFrame({"question": ["bias"], "mean": [0.25]})


@pytest.fixture
def saved(tmp_path):
    """A picture and its table."""
    write_table(TABLE, tmp_path / "table.csv", seed=1, date="2026-01-01")
    figure, axes = plt.subplots(figsize=(1, 1))
    axes.plot([0, 1])
    save_picture(figure, tmp_path / "figures" / "picture.png", tmp_path / "table.csv")
    plt.close(figure)
    return tmp_path / "figures" / "picture.png", tmp_path / "table.csv"


def test_a_picture_names_its_table_whoever_made_it_when(saved):
    picture, table = saved
    assert table_shown(picture) == name_of_table(table)
    assert name_of_table(table).startswith("table.csv ")
    write_table(TABLE, table, seed=1, date="2026-12-31")
    assert table_shown(picture) == name_of_table(table)


@pytest.mark.parametrize(
    "other", [TABLE.assign(mean=0.26), pd.concat([TABLE, TABLE]), TABLE.rename(columns={"mean": "m"})]
)
def test_another_table_has_another_name(saved, other):
    picture, table = saved
    write_table(other, table, seed=1, date="2026-01-01")
    assert table_shown(picture) != name_of_table(table)


def test_the_name_can_be_written_into_a_picture_that_stays_as_it_is(saved, tmp_path):
    picture, table = saved
    with Image.open(picture) as before:
        colours = np.asarray(before.convert("RGB"))
    write_table(TABLE.assign(mean=0.26), table)
    write_table_shown(picture, table)
    assert table_shown(picture) == name_of_table(table)
    with Image.open(picture) as after:
        assert after.mode == "P"
        np.testing.assert_array_equal(np.asarray(after.convert("RGB")), colours)


def test_a_picture_of_another_program_says_nothing(tmp_path):
    Image.new("RGB", (2, 2)).save(tmp_path / "other.png")
    assert table_shown(tmp_path / "other.png") is None
