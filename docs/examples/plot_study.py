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
# A generator draws outcomes and the predictions of four models of the same rows, and knows the value of every measure
# in the population. The first model is calibrated, the others are more and more over-confident.
import pandas as pd

import calibstat as cs

predictions = {f"T = {temperature}": {"temperature": temperature} for temperature in (1, 1.25, 1.5, 2)}
family = cs.generators.models(cs.generators.calibrated(), predictions)
measures = ["ece", "smooth_ce", "brier"]
truths = {name: {measure: model.truth(measure) for measure in measures} for name, model in family.models.items()}
print(pd.DataFrame(truths).round(3).to_string())

# %%
# How far off is it?
# ------------------
#
# A hundred data sets of each number of rows. The ECE and the smooth error are too high with few rows, most of all for
# the calibrated model, whose error is 0. The Brier score is right on average: it is a mean.
grid = {"n": [100, 300, 1000], "measures": measures, "replicates": 100, "seed": 1}
models = {"temperatures": family}
bias = cs.study.run("bias", models, **grid)
columns = ["model", "measure", "truth", "mean", "bias"]
print(bias.loc[bias["n"] == 1000, columns].round(4).to_string(index=False))

# %%
axes = cs.plot(bias[bias["measure"] == "ece"])

# %%
# How fast does its error vanish?
# -------------------------------
#
# The root mean squared error falls like a power of the number of rows. An order of 1/2 is the order of a mean: four
# times as many rows halve the error. Above it, the bias of small samples goes away faster than noise does.
consistency = cs.study.run("consistency", models, **grid)
print(consistency[["model", "measure", "order", "order_se"]].round(2).to_string(index=False))

# %%
axes = cs.plot(consistency)

# %%
# Does it put models in the right order?
# --------------------------------------
#
# The rank correlation of the estimates with the true values, over the four models: 1 where the order is right.
# The models are judged on the same rows, as recalibrations of one model are, so that they share the noise of the
# outcomes.
ranking = cs.study.run("ranking", models, **grid)
right = ranking[ranking["against"] == "its truth"]
table = right.pivot(index="measure", columns="n", values="correlation").round(2)
print(table.to_string())

# %%
axes = cs.plot(ranking)

# %%
# :doc:`Studies </guide/studies>` has all questions, measures and data of your own, files that keep a study together,
# and long runs that can be stopped and go on.
