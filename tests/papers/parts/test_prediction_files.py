"""Files of predictions: all kinds, names of columns, half precision, and what is wrong in words."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.papers.parts.prediction_files import PredictionFile, read_predictions

FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=2)
Y, P = FAMILY.sample(50, rng=1)


def as_cells():
    return pd.DataFrame({"target": Y, **{f"p_{k}": P[:, k] for k in range(4)}})


SAVED = {
    "some.npz": lambda path: np.savez(path, prob=P, y=Y),
    "single.npz": lambda path: np.savez(path, prob=P.astype(np.float32), y=Y.astype(np.int8)),
    "half.npz": lambda path: np.savez(path, prob=P.astype(np.float16), labels=Y),
    "logits.npz": lambda path: np.savez(path, logits=np.log(P) + 3, label=Y),
    "half_logits.npz": lambda path: np.savez(path, logits=np.log(P).astype(np.float16), label=Y),
    "cells.csv": lambda path: as_cells().to_csv(path, index=False),
    "cells.parquet": lambda path: as_cells().to_parquet(path),
    "lines.jsonl": lambda path: as_cells().to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize("name", SAVED)
def test_files_of_all_kinds_are_read(name, tmp_path):
    SAVED[name](tmp_path / name)
    y, p = read_predictions(tmp_path / name)
    assert np.array_equal(y, Y)
    assert p.dtype == np.float64
    assert p.sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert p == pytest.approx(P, abs=3e-3 if "half" in name else 1e-6)


def test_one_event_has_two_classes(tmp_path):
    y, p = cs.generators.temperature(2).sample(40, rng=1)
    np.savez(tmp_path / "event.npz", prob=p, y=y)
    np.savez(tmp_path / "column.npz", prob=p[:, np.newaxis], y=y)
    for name in ("event.npz", "column.npz"):
        label, prob = read_predictions(tmp_path / name)
        assert np.array_equal(label, y)
        assert np.array_equal(prob, np.column_stack([1 - p, p]))


def test_columns_of_other_names_are_named(tmp_path):
    np.savez(tmp_path / "other.npz", score=np.log(P), truth=Y)
    y, p = read_predictions(tmp_path / "other.npz", label="truth", prob="score_*", logits=True)
    assert np.array_equal(y, Y)
    assert p == pytest.approx(P)
    with pytest.raises(
        ValueError, match=r"expected a column of outcomes named y, .* or target in .*other\.npz, found "
    ):
        read_predictions(tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"expected a column of predictions .* found .*; name it by --set prob=COLUMN"):
        read_predictions(tmp_path / "other.npz", label="truth")


def test_rows_that_are_no_predictions_are_refused(tmp_path):
    bad = P.copy()
    bad[3, 2] = np.nan
    np.savez(tmp_path / "bad.npz", prob=bad, y=Y)
    with pytest.raises(ValueError, match=r"expected a probability from 0 to 1, found nan in column 'prob_2' at row 3"):
        read_predictions(tmp_path / "bad.npz")
    np.savez(tmp_path / "far.npz", prob=(P * 0.9).astype(np.float16), y=Y)
    with pytest.raises(ValueError, match="probabilities that sums to 1"):
        read_predictions(tmp_path / "far.npz")


def test_a_file_is_known_by_what_it_holds(tmp_path):
    path = tmp_path / "some.npz"
    np.savez(path, prob=P, y=Y)
    first = PredictionFile.of(path)
    assert first == PredictionFile.of(path)
    assert np.array_equal(first.rows()[0], Y)
    np.savez(path, prob=P, y=(Y + 1) % 4)
    second = PredictionFile.of(path)
    assert second != first
    assert np.array_equal(second.rows()[0], (Y + 1) % 4)
    with pytest.raises(FileNotFoundError):
        PredictionFile.of(tmp_path / "none.npz")
