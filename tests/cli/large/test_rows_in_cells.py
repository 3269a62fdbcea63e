"""Sums of batches: the rows as they are while they are few, and to the last digit the cells of engines."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, FAST, plain_text, run
from compared_samples import same

import calibstat as cs
from calibstat.cli.large import rows_in_cells
from calibstat.cli.large.rows_in_cells import RowCounts
from calibstat.data.engines.cell_table import TABLE_CELLS


def rows(n=20_000):
    """Predictions on edges of cells, next to them, exact 0 and 1, tiny, tied and spread."""
    rng = np.random.default_rng(3)
    edges = rng.integers(0, TABLE_CELLS + 1, n // 4) / TABLE_CELLS
    near = np.nextafter(edges, rng.choice([0.0, 1.0], edges.size))
    spread = rng.beta(1, 3, n - 2 * edges.size - 6)
    p = np.concatenate([edges, near, [0, -0.0, 1, 1e-300, 1e-20, 3e-7], spread]).clip(0, 1)
    p[-n // 4 :] = p[-n // 4 :].round(2) + rng.integers(0, 3, n // 4) * 2.0**-30
    p = rng.permutation(p.clip(0, 1))
    return (rng.random(n) < p).astype(float), p


def counted(y, p, size=777):
    counts = RowCounts()
    for start in range(0, p.size, size):
        counts.add(y[start : start + size], p[start : start + size])
    return counts.sample()


@pytest.mark.parametrize("most", [0, 5000])
def test_sums_of_batches_are_those_of_engines_to_the_last_digit(most, monkeypatch):
    pytest.importorskip("narwhals")
    y, p = rows()
    monkeypatch.setattr(rows_in_cells, "MOST_ROWS", most)
    sample = counted(y, p)
    expected = cs.Sample.from_frame(pd.DataFrame({"y": y, "p": p}), "y", "p")
    assert same(sample, expected)
    assert sample.moved == expected.moved > 0
    backwards = counted(y[::-1], p[::-1], 5001)
    assert same(sample, backwards)
    assert backwards.moved == sample.moved


def test_few_rows_stay_as_they_are(monkeypatch):
    y, p = rows()
    for most, moved in ((20_000, False), (19_999, True)):
        monkeypatch.setattr(rows_in_cells, "MOST_ROWS", most)
        sample = counted(y, p)
        assert same(sample, cs.Sample.from_rows(y, p)) is not moved
        assert (sample.moved > 0) is moved


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_commands_say_that_many_rows_are_in_cells(suffix, tmp_path, monkeypatch):
    pytest.importorskip("narwhals")
    y, p = rows(2000)
    frame = pd.DataFrame({"y": y, "p": p})
    file = tmp_path / f"a{suffix}"
    frame.to_csv(file, index=False) if suffix == ".csv" else frame.to_parquet(file)
    few = plain_text(run("interval", file, *COLUMNS, *FAST, "--verbose").stdout)
    assert "were summed up in cells" not in few
    monkeypatch.setattr(rows_in_cells, "MOST_ROWS", 1000)
    many = plain_text(run("interval", file, *COLUMNS, *FAST, "--verbose").stdout)
    assert "were summed up in cells of width 1/153,600" in many
    interval = cs.confidence_interval(cs.Sample.from_frame(frame, "y", "p"), n_resamples=99, rng=0)
    assert f"is at most {interval.high:.4f}" in many


READS = """
import sys
from calibstat.cli.app import main
from calibstat.cli.large.rows_in_cells import RowCounts

def told(self, *rows, add=RowCounts.add):
    print("reads", file=sys.stderr, flush=True)
    add(self, *rows)

RowCounts.add = told
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt is sent in another way")
def test_an_interrupt_leaves_nothing(tmp_path):
    """So many files are being read that the interrupt comes before the end on any machine."""
    first, work = tmp_path / "rows.csv", tmp_path / "work"
    work.mkdir()
    frame = pd.DataFrame({"y": [0, 1] * 50_000, "p": [0.25, 0.75] * 50_000})
    frame.to_csv(first, index=False)
    for k in range(400):
        os.link(first, tmp_path / f"part-{k}.csv")
    command = [sys.executable, "-c", READS, "test", str(tmp_path / "part-*.csv"), *COLUMNS]
    environment = {**os.environ, "TMPDIR": str(work)}
    with subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr.readline() == b"reads\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 1)
    assert out == b""
    assert b"Traceback" not in err
    assert list(work.iterdir()) == []
