"""
A frame larger than memory
==========================

A calibration test needs to know how many rows and how many events there are at each prediction, and nothing
else. The engine that holds the data makes this summary, so the number of rows does not matter.
"""

# %%
# A folder of files
# -----------------
#
# The predictions come from a logistic regression on a survey. They are drawn again for ten files of 50,000
# rows, which stand for the many files of a real folder.
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from statsmodels.datasets import fair
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools import add_constant

import calibstat as cs

women = fair.load_pandas().data
affair = women.pop("affairs") > 0
fitted = Logit(affair.astype(int), add_constant(women)).fit(disp=0).predict()

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(1)
for day in range(10):
    p = rng.choice(fitted, 50_000)
    drift = 1.0 if day < 6 else 1.15  # from day 6 on events are more frequent than predicted
    y = rng.random(p.size) < np.minimum(p * drift, 1)
    pl.DataFrame({"day": day, "y": y, "p": p}).write_parquet(folder / f"{day}.parquet")

# %%
# One summary
# -----------
#
# ``scan_parquet`` reads nothing yet. Polars groups the rows, and only the groups come to Python. DuckDB,
# PyArrow, Dask and Spark are used in the same way.
frame = pl.scan_parquet(folder / "*.parquet")
sample = cs.Sample.from_frame(frame, "y", "p")
print(sample)

# %%
# Everything that asks about one model takes the summary in place of outcomes and predictions.
print(cs.calibration_test(sample, rng=1).answer)
cs.plot(cs.reliability(sample, rng=1), title="500,000 rows")

# %%
# Day by day
# ----------
#
# ``by=`` makes one summary for each day, for a monitor.
days = cs.Sample.from_frame(frame, "y", "p", by="day")
monitor = cs.Monitor()
for day, each in sorted(days.items()):
    status = monitor.update(each, period=int(day))
print(status)
