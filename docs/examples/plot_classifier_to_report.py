"""
A classifier, from fit to report
================================

You fitted a classifier with scikit-learn and kept some rows apart. Are its probabilities right? This page
goes from the fit to a page that you can send: test, size of the error, diagram, correction, report.
"""

# %%
# Fit a model
# -----------
#
# The data are 569 tumours of the breast. Half of the rows fit the model, a quarter corrects it, and a quarter
# judges it.
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import calibstat as cs

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
order = np.random.default_rng(0).permutation(len(y))
fit, correct, judge = np.split(order, [285, 427])
model = GaussianNB().fit(X.iloc[fit, :10], y.iloc[fit])
p = cs.predict(model, X.iloc[judge, :10])
outcome = y.iloc[judge]

# %%
# Is it calibrated?
# -----------------
#
# One test detects every kind of miscalibration, and its p-value is exact for any number of independent rows.
print(cs.calibration_test(outcome, p, rng=0).answer)

# %%
# How large is the error?
# -----------------------
#
# The expected calibration error (ECE) is never given without its interval: even a calibrated model has a
# positive ECE in nearly every sample.
interval = cs.confidence_interval(outcome, p, measure="ece", rng=0)
print(f"ECE {interval.estimate:.3f}, 95 % confidence interval {interval.low:.3f} to {interval.high:.3f}")

# %%
# Correct it
# ----------
#
# The map is fitted to the rows that were kept for it. Rows that fitted the map cannot judge it.
platt = cs.recalibration.PlattScaling().fit(cs.predict(model, X.iloc[correct, :10]), y.iloc[correct])
models = {"naive Bayes": p, "recalibrated": platt.predict_proba(p)}
print(cs.summarize(outcome, models))

# %%
# See it
# ------
#
# A calibrated model keeps inside the bands with probability of at least 95 %. Points outside are diamonds.
cs.plot(cs.reliability(outcome, models, rng=0))

# %%
# Send it
# -------
#
# The report holds all of this on one page, and opens without a network: ``report.save("report.html")``.
report = cs.report(outcome, models, rng=0)
print(report)
