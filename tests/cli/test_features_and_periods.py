"""Columns of features and of periods, as they are read from files."""

import pandas as pd
import pytest

from calibstat.cli.features_and_periods import read_features, read_periods


def test_texts_that_are_all_dates_become_dates(tmp_path):
    file = tmp_path / "rows.csv"
    pd.DataFrame({"day": ["2026-02-01", "2025-12-31"], "site": ["a", "2025-12-31"], "age": [3, 4]}).to_csv(
        file, index=False
    )
    found = read_features(file, ["age", "day", "site"])
    assert list(found.columns) == ["age", "day", "site"]
    assert [found[name].dtype.kind for name in ("age", "day")] == ["i", "M"]
    assert found["site"].tolist() == ["a", "2025-12-31"]
    for names, message in (
        (["age", "sex"], "expected one column 'sex' for --by"),
        (["age", "age"], "different columns"),
    ):
        with pytest.raises(ValueError, match=message):
            read_features(file, names)


def test_periods_are_read_in_the_order_of_time(tmp_path):
    file = tmp_path / "rows.csv"
    for column, expected in (
        (["2026-02-01", "2025-12-31", "2026-02-01"], ["2025-12-31", "2026-02-01"]),
        (["2026-02", "2025-12", "2026-02"], ["2025-12", "2026-02"]),
        (["2026-W10", "2026-W09", "2026-W10"], ["2026-W09", "2026-W10"]),
        ([10, 9, 10], [9, 10]),
    ):
        pd.DataFrame({"day": column}).to_csv(file, index=False)
        found = {name: rows.tolist() for name, rows in read_periods(file, "day").items()}
        assert list(found.items()) == [(expected[0], [1]), (expected[1], [0, 2])]
    pd.DataFrame({"day": pd.to_datetime(["2026-02-01", "2025-12-31"])}).to_parquet(tmp_path / "rows.parquet")
    assert list(read_periods(tmp_path / "rows.parquet", "day")) == ["2025-12-31", "2026-02-01"]
    for column, message in (
        (["2026-02-01", "1st of May"], "found '1st of May' at row 1"),
        (["2026-02-01", None], "found nothing at row 1"),
        ([1.5, 2], "found 1.5 at row 0"),
    ):
        pd.DataFrame({"day": column, "y": 0}).to_csv(file, index=False)
        with pytest.raises(ValueError, match=message):
            read_periods(file, "day")
