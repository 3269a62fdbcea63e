"""Columns of NumPy files, and what is wrong with a file in one line."""

import zipfile

import numpy as np
import pytest
from command_line import FAST, fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.formats.array_files import read_arrays
from calibstat.cli.input_files import read_data

pytestmark = pytest.mark.usefixtures("quick_draws")

Y, P = cs.generators.temperature(1.5).sample(300, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(120, rng=1)


def test_arrays_are_columns_and_matrices_have_numbered_ones(tmp_path):
    swapped = P.astype(">f8")
    np.savez(tmp_path / "a.npz", y=Y, p=PROB, column=P[:, None], swapped=swapped, deep=np.zeros((2, 2, 2)), b=[b"x"])
    found = read_arrays(tmp_path / "a.npz")
    assert [name for name, _ in found] == ["y", "p_0", "p_1", "p_2", "column", "swapped", "b"]
    columns = dict(found)
    assert np.array_equal(columns["p_1"], PROB[:, 1])
    assert np.array_equal(columns["swapped"], P)
    assert columns["swapped"].dtype.isnative
    assert columns["b"].tolist() == ["x"]


def test_one_array_has_numbered_or_named_columns(tmp_path):
    np.save(tmp_path / "a.npy", np.column_stack((Y, P)))
    assert [name for name, _ in read_arrays(tmp_path / "a.npy")] == ["0", "1"]
    table = np.array(list(zip(Y, P, strict=True)), dtype=[("y", "i8"), ("p", "f8")])
    np.save(tmp_path / "b.npy", table)
    assert [name for name, _ in read_arrays(tmp_path / "b.npy")] == ["y", "p"]
    for name, label, prob in (("a", "0", "1"), ("b", "y", "p")):
        found, _ = read_data(tmp_path / f"{name}.npy", label, [prob])
        assert str(found) == str(cs.Sample.from_rows(Y, P))


def test_commands_read_them(tmp_path):
    names = np.array(["cat", "dog", "hen"])
    np.savez(tmp_path / "a.npz", y=names[LABEL], cat=PROB[:, 0], dog=PROB[:, 1], hen=PROB[:, 2], number=LABEL, p=PROB)
    found, how = read_data(tmp_path / "a.npz", "y", ["cat", "dog", "hen"])
    assert np.array_equal(found.label, LABEL)
    assert how == "Outcomes are names of classes."
    numbered, _ = read_data(tmp_path / "a.npz", "number", ["p_*"])
    assert np.array_equal(numbered.prob, PROB)
    text = plain_text(run("test", tmp_path / "a.npz", "--label", "number", "--prob", "p_*", *FAST).stdout)
    assert "120 rows, 3 classes" in text


def test_what_is_wrong_is_one_line(tmp_path):
    def refused(name, *parts, columns=("--label", "y", "--prob", "p")):
        fails_with(run("test", tmp_path / name, *columns), *parts)

    np.savez(tmp_path / "object.npz", y=np.array(["a", "b"], dtype=object), p=P[:2])
    refused("object.npz", "expected arrays of numbers or text, found Python objects; save text by .astype(str)")
    (tmp_path / "text.npz").write_text("this is no zip file")
    refused("text.npz", "cannot read", "text.npz")
    (tmp_path / "text.npy").write_text("neither is this")
    refused("text.npy", "cannot read")
    (tmp_path / "empty.npz").write_bytes(b"")
    refused("empty.npz", "cannot read")
    np.savez(tmp_path / "short.npz", y=Y, p=P[1:])
    refused("short.npz", "expected arrays of one length, found 300 in 'y', 299 in 'p'")
    np.savez(tmp_path / "names.npz", y=Y, q=P)
    refused("names.npz", "no column 'p'; the file has 'y', 'q'")
    np.savez(tmp_path / "twice.npz", y=Y, p=np.column_stack((1 - P, P)), p_1=P)
    refused("twice.npz", "expected one column 'p_1', found 2", columns=("--label", "y", "--prob", "p_1"))
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as file:
        file.writestr("y.npy", "no array")
    refused("other.npz", "no column 'y'")


@pytest.mark.parametrize("kind", ["npz", "npy"])
def test_no_rows(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    np.savez(path, y=np.empty(0), p=np.empty(0)) if kind == "npz" else np.save(path, np.empty((0, 2)))
    columns = ("--label", "y", "--prob", "p") if kind == "npz" else ("--label", "0", "--prob", "1")
    fails_with(run("test", path, *columns), "at least one row")
