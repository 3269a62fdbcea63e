"""
Hosmer–Lemeshow rejects with 100,000 rows
=========================================

The model is nearly right, there are 100,000 rows, and the Hosmer–Lemeshow test rejects with a tiny p-value.
Is the model bad? A test answers whether there is any error. The question is how large it is.
"""

# %%
# A nearly calibrated model
# -------------------------
#
# The predictions come from a logistic regression on a survey of 6366 women. To know the truth, outcomes of
# 100,000 rows are drawn: the true log-odds are 6 % larger than the predicted ones, a small error.
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit
from statsmodels.datasets import fair
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools import add_constant

import calibstat as cs

women = fair.load_pandas().data
affair = women.pop("affairs") > 0
fitted = Logit(affair.astype(int), add_constant(women)).fit(disp=0).predict()
rng = np.random.default_rng(1)
p = rng.choice(fitted, 100_000)
y = (rng.random(p.size) < expit(1.06 * logit(p))).astype(int)

# %%
# The test rejects
# ----------------
#
# The rows are held out, so ten groups have ten degrees of freedom.
print(cs.classical.hosmer_lemeshow(y, p, held_out=True))

# %%
# With fewer rows of the same kind it does not. The p-value measures how many rows there are as much as how
# wrong the model is.
sizes = [500, 2_000, 10_000, 50_000, 100_000]
pvalues = [cs.classical.hosmer_lemeshow(y[:n], p[:n], held_out=True).pvalue for n in sizes]
figure, axes = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
axes.plot(sizes, pvalues, "o-")
axes.axhline(0.05, color="0.5", linestyle="--")
axes.set(xlabel="rows", ylabel="Hosmer–Lemeshow p", xscale="log", yscale="log")

# %%
# How large is the error?
# -----------------------
#
# Intervals become shorter with more rows, and do not change their subject.
for n in (2_000, 100_000):
    found = cs.confidence_interval(y[:n], p[:n], measure="ece", rng=1)
    print(f"{n:7,} rows: ECE {found.estimate:.4f}, 95 % confidence interval {found.low:.4f} to {found.high:.4f}")

# %%
# Is it good enough?
# ------------------
#
# An equivalence test reverses the question: its null hypothesis is that outcomes are more than a margin away from the
# predictions. Here many rows help to show that the model is good enough.
print(cs.equivalence_test(y, p, margin=0.02))
