"""A clinician validates a model on 400 patients of 12 hospitals: a table, a figure and a sentence for the paper."""

# %% The data: a model that predicts too low a risk, in hospitals of unequal size
import pandas as pd

import calibstat as cs

model = cs.generators.shift(-0.5)
y, p, hospital, _ = model.sample(400, rng=0, clusters=12, size="geometric", share=0.1)
many = model.sample(1_000_000, rng=1)
true_ratio = many.y.mean() / many.p.mean()  # 1.2: a fifth more events than expected

# %% The first guesses of someone who comes from R
for guess in (lambda: cs.val_prob(y, p), lambda: cs.validate(p, y)):
    try:
        guess()
    except (AttributeError, ValueError) as error:
        said = str(error)
    assert "calibstat.validate(y, p)" in said or "they look swapped" in said
said

# %% The table, which knows that patients of one hospital belong together
table = cs.validate(y, p, cluster=hospital)
low, high = table.intervals["ratio"]
assert 1 < low < true_ratio < high < 1.5  # too few events are expected, and the interval can be printed in a paper
low, high = table.intervals["slope"]
assert low < 1 < high
table

# %% Two intervals for one question agree: O/E above 1, calibration in the large above 0
assert table.intervals["in_the_large"][0] > 0

# %% Each hospital, and how much they differ
hospitals = table.by_cluster
assert len(hospitals.to_frame()) == 12
hospitals

# %% Is it calibrated?
test = cs.calibration_test(y, p, cluster=hospital, rng=0)
assert not test.size.is_small  # 400 patients of 12 hospitals cannot show a small error
test

# %% For whom is it wrong? Groups take hospitals too
sex = pd.DataFrame({"sex": ["female", "male"] * 200})
groups = cs.audit(y, p, sex, cluster=hospital, rng=0)
assert "in 12 clusters" in groups.sentence(0)
groups

# %% One page for the paper's supplement
report = cs.report(y, p, cluster=hospital, rng=0)
report.save("report.html")
report
