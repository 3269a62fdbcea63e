"""Arguments that hold several models, samples or sets of rows: what is found and what is refused."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.models import named_models, pairs_of_samples, predictions_of_set

Y, P = [0, 1], [0.25, 0.75]
OUTCOMES, FOREST = cs.generators.temperature(2).sample(200, rng=1)
MODELS = {"forest": FOREST, "line": FOREST**2}
VERBS = {
    "estimate": cs.estimate,
    "calibration_test": lambda *data: cs.calibration_test(*data, n_resamples=19, rng=1),
    "confidence_interval": lambda *data: cs.confidence_interval(*data, n_resamples=19, rng=1),
    "equivalence_test": cs.equivalence_test,
    "reliability": lambda *data: cs.reliability(*data, rng=1),
    "decompose": cs.decompose,
    "sharpness": cs.sharpness,
    "skill_score": cs.skill_score,
    "validate": cs.validate,
    "net_benefit": cs.net_benefit,
    "risk_coverage": cs.risk_coverage,
    "decision_loss": lambda *data: cs.decision_loss(*data, n_resamples=19, rng=1),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_several_models_are_asked_one_by_one(verb, form):
    found = VERBS[verb](OUTCOMES, form(MODELS))
    assert list(found) == ["forest", "line"]
    for name, p in MODELS.items():
        assert repr(found[name]) == repr(VERBS[verb](OUTCOMES, p))


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_wrong_with_a_model_names_it(verb):
    with pytest.raises(ValueError, match=r"^expected a probability from 0 to 1, found 1.5 .* \(of 'line'\)$"):
        VERBS[verb](OUTCOMES, {"forest": FOREST, "line": FOREST * 0 + 1.5})
    with pytest.raises(ValueError, match="expected different names of one or more models"):
        VERBS[verb](OUTCOMES, {})


def test_a_frame_is_models_or_the_classes_of_one():
    assert named_models(pd.DataFrame({"a": [0.2, 0.5], "b": [0.3, 0.5]})).keys() == {"a", "b"}
    assert named_models(pd.DataFrame({"a": [0.2, 0.5, np.nan], "b": [0.8, 0.5, 0.7]})) is None
    assert named_models(pd.DataFrame({"a": [0.2, 0.5]})) is None
    assert named_models(pd.DataFrame({"a": ["x", "y"], "b": [0.3, 0.5]})) is None
    assert named_models(np.array([[0.2, 0.3]])) is None
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(50, rng=1)
    frame = pd.DataFrame(prob, columns=["cat", "dog", "hen"])
    assert cs.estimate(label, frame) == cs.estimate(label, prob)
    frame.iloc[7] *= 1.1  # one bad row of classes is a bad row, and not the sign of three models
    with pytest.raises(ValueError, match=r"expected a row of y_prob that sums to 1, found a sum of 1\.1 at row 7"):
        cs.estimate(label, frame)


def test_samples_hold_their_own_outcomes():
    assert pairs_of_samples({"a": (Y, P), 2: [P, Y]}) == {"a": (Y, P), "2": (P, Y)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y, P), "expected y_prob, a mapping from name to predictions or a data frame .*, found those of one model"),
        ((Y, None), r"expected samples, a mapping from name to \(y_true, y_prob\), found list"),
        ((Y, {"a": P}), "expected two or more different names"),
        ((Y, {1: P, "1": P}), "expected different names of one or more models"),
        (({"a": (Y, P), "b": 3}, None), r"expected \(y_true, y_prob\) of sample 'b', found int"),
        (({"a": (Y, P), "b": (Y, P, P)}, None), r"expected \(y_true, y_prob\) of sample 'b', found tuple"),
    ],
)
def test_what_holds_no_models_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        cs.compare(*arguments)


def test_one_set_of_rows_is_a_pair_or_predictions():
    pair = predictions_of_set((Y, P), None, "train")
    assert predictions_of_set(cs.Predictions.from_rows(Y, P), None, "train").prob.tolist() == pair.prob.tolist()
    with pytest.raises(ValueError, match=r"expected train, a pair \(y_true, y_prob\) or Predictions, found list"):
        predictions_of_set([1, 2, 3], None, "train")
