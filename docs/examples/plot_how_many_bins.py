"""
How many bins?
==============

The expected calibration error (ECE) of one model on one data set can be small or large, as you choose the
bins. This page shows how much, what to do about it, and what to report.
"""

# %%
# One model, many errors
# ----------------------
#
# Boosted trees tell malignant from benign tumours by four features. Only the number of bins changes.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

import calibstat as cs

X, y = load_breast_cancer(return_X_y=True)
boosted = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(X[::2, :4], y[::2])
p, y = boosted.predict_proba(X[1::2, :4])[:, 1], y[1::2]

bins = np.array([2, 5, 10, 15, 20, 30, 50, 100])
ece = [cs.estimate(y, p, measure="ece", n_bins=int(n)) for n in bins]
calibrated = []
draws = np.random.default_rng(1).random((200, p.size)) < p  # outcomes, if the model were calibrated
for n in bins:
    calibrated.append(np.mean([cs.estimate(each.astype(int), p, measure="ece", n_bins=int(n)) for each in draws]))

figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
axes.plot(bins, ece, "o-", label="this model")
axes.plot(bins, calibrated, "s--", label="a calibrated model with the same predictions, mean")
axes.set(xlabel="number of bins", ylabel="ECE", ylim=(0, None), xscale="log")
axes.legend()

# %%
# The estimate grows with the number of bins, and so does the estimate of a calibrated model: it is noise that
# grows. So two numbers of bins give two numbers that cannot be compared, and an ECE without its interval says
# little.
#
# The test needs no bins
# ----------------------
#
# The question "is it calibrated?" does not depend on bins.
print(cs.calibration_test(y, p, rng=1).answer)

# %%
# What to report
# --------------
#
# Report the ECE of 10 or 15 bins if readers compare it, fixed before you look, with its interval. Beside it
# report an error that has no bins.
for measure in (cs.measures.ECE(n_bins=10), cs.measures.ECE(n_bins=15), "kernel_ce", "ks"):
    found = cs.confidence_interval(y, p, measure=measure, rng=1)
    print(f"{found.measure!s:40} {found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})")

# %%
# If the rule is "the more rows the more bins", let the number of rows choose: ``n_bins="cube_root"``.
print(round(cs.estimate(y, p, measure="ece", n_bins="cube_root"), 3))
