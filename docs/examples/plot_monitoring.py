"""
Monitoring a model in use
=========================

A forecast was good when it was made. Since when is it wrong? A test on every day raises a false alarm within
a year for almost every calibrated model. A monitor is made for repeated looks.
"""

# %%
# Forecasts, month by month
# -------------------------
#
# Will the sea off Peru be warmer next month than that month used to be? The forecast is fitted on the first 25
# years and watched from then on.
import numpy as np
import statsmodels.api as sm

import calibstat as cs

degrees = sm.datasets.elnino.load_pandas().data.drop(columns="YEAR").to_numpy()
month = np.arange("1950-01", "2011-01", dtype="datetime64[M]").astype(str)


def forecasts(years):
    """Fit on the first years; return month, outcome and forecast of the later ones."""
    deviation = (degrees - degrees[:years].mean(axis=0)).ravel()
    warm, before = deviation[1:] > 0, sm.add_constant(deviation[:-1])
    fit = sm.Logit(warm[: 12 * years - 1], before[: 12 * years - 1]).fit(disp=0)
    later = slice(12 * years - 1, None)
    return month[1:][later], warm[later], fit.predict(before)[later]


# %%
# Look every month
# ----------------
#
# ``update`` takes the rows of one period and returns the status. The chance of ever raising a false alarm is at
# most 5 %.
monitor = cs.Monitor(alpha=0.05)
for when, y, p in zip(*forecasts(years=25), strict=True):
    status = monitor.update([y], [p], period=str(when))
print(status)

# %%
# The upper picture has the evidence and the threshold of the alarm, the lower one observed minus predicted with
# a band that is right in all months at once.
cs.plot(monitor)

# %%
# After an alarm
# --------------
#
# The climate of the Pacific changed in 1976 and 1977. A forecast that is fitted on 30 years has the change in
# its data.
refitted = cs.Monitor(alpha=0.05)
for when, y, p in zip(*forecasts(years=30), strict=True):
    status = refitted.update([y], [p], period=str(when))
print(str(status).splitlines()[0])

# %%
# A job that runs every day saves the state in between: ``calibstat monitor rows.csv --state state.json`` does
# so from the shell.
