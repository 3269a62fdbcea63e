"""An engineer puts calibration into a pipeline, on the shell: a test, a gate with exit codes, and an alarm."""

# %% Files: held-out rows in a folder of Parquet files, and a live stream that drifts on January 16
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import calibstat as cs

Path("held").mkdir()
for part in range(4):
    y, p = cs.generators.temperature(1.05).sample(25_000, rng=part)
    pd.DataFrame({"label": y.astype(int), "score": p}).to_parquet(f"held/part{part}.parquet")
day = np.arange("2026-01-01", "2026-01-31", dtype="datetime64[D]").repeat(200)
before, after = cs.generators.calibrated().sample(3_000, rng=8), cs.generators.shift(0.7).sample(3_000, rng=9)
y, p = np.concatenate([before.y, after.y]).astype(int), np.concatenate([before.p, after.p])
pd.DataFrame({"label": y, "score": p, "day": day}).to_csv("live.csv", index=False)


def shell(line):
    """Run a command; return its exit code, and what it printed as one line."""
    words = [sys.executable, "-m", "calibstat", *line.replace("COLUMNS", "--label label --prob score").split()]
    done = subprocess.run(words, capture_output=True, text=True)
    print(f"$ calibstat {line}\n{done.stdout[:1_000]}{done.stderr}[exit code {done.returncode}]\n")
    return done.returncode, " ".join((done.stdout + done.stderr).split())


# %% The first guess has the wrong columns, and the error names those that there are
assert shell("test held --label y --prob p") == (2, "calibstat: no column 'y'; the file has 'label', 'score'")
code, said = shell("test held COLUMNS")
assert (code, "and the error is small: ECE" in said) == (0, True)  # 100,000 rows find an error that is tiny
found = json.loads(shell("test held COLUMNS --format json")[1])
assert found["omnibus.size.low"] < cs.generators.temperature(1.05).truth("ece") < found["omnibus.size.high"] < 0.02

# %% A gate: a slip is told before anything is computed, and then shown, the opposite, and too few rows are told apart
parts = " ".join(map(str, sorted(Path("held").iterdir())))  # what a shell makes of held/*.parquet
code, said = shell(f"report {parts} COLUMNS --fail-unless ece<=0.02 --out report.html")
assert (code, "write ece.high (shown)" in said, Path("report.html").exists()) == (2, True, False)
for limit, expected in (("2%", 0), ("0.001", 1), ("0.01", 3)):
    assert shell(f"report {parts} COLUMNS --fail-unless ece.high<={limit} --out report.html")[0] == expected

# %% A job for every night: it fails on an alarm, at the right day, and goes on where it stopped
code, said = shell("monitor live.csv COLUMNS --when day --state state.json --fail-on-alarm")
assert (code, "Likely start: period 2026-01-16: predictions too high" in said) == (1, True)
assert "30 of them known already" in shell("monitor live.csv COLUMNS --when day --state state.json")[1]
