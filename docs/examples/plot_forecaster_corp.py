"""
A forecaster's CORP diagram
===========================

Each month from 1950 to 2010 the temperature of the sea off Peru was measured. The forecast: will the next
month be warmer than that month used to be? The CORP diagram draws how often it was, by the forecast, without
a choice of bins.
"""

# %%
# The forecasts
# -------------
#
# A logistic regression on this month's deviation is fitted on the first 25 years, and forecasts the other 36.
import numpy as np
import statsmodels.api as sm

import calibstat as cs

degrees = sm.datasets.elnino.load_pandas().data.drop(columns="YEAR").to_numpy()
deviation = (degrees - degrees[:25].mean(axis=0)).ravel()
warm, before = deviation[1:] > 0, sm.add_constant(deviation[:-1])
past = slice(None, 12 * 25 - 1)
later = slice(12 * 25 - 1, None)
y, p = warm[later], sm.Logit(warm[past], before[past]).fit(disp=0).predict(before[later])
print(f"{y.size} forecasts, mean {p.mean():.2f}; the month was warm in {y.mean():.0%}")

# %%
# The diagram
# -----------
#
# The green curve is the CORP curve: the non-decreasing frequency that fits best. Its band is simultaneous: the
# curve of a calibrated forecaster stays inside it everywhere with probability of at least 95 %.
diagram = cs.reliability(y, p, rng=1)
cs.plot(diagram, title="Warm months off Peru")

# %%
# The score in three parts
# ------------------------
#
# The Brier score is miscalibration (MCB) less discrimination (DSC) plus uncertainty (UNC). MCB is what
# recalibration could gain at most; DSC is what the forecasts know about the months; UNC is the score of the
# base rate.
print(cs.decompose(y, p))

# %%
# The climate changed
# -------------------
#
# Forecasts fitted on the years up to 1975 are too low afterwards: the Pacific became warmer in 1976 and 1977.
print(cs.calibration_test(y, p, rng=1).answer)

# %%
# Months in a row are alike. Whole years as clusters assume less: one year is independent of the next, given the
# forecasts.
year = np.arange(12 * 25, 12 * 61) // 12
year = year[: y.size]
print(cs.calibration_test(y, p, cluster=year, rng=1).answer)
