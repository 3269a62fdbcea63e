"""
A thousand classes: the next word
=================================

A language model predicts the next word: one probability for each of 1,000 words. Are its probabilities right?
The text is the reference of the Python language, which every Python has (``pydoc_data.topics``, licence of the
Python Software Foundation). Numbers differ a little between versions of Python.
"""

# %%
# A small language model
# ----------------------
#
# The 999 most frequent words and "another word" are the classes. The model mixes how often each word follows the
# two words before, the word before, and any word. It is fitted to three of four paragraphs.
import re
from collections import Counter, defaultdict
from pydoc_data.topics import topics

import numpy as np

import calibstat as cs

paragraphs = dict.fromkeys(text for _, topic in sorted(topics.items()) for text in topic.lower().split("\n\n"))
texts = [words for text in paragraphs if len(words := re.findall(r"[a-z]+", text)) > 2]
fitted = [words for k, words in enumerate(texts) if k % 4]
known = [word for word, _ in Counter(word for words in fitted for word in words).most_common(999)]
number = {word: k for k, word in enumerate(known)}
codes = [[number.get(word, 999) for word in words] for words in texts]

counts = {length: defaultdict(Counter) for length in (0, 1, 2)}
for words in (words for k, words in enumerate(codes) if k % 4):
    for at in range(2, len(words)):
        for length, table in counts.items():
            table[tuple(words[at - length : at])][words[at]] += 1


def predict(before, weights=(0.1, 0.3, 0.6)):
    """The probability of each of the 1,000 classes after these two words."""
    p = np.full(1000, 1e-4 / 1000)
    for (length, table), weight in zip(counts.items(), weights, strict=True):
        seen = table.get(tuple(before[2 - length :]), {})
        p[list(seen)] += weight * np.array(list(seen.values())) / max(1, sum(seen.values()))
    return p / p.sum()


# %%
# Predictions for text that it has not seen
# -----------------------------------------
#
# Words of one paragraph belong together, so the paragraph is the cluster of a row.
rng = np.random.default_rng(0)
places = [(k, at) for k in range(0, len(codes), 4) for at in range(2, len(codes[k]))]
places = [places[i] for i in np.sort(rng.choice(len(places), 3000, replace=False))]
prob = np.array([predict(codes[k][at - 2 : at]) for k, at in places])
word = np.array([codes[k][at] for k, at in places])
paragraph = np.array([k for k, _ in places])
print(prob.shape, f"accuracy {np.mean(prob.argmax(axis=1) == word):.0%}, {np.unique(paragraph).size} paragraphs")

# %%
# Is the confidence in the most likely word right?
# ------------------------------------------------
#
# ``lens="top_label"`` is the default with more than two classes. It looks at one probability in each row, so
# 1,000 classes cost no more than ten.
test = cs.calibration_test(word, prob, cluster=paragraph, rng=0)
print(test.answer)
interval = cs.confidence_interval(word, prob, measure="ece", cluster=paragraph, rng=0)
print(f"ECE {interval.estimate:.3f}, 95 % interval {interval.low:.3f} to {interval.high:.3f}")

# %%
# Which words are predicted wrongly?
# ----------------------------------
#
# A test of each of 1,000 classes would have little power: most words occur in a few rows. Choose some words
# before you look at the outcomes, such as the most frequent ones of the fitted text. Three words are three tests,
# so multiply their p-values by three.
for k in range(3):
    lens = cs.lenses.one_class(k)
    found = cs.calibration_test(word, prob, lens=lens, cluster=paragraph, rng=0)
    print(f"{known[k]:5} {np.sum(word == k):4} times, expected {prob[:, k].sum():4.0f}: p = {found.pvalue:.3f}")

# %%
# Correct it
# ----------
#
# One temperature for all words, fitted to half of these paragraphs and judged on the other half.
import matplotlib.pyplot as plt

half = paragraph % 8 == 0
scaling = cs.recalibration.TemperatureScaling().fit(prob[half], word[half])
print(f"temperature {scaling.temperature_:.2f}")
models = {"as fitted": prob[~half], "with a temperature": scaling.predict_proba(prob[~half])}
figure, grid = plt.subplots(1, 2, figsize=(9, 5.5), layout="constrained")
for axes, (name, each) in zip(grid, models.items(), strict=True):
    result = cs.reliability(word[~half], each, cluster=paragraph[~half], rng=0)
    cs.plot(result, ax=axes, title=name, legend=False)
