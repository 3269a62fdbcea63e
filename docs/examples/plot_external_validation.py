"""
External validation, beside ``val.prob`` of R
=============================================

A model for malignant tumours is validated on patients it has not seen. Reports of such validations follow R's
``rms::val.prob``. This page gets each of its numbers, with intervals, and says how to read them.
"""

# %%
# Two models
# ----------
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
# The table
# ---------
result = cs.validate(y, p["logistic"])
print(result)

# %%
# * **O/E** compares the number of events with the sum of the predictions: above 1, there were more than predicted.
# * **slope** below 1 says that predictions are too extreme. It is the coefficient of the log-odds in a logistic
#   regression on the new patients.
# * **calibration in the large** is the intercept if the slope is fixed at 1: are the predictions too high or too low?
# * **ICI** is the mean distance between the smoothed curve and the diagonal; **E90** and **Emax** are its 90 % quantile
#   and its largest value.
#
# Line by line
# ------------
#
# What ``val.prob(p, y)`` prints, from the same result:
lines = {
    "Dxy": 2 * result.auc - 1,
    "C (ROC)": result.auc,
    "R2": result.r2,
    "D": result.discrimination,
    "D:Chi-sq": result.n * result.discrimination + 1,
    "U": result.unreliability,
    "U:Chi-sq": result.n * result.unreliability + 2,
    "U:p": result.pvalues["unreliability"],
    "Q": result.quality,
    "Brier": result.brier,
    "Intercept": result.intercept,
    "Slope": result.slope,
    "Emax": result.emax,
    "E90": result.e90,
    "Eavg": result.ici,
    "S:z": result.spiegelhalter_z,
    "S:p": result.pvalues["spiegelhalter_z"],
}
for name, value in lines.items():
    print(f"{name:10} {value:9.4f}")

# %%
# The curves
# ----------
#
# The band of the flexible curve is pointwise; a band for all predictions at once is drawn by
# ``cs.reliability(y, p, band="monotone")``.
cs.plot(result)

# %%
# Is it worth acting on?
# ----------------------
#
# Net benefit counts true positives less false positives, weighted by the threshold from which a doctor acts.
cs.plot(cs.net_benefit(y, p))
