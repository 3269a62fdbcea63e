"""A frame whose columns are had by name and by place."""

import pandas as pd

from calibstat.output.frame_of_rows import FrameOfRows


def test_columns_by_name_and_by_place():
    frame = FrameOfRows(pd.DataFrame({"no": [0.25, 0.5], "yes": [0.75, 0.5]}, index=["a", "b"]))
    assert frame["yes"].tolist() == frame[:, 1].tolist() == frame[:, -1].tolist() == [0.75, 0.5]
    assert frame[:, 1].index.tolist() == ["a", "b"]
    assert frame[["yes"]].shape == frame[:, 1:].shape == (2, 1)
    assert frame[frame["yes"] > 0.6].index.tolist() == ["a"]
