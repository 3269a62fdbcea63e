"""The columns of a file that say how its rows came about."""

import numpy as np
import pandas as pd
import pytest

from calibstat.cli.row_columns import RowColumns, in_words


@pytest.fixture(name="file")
def file_fixture(tmp_path):
    path = tmp_path / "rows.csv"
    rows = {"who": ["a", "b", "a", "b"], "fold": [0, 0, 1, 1], "w": [1, 2, "x", 4], "v": [1, 2, 3, 4]}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_columns_are_words_about_rows(file):
    words = RowColumns(cluster="who", weight="v").words(file)
    assert [*words] == ["cluster", "sample_weight"]
    assert words["cluster"].tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(words["sample_weight"], [1, 2, 3, 4])
    assert RowColumns().words(file) == {}
    assert (bool(RowColumns()), bool(RowColumns(folds="fold"))) == (False, True)


def test_what_is_wrong_names_the_column(file):
    with pytest.raises(ValueError, match="no column 'day'"):
        RowColumns(folds="day").words(file)
    with pytest.raises(ValueError, match="expected numbers in column 'w', found 'x' at row 2"):
        RowColumns(weight="w").words(file)


def test_rows_in_words(file):
    assert in_words({}) == in_words(RowColumns(weight="v").words(file)) == ""
    assert in_words(RowColumns(cluster="who").words(file)) == " Rows are in 2 clusters of 2 rows each."
    folds = " Rows were predicted out of 2 folds of 2 rows."
    assert in_words(RowColumns(folds="fold").words(file)) == folds
    assert in_words(RowColumns(folds="fold", cluster="who").words(file)) == folds
