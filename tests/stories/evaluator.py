"""An evaluator has two language models that say how sure they are, in per cent, and asks each question five times."""

# %% Answers of two models: the first knows how much it knows, the second is too sure
import numpy as np
from scipy.stats import beta

import calibstat as cs

first, second = cs.generators.calibrated(beta(4, 2)), cs.generators.temperature(2.5, beta(4, 2))
rows = {
    name: model.sample(2_000, rng=seed, clusters=400, share=0.5)
    for seed, (name, model) in enumerate({"A": first, "B": second}.items())
}
question = rows["A"].cluster
said = {name: [f"{each:.0%}" for each in found.p] for name, found in rows.items()}  # "83%", and "100%" too
right = {name: found.y for name, found in rows.items()}

# %% The first guess is the text as it is. The error has the line that reads it
try:
    cs.calibration_test(right["A"], said["A"])
except ValueError as error:
    advice = str(error)
assert advice.endswith('write [float(each.strip("% ")) / 100 for each in y_prob]')
p = {name: [float(each.strip("% ")) / 100 for each in texts] for name, texts in said.items()}

# %% Does A know what it knows? Answers to one question belong together
a = cs.calibration_test(right["A"], p["A"], cluster=question, rng=0)
assert a.answer.startswith("No miscalibration is shown")
a

# %% And B? It was wrong where it said 100 %, which is a finding beside the answer, and not the answer
b = cs.calibration_test(right["B"], p["B"], cluster=question, rng=0)
lines = b.answer.splitlines()
assert lines[0].startswith("Not calibrated (p = 0.001, approximate): ECE")
assert "predicted to be impossible and happened" in lines[1]
assert "recalibration.choose" in b.next_step
b

# %% Which one is better calibrated? They were right about different answers, and questions are repeated
samples = {name: (right[name], p[name]) for name in p}
try:
    cs.compare(samples, cluster=question)
except ValueError as error:
    advice = str(error)
assert "confidence_interval" in advice

# %% What the error advises: an interval of each. They do not overlap, so that A is better, with 95 % confidence
words = {"cluster": question, "confidence_level": 0.975, "rng": 0}
interval = {name: cs.confidence_interval(*samples[name], **words) for name in p}
assert interval["A"].high < interval["B"].low
assert np.isclose(first.truth("ece"), 0)
assert interval["B"].low < second.truth("ece") < interval["B"].high
interval["B"]
