"""
Many classes: ten digits
========================

With ten classes "calibrated" has several meanings. The most likely class may be right as often as predicted,
while single classes are wrong. You choose what is asked with ``lens=``.
"""

# %%
# A model of digits
# -----------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import calibstat as cs

pixels, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(digit.size)
fit, correct, judge = np.split(order, [600, 1200])
pixels = pixels + np.random.default_rng(1).normal(0, 4, pixels.shape)  # noise, or hardly any digit is missed
model = LinearDiscriminantAnalysis().fit(pixels[fit], digit[fit])
prob = model.predict_proba(pixels[judge])
label = digit[judge]

# %%
# Is the confidence right?
# ------------------------
#
# ``lens="top_label"``, the default, looks at the most likely class and its probability.
print(cs.calibration_test(label, prob, rng=0).answer)

# %%
# Is each class right?
# --------------------
#
# ``lens="class_wise"`` looks at each class against the rest, and adjusts the p-values for their number.
test = cs.calibration_test(label, prob, lens="class_wise", rng=0)
for name, pvalue in enumerate(test.classes.pvalue_holm):
    print(f"digit {name}: adjusted p = {pvalue:.3f}")
print(f"all together: p = {test.pvalue:.3f}")

# %%
# How large is the error?
# -----------------------
#
# The ECE of papers is the one of the most likely class; the class-wise ECE is the mean over the classes. They
# are different numbers, and packages do not always say which one they print.
top = cs.confidence_interval(label, prob, measure="ece", rng=0)
wise = cs.confidence_interval(label, prob, measure="ece", lens="class_wise_mean", rng=0)
print(f"most likely class {top.estimate:.3f} ({top.low:.3f} to {top.high:.3f})")
print(f"mean over classes {wise.estimate:.3f} ({wise.low:.3f} to {wise.high:.3f})")

# %%
# Correct it
# ----------
#
# One temperature, fitted on rows of its own, corrects the confidence of all classes together and never changes
# the most likely class.
scaling = cs.recalibration.TemperatureScaling().fit(model.predict_proba(pixels[correct]), digit[correct])
scaled = scaling.predict_proba(prob)
figure, grid = plt.subplots(1, 2, figsize=(9, 5.5), layout="constrained")
for axes, (name, each) in zip(grid, {"as fitted": prob, "with a temperature": scaled}.items(), strict=True):
    cs.plot(cs.reliability(label, each, rng=0), ax=axes, title=name, legend=False)
