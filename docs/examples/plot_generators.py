"""
Generators: data whose truth is known
=====================================

A study of a measure needs data whose calibration error is known. A generator draws them: outcomes and predictions,
from a distribution whose calibration curve and whose value of every measure are known. This page shows some of them.
"""

# %%
# Predictions of one event
# ------------------------
#
# The curve is the probability of the outcome given the prediction; on the dotted diagonal the model is calibrated.
# The bars are the distribution of 20,000 predictions. ``truth`` is the value of a measure in the population.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats

import calibstat as cs

generators = cs.generators
shown = {
    "calibrated": generators.calibrated(),
    "calibrated, rare events": generators.calibrated(stats.beta(0.5, 5)),
    "over-confident": generators.temperature(2),
    "under-confident": generators.temperature(0.5),
    "too high": generators.shift(0.8),
    "errors that alternate": generators.high_frequency(4),
    "a mixture of two normal classes": generators.gaussian_mixture(1, 1),
    "two groups, one wrong": generators.groups({"a": (0.7, generators.calibrated()), "b": (0.3, generators.shift(2))}),
    "another S-shape": generators.distorted(generators.calibrated(), s_shape=0.9),
}

v = np.linspace(0.001, 0.999, 400)
figure, axes = plt.subplots(3, 3, figsize=(8, 8), sharex=True, sharey=True, layout="constrained")
for ax, (name, generator) in zip(axes.flat, shown.items(), strict=True):
    _, p = generator.sample(20_000, rng=1)
    ax.hist(p, bins=25, range=(0, 1), weights=np.full(p.size, 2 / p.size), color="0.8")
    ax.plot([0, 1], [0, 1], ":", color="0.4")
    ax.plot(v, generator.curve(v))
    ax.set_title(f"{name}\nunbinned error {generator.truth('ece', n_bins=None):.3f}", fontsize=9)
figure.supxlabel("prediction")
figure.supylabel("probability of the outcome; bars: twice the share of predictions")

# %%
# Every binary measure has a true value there.
measures = ["ece", "smooth_ce", "kernel_ce", "ks", "brier"]
names = ["calibrated", "over-confident", "errors that alternate"]
truths = {name: {measure: shown[name].truth(measure) for measure in measures} for name in names}
print(pd.DataFrame(truths).round(4).to_string())

# %%
# The curve of ``errors that alternate`` has an ECE far above its smooth error: errors that cancel within a small
# distance are small for a measure that is continuous.
#
# A few points
# ------------
#
# Finite generators are worked out by hand in papers. ``hidden`` has large errors that cancel in a bin: by ten bins
# the model looks calibrated. ``domain`` has the true distance from calibration, which no data can show.
hidden = generators.hidden()
print(f"hidden: {hidden.truth('ece', n_bins=10):.3f} over ten bins, {hidden.truth('ece', n_bins=None):.3f} without")
for world in (1, 2):
    gap = generators.quadratic_gap(0.2, world)
    print(f"world {world}: kernel error {gap.truth('kernel_ce'):.4f}, distance from calibration {gap.distance():.4f}")

# %%
# Six points
# ----------
#
# Six equally likely predictions of three classes, each of them wrong as a vector, although the most likely class and
# each class alone are calibrated.
six = generators.six_points()
for lens, measure in (("top_label", "ece"), ("class_wise_mean", "ece"), ("canonical", "canonical_ce")):
    options = {"strategy": "uniform", "n_bins": 20} if lens == "canonical" else {}
    print(f"{lens:15} {six.truth(measure, lens=lens, **options):.3f}")

label, prob = six.sample(5000, rng=1)
ax = cs.plot(cs.reliability(label, prob, lens="canonical", rng=1))

# %%
# Each arrow leads from a prediction to the frequencies that were observed there.
#
# All generators
# --------------
#
# ``calibstat generators`` lists them on the command line. Any of them draws rows in clusters and with weights too,
# and is a model of a study: see :doc:`how good is a measure? </gallery/plot_study>`.
print(*cs.generators.GENERATORS, sep=", ")
