"""
Class weights and undersampling
===============================

With ``class_weight="balanced"``, or after undersampling, a classifier predicts probabilities for a population
with half events, which is not the population it is used in. Its ranking is as good as before; its
probabilities are too high.
"""

# %%
# A model with class weights
# --------------------------
#
# Digits: is it an 8? One in ten is.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import calibstat as cs

pixels, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(digit.size)
x, y = pixels[order] / 16, (digit[order] == 8).astype(int)
x_fit, y_fit, x, y = x[:900], y[:900], x[900:], y[900:]

plain = LogisticRegression(max_iter=2000).fit(x_fit, y_fit)
weighted = LogisticRegression(max_iter=2000, class_weight="balanced").fit(x_fit, y_fit)
rng = np.random.default_rng(1)
rate = y_fit.mean() / (1 - y_fit.mean())
kept = (y_fit == 1) | (rng.random(y_fit.size) < rate)
under = LogisticRegression(max_iter=2000).fit(x_fit[kept], y_fit[kept])
models = {"plain": plain, "class weights": weighted, "undersampled": under}
p = {name: model.predict_proba(x)[:, 1] for name, model in models.items()}
for name, each in p.items():
    print(f"{name:14} mean prediction {each.mean():.2f}, observed {y.mean():.2f}, AUC {cs.validate(y, each).auc:.3f}")

# %%
# The error is large
# ------------------
for name, each in p.items():
    found = cs.confidence_interval(y, each, measure="ece", rng=0)
    print(f"{name:14} ECE {found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})")

# %%
# Undo it in closed form
# ----------------------
#
# `PriorShift` needs to know how the rows were sampled, and no outcomes: the weights made half of the training
# rows events, and undersampling kept a known share of the others.
from calibstat.recalibration import PriorShift

prevalence = y_fit.mean()
shift = PriorShift(train_prevalence=0.5, new_prevalence=prevalence).fit(p["class weights"])
back = PriorShift(sampling_rate=rate).fit(p["undersampled"])
corrected = {
    "plain": p["plain"],
    "class weights, undone": shift.predict_proba(p["class weights"]),
    "undersampled, undone": back.predict_proba(p["undersampled"]),
}
for name, each in corrected.items():
    found = cs.confidence_interval(y, each, measure="ece", rng=0)
    print(f"{name:22} ECE {found.estimate:.3f} ({found.low:.3f} to {found.high:.3f})")

# %%
# Before and after:
import matplotlib.pyplot as plt

figure, grid = plt.subplots(1, 2, figsize=(9, 5.5), layout="constrained")
pair = {"class weights": p["class weights"], "undone": corrected["class weights, undone"]}
for axes, (name, each) in zip(grid, pair.items(), strict=True):
    cs.plot(cs.reliability(y, each, rng=0), ax=axes, title=name, legend=False)

# %%
# Better still: do not weight. Move the threshold of the decision instead, and keep the probabilities.
