"""
A model in a new hospital: update intercept only, or slope too?
===============================================================

A model from one place is used in another, where the event is rarer or more frequent and effects may differ.
How much should be refitted? The fewer numbers are fitted, the fewer local rows it takes.
"""

# %%
# Two places
# ----------
#
# In a survey of 6366 women the model is fitted to the younger ones, and used for those above 32, who stand for
# another place.
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.datasets import fair

import calibstat as cs

women = fair.load_pandas().data
affair = (women.pop("affairs") > 0).to_numpy(int)
here = (women.age <= 32).to_numpy()
x = women[["rate_marriage", "yrs_married", "religious"]].to_numpy()
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[here], affair[here])
p, y = model.predict_proba(x[~here])[:, 1], affair[~here]
local = np.random.default_rng(0).permutation(y.size) < 300  # 300 local rows update the model, the others judge
print(f"{(~local).sum()} rows judge; observed {y[~local].mean():.0%}, predicted {p[~local].mean():.0%}")

# %%
# Three choices
# -------------
#
# `InterceptUpdate` fits one number, `PlattScaling` two (logistic recalibration), and a refit all of them.
from calibstat.recalibration import InterceptUpdate, PlattScaling

refit = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[~here][local], y[local])
models = {
    "as it is": p[~local],
    "intercept": InterceptUpdate().fit(p[local], y[local]).predict_proba(p[~local]),
    "intercept and slope": PlattScaling().fit(p[local], y[local]).predict_proba(p[~local]),
    "refitted": refit.predict_proba(x[~here][~local])[:, 1],
}
judged = y[~local]
for name, each in models.items():
    table = cs.validate(judged, each)
    low, high = table.intervals["slope"]
    print(
        f"{name:20} O/E {table.ratio:.2f}, slope {table.slope:.2f} ({low:.2f} to {high:.2f}), Brier {table.brier:.4f}"
    )

# %%
# Which one?
# ----------
#
# If only O/E is wrong, the intercept is enough. If the interval of the slope excludes 1, a slope is worth
# fitting, if there are rows for it: here 300 local rows turn a slope below 1 into one above 1, and the Brier
# score is no better than with the intercept alone. A refit on 300 rows forgets what the old model knew.
cs.plot(cs.reliability(judged, {name: models[name] for name in ("as it is", "intercept and slope")}, rng=0))
