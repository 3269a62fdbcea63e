"""Notes on data that look like a mistake: they are there when it is one, and not by chance."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.data_notes import note_if_outcomes_apart, note_of_certainty

FEW = {"n_resamples": 19, "rng": 1}
Y, P = cs.generators.calibrated().sample(400, rng=1)
LABEL, PROB = cs.generators.dirichlet((1, 1, 1)).sample(400, rng=1)
BLIND = "keeps these weights fixed is blind"


def noted(y, p, **options):
    """What a test, an interval and a diagram say, which is the same."""
    notes = {cs.calibration_test(y, p, **FEW, **options).note}
    if options.get("lens") not in ("class_wise", "canonical"):
        notes |= {cs.confidence_interval(y, p, **FEW, **options).note, cs.reliability(y, p, **FEW, **options).note}
    assert len(notes) == 1
    return notes.pop()


def fraud(rng=1):
    """Rare events, of whose rows all are kept, and one in fifty of the others."""
    random = np.random.default_rng(rng)
    p = 1 / (1 + np.exp(-random.normal(-4.5, 1, 20_000)))
    y = random.random(p.size) < p
    kept = y | (random.random(p.size) < 0.02)
    return y[kept].astype(int), p[kept]


# --- labels in place of probabilities ---


@pytest.mark.parametrize(
    ("y", "p", "options"),
    [
        (Y, (P > 0.5).astype(int), {}),
        (Y, P > 0.5, {}),
        (Y[:1], [0.0], {}),
        (LABEL, np.eye(3)[PROB.argmax(1)], {}),
        (LABEL, np.eye(3)[PROB.argmax(1)], {"lens": "canonical"}),
        (LABEL, np.eye(3)[PROB.argmax(1)], {"lens": "class_wise"}),
        (LABEL, np.eye(3)[PROB.argmax(1)], {"lens": cs.lenses.one_class(2)}),
    ],
)
def test_labels_in_place_of_probabilities_are_noticed(y, p, options):
    found = cs.calibration_test(y, p, **FEW, **options)
    assert "predict_proba" in found.note
    assert found.note in str(found)


def test_some_certain_predictions_are_not_labels():
    p = np.where(P > 0.5, 1.0, P)
    assert noted(np.where(P > 0.5, 1, Y), p) == ""
    assert note_of_certainty(np.array([0.0, 1.0, 0.5])) == ""
    tiny = np.array([[1.0, 1e-20, 0.0], [0.0, 1.0, 0.0]])  # the largest is 1, but these are no labels
    assert note_of_certainty(tiny) == ""


def test_a_sample_of_labels_is_noticed():
    assert "predict_proba" in cs.calibration_test(cs.Sample.from_counts([0, 1], [5, 5], [0, 5]), **FEW).note


# --- weights that tell the outcomes apart ---


def test_weights_by_outcome_are_noticed():
    y, p = fraud()
    weight = np.where(y == 1, 1.0, 50.0)
    note = noted(y, p, sample_weight=weight)
    assert BLIND in note
    assert "q = p / (p + (1 - p) * rate)" in note
    assert "whole numbers" not in note  # which would send to counts
    noisy = weight * np.random.default_rng(1).uniform(0.9, 1.1, weight.size)
    assert BLIND in noted(y, p, sample_weight=noisy)
    assert BLIND in noted(1 - y, 1 - p, sample_weight=weight)
    assert BLIND in noted(y, np.full(y.size, 0.01), sample_weight=weight)


def test_the_correction_that_the_note_names_makes_the_test_right():
    """Calibrated before rows were left out: corrected, not rejected; twice too few events: found."""
    y, p = fraud()
    rate = 1 / 50  # the weight of outcome 1 over that of outcome 0
    q = p / (p + (1 - p) * rate)
    assert cs.calibration_test(y, q, rng=1).pvalue > 0.05
    half = p / 2
    weight = np.where(y == 1, 1.0, 50.0)
    assert cs.calibration_test(y, half, sample_weight=weight, rng=1).pvalue > 0.05  # blind
    assert cs.calibration_test(y, half / (half + (1 - half) * rate), rng=1).pvalue <= 0.01


def test_weights_by_class_are_noticed():
    weight = np.array([1.0, 1.0, 20.0])[LABEL]
    for lens in (None, "class_wise", cs.lenses.one_class(0)):
        note = cs.calibration_test(LABEL, PROB, sample_weight=weight, lens=lens, **FEW).note
        assert BLIND in note
        assert "class 2" in note


@pytest.mark.parametrize("n", [1, 2, 5, 20, 100])
def test_weights_without_association_get_the_note_seldom(n):
    """In at most 2 % of data sets, with one event as with many; the twin is the test above."""
    random = np.random.default_rng(1)
    sets = 400
    found = 0
    for _ in range(sets):
        p = random.choice([0.05, 0.5], n)
        y = (random.random(n) < p).astype(float)
        found += note_if_outcomes_apart(random.lognormal(0, 1, n), y, p) != ""
    assert found <= cs.study.most_rejections(0.02, sets, 1e-4)


def test_weights_that_predictions_decide_are_no_evidence():
    p = np.linspace(0.001, 0.999, 400) > 0.5
    p = np.where(p, 0.99, 0.01) + np.linspace(0, 0.009, 400)
    y = (np.random.default_rng(1).random(400) < p).astype(int)
    assert BLIND not in noted(y, p, sample_weight=p)
    assert BLIND in noted(y, p, sample_weight=np.where(y == 1, 1.0, 3.0))


def test_the_weight_of_an_outcome_that_was_not_seen_is_not_known():
    """60 rows at .05 without an event, of which each would weigh 30: nothing in the weights tells."""
    p, none = np.full(60, 0.05), np.zeros(60, int)
    words = "No row has outcome 1, and all weights are equal."
    assert words in noted(none, p, sample_weight=np.ones(60))
    assert words.replace("1", "0") in noted(1 - none, p, sample_weight=np.full(60, 2.5))
    for y, weight in ((np.arange(60) < 1, np.ones(60)), (none, np.arange(1.0, 61))):
        assert "all weights are equal" not in noted(y.astype(int), p, sample_weight=weight)


def test_equal_weights_tell_nothing():
    for weight in (np.ones(400), np.full(400, 7)):
        assert BLIND not in noted(Y, P, sample_weight=weight)


# --- classes numbered from 1 ---


def test_classes_from_one_to_k_are_named_in_the_error():
    for lens in (None, "class_wise", "canonical"):
        with pytest.raises(ValueError, match=r"numbered from 1, name them with labels=range\(1, 4\)"):
            cs.calibration_test(LABEL + 1, PROB, lens=lens, **FEW)
    with pytest.raises(ValueError, match=r"labels=range\(1, 4\)"):
        cs.Predictions.from_rows(LABEL + 1.0, PROB)
    assert cs.estimate(LABEL + 1, PROB, labels=range(1, 4)) == cs.estimate(LABEL, PROB)


def test_a_class_beyond_the_columns_is_no_count_from_one():
    for label in (LABEL + (LABEL == 2), LABEL + 2):  # 0, 1, 3; 2, 3, 4
        with pytest.raises(ValueError, match="expected a class from 0 to 2") as error:
            cs.estimate(label, PROB)
        assert "labels=" not in str(error.value)


def test_classes_from_one_without_the_last_are_noticed():
    kept = LABEL < 2
    for lens in (None, "class_wise", "canonical"):
        note = noted(LABEL[kept] + 1, PROB[kept], lens=lens)
        assert "labels=range(1, 4)" in note
    assert noted(LABEL[kept] + 1, PROB[kept], labels=range(1, 4)) == ""


def test_a_class_0_that_is_not_observed_is_no_mistake():
    kept = LABEL > 0
    assert noted(LABEL[kept], PROB[kept]) == ""
    assert noted(np.ones(400, int), np.full((400, 3), 1 / 3)) == ""  # no row says which is right


# --- errors ---


@pytest.mark.parametrize("bad", [1 + 1e-9, 1 + 1e-6, np.float64(np.float32(1.0000001)), -1e-9])
def test_rounding_is_asked_for_and_the_remedy_named(bad):
    p = P.copy()
    p[3] = bad
    matrix = PROB.copy()
    matrix[3] = [bad, 1 - bad, 0] if bad > 1 else [1 - bad, bad, 0]
    for y, prob in ((Y, p), (Y, np.column_stack([1 - p, p])), (LABEL, matrix)):
        with pytest.raises(ValueError, match=r"at row 3.*rounding.*numpy\.clip\(y_prob, 0, 1\)"):
            cs.estimate(y, prob)


@pytest.mark.parametrize("bad", [1.001, -0.2, 37.0, np.nan])
def test_what_is_not_rounding_is_not_called_so(bad):
    p = P.copy()
    p[3], p[4] = 1 + 1e-9, bad
    with pytest.raises(ValueError, match="probability from 0 to 1") as error:
        cs.estimate(Y, p)
    assert "clip" not in str(error.value)


@pytest.mark.parametrize("y", [[0.2, 0.8, 1], [0.2, 0.8, 0.2], [0, 0.5, 1]])
def test_shares_of_events_are_sent_to_counts(y):
    with pytest.raises(ValueError, match=r"shares of events .* Sample\.from_counts"):
        cs.estimate(y, [0.2, 0.7, 0.5])


def test_other_outcomes_are_not_taken_for_shares():
    for y in ([1, 2, 2], [-1.0, 1.0, 1.0], [0, 1, 3]):
        with pytest.raises(ValueError, match="expected 0 or 1") as error:
            cs.estimate(y, [0.2, 0.7, 0.5])
        assert "from_counts" not in str(error.value)
