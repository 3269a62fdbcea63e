"""A deep-learning engineer has logits of 100 classes: is the network too sure, what mends it, and is it mended?"""

# %% Logits of a network that is too sure, as it came from the accelerator: in single precision
import numpy as np

import calibstat as cs

network = cs.generators.dirichlet(np.full(100, 0.1), temperature=2)
y, prob = network.sample(10_000, rng=0)
logits = np.log(prob.clip(1e-30)).astype(np.float32) + 3
tune, judge = slice(5_000), slice(5_000, None)

# %% The first guesses are the logits, and the arrays in the other order
for guess in (lambda: cs.calibration_test(y, logits), lambda: cs.calibration_test(prob, y)):
    try:
        guess()
    except ValueError as error:
        said = str(error)
    assert "calibstat.from_logits(y_prob)" in said or "they look swapped" in said
p = cs.from_logits(logits)

# %% Is it right as often as it says?
raw = cs.calibration_test(y[judge], p[judge], rng=0)
assert raw.answer.startswith("Not calibrated (p = 0.001): ECE")
assert "over-confident" in raw.answer
assert "recalibration" in raw.next_step
raw

# %% One parameter, fitted on other rows
scaling = cs.recalibration.TemperatureScaling().fit(p[tune], y[tune])
q = scaling.predict_proba(p[judge])

# %% Is it mended? For the most likely class
after = cs.calibration_test(y[judge], q, rng=0)
assert after.answer.startswith("No miscalibration is shown")
assert after.size.is_small
assert "Use the predictions" in after.next_step
after

# %% For every class by itself
classes = cs.calibration_test(y[judge], q, lens="class_wise", rng=0)
assert classes.pvalue > 0.05
interval = cs.confidence_interval(
    y[judge], {"before": p[judge], "after": q}, measure="ks", lens="class_wise_mean", rng=0
)
assert interval["after"].high < interval["before"].high
classes

# %% Both in one table
table = cs.summarize(y[judge], {"before": p[judge], "after": q}, measures=["ece", "brier", "log_loss"], rng=0)
table
