"""Stores of studies: damaged, contradictory, locked or no store at all."""

import json
import os
import subprocess
import sys
import textwrap

import pandas as pd
import pytest
from verb_arguments import RUN

import calibstat as cs
from calibstat.study.store import DESCRIPTION, Store


@pytest.mark.parametrize(
    "content", ["[" * 200_000, "[]", '"x"', "null", "5", "", '{"seed": "1"', '{"seed": 1}', "\x00\x01"]
)
def test_a_damaged_description_is_named(content, tmp_path):
    cs.study.run(**RUN, store=tmp_path / "store")
    (tmp_path / "store" / DESCRIPTION).write_text(content)
    with pytest.raises(ValueError, match=rf"expected the description of a study in .*{DESCRIPTION}, found"):
        cs.study.run(**RUN, store=tmp_path / "store")


@pytest.mark.parametrize(
    ("planted", "message"),
    [
        ({"cell": [10**6], "ks": [0.5]}, "has cell 1000000 where there are 2"),
        ({"cell": [-1], "ks": [0.5]}, "has cell -1 where"),
        ({"row": [0], "ks": [0.5]}, "has no column 'cell'"),
        ({"cell": [0], "other": [0.5]}, "has no column 'ks'"),
        ({"cell": [0.5], "ks": [0.5]}, "column 'cell' is not a number"),
        ({"cell": [0], "ks": ["a"]}, "column 'ks' is not a number"),
    ],
)
def test_a_planted_batch_is_named(planted, message, tmp_path):
    import io

    from calibstat.study import store

    cs.study.run(**RUN, store=tmp_path / "store")
    content = io.BytesIO()
    pd.DataFrame(planted).to_parquet(content)
    name = f"cells-000000000-{store._digest(content.getvalue())}.parquet"
    (tmp_path / "store" / name).write_bytes(content.getvalue())
    with pytest.raises(ValueError, match=rf"found .*{name}, .*{message}"):
        cs.study.run(**RUN, store=tmp_path / "store")


def test_batches_that_contradict_are_named(tmp_path):
    cs.study.run(**RUN, store=tmp_path / "store")
    again = Store(tmp_path / "store", json.loads((tmp_path / "store" / DESCRIPTION).read_text()), ["ks"])
    cells, answers = again.read()
    again.append(cells[:1], answers[:1])  # the same numbers twice, no harm
    cs.study.run(**RUN, store=tmp_path / "store")
    again.append(cells[:1], answers[:1] + 0.5)
    with pytest.raises(ValueError, match=r"expected one answer for every cell in .*store, found two for cell 0"):
        cs.study.run(**RUN, store=tmp_path / "store")


@pytest.mark.parametrize("place", ["file", "file/store"])
def test_a_store_that_is_a_file(place, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match=r"expected a folder for the store, found the file .*file"):
        cs.study.run(**RUN, store=tmp_path / place)


def test_a_batch_that_is_no_parquet_is_named(tmp_path):
    from calibstat.study import store

    cs.study.run(**RUN, store=tmp_path / "store")
    (tmp_path / "store" / f"cells-0-{store._digest(b'text')}.parquet").write_bytes(b"text")
    with pytest.raises(ValueError, match="which is not a Parquet file"):
        cs.study.run(**RUN, store=tmp_path / "store")


def test_two_runs_do_not_write_to_one_store(tmp_path):
    pytest.importorskip("fcntl")
    store = Store(tmp_path / "store", {}, ["a"])
    with store.locked():
        (tmp_path / "store" / "batch.unfinished").write_text("")
        second = Store(tmp_path / "store", {}, ["a"])
        with pytest.raises(ValueError, match=rf"process {os.getpid()} writes to .*store; wait"), second.locked():
            pass
        assert (tmp_path / "store" / "batch.unfinished").exists()  # that of the first run
    with second.locked():
        assert not (tmp_path / "store" / "batch.unfinished").exists()
    assert [path.name for path in (tmp_path / "store").iterdir()] == [DESCRIPTION]


def test_the_lock_of_a_dead_process_does_not_block(tmp_path):
    pytest.importorskip("fcntl")
    code = f"""
        import os, signal
        from calibstat.study.store import Store
        with Store({str(tmp_path / "store")!r}, {{}}, ["a"]).locked():
            os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert killed.returncode != 0
    assert (tmp_path / "store" / ".lock").exists()
    with Store(tmp_path / "store", {}, ["a"]).locked():
        pass
