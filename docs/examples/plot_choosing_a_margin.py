"""
Choosing a margin: what error is small enough?
==============================================

"ECE below 0.03 is excellent" is written in many places, and none says why. A margin follows from what is
decided with the predictions. This page goes from gain and cost to a margin, and from the margin to a
statement.
"""

# %%
# A decision
# ----------
#
# A probability of a malignant tumour decides whether to do a biopsy. A biopsy of a malignant tumour brings 900,
# and one of a benign tumour costs 100. With calibrated predictions it is best to act from 100 / (900 + 100) =
# 10 % on.
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibstat as cs

x, benign = load_breast_cancer(return_X_y=True)
x, malignant = x[:, :4], 1 - benign
new = np.arange(benign.size) % 2 == 1
models = {"logistic": make_pipeline(StandardScaler(), LogisticRegression()), "naive Bayes": GaussianNB()}
p = {name: model.fit(x[~new], malignant[~new]).predict_proba(x[new])[:, 1] for name, model in models.items()}
y = malignant[new]

# %%
# What does miscalibration cost?
# ------------------------------
#
# The decision loss says what people with these gains and costs could gain by acting from another threshold on
# than their own. That is the price of trusting the predictions.
losses = cs.decision_loss(y, p, gain=900, cost=100, rng=1)
for name, each in losses.items():
    print(f"{name}\n{each}\n")
cs.plot(losses)

# %%
# From a price to a margin
# ------------------------
#
# If a loss of 50 for each patient is acceptable with 1000 at stake, the margin of the decision loss is 50 /
# 1000 = 0.05. Fix it before you see the rows.
for name, each in p.items():
    print(f"{name}: {cs.equivalence_test(y, each, margin=0.05, measure='decision_loss', rng=1).answer}")

# %%
# Another margin: points of probability
# -------------------------------------
#
# If predictions are read by people, ask how many points matter to them. Does anyone act otherwise at 20 % than
# at 25 %? If not, five points are a margin for the mean outcome in every fifth of the predictions.
for name, each in p.items():
    print(f"{name}: {str(cs.equivalence_test(y, each, margin=0.05)).splitlines()[0]}")

# %%
# How many rows would that take?
# ------------------------------
#
# ``limit`` is the smallest margin that these rows show, and the text says how many rows a calibrated model
# needs. A margin that 284 patients cannot show is a reason for more patients, and no reason for a larger
# margin.
print(round(cs.equivalence_test(y, p["logistic"], margin=0.05).limit, 3))
