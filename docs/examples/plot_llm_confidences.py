"""
Confidences of a language model, with repeated questions
========================================================

A language model answers questions and says how sure it is. There are three common ways to get the confidence:
the model writes a number (*verbalised*), the probability of the answer's token (*token*), or the share of
equal answers among several samples (*sampled*). Are they calibrated, and which is best?

No language model runs on this page. A stand-in answers real questions with all three kinds of confidence:
which digit is on this picture? Each picture is asked about five times, with noise, as a benchmark asks one
question in five wordings. With your own model only the first block changes; `calibstat.readers.lm_eval` reads
its files.
"""

# %%
# Answers and confidences
# -----------------------
#
# The outcome is whether the answer is right. The question names the rows that belong together.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import calibstat as cs

rng = np.random.default_rng(1)
pixels, digit = load_digits(return_X_y=True)
seen, asked = np.arange(digit.size) < 500, np.arange(digit.size) >= 1300
question = np.repeat(np.flatnonzero(asked), 5)
wording = pixels[question] + rng.normal(0, 4, (question.size, 64))

token_model = LogisticRegression(C=0.1, max_iter=2000).fit(pixels[seen], digit[seen])
token = token_model.predict_proba(wording)
answer = token.argmax(axis=1)
right = answer == digit[question]

probability = token.max(axis=1)
confidence = {
    "token": probability,
    "sampled": rng.binomial(10, probability) / 10,  # ten samples: how many give the same answer?
    "verbalised": np.clip(probability, 0.8, 0.95).round(1),  # a writer of round numbers, hardly ever below 80 %
}
print(f"{right.size} answers to {asked.sum()} questions, {right.mean():.0%} right")

# %%
# Are they calibrated?
# --------------------
#
# The five answers to one question are right or wrong together. ``cluster=`` says so; without it, five times as much
# evidence would be counted as there is.
for name, p in confidence.items():
    test = cs.calibration_test(right, p, cluster=question, rng=1)
    interval = cs.confidence_interval(right, p, measure="kernel_ce", cluster=question, rng=1)
    print(f"{name:10} p = {test.pvalue:.3f}, kernel error {interval.low:.3f} to {interval.high:.3f}")

# %%
# What ignoring the questions would do: the interval is too short.
for name, cluster in {"with questions": question, "without": None}.items():
    interval = cs.confidence_interval(right, confidence["token"], measure="kernel_ce", cluster=cluster, rng=1)
    print(f"{name:15} {interval.low:.3f} to {interval.high:.3f}")

# %%
# Which is best?
# --------------
#
# The Brier score judges calibration and sharpness together. All three kinds judge the same answers.
result = cs.compare(right, confidence, measure="brier", cluster=question)
print(result)

# %%
# Where are they wrong?
# ---------------------
cs.plot(cs.reliability(right, confidence["token"], cluster=question, rng=1), title="Token probability")
