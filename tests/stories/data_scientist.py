"""A data scientist has 20,000 rows and five classifiers of scikit-learn: which one goes to production?"""

# %% Five models, fitted on a quarter of the rows
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibstat as cs

X, y = make_classification(
    120_000, n_features=12, n_informative=5, n_redundant=5, flip_y=0.15, class_sep=0.7, random_state=1
)
fit, other, judge, later = np.split(np.arange(y.size), [5_000, 10_000, 20_000])  # nobody has the later rows yet
models = {
    "logistic": LogisticRegression(max_iter=1000),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(random_state=0),
    "extra trees": ExtraTreesClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}
for model in models.values():
    model.fit(X[fit], y[fit])
p_other, p, p_later = (cs.predict(models, X[rows]) for rows in (other, judge, later))

# %% Are they calibrated?
raw = cs.calibration_test(y[judge], p, rng=0)
assert all(each.answer.startswith("Not calibrated (p = 0.001): ECE") for each in raw.values())
assert all("recalibration.choose" in each.next_step for each in raw.values())
raw

# %% Recalibrate, on other rows
found = cs.recalibration.choose(y[other], p_other, rng=0)
maps = {name: each.recalibrator.fit(p_other[name], y[other]) for name, each in found.items()}
q = {name: maps[name].predict_proba(p[name]) for name in models}
found

# %% Are they calibrated now?
after = cs.calibration_test(y[judge], q, rng=0)
assert all(after[name].size.high < raw[name].size.low for name in models if name != "boosting")
after

# %% Which of those that are good enough is the best?
choice = cs.choose(y[judge], q, subject_to="ece.high <= 0.03", rng=0)
assert choice.answer.startswith(f"Chosen: {choice.name}")
assert after[choice.name].next_step.startswith("Use the predictions")
choice

# %% What the later rows say: the right model was shipped
truth = {name: maps[name].predict_proba(p_later[name]) for name in models}
brier = {name: cs.estimate(y[later], each, measure="brier") for name, each in truth.items()}
assert choice.name == min(brier, key=brier.get)
assert cs.estimate(y[later], truth[choice.name]) <= 0.03

# %% One page for the team
report = cs.report(y[judge], q, rng=0)
report.save("report.html")
report
