"""
One data set: cross-validated predictions
=========================================

You have one data set and no second one to judge the model by. Cross-validation predicts each row by a model
that has not seen it. But these predictions depend on each other, because the models share rows, and a test
that ignores this is wrong.
"""

# %%
# Two learners on one survey
# --------------------------
#
# In a survey 6366 married women said whether they had an affair. Naive Bayes treats eight answers as independent.
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.datasets import fair

import calibstat as cs

women = fair.load_pandas().data
affair = women.pop("affairs") > 0
learners = {"logistic": make_pipeline(StandardScaler(), LogisticRegression()), "naive Bayes": GaussianNB()}
found = {name: cs.cross_validate(learner, women, affair, rng=1) for name, learner in learners.items()}
for name, each in found.items():
    print(f"{name}\n{each}\n")

# %%
# What may be said
# ----------------
#
# The test asks whether the learner is wrong each time it is fitted. The upper end of the interval allows for
# the chance errors of these fits, and is the number to report.
for name, each in found.items():
    print(f"{name:12} kernel error at most {each.interval.high:.3f}")

# %%
# Are the predictions at hand already?
# ------------------------------------
#
# Give them with ``folds=``. Without it they would count as predictions of one fresh model.
predictions = {name: each.predictions for name, each in found.items()}
result = cs.compare(affair, predictions, folds=found["logistic"].folds, rng=1)
print(result)

# %%
# The errors with their upper ends:
figure, axes = plt.subplots(figsize=(6.5, 2), layout="constrained")
for place, each in enumerate(found.values()):
    axes.plot([each.interval.low, each.interval.high], [place, place], linewidth=6, solid_capstyle="butt")
axes.set(yticks=range(2), yticklabels=list(found), xlabel="kernel calibration error, 95 % interval", xlim=(0, None))
axes.invert_yaxis()
