"""Models with outcomes of their own on the same rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import calibstat as cs

RANDOM = np.random.default_rng(7)
N = 400
CONFIDENCE = {"A": RANDOM.choice([0.6, 0.7, 0.8, 0.9], N), "B": RANDOM.choice([0.55, 0.7, 0.8, 0.95], N)}
_U = RANDOM.random(N)
OUTCOME = {"A": (CONFIDENCE["A"] > _U).astype(int), "B": (CONFIDENCE["B"] - 0.2 > _U).astype(int)}
NAMES = ("A", "B")
MEASURES = ("kernel_ce_squared", "kernel_ce", "ece", "ks", "brier", "log_loss")


def numbers(result):
    return np.array([result.difference[0], result.low[0], result.high[0], result.pvalue[0]])


def each(transformed):
    """Outcomes and confidences, both transformed."""
    return {name: transformed(OUTCOME[name]) for name in NAMES}, {name: transformed(CONFIDENCE[name]) for name in NAMES}


def test_the_difference_of_squares_is_without_bias():
    """E U = D for every joint law: all sets of three rows of four kinds, with their probabilities.

    Predictions and chances: A says .5 and is right in .3 + .1, B says .8 or .5. With k = exp(-|v - w| / .2) the squared
    error is the sum over pairs of kinds of probability times residual times k.
    """
    kinds = [(1, 0.5, 0, 0.8), (0, 0.5, 1, 0.5), (1, 0.9, 1, 0.8), (0, 0.5, 0, 0.5)]  # outcome and prediction of A, B
    probability = np.array([0.3, 0.2, 0.1, 0.4])
    y_a, a, y_b, b = np.array(kinds).T

    def square(y, v):
        gap = probability * (y - v)
        return gap @ np.exp(-abs(v[:, None] - v) / 0.2) @ gap

    mean = 0.0
    for rows in product(range(4), repeat=3):
        at = list(rows)
        found = cs.compare({"A": y_a[at], "B": y_b[at]}, {"A": a[at], "B": b[at]})
        mean += probability[at].prod() * found.difference[0]
    assert mean == pytest.approx(square(y_a, a) - square(y_b, b), abs=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
def test_other_order_of_models_and_of_rows(measure):
    asked = {"measure": measure, "n_resamples": 99, "rng": 1}
    one = numbers(cs.compare(OUTCOME, CONFIDENCE, **asked))
    order = RANDOM.permutation(N)
    assert np.array_equal(one, numbers(cs.compare(*each(lambda column: column[order]), **asked)))
    mirrored = numbers(cs.compare(OUTCOME, dict(reversed(CONFIDENCE.items())), **asked))
    assert np.array_equal(mirrored, [-one[0], -one[2], -one[1], one[3]])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_same_outcomes_give_the_same_numbers(measure):
    """But for the losses of rows that were not seen: each model may have the worst one of its own."""
    y = OUTCOME["A"]
    asked = {"measure": measure, "n_resamples": 99, "rng": 1}
    own, same = (cs.compare(given, CONFIDENCE, **asked) for given in ({"A": y, "B": y}, y))
    if measure == "log_loss":
        assert own.high[0] - own.low[0] > same.high[0] - same.low[0]
    else:
        assert np.array_equal(numbers(own)[:3], numbers(same)[:3])
    assert own.rates is not None
    assert same.rates is None
    assert "outcomes of its own" in own.null_hypothesis


@pytest.mark.parametrize("measure", MEASURES)
def test_hits_of_the_most_likely_class_are_outcomes_of_their_own(measure):
    """Three classes, of which the true one is 0: a model that is right says it of 0, else of 1."""

    def classes(name):
        v, right = CONFIDENCE[name], OUTCOME[name].astype(bool)
        prob = np.repeat(((1 - v) / 2)[:, None], 3, axis=1)
        prob[np.arange(N), np.where(right, 0, 1)] = v
        return prob

    asked = {"measure": measure, "n_resamples": 99, "rng": 1}
    own = cs.compare(OUTCOME, CONFIDENCE, **asked)
    hits = cs.compare(np.zeros(N, int), {name: classes(name) for name in NAMES}, lens="top_label", **asked)
    np.testing.assert_allclose(numbers(own), numbers(hits), rtol=1e-9, atol=1e-12)


def test_rows_and_outcomes_belong_together():
    """The twins: rows of B in another order, and the outcomes of A for both."""
    found = numbers(cs.compare(OUTCOME, CONFIDENCE))
    order = np.lexsort((OUTCOME["B"], CONFIDENCE["B"]))
    torn = cs.compare(
        OUTCOME | {"B": OUTCOME["B"][order]}, CONFIDENCE | {"B": CONFIDENCE["B"][order]}
    )  # each model has its rows, and no row has both
    assert numbers(torn)[0] == pytest.approx(found[0])
    assert abs(numbers(torn)[1:3] - found[1:3]).max() > 1e-4
    assert numbers(cs.compare({"A": OUTCOME["A"], "B": OUTCOME["A"]}, CONFIDENCE))[0] != pytest.approx(found[0])


def test_no_order_of_rows_makes_scores_comparable():
    """Models that say the same of all rows tell other events apart, also where outcomes happen to agree."""
    y, p = OUTCOME["A"], CONFIDENCE["A"]
    own = cs.compare({"A": y, "B": y}, {"A": p, "B": p**2}, measure="brier")
    assert own.same_order == (False,)
    assert "differ by accuracy too" in str(own)
    assert cs.compare(y, {"A": p, "B": p**2}, measure="brier").same_order == (True,)


def test_what_is_printed():
    text = str(cs.compare(OUTCOME, CONFIDENCE))
    rates = [f"{name}: outcome 1 in {100 * OUTCOME[name].mean():.0f} % of rows" for name in NAMES]
    means = [f"mean prediction {100 * CONFIDENCE[name].mean():.0f} %" for name in NAMES]
    assert f"{rates[0]}, {means[0]}; {rates[1]}, {means[1]}." in text


def test_swap_exchanges_outcomes_with_predictions():
    """Two calibrated models of accuracy .6 and .9: with the outcomes of one alone p-values would mean nothing.

    Two models that differ by chance alone are found apart in at most a share of .05: of 200 pairs at most 24, but for
    a probability of 1e-4.
    """
    found = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        p = {name: random.choice([0.6, 0.9], 40) for name in NAMES}
        y = {name: (random.random(40) < p[name]).astype(int) for name in NAMES}
        found += cs.compare(y, p, measure="ece", method="swap", n_resamples=19, rng=seed).pvalue[0] <= 0.05
    assert found <= 24
    apart = cs.compare(OUTCOME, CONFIDENCE, measure="ece", method="swap", n_resamples=999, rng=1)
    assert apart.pvalue[0] < 0.01
    assert "exchanged" in apart.null_hypothesis


def test_clusters():
    """Samples of each question: the difference, up to pairs within clusters, and words about both."""
    unit = np.arange(N) // 4
    found = cs.compare(OUTCOME, CONFIDENCE, cluster=unit, measure="brier")
    assert found.difference == pytest.approx(cs.compare(OUTCOME, CONFIDENCE, measure="brier").difference)
    assert "100 clusters of 4 rows each" in found.null_hypothesis
    assert "outcomes of its own" in found.null_hypothesis
    assert found.rates == pytest.approx([OUTCOME[name].mean() for name in NAMES])


def test_weights():
    weight = 1 + np.arange(N) % 3
    found = cs.compare(OUTCOME, CONFIDENCE, sample_weight=weight)
    assert found.rates == pytest.approx([np.average(OUTCOME[name], weights=weight) for name in NAMES])


def test_questions_of_one_model_answer_for_each():
    found = cs.estimate(OUTCOME, CONFIDENCE, measure="brier")
    assert dict(found.items()) == {
        name: cs.estimate(OUTCOME[name], CONFIDENCE[name], measure="brier") for name in NAMES
    }
    assert repr(cs.Models(OUTCOME, CONFIDENCE)).count("400 rows") == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda y, p: ({"A": y["A"], "C": y["B"]}, p, {}), "found outcomes of 'A', 'C' and predictions of 'A', 'B'"),
        (lambda y, p: (y | {"B": y["B"][1:]}, p | {"B": p["B"][1:]}, {}), "found 400 of 'A' and 399 of 'B'"),
        (lambda y, p: (y | {"B": (y["B"], p["B"])}, p, {}), "the outcomes of 'B', an array of shape"),
        (lambda y, p: (y | {"B": np.where(np.arange(N) == 17, np.nan, y["B"])}, p, {}), "of 'B' in every row.*row 17"),
        (lambda y, p: (y | {"B": 2 * y["B"]}, p, {}), "found 2 in y_true at row 0.*of 'B'"),
        (lambda y, p: (y, p, {"folds": np.arange(N) % 5}), "without folds="),
        (lambda y, p: (y, p, {"judge": cs.Judge(p["A"])}), "without judge="),
        (lambda y, p: (y, p["A"], {}), "y_true"),
        (lambda y, p: (y, p, {"cluster": np.arange(3)}), "cluster"),
    ],
)
def test_bad_input(change, expected):
    y, p, about = change(OUTCOME, CONFIDENCE)
    with pytest.raises(ValueError, match=expected):
        cs.compare(y, p, **about)


def test_rows_of_another_index_are_refused():
    one = pd.Series(OUTCOME["A"], index=np.arange(N) + 10)
    with pytest.raises(ValueError, match="index"):
        cs.compare({"A": one, "B": one.loc[one.index[::-1]]}, CONFIDENCE)


def test_several_classes_are_refused_but_for_one_event():
    prob = np.full((N, 3), 1 / 3)
    y = {name: np.arange(N) % 3 for name in NAMES}
    models = {"A": prob, "B": 0.6 * prob + 0.4 * np.eye(3)[np.arange(N) % 3]}
    assert "most likely class" in str(cs.compare(y, models))
    with pytest.raises(ValueError, match="expected one event of each model"):
        cs.compare(y, models, lens="class_wise_mean")


@pytest.mark.parametrize("name", ["report", "summarize"])
def test_functions_of_all_models_name_the_way_out(name):
    with pytest.raises(ValueError, match=f"same outcomes for all models of {name}.*compare"):
        getattr(cs, name)(OUTCOME, CONFIDENCE)
