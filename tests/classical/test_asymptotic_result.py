"""What all asymptotic tests share: rows or a summary, lenses, counts, and results that say what they are."""

import json
from functools import partial

import numpy as np
import pytest
from scipy import optimize, special
from sizes import calibrated

import calibstat as cs
from calibstat.classical.cox import cox
from calibstat.classical.cumulative_tests import kolmogorov_smirnov, kuiper
from calibstat.classical.hosmer_lemeshow import hosmer_lemeshow
from calibstat.classical.spiegelhalter import spiegelhalter

SAMPLE = cs.Sample.from_counts([0.2, 0.7], [100, 100], [28, 70])
EVERY = {
    "spiegelhalter": spiegelhalter,
    "hosmer_lemeshow": partial(hosmer_lemeshow, held_out=True),
    "kolmogorov_smirnov": kolmogorov_smirnov,
    "kuiper": kuiper,
    "cox": partial(cox, held_out=True),
}


@pytest.mark.parametrize("name", EVERY)
def test_rows_and_summary_agree(name):
    y, p = calibrated(np.random.default_rng(7), 200)
    p = np.round(p, 1).clip(0.1, 0.9)
    rows, summary = EVERY[name](y, p), EVERY[name](cs.Sample.from_rows(y, p))
    assert str(rows) == str(summary)
    twice = EVERY[name](cs.Sample.from_rows(y, p, np.full(200, 2)))
    assert str(twice) == str(EVERY[name](np.tile(y, 2), np.tile(p, 2)))


@pytest.mark.parametrize("name", EVERY)
def test_lenses(name):
    rng = np.random.default_rng(8)
    prob = rng.dirichlet([1, 1, 1], 300)
    label = np.minimum((prob.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1), 2)
    top = EVERY[name](label, prob)
    same = EVERY[name]((label == prob.argmax(axis=1)).astype(int), prob.max(axis=1))
    assert "top_label" in str(top.lens)
    assert top.to_dict().get("statistic") == same.to_dict().get("statistic")
    assert EVERY[name](label, prob, lens=cs.lenses.one_class(2)).n == 300
    with pytest.raises(ValueError, match="a lens that shows a binary outcome"):
        EVERY[name](label, prob, lens="class_wise")


@pytest.mark.parametrize("name", EVERY)
def test_weights_are_refused(name):
    with pytest.raises(ValueError, match="whole-number counts"):
        EVERY[name](cs.Sample.from_counts([0.2, 0.7], [1.5, 2.5], [0.5, 1]))


@pytest.mark.parametrize("name", EVERY)
def test_results_say_what_they_are(name):
    y, p = calibrated(np.random.default_rng(9), 150)
    found = EVERY[name](y, p)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert "approximate" in str(found)
    assert "Null hypothesis: given the predictions" in str(found)
    assert len(found.to_frame()) in (1, 3, 10)
    with pytest.raises(AttributeError):
        found.n = 3


def test_texts():
    assert str(spiegelhalter(SAMPLE)).startswith(
        "Spiegelhalter's test of calibration: z = 1.589, event: outcome 1, n = 200, p = 0.112 (approximate), normal"
    )
    assert "(approximate), chi-square limit with 2 degrees of freedom." in str(hosmer_lemeshow(SAMPLE, held_out=True))
    assert "Kuiper test of calibration: kuiper / sigma = " in str(kuiper(SAMPLE))
    text = str(cox(SAMPLE, held_out=True))
    a = optimize.brentq(lambda a: 100 * special.expit(a + special.logit([0.2, 0.7])).sum() - 98, -1, 1)
    assert f"intercept if the slope is 1 = {a:.3g} (from" in text
    assert "both together, likelihood ratio" in text
    assert cox(SAMPLE, held_out=True).to_frame()["df"].tolist() == [1, 1, 2]
