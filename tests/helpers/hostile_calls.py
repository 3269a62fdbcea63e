"""Calls of every public function that property tests make: hostile rows in many forms, valid and wrong options.

`problems` makes one call and returns what must not come of it: an error that is not a ValueError or TypeError which
says what was expected, a warning of NumPy's, an argument that was changed, a missing number without a reason beside it,
a result that cannot be written as JSON, or a pickled or copied one that differs.
"""

import copy
import functools
import inspect
import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
from hostile_rows import WEIGHT, binary_rows, class_rows, forms, spoilt, vector_of
from hypothesis import strategies as st
from public_functions import public_functions

import calibstat as cs
from calibstat.inference.designs.question_of_rows import ROW_WORDS
from calibstat.result import Result

NO_REASON = re.compile(r"\bnan\b(?!.*[a-z]{4})")  # a missing number in a line that goes on without a word
HOSTILE = st.sampled_from(
    ["text", "", None, -1, 0, 1, True, float("nan"), float("inf"), 1e308, 5e-324, [1, 2], [], (), {"a": 1}, {}, b"x",
     np.array([0.1, 0.2]), np.float32(0.5), np.int8(3), object(), len, 1 + 1j, "\x1b[31m", [None], pd.NA, ["a", 1]]
)  # fmt: skip
FITTED = type("Fitted", (), {"classes_": (0, 1), "predict_proba": lambda self, x: np.column_stack((1 - x, x))})()
SLOW = {"power": 0.05, "sample_size": 0.05, "report": 0.1, "choose": 0.5, "detectable_effect": 0.3, "summarize": 0.5,
        "recalibration.choose": 0.05, "generalization_gap": 0.3}  # fmt: skip


@functools.cache
def measures(several):
    """The names of all measures, those that most calls take more often."""
    return [None, "ece", "ks", "kernel_ce", "smooth_ce", *cs.MEASURES]


