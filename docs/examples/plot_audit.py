"""
For whom is it wrong? An audit of groups
========================================

A model may be right on average and wrong for one group. If you look at many groups one by one, some look bad
by chance. An audit tests all of them together.
"""

# %%
# A model of a survey
# -------------------
#
# In a survey 6366 married women said whether they had an affair. A logistic regression with a straight line for
# each answer is fitted on one half, and audited on the other.
import numpy as np
from statsmodels.datasets import fair
from statsmodels.formula.api import logit

import calibstat as cs

women = fair.load_pandas().data.rename(columns={"yrs_married": "years", "educ": "school"})
women["affair"] = (women.affairs > 0).astype(int)
fitted = np.random.default_rng(0).permutation(len(women)) < len(women) / 2
rest = women[~fitted]
line = "affair ~ age + years + rate_marriage + religious + school"
p = logit(line, women[fitted]).fit(disp=False).predict(rest)

# %%
# On average it is right
# ----------------------
print(f"predicted {p.mean():.1%}, observed {rest.affair.mean():.1%}")

# %%
# In groups it is not
# -------------------
#
# The groups are parts of one column and of two columns together. For a calibrated model the chance that any group is
# significant is at most 5 %.
result = cs.audit(rest.affair, p, rest[["age", "years", "school"]], rng=1)
print(result.answer)
for group in result.found[:5]:
    print(result.sentence(group))

# %%
# All of them belong to the middle of a marriage, or the time after it: a straight line in the years does not fit.
#
# Mend it, and look again
# -----------------------
models = {"line": p, "curve": logit(f"{line} + I(years**2)", women[fitted]).fit(disp=False).predict(rest)}
both = cs.audit(rest.affair, models, cs.Groups(rest[["age", "years"]], depth=1), rng=1)
cs.plot(both)

# %%
# The curve was chosen because of these rows, so its audit only describes them. A valid test needs new rows.
print(both["curve"].answer)
