"""Fitted maps as dictionaries: through JSON and back they give the same numbers, and what is no such thing is named."""

import copy
import json
import warnings

import numpy as np
import pytest

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, HistogramBinning, PlattScaling, PriorShift, Recalibrator
from calibstat.recalibration.saved_map import VERSION

NOT_SAVED = {"NeuralScaling"}
OPTIONS = {
    "HistogramBinning": [
        {},
        {"strategy": "quantile"},
        {"n_resamples": 3, "random_state": 1},
        {"class_conditional": True},
    ],
    "PriorShift": [{"train_prevalence": [0.2, 0.3, 0.5]}, {"sampling_rate": [0.5, 1.0, 0.2]}],
    "TemperatureScaling": [{}, {"objective": "ece", "options": {"n_bins": 4}, "clip": 1e-3}],
    "MatrixScaling": [{"regularisation": 0.01}],
}
CASES = [
    pytest.param(name, each, id=f"{name}-{each}")
    for name in RECALIBRATORS
    if name not in NOT_SAVED
    for each in OPTIONS.get(name, [{}])
]


def fitted(recalibrator, p, y, **names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return recalibrator.fit(p, y, **names)


def through_json(saved):
    return json.loads(json.dumps(saved, allow_nan=False))


def platt():
    return PlattScaling(clip=0.01).fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_numbers_are_the_same_to_the_last_bit(name, options, classes):
    if classes == 2 and name == "PriorShift":
        options = {key: value[:2] if key == "sampling_rate" else [0.4, 0.6] for key, value in options.items()}
    binary, ternary = cs.generators.temperature(1.5), cs.generators.dirichlet((1, 1, 1), temperature=1.5)
    y, p = (binary if classes == 2 else ternary).sample(200, rng=1)
    made = fitted(RECALIBRATORS[name](**options), p, np.array(["a", "b", "c"])[y], labels=["a", "b", "c"][:classes])
    saved = made.to_dict()
    again = Recalibrator.from_dict(through_json(saved))
    assert type(again) is RECALIBRATORS[name]
    assert again.to_dict() == saved
    assert repr(again) == repr(made)
    for attribute in ("classes_", "converged_"):
        np.testing.assert_array_equal(getattr(again, attribute), getattr(made, attribute))
    np.testing.assert_array_equal(again.predict_proba(p), made.predict_proba(p))
    np.testing.assert_array_equal(again.predict(p), made.predict(p))
    assert RECALIBRATORS[name].from_dict(saved).to_sql("p" if classes == 2 else [*"abc"]) == made.to_sql(
        "p" if classes == 2 else [*"abc"]
    )


def test_what_is_saved_stays_readable():
    saved = {
        "kind": "PlattScaling",
        "version": 1,
        "parameters": {"clip": None},
        "fitted": {"classes_": [0, 1], "converged_": True, "slope_": [2], "intercept_": [0.5]},
    }
    out = Recalibrator.from_dict(saved).predict_proba([0.5, 0.8])
    assert out == pytest.approx([1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(-2 * np.log(4) - 0.5))], rel=1e-14)
    steps = {"level": [0.25, 1], "upper": None, "number": [0, 1], "n_bins": 2}
    parameters = HistogramBinning(n_bins=2).get_params()
    saved = {"kind": "HistogramBinning", "version": 1, "parameters": parameters}
    saved["fitted"] = {"classes_": ["no", "yes"], "converged_": True, "steps_": [[steps]]}
    made = HistogramBinning.from_dict(saved)
    assert made.predict_proba([0.5, 0.6]).tolist() == [0.25, 1.0]
    assert made.predict([0.5, 0.6]).tolist() == ["no", "yes"]


def test_it_has_to_be_fitted():
    with pytest.raises(ValueError, match="fitted PlattScaling, found one of which fit has not been called"):
        PlattScaling().to_dict()


def test_a_network_is_not_saved():
    pytest.importorskip("sklearn")
    y, p = cs.generators.temperature(1.5).sample(50, rng=1)
    made = fitted(RECALIBRATORS["NeuralScaling"](hidden_layer_sizes=(2,), max_iter=5, random_state=1), p, y)
    with pytest.raises(ValueError, match=r"the type of each fitted attribute .* save the map by pickle or joblib"):
        made.to_dict()