def option(function, name, n, several):
    """A strategy of values that the option of this name takes, at least sometimes."""
    level = st.sampled_from([0.5, 0.9, 0.95, 0.999, 1e-6, 1 - 1e-9])
    whole = {"n_resamples": [1, 9, 19, 60], "n_datasets": [1, 5], "n_sets": [1, 2, 3], "n_jobs": [1, 2],
             "stop_after": [1, 3], "n_groups": [2, 3, 10], "fitted_params": [None, 0, 2], "n_points": [2, 11],
             "block_size": [2, 3, "square_root"], "rng": [0, 1, 2**32 - 1],
             "n_bins": [1, 2, 15, 1000, None, "cube_root", "auto"]}  # fmt: skip
    names = {
        "lens": [None, *cs.LENSES, cs.lenses.one_class(0), cs.lenses.top_k(2)],
        "resample": ["labels", "pairs", "both"],
        "method": METHODS.get(function, [None]),
        "adjust": ["holm", "bh"],
        "strategy": ["uniform", "quantile", [0.0, 0.25, 1.0]],
        "norm": ["l1", "l2", "max", 1.0, 2.0, 3.5],
        "band": [None, "consistency", "confidence", "pointwise_consistency", "pointwise_confidence"],
        "kernel": ["laplace", "gaussian"],
        "distance": ["total_variation", "euclidean"],
        "divergence": ["brier", "log_loss"],
        "score": ["brier", "log_loss", "spherical"],
        "families": [None, "over_confidence", ["over_confidence"]],
        "ties": ["together", "split"],
        "shape": [False, True] if function == "audit" else [None, "monotone", cs.Slope(1.0), cs.Variation(0.5)],
        "best": ["brier", "log_loss", "ece"],
        "subject_to": [(), "ks.high <= 0.3", "kernel_ce.high <= 0.9"],

        "held_out": [True],
        "recalibrate": [False, True],
        "title": [None, "t", "<b>&\x1b[31m"],
        "reference": [None, "a", "b"],
        "interval": [True, False],
    }  # fmt: skip
    number = {
        "margin": [0.0, 0.05, 0.5, 1.0], "bandwidth": [1e-6, 0.05, 1.0, 100.0], "clip": [None, 1e-12, 0.01],
        "gain": [1.0, 1e-9, 1e9], "cost": [1.0, 1e-9, 1e9], "threshold": [0.0, 0.01, 0.5], "power": [0.1, 0.8],
    }  # fmt: skip
    if name in whole or name in names or name in number:
        return st.sampled_from({**whole, **names, **number}[name])
    if name in ("confidence_level", "level"):
        return level
    if name == "measure":
        return st.sampled_from([*measures(several), *(["bins"] if function == "equivalence_test" else [])])
    if name == "confidence_levels":
        return st.lists(level, min_size=1, max_size=3, unique=True).map(sorted)
    if name == "sample_weight":
        return vector_of(n, WEIGHT) | vector_of(n, st.integers(0, 3))
    if name in ("groups", "by"):
        masks = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
        texts = vector_of(n, st.sampled_from(["a", "b"]))
        given = st.fixed_dictionaries({"mask": masks}) | masks | st.fixed_dictionaries({"c": texts, "d": texts})
        few = {"depth": [1, 2, 3], "min_rows": [1, 2, 5], "n_quantiles": [1, 2, 4]}
        said = {each: st.sampled_from(values) for each, values in few.items()}
        found = {"learner": st.just("tree"), "min_rows": said["min_rows"], "leaves": st.integers(2, 4)}
        return given | st.builds(cs.Groups, given, **said) | st.builds(cs.Groups, given, **found)
    if name == "cluster":
        given = vector_of(n, st.integers(0, 3)) | vector_of(n, st.sampled_from(["a", "b"])) | st.just(np.arange(n))
        return given | st.builds(cs.Clusters, given, unseen=st.sampled_from(["clusters", "rows"]))
    if name == "folds":
        return st.just(np.arange(n) % 2)
    if name == "judge":
        chances = st.none() | vector_of(n, st.sampled_from([0.5, 1.0, 0.1]))
        answers = vector_of(n, st.sampled_from([0.0, 1.0, 0.5]))
        return st.builds(cs.Judge, answers, inclusion=chances, blind=st.sampled_from([None, True]))
    if name == "thresholds":
        return st.lists(
            st.sampled_from([5e-324, 1e-9, 0.1, 0.2, 0.5, 1 - 1e-9]), min_size=1, max_size=4, unique=True
        ).map(sorted)
    return HOSTILE


ASKED = {name: each for name, each in public_functions().items() if "y_prob" in inspect.signature(each).parameters}
FUNCTIONS = sorted(ASKED)
METHODS = {
    "calibration_test": [None, "direction", "noise", "sign_flip"],
    "compare": ["bootstrap", "swap"],
    "confidence_interval": ["honest", "proven", "bracket", "percentile", "basic", "bca", "triangle", "mirror"],
    "decompose": ["corp", "sharpness", "murphy"],
    "kernel_calibration_test": ["asymptotic", "block", "linear"],
}
ALWAYS = {"n_resamples": 19, "rng": 1, "n_datasets": 5, "held_out": True, "subject_to": "ks.high <= 0.9"}
OF_MANY = ("choose", "compare", "summarize")


