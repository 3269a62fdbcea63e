"""A forecaster has two systems, 150 forecasts a day, and 730 days that are like their neighbours: which is better?"""

# %% The forecasts: the second system has the same skill, and errs a little more
import numpy as np
from scipy.special import expit, logit

import calibstat as cs

day = np.arange("2026-01-01", "2028-01-01", dtype="datetime64[D]").repeat(150)
rows = cs.generators.calibrated().sample(day.size, rng=0, clusters=73, share=0.05, alike=0.2)  # ten days are alike
noise = np.random.default_rng(1).normal(size=day.size)
y, p = rows.y, {"first": rows.p, "second": expit(logit(rows.p) + 0.5 * noise)}

# %% The first guesses: a decomposition, and the skill score that forecasters print
for guess in (lambda: cs.murphy(y, p["first"]), lambda: cs.estimate(y, p["first"], measure="bss")):
    try:
        guess()
    except (AttributeError, ValueError) as error:
        said = str(error)
    assert "decompose(y, p)" in said or "skill_score(y, p)" in said
assert cs.skill_score(y, p["first"], cluster=day).low > 0  # better than the climatology of these days
cs.decompose(y, p["first"])

# %% Is the first system calibrated? Blocks of days, because a wet day follows a wet day
blocks = cs.blocks(day)
first = cs.calibration_test(y, p["first"], cluster=blocks, rng=0)
assert first.answer.startswith("No miscalibration is shown")
first

# %% Which is better? It is told, with the days as clusters, and with blocks of days
for cluster in (day, blocks):
    compared = cs.compare(y, p, measure="brier", cluster=cluster)
    assert compared.answer.startswith("first has a smaller brier than second (p = ")
    assert compared.pvalue[0] < 1e-4
    assert compared.high[0] < 0
compared

# %% The test that forecasters know: Diebold and Mariano, of the differences by day
loss = (y - p["first"]) ** 2 - (y - p["second"]) ** 2
daily = loss.reshape(730, 150).mean(axis=1)
half = 1.96 * daily.std(ddof=1) / 730**0.5
assert daily.mean() + half < 0
assert compared.high[0] - compared.low[0] < 3 * (2 * half)  # it was 14 times as wide

# %% And is the second system calibrated?
second = cs.calibration_test(y, p["second"], cluster=blocks, rng=0)
assert second.answer.startswith("Not calibrated")
second

# %% A picture, by blocks of days
cs.reliability(y, p, cluster=blocks, rng=0)
