"""
A judge and few labels
======================

A model made 1,447 predictions. People labelled 200 of them, and another model, the *judge*, answered all. How
much do the judge's answers help, and what happens if they are taken for the truth?
"""

# %%
# Three models of digits
# ----------------------
#
# Is the digit odd? One model predicts, another one, trained on other rows, is the judge.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import calibstat as cs

pixels, digit = load_digits(return_X_y=True)
order = np.random.default_rng(1).permutation(digit.size)
x, y = pixels[order], digit[order] % 2
model = LogisticRegression(C=0.001, max_iter=5000).fit(x[:150], y[:150])
judge = KNeighborsClassifier(3).fit(x[150:350], y[150:350])
p, answers, truth = model.predict_proba(x[350:])[:, 1], judge.predict(x[350:]), y[350:]
labelled = np.random.default_rng(2).permutation(p.size) < 200
few = np.where(labelled, truth, np.nan)  # all that people labelled
print(f"The judge is right in {np.mean(answers == truth):.0%} of the rows.")

# %%
# Is the model calibrated?
# ------------------------
#
# ``blind=True`` says that the judge never saw a label of these rows. Under this premise the test is exact for
# every judge.
test = cs.calibration_test(few, p, judge=cs.Judge(answers, blind=True), rng=1)
print(test.answer)
print(f"Without the judge: p = {test.rows.pvalue_labels_only:.2f}")

# %%
# How large is the error?
# -----------------------
#
# Here all labels are known, so the answers can be checked. The judge as truth has the shortest interval, for
# the wrong question: how far the predictions are from the judge.
import matplotlib.pyplot as plt

guided = cs.confidence_interval(few, p, measure="ks", judge=cs.Judge(answers), rng=1)
intervals = {
    "200 labels": guided.rows.labels_only,
    "200 labels and the judge": guided,
    "the judge taken for the truth": cs.confidence_interval(answers, p, measure="ks", rng=1),
    "all 1,447 labels": cs.confidence_interval(truth, p, measure="ks", rng=1),
}
figure, axes = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
for place, (name, each) in enumerate(intervals.items()):
    axes.plot([each.low, each.high], [place, place], linewidth=5, solid_capstyle="butt")
    print(f"{name:30} {each.low:.3f} to {each.high:.3f}")
axes.set(yticks=range(len(intervals)), yticklabels=list(intervals), xlabel="KS calibration error", xlim=(0, None))
axes.invert_yaxis()

# %%
# What is the judge worth?
# ------------------------
print(guided.rows.worth)
