import numpy as np
import xarray as xr
from scipy.special import ndtr

import calibstat as cs

rng = np.random.default_rng(0)
dims = {"date": 200, "latitude": 6, "longitude": 8}
forecast = xr.DataArray(rng.beta(2, 5, list(dims.values())), dims=list(dims))
day, cell = xr.DataArray(rng.normal(size=200), dims="date"), forecast.copy(data=rng.normal(size=forecast.shape))
rain = 1.0 * (ndtr(0.5**0.5 * (day + cell)) < forecast)  # a day is wet or dry everywhere
rows = xr.Dataset({"y": rain, "p": forecast}).stack(row=list(dims)).dropna("row")
print(cs.calibration_test(rows.y, rows.p, cluster=rows.date, rng=0).answer)
print(f"As independent rows: p = {cs.calibration_test(rows.y, rows.p, rng=0).pvalue:.3f}")