def parameters(name):
    """The names of the options of a function, and of the words about rows that it takes."""
    function = ASKED[name]
    found = [each.name for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
    found += [word for word in getattr(function, "takes", ()) if word in ROW_WORDS]
    return [each for each in found if each not in ("y_true", "y_prob", "labels", "pos_label")]


@st.composite
def calls(draw, name):
    """A call of a public function: its name, outcomes, predictions and options."""
    several = draw(st.sampled_from([False, False, True]))
    several = several or name == "gce_family"
    y, p = draw(class_rows() if several else binary_rows())
    known = parameters(name)
    options = {each: value for each, value in ALWAYS.items() if each in known}
    for each in draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else ():
        options[each] = draw(option(name, each, len(y), several))
    if several and "lens" in known and draw(st.booleans()):
        options["lens"] = draw(st.sampled_from(["top_label", cs.lenses.one_class(0), "class_wise", "class_wise_max"]))
    if draw(st.integers(0, 9)) == 9 and known:
        options[draw(st.sampled_from(known))] = draw(HOSTILE)
    if name == "audit" and "groups" not in options:
        options["groups"] = draw(option(name, "groups", len(y), several))
    if draw(st.integers(0, 15)) == 15:
        y, p = draw(spoilt(y, p))
    else:
        y, p, more = draw(forms(y, p))
        options |= more
    if name in OF_MANY and draw(st.integers(0, 9)) < 9:
        p = {"a": p, "b": p[::-1]}
    elif name in OF_MANY or draw(st.integers(0, 9)) == 9:
        p = draw(st.sampled_from([{"a": p, "b": p}, {"a": p}, {"a": p, "b": p[::-1]}]))
    return name, (y, p), options


def fed(rows, more, **options):
    """The status of a copy of a monitor after two periods."""
    monitor = cs.Monitor(**options)
    monitor.update(*rows)
    monitor.update(*more)
    return pickle.loads(pickle.dumps(monitor)).status()


def mapped(rows, name, **options):
    """The answers of a fitted map to the predictions that it was fitted to."""
    y, p = rows
    found = cs.recalibration.RECALIBRATORS[name]().fit(p, y, **options).predict_proba(p)
    if not (np.isfinite(found).all() and found.min() >= 0 and found.max() <= 1):
        raise AssertionError(f"probabilities {found}")
    return found


def text():
    """Texts, also empty ones and ones with quotes, line breaks and escape sequences."""
    return st.text(max_size=5) | st.sampled_from(["y", "p", "a b", '"', "'; DROP TABLE x; --", "\x1b[31m", "\n", ""])


PAIR = binary_rows()
NUMBER = st.floats() | st.integers(-5, 60) | st.integers(-(10**400), 10**400)
MAPS = sorted(set(cs.recalibration.RECALIBRATORS) - {"NeuralScaling", "PriorShift"})
FUTURE = PAIR.map(lambda rows: rows[1]) | class_rows().map(lambda rows: rows[1])
QUICK = {"n_datasets": st.just(3), "n_sets": st.just(2), "n_resamples": st.just(9), "rng": st.just(1)}
ALTERNATIVE = st.sampled_from(["temperature=2", "shift=0.5", {"shift": 1}, "shift", None, "shift=nan"]) | HOSTILE
OTHERS = {  # functions that take other arguments than rows: positional ones, and options by name
    "blocks": (cs.blocks, [HOSTILE | st.lists(NUMBER | st.dates() | st.datetimes() | text(), max_size=40)], {}),
    "from_logits": (cs.from_logits, [st.lists(NUMBER, max_size=5) | st.lists(st.lists(NUMBER, max_size=3))], {}),
    "sql": (cs.sql, [text() | HOSTILE, text()], {"by": text() | st.lists(text(), max_size=2), "dialect": HOSTILE,
                                                 "table": text(), "weight": text() | st.none(), "cells": text()}),
    "Sample.from_counts": (cs.Sample.from_counts, [st.lists(NUMBER, max_size=3)] * 3, {}),
    "Sample.from_rows": (cs.Sample.from_rows, [PAIR.map(lambda rows: rows[0]), FUTURE], {"labels": HOSTILE}),
    "compare samples": (cs.compare, [st.fixed_dictionaries({"a": PAIR, "b": PAIR})],
                        {"n_resamples": st.just(9), "rng": st.just(1), "measure": st.sampled_from(["ks", "brier"]),
                         "reference": st.sampled_from(["a", None]) | HOSTILE, "adjust": HOSTILE}),
    "audit_samples": (cs.audit_samples,
                      [st.fixed_dictionaries({"a": PAIR, "b": PAIR}).map(
                          lambda each: {name: cs.Sample.from_rows(*rows) for name, rows in each.items()})],
                      {"n_resamples": st.just(9), "rng": st.just(1), "min_rows": st.just(1) | HOSTILE, "depth": HOSTILE,
                       "columns": text() | HOSTILE}),
    "generalization_gap": (cs.generalization_gap, [PAIR, PAIR],
                           {"n_resamples": st.just(9), "rng": st.just(1), "measure": st.sampled_from(["ks", "brier"]),
                            "confidence_level": HOSTILE}),
    "power": (cs.power, [FUTURE, ALTERNATIVE, st.sampled_from([None, 20, [20, 30]]) | HOSTILE],
              {**QUICK, "test": st.sampled_from(["ks", "spiegelhalter", "cox"]) | HOSTILE, "level": HOSTILE}),
    "sample_size": (cs.sample_size, [FUTURE, ALTERNATIVE],
                    {**QUICK, "test": st.just("ks"), "most": st.just(500), "width": st.just(0.9) | HOSTILE,
                     "of": st.sampled_from(["o/e", "ks"]) | HOSTILE}),
    "scorer": (lambda rows, **options: cs.scorer(**options)(FITTED, rows[1], rows[0]), [PAIR],
               {"measure": st.sampled_from([*cs.MEASURES]) | HOSTILE, "lens": HOSTILE}),
    "Monitor": (fed, [PAIR, PAIR], {"alpha": st.just(0.05) | HOSTILE, "arl": st.just(100) | HOSTILE}),
    "recalibration": (mapped, [PAIR | class_rows(), st.sampled_from(MAPS)], {}),
    "recalibration.choose": (lambda rows, **options: cs.recalibration.choose(*rows, **options), [PAIR],
                             {"cv": st.just(2) | HOSTILE, "repeats": st.just(1), "rng": st.just(1), "score": HOSTILE}),
}  # fmt: skip


@st.composite
def other_calls(draw, name):
    """A call of one of these functions; each option is given at times."""
    _, arguments, options = OTHERS[name]
    given = {each: draw(value) for each, value in options.items() if each in QUICK or draw(st.integers(0, 2)) == 0}
    return name, tuple(draw(each) for each in arguments), given


def written(result):
    """A result as JSON; of numbers their repr."""
    answers = result if isinstance(result, cs.Answers) else {"": result}
    return json.dumps(
        {name: each.to_dict() if hasattr(each, "to_dict") else repr(each) for name, each in answers.items()},
        allow_nan=False,
    )


def is_clear(error):
    """Whether the message of an error says what was expected or why there is no answer, in one line of text."""
    text = str(error)
    says_why = text.startswith("expected ") or ", because " in text or " is known for " in text
    return isinstance(error, ValueError | TypeError) and says_why and text.isprintable() and len(text) < 1200


def is_meant(warning):
    """Whether a warning is one of this package, for users."""
    return warning.category is UserWarning or "has not converged" in str(warning.message)


def arrays(call):
    """The bytes of all that a call is given."""
    _, arguments, options = call
    rows = np.ndarray | cs.Clusters | cs.Judge
    return pickle.dumps((arguments, {name: value for name, value in options.items() if isinstance(value, rows)}))


def problems(call):
    """Make a call, and return what must not come of it."""
    name, arguments, options = call
    function = OTHERS[name][0] if name in OTHERS else ASKED[name]
    before = arrays(call)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = function(*arguments, **options), None
            text = str(result)
        except Exception as raised:
            result, error, text = None, raised, ""
    found = [f"a warning: {w.category.__name__}: {w.message}" for w in caught if not is_meant(w)]
    if arrays(call) != before:
        found.append("an argument was changed")
    if error is not None:
        return found + [f"an unclear error: {type(error).__name__}: {error}"] * (not is_clear(error))
    if isinstance(result, Result | cs.Answers):
        twins = pickle.loads(pickle.dumps(result)), copy.deepcopy(result)
        found += ["a copy that differs"] * any(written(twin) != written(result) for twin in twins)
    return found + [f"nan without a reason: {line}" for line in text.splitlines() if NO_REASON.search(line)]
