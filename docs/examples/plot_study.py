"""
How good is a measure?
======================

A measure of calibration is an estimate, with a bias, a rate at which its error vanishes, and an order in which it
puts models. On data whose truth is known all three can be seen. This page asks them of three measures. All data are
simulated.
"""

# %%
# Models whose truth is known
# ---------------------------
#
# Each generator draws outcomes and predictions, and knows the value of every measure in its population. The first
# model is calibrated, the others are more and more over-confident.
import pandas as pd

import calibstat as cs

models = {f"beta = {beta}": cs.generators.temperature(beta) for beta in (1, 1.25, 1.5, 2)}
measures = ["ece", "smooth_ce", "brier"]
truths = {name: {measure: model.truth(measure) for measure in measures} for name, model in models.items()}
print(pd.DataFrame(truths).round(3).to_string())

# %%
# How far off is it?
# ------------------
#
# A hundred data sets of each number of rows. The ECE and the smooth error are too high with few rows, most of all for
# the calibrated model, whose error is 0. The Brier score is right on average: it is a mean.
grid = {"n": [100, 300, 1000], "measures": measures, "replicates": 100, "seed": 1}
bias = cs.study.run("bias", models, **grid)
columns = ["generator", "measure", "truth", "mean", "bias"]
print(bias.loc[bias["n"] == 1000, columns].round(4).to_string(index=False))

# %%
figure = cs.study.plot(bias[bias["measure"] == "ece"])

# %%
# How fast does its error vanish?
# -------------------------------
#
# The root mean squared error falls like a power of the number of rows. An order of 1/2 is the order of a mean: four
# times as many rows halve the error. Above it, the bias of small samples goes away faster than noise does.
consistency = cs.study.run("consistency", models, **grid)
print(consistency[["generator", "measure", "order", "order_se"]].round(2).to_string(index=False))

# %%
figure = cs.study.plot(consistency)

# %%
# Does it put models in the right order?
# --------------------------------------
#
# The rank correlation of the estimates with the true values, over the four models: 1 where the order is right. Each
# model has rows of its own here, as models of different sites have.
ranking = cs.study.run("ranking", models, **grid)
right = ranking[ranking["against"] == "its truth"]
table = right.pivot(index="measure", columns="n", values="correlation").round(2)
print(table.to_string())

# %%
figure = cs.study.plot(ranking)

# %%
# :doc:`Studies </studies>` has all questions, measures and data of your own, files that keep a study together, and
# long runs that can be stopped and go on.