def test_a_parameter_that_json_lacks_is_named():
    made = HistogramBinning(n_resamples=3, random_state=np.random.default_rng(1)).fit([0.1, 0.9], [0, 1])
    with pytest.raises(ValueError, match=r"JSON has in random_state, .*map\.set_params\(random_state=None\)\.to_dict"):
        made.to_dict()
    assert made.set_params(random_state=None).to_dict()["parameters"]["random_state"] is None
    given = PriorShift(train_prevalence=np.array([0.5, 0.5]), new_prevalence=np.float64(0.2)).fit([0.5]).to_dict()
    assert given["parameters"] == {"sampling_rate": None, "train_prevalence": [0.5, 0.5], "new_prevalence": 0.2}


class TowardsHalf(Recalibrator):
    """A map of somebody else."""

    share_: float

    def _fit(self, prob, label):
        self.share_ = float(label.mean())
        return None

    def _map(self, prob):
        return (prob + self.share_) / (1 + 2 * self.share_)


class OfHalf(TowardsHalf):
    """A class of that class."""


def test_maps_of_somebody_else_are_saved_too():
    for kind in (TowardsHalf, OfHalf):
        made = kind().fit([0.2, 0.9, 0.4], [0, 1, 0])
        again = kind.from_dict(through_json(made.to_dict()))
        assert type(again) is kind
        assert again.predict_proba([0.3]) == made.predict_proba([0.3])


def wrong(part, name=None, value=None):
    saved = platt().to_dict()
    if name is None:
        saved[part] = value
    else:
        saved[part] = {**saved[part], name: value}
    return saved


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (None, "expected a dictionary of to_dict, with 'kind', 'version', 'parameters', 'fitted', found None"),
        ({"kind": "PlattScaling"}, "expected a dictionary of to_dict"),
        (("kind", None, "PlatScaling"), "expected the kind of a map, one of .*did you mean 'PlattScaling'"),
        (("kind", None, ["PlattScaling"]), "expected the kind of a map"),
        (("kind", None, "BetaCalibration"), "expected fitted of a saved BetaCalibration with 'classes_'"),
        (("version", None, VERSION + 1), f"expected version {VERSION} of a saved PlattScaling, found {VERSION + 1}"),
        (("version", None, True), "expected version"),
        (("parameters", None, None), "expected parameters of a saved PlattScaling with 'clip', found None"),
        (("parameters", "bins", 3), "expected parameters of a saved PlattScaling with 'clip'"),
        (("fitted", "more_", 3), "expected fitted of a saved PlattScaling"),
        (("fitted", "slope_", "2"), "expected a list of numbers in slope_ of a saved PlattScaling, found '2'"),
        (("fitted", "slope_", ["a"]), "expected a list of numbers in slope_"),
        (("fitted", "slope_", [None]), "expected a list of numbers in slope_|finite numbers in slope_"),
        (("fitted", "slope_", [float("inf")]), "expected finite numbers in slope_"),
        (("fitted", "slope_", []), "expected a list of numbers in slope_"),
        (("fitted", "slope_", [1.0, 2.0, 3.0]), "expected fitted numbers of 2 classes"),
        (("fitted", "converged_", 1), "expected bool in converged_"),
        (("fitted", "classes_", [0]), "expected fitted numbers of 1 classes"),
    ],
)
def test_what_was_not_saved_here_raises(saved, message):
    given = wrong(saved[0], saved[1], saved[2]) if isinstance(saved, tuple) else saved
    before = copy.deepcopy(given)
    with pytest.raises(ValueError, match=message):
        Recalibrator.from_dict(given)
    assert given == before


def test_wrong_steps_and_knots_raise():
    saved = HistogramBinning(n_bins=2).fit([0.1, 0.9], [0, 1]).to_dict()
    for bad in (3, [3], [[{"level": [0.5]}]], [[None]]):
        with pytest.raises(ValueError, match="steps_ of a saved HistogramBinning"):
            HistogramBinning.from_dict({**saved, "fitted": {**saved["fitted"], "steps_": bad}})
    entry = RECALIBRATORS["IsotonicRegression"]
    saved = entry().fit([0.1, 0.9], [0, 1]).to_dict()
    for bad in ([[[0.1, 0.9]]], [[[0.1, 0.9], [0.0, 1.0], [0.0, 1.0]]], 0.5):
        with pytest.raises(ValueError, match="expected a list in knots_ of a saved IsotonicRegression"):
            entry.from_dict({**saved, "fitted": {**saved["fitted"], "knots_": bad}})


def test_another_class_than_asked_raises():
    with pytest.raises(
        ValueError, match=r"expected a BetaCalibration, found a PlattScaling; write PlattScaling\.from_"
    ):
        RECALIBRATORS["BetaCalibration"].from_dict(platt().to_dict())
