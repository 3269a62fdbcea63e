"""Rows in a store: made once, exact, and never half."""

import math

from calibstat.study.stored_rows import stored


def test_rows_are_made_once_and_come_back_as_they_were(tmp_path):
    made = []

    def rows():
        made.append(1)
        return [{"value": 0.1 + 0.2, "name": "a", "missing": float("nan"), "infinite": float("inf")}]

    first, again = (stored(tmp_path / "store", ("a", 1), rows) for _ in range(2))
    assert len(made) == 1
    assert again[0]["value"] == first[0]["value"] == 0.1 + 0.2
    assert math.isnan(again[0]["missing"])
    assert math.isinf(again[0]["infinite"])
    stored(tmp_path / "store", ("a", 2), rows)
    assert len(made) == 2
    assert len(list((tmp_path / "store").iterdir())) == 2


def test_without_a_store_nothing_is_kept(tmp_path):
    assert stored(None, "a", lambda: [{"x": 1}]) == [{"x": 1}]
    assert list(tmp_path.iterdir()) == []
