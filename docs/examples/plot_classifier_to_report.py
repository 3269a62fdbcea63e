"""
A classifier, from fit to report
================================

You fitted a classifier with scikit-learn and kept some rows apart. Are its probabilities right? This page
goes from the fit to a page that you can send: test, size of the error, correction, test, diagram, report.
"""

# %%
# Fit a model
# -----------
#
# Two blood tests tell who is ill. They err together: what disturbs one disturbs the other. Naive Bayes takes them
# to be independent, counts the same evidence twice, and is too sure. The data are drawn, so that the truth is
# known: its log-odds are one and a half times the right ones. A quarter of the patients fits the model, a quarter
# corrects it, and the other half judges it.
import numpy as np
from sklearn.naive_bayes import GaussianNB

import calibstat as cs

rng = np.random.default_rng(0)
y = rng.binomial(1, 0.5, 40_000)
X = 1.5 * y[:, None] + rng.normal(size=(40_000, 1)) + rng.normal(size=(40_000, 2))
fit, other, judge = slice(10_000), slice(10_000, 20_000), slice(20_000, 40_000)
model = GaussianNB().fit(X[fit], y[fit])
p = cs.predict(model, X)

# %%
# Is it calibrated?
# -----------------
#
# One test detects every kind of miscalibration, and its p-value is exact for any number of independent rows. The
# answer also says how large the error is: the expected calibration error (ECE), in points of a percentage, with
# its 95 % interval. It is never given without one: even a calibrated model has a positive ECE in nearly every sample.
before = cs.calibration_test(y[judge], p[judge], rng=0)
print(before.answer)
print(before.next_step)

# %%
# Correct it
# ----------
#
# ``choose`` compares ten maps on the rows that were kept for it, and the best one is fitted to them. Here it takes
# temperature scaling, which divides all log-odds by one number. That is what they need. Rows that fitted the map
# cannot judge it.
chosen = cs.recalibration.choose(y[other], p[other], rng=0).recalibrator
print(chosen)
q = chosen.fit(p[other], y[other]).predict_proba(p)

# %%
# Is it calibrated now?
# ---------------------
#
# The other half of the patients judges again. With so many rows a test often finds a trace of an error after a good
# correction. Then the answer begins "Not perfectly calibrated", and the end of the sentence is what counts: whether the
# error is small.
after = cs.calibration_test(y[judge], q[judge], rng=0)
print(after.answer)
print(after.next_step)

# %%
# See it
# ------
#
# Before, points are off the line; after, they are on it. Red points are outside the band in which a calibrated model
# would stay.
models = {"before": p[judge], "after": q[judge]}
cs.plot(cs.reliability(y[judge], models, rng=0))

# %%
# Send it
# -------
#
# The report holds all of this on one page, and opens without a network: ``report.save("report.html")``.
report = cs.report(y[judge], q[judge], rng=0)
print(report)

# %%
# What to conclude
# ----------------
#
# Use the corrected predictions. Their error in the population is at most 1.2 points of a percentage, with 95 %
# confidence; before the correction it was more than 5. ``cs.recalibration.CalibratedModel`` keeps model and map
# together, and ``cs.Monitor`` finds out when they no longer fit.
