"""Wrong kinds of input to every public verb: an error of one line that says what was expected and what was found."""

import inspect
import itertools
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from hostile_calls import is_clear
from public_functions import public_functions

import calibstat as cs

N = 200
Y, P = cs.generators.temperature(2).sample(N, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(N, rng=1)
FEW = {"n_resamples": 19, "rng": 1}
VERBS = {
    "audit": lambda y, p, **o: cs.audit(y, p, np.arange(N) < N / 2, **{**FEW, **o}),
    "Sample.from_rows": cs.Sample.from_rows,
    "Predictions.from_rows": cs.Predictions.from_rows,
    "calibration_belt": lambda y, p, **o: cs.classical.calibration_belt(y, p, held_out=True, **o),
    "calibration_test": lambda y, p, **o: cs.calibration_test(y, p, **FEW, **o),
    "compare": lambda y, p, **o: cs.compare(y, {"a": p, "b": p}, **FEW, **o),
    "compare, mapping": lambda y, p, **o: cs.compare(y, p, **FEW, **o),
    "confidence_interval": lambda y, p, **o: cs.confidence_interval(y, p, **FEW, **o),
    "cox": lambda y, p, **o: cs.classical.cox(y, p, held_out=True, **o),
    "decompose": cs.decompose,
    "detail": cs.detail,
    "equivalence_test": cs.equivalence_test,
    "decision_loss": lambda y, p, **o: cs.decision_loss(y, p, [0.2], **FEW, **o),
    "estimate": cs.estimate,
    "expected_calibration_error": cs.expected_calibration_error,
    "gce_family": cs.gce_family,
    "generalization_gap": lambda y, p, **o: cs.generalization_gap((y, p), (y, p), **FEW, **o),
    "hosmer_lemeshow": lambda y, p, **o: cs.classical.hosmer_lemeshow(y, p, held_out=True, **o),
    "kernel_calibration_test": cs.classical.kernel_calibration_test,
    "kolmogorov_smirnov": cs.classical.kolmogorov_smirnov,
    "kuiper": cs.classical.kuiper,
    "net_benefit": lambda y, p, **o: cs.net_benefit(y, p, [0.2], **o),
    "reliability": lambda y, p, **o: cs.reliability(y, p, band=None, **o),
    "risk_coverage": lambda y, p, **o: cs.risk_coverage(y, p, max_error=0.2, **o),
    "sharpness": cs.sharpness,
    "skill_score": cs.skill_score,
    "spiegelhalter": cs.classical.spiegelhalter,
    "summarize": lambda y, p, **o: cs.summarize(y, {"a": p}, **FEW, **o),
    "summarize, mapping": lambda y, p, **o: cs.summarize(y, p, **FEW, **o),
    "t_cal": lambda y, p, **o: cs.classical.t_cal(y, p, **FEW, **o),
    "validate": cs.validate,
    "PlattScaling.fit": lambda y, p, **o: cs.recalibration.PlattScaling().fit(p, y, **o),
}
WORDS = np.array(["no", "yes"])[Y.astype(int)]
FRAME = pd.DataFrame({"first": P, "second": P**2, "third": np.sqrt(P)})


class Fitted:
    """A stand-in for a fitted classifier."""

    classes_ = (0, 1)

    def predict_proba(self, X):
        return np.column_stack((1 - X, X))


WRONG = {
    "a frame in place of outcomes": (FRAME, P),
    "a mapping of frames in place of outcomes": ({"a": FRAME, "b": FRAME}, P),
    "a mapping of frames": (Y, {"a": FRAME, "b": pd.DataFrame(PROB)}),
    "text in place of predictions": (Y, WORDS.tolist()),
    "a long text": (Y, "0.5, " * 1000),
    "text in place of outcomes": (WORDS, P),
    "swapped arguments": (P, Y),
    "three dimensions": (Y, np.full((N, 2, 2), 0.5)),
    "outcomes of three dimensions": (np.zeros((N, 2, 2)), P),
    "rows of different lengths": (Y, [[0.5] * (i % 3 + 1) for i in range(N)]),
    "nothing": (Y, None),
    "no outcomes": (None, P),
    "a number": (1, 0.5),
    "an empty list": ([], []),
    "a fitted model": (Y, Fitted()),
    "a fitted model in place of outcomes": (Fitted(), P),
    "a function": (Y, np.sqrt),
    "a set": (Y, set(P.tolist())),
    "complex numbers": (Y, P + 1j),
    "dates": (Y, np.full(N, "2020-01-01", "datetime64[D]")),
    "logits": (Y, np.log(P / (1 - P))),
    "per cent": (Y, 100 * P),
    "missing predictions": (Y, np.where(P > 0.5, np.nan, P)),
    "missing outcomes": (np.where(P > 0.5, np.nan, Y), P),
    "a missing outcome among texts": ([None, *WORDS[1:]], P),
    "outcomes -1 and 1": (2 * Y - 1, P),
    "three outcomes": (np.arange(N) % 3, P),
    "lengths that differ": (Y, P[:-1]),
    "rows that do not sum to 1": (LABEL, PROB * 1.1),
    "a thousand columns": (Y, np.full((N, 1000), 0.5)),
    "an array of lists": (Y, np.array([{"p": list(range(1000))}] * N, object)),
    "outcomes that are mappings": (np.array([{"y": list(range(1000))}] * N, object), P),
    "such outcomes of named classes": (np.array([{"y": 1}] * N, object), FRAME / FRAME.sum(axis=1).to_numpy()[:, None]),
    "a Sample beside predictions": (cs.Sample.from_rows(Y, P), P),
    "Predictions beside predictions": (cs.Predictions.from_rows(Y, P), P),
}
OPTIONS = {
    "labels": [FRAME, P, 3, ["no"], ["no"] * 1000, [["no"], ["yes"]], {"no": 0}, "ab" * 1000],
    "pos_label": [FRAME, P, "Yes" * 1000, ["yes"], {"yes": 1}, 3],
    "measure": [FRAME, P, "e" * 1000, 3, len],
    "lens": [FRAME, P, "e" * 1000, 3, len],
    "sample_weight": [FRAME, WORDS, -P, P[:-1]],
    "n_bins": [FRAME, P, "e" * 1000, 0.5],
    "cluster": [FRAME, P[:-1], "e" * 1000],
    "n_resamples": [FRAME, P, "e" * 1000, 0.5],
    "confidence_level": [FRAME, P, "e" * 1000, 5],
    "rng": [FRAME, P, "e" * 1000, 0.5],
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_error_says_what_was_expected_and_found(verb):
    faults = {wrong: faults_of_error(VERBS[verb], *data) for wrong, data in WRONG.items()}
    assert faults == {wrong: [] for wrong in WRONG}


def test_an_unclear_error_and_none_would_be_found():
    def unclear(y, p):
        raise ValueError("expected y\nfound p")

    assert faults_of_error(unclear, Y, P) == ["expected y\nfound p"]
    assert faults_of_error(lambda y, p: None, Y, P) == ["no error"]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_error_of_an_option_says_so_too(option):
    data = (WORDS, P) if option in ("labels", "pos_label") else (Y, P)
    verbs = [each for each in public_functions().values() if option in words_of(each)]
    assert verbs
    for verb in verbs:
        for given in OPTIONS[option]:
            faults = faults_of(verb, data, option, given)
            assert faults == [], (verb.__name__, type(given))


def words_of(verb):
    """The names of the arguments of a verb of one model, and what it takes beside them."""
    return [*signature_of(verb), *getattr(verb, "takes", ()), "labels", "pos_label"] if signature_of(verb) else []


def signature_of(verb):
    """The names of the arguments of a verb of one model."""
    names = list(inspect.signature(verb).parameters) if inspect.isfunction(verb) else []
    return names if names[:2] == ["y_true", "y_prob"] and "reference" not in names else []


def faults_of(verb, data, option, given):
    """What is wrong with the error that a verb raises, if it raises one."""
    needed = {"held_out": True, "n_resamples": 19, "groups": np.arange(N) < N / 2}
    more = {name: value for name, value in needed.items() if name in signature_of(verb) and name != option}
    return faults_of_error(verb, *data, **{option: given}, **more)


def faults_of_error(call, *data, **options):
    """What is wrong with the error that a call raises, if it raises one."""
    try:
        call(*data, **options)
    except ValueError as error:
        text = str(error)
        clear = text.startswith("expected ") and "found" in text and "\n" not in text and len(text) < 400
        return [] if clear else [text]
    return ["no error"]


HOSTILE = (
    "text",
    None,
    -1,
    0,
    True,
    float("nan"),
    float("inf"),
    1e308,
    [1, 2],
    {"a": 1},
    np.array([0.1, 0.2]),
    object(),
)
OF_EVENT = cs.generators.calibrated().sample(60, rng=1)
OF_CLASSES = cs.generators.dirichlet((1, 1, 1)).sample(60, rng=1)


def problems_of_options(measure):
    """Return what else than an estimate or a ValueError comes of strange values of the options of a measure."""
    found = []
    for option, value in itertools.product(cs.MEASURES[measure].defaults(), HOSTILE):
        for data in (OF_EVENT, OF_CLASSES):
            try:
                cs.estimate(*data, measure=measure, **{option: value})
            except Exception as error:
                if not (isinstance(error, ValueError) and is_clear(error)):
                    found.append((option, value, f"{type(error).__name__}: {error}"))
    return found


@pytest.mark.parametrize("measure", sorted(cs.MEASURES))
def test_strange_values_of_options_of_measures_are_refused_by_value_errors(measure):
    assert problems_of_options(measure) == []


def options_of(verb):
    """Return the names of the options of a verb, without those that it hands on."""
    verb = verb.split(",")[0]
    called = public_functions().get(verb) or attrgetter(verb)(cs)
    parameters = list(inspect.signature(called).parameters.values())[2:]
    return [each.name for each in parameters if each.kind is not inspect.Parameter.VAR_KEYWORD]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "PlattScaling.fit"])
def test_strange_values_of_all_options_are_refused_by_value_errors(verb):
    found = []
    for option, value in itertools.product(options_of(verb), HOSTILE):
        try:
            VERBS[verb](Y, P, **{option: value})
        except Exception as error:
            clear = isinstance(error, ValueError) and is_clear(error)
            if not clear and "multiple values" not in str(error):  # of an option that is given above
                found.append((option, value, f"{type(error).__name__}: {error}"))
    assert found == []


def test_another_error_would_be_found(monkeypatch):
    monkeypatch.setattr("calibstat.measures.kernel_ce.is_number", lambda value: True)
    found = {(option, str(value)): error.partition(":")[0] for option, value, error in problems_of_options("kernel_ce")}
    assert found["bandwidth", "text"] == "TypeError"
