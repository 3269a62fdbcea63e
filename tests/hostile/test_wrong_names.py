"""Names of other packages, and slips of a first hour: each error says what to write, and what it says has an answer.

A slip is written as a user writes it. What the error suggests is read from the message, compared with the table here,
and run; the last tests plant an error that says nothing, one whose call has no answer, and one that means another call.
"""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibstat as cs
from calibstat.data.words.names_elsewhere import ARGUMENTS, CALLS, in_full

FUNCTIONS = {  # names that a newcomer guesses, or has in another package, and the call
    "brier": "estimate(y, p, measure='brier')",
    "ece": "estimate(y, p, measure='ece')",
    "ECE": "estimate(y, p, measure='ece')",
    "log_loss": "estimate(y, p, measure='log_loss')",
    "smooth_ece": "estimate(y, p, measure='smooth_ece')",
    "skce": "estimate(y, p, measure='skce')",
    "calibration_error": 'estimate(label, prob, measure="ece")',
    "get_ece": 'estimate(label, prob, measure="ece")',
    "mce": 'estimate(label, prob, measure="ece", norm="max")',
    "brier_score_loss": 'estimate(y, p, measure="brier")',
    "smECE": 'estimate(y, p, measure="smooth_ece")',
    "nll": 'estimate(y, p, measure="log_loss")',
    "roc_auc_score": "validate(y, p).auc",
    "ici": "validate(y, p).ici",
    "val_prob": "validate(y, p)",
    "calibration_slope": "validate(y, p)",
    "hosmer_lemeshow_test": "classical.hosmer_lemeshow(y, p, held_out=True)",
    "decision_curve": "net_benefit(y, p)",
    "dca": "net_benefit(y, p)",
    "aurc": "risk_coverage(y, p)",
    "reliability_diagram": "reliability(y, p)",
    "calibration_curve": "reliability(y, p)",
    "plot_calibration_curve": "plot(calibstat.reliability(y, p))",
    "CalibrationDisplay": "ReliabilityDisplay.from_predictions(y, p)",
    "murphy": "decompose(y, p)",
    "brier_decomposition": "decompose(y, p)",
    "test": "calibration_test(y, p)",
    "is_calibrated": "calibration_test(y, p)",
    "interval": "confidence_interval(y, p)",
    "ci": "confidence_interval(y, p)",
    "equivalence": "equivalence_test(y, p)",
    "summary": 'summarize(y, {"A": p, "B": q})',
    "compare_models": 'compare(y, {"A": p, "B": q})',
    "diebold_mariano": 'compare(y, {"A": p, "B": q})',
    "calibrate": "recalibration.choose(y, p)",
    "recalibrate": "recalibration.choose(y, p)",
    "temperature_scaling": "recalibration.TemperatureScaling().fit(p, y)",
    "platt": "recalibration.PlattScaling().fit(p, y)",
    "isotonic_regression": "recalibration.IsotonicRegression().fit(p, y)",
    "CalibratedClassifierCV": "CalibratedModel(model)",
    "predict_proba": "predict(model, x)",
    "softmax": "from_logits(np.log(p / (1 - p)))",
    "fairness": "audit(y, p, x)",
    "drift": "Monitor().update(y, p)",
}
SYMBOLS = {"VectorScaling": "recalibration", "MeanReplacement": "recalibration", "six_points": "generators"}
MEASURES = {  # as `measure=`, and as an option of a measure beside it
    "mce": 'cs.estimate(label, prob, measure="ece", norm="max")',
    "smece": 'cs.estimate(y, p, measure="smooth_ece")',
    "tace": 'cs.estimate(label, prob, measure="gce", binning="adaptive", threshold=0.01)',
    "nll": 'cs.estimate(y, p, measure="log_loss")',
    "bss": "cs.skill_score(y, p)",
    "auc": "cs.validate(y, p).auc",
    "hosmer_lemeshow": "cs.classical.hosmer_lemeshow(y, p, held_out=True)",
    "decision_curve": "cs.net_benefit(y, p)",
}
OPTIONS = {  # calls, with what was written, its value, and what is written now
    ("cs.calibration_test(y, p, {})", "random_state", "0"): "rng=",
    ("cs.calibration_test(y, p, {})", "seed", "0"): "rng=",
    ("cs.calibration_test(y, p, {})", "groups", "units"): "cluster=",
    ("cs.calibration_test(y, p, {})", "n_permutations", "99"): "n_resamples=",
    ("cs.calibration_test(y, p, {})", "metric", "'ece'"): "measure=",
    ("cs.calibration_test(y, p, measure='ece', {})", "bins", "5"): "n_bins=",
    ("cs.calibration_test(y, p, {})", "weights", "np.ones(200)"): "sample_weight=",
    ("cs.confidence_interval(y, p, n_resamples=99, {})", "alpha", "0.1"): "confidence_level=1 - alpha",
    ("cs.confidence_interval(y, p, n_resamples=99, {})", "ci", "0.9"): "confidence_level=",
    ("cs.confidence_interval(y, p, {})", "n_boot", "99"): "n_resamples=",
    ("cs.confidence_interval(y, p, n_resamples=99, {})", "n_threads", "1"): "n_jobs=",
    ("cs.confidence_interval(y, p, n_resamples=99, {})", "cv", "units % 2"): "folds=",
    ("cs.estimate(y, p, {})", "num_bins", "5"): "n_bins=",
    ("cs.estimate(y, p, {})", "bin_strategy", "'quantile'"): "strategy=",
    ("cs.estimate(label, prob, {})", "multiclass", "'class_wise_mean'"): "lens=",
    ("cs.estimate(y, p, {})", "classes", "[0, 1]"): "labels=",
    ("cs.estimate(y, p, {})", "positive_class", "1"): "pos_label=",
    ("cs.reliability(y, p, {})", "bins", "5"): "n_bins=",
    ("cs.reliability(y, p, {})", "significance_level", "0.1"): "confidence_level=1 - significance_level",
    ("cs.compare(y, two, n_resamples=99, {})", "baseline", "'A'"): "reference=",
    ("cs.compare(y, two, n_resamples=99, {})", "correction", "'bh'"): "adjust=",
    ("cs.net_benefit(y, p, {})", "threshold", "[0.2]"): "thresholds=",
    ("cs.audit(y, p, {})", "sensitive_features", "x"): "groups=",
    ("cs.equivalence_test(y, p, {})", "delta", "0.1"): "margin=",
    ("cs.validate(y, p, {})", "eps", "1e-6"): "clip=",
    ("cs.power(p, 'shift=1', n_resamples=19, n_datasets=9, {})", "alpha", "0.1"): "level=alpha",
    ("cs.recalibration.HistogramBinning({})", "bins", "5"): "n_bins=",
    ("cs.recalibration.HistogramBinning({})", "seed", "1"): "random_state=",
    ("cs.estimate(y, {})", "y_pred", "p"): "y_prob=",
    ("cs.calibration_test(y, {})", "probs", "p"): "y_prob=",
}
NOT_HERE = {  # what to know where a function has nothing that would stand for it
    "cs.calibration_test(y, p, alpha=0.1)": "compare the p-value of a test with alpha",
    "cs.estimate(y, p, seed=0)": "where a function takes it, it is rng= or random_state=",
    "cs.audit(y, p, x, weights=p)": "Sample.from_rows(y_true, y_prob, counts)",
}
MEMBERS = {  # attributes, of what, and what is written now
    ("test", "p_value"): "result.pvalue",
    ("test", "pval"): "result.pvalue",
    ("test", "statistic_"): "result.statistic",
    ("test", "summary"): "print(result)",
    ("test", "plot"): "calibstat.plot(result)",
    ("interval", "lower"): "result.low",
    ("interval", "upper"): "result.high",
    ("interval", "conf_int"): "(result.low, result.high)",
    ("interval", "value"): "result.estimate",
    ("interval", "to_pandas"): "result.to_frame()",
    ("interval", "to_json"): "result.to_dict()",
    ("diagram", "prob_true"): "result.frequency",
    ("diagram", "prob_pred"): "result.mean_prediction",
    ("chosen_map", "map"): "result.recalibrator.fit(p, y)",
    ("chosen_map", "predict_proba"): "result.recalibrator.fit(p, y)",
    ("chosen_model", "winner"): "result.name",
    ("map", "transform"): "map.predict_proba(p)",
    ("map", "calibrate"): "map.predict_proba(p)",
    ("map", "fit_transform"): "map.fit(p, y).predict_proba(p)",
    ("calibrated", "transform"): "model.predict_proba(X)",
}
CALLED = {  # the way of calling, and what is written now
    "cs.compare(y, p, q)": 'compare(y, {"A": p, "B": q})',
    "cs.summarize(y, p, q)": 'summarize(y, {"A": p, "B": q})',
    "cs.calibration_test(y, p, q)": 'calibration_test(y, {"A": p, "B": q})',
    "cs.calibration_test(model, x, y)": "calibration_test(y, calibstat.predict(model, X))",
    "cs.compare(model, other, x, y)": 'compare(y, calibstat.predict({"A": model, "B": other}, X))',
    "cs.calibration_test(y, p, 'ece')": "measure='ece'",
    "cs.plot(y, p)": "calibstat.plot(calibstat.reliability(y, p))",
    "cs.plot(list(y))": "calibstat.plot(calibstat.reliability(y, p))",
    "cs.compare(y, [p, q])": '{"A": p, "B": q}',
    "cs.compare(y, np.array([p, q]))": '{"A": p, "B": q}',
    "cs.compare(y, p)": '{"A": p, "B": q}',
    "cs.estimate(label, prob.T)": "numpy.transpose(y_prob)",
    "cs.estimate(y, percent)": '[float(each.strip("% ")) / 100 for each in y_prob]',
    "cs.estimate(y, percent.tolist())": '[float(each.strip("% ")) / 100 for each in y_prob]',
}
WITHIN = {  # how a suggestion that is no call by itself is used
    '{"A": p, "B": q}': "cs.compare(y, {})",
    "measure='ece'": "cs.calibration_test(y, p, {})",
    "numpy.transpose(y_prob)": "cs.estimate(label, {})",
    '[float(each.strip("% ")) / 100 for each in y_prob]': "cs.estimate(y, {})",
}
SAID = r"; (?:write|the call is) (?P<call>.*?)(?:, with a name for each(?: model)?)?$"

NAMED = r"expected (?P<call>\w+=.*) of .*, found '\w+'$"


@pytest.fixture(scope="module", name="names")
def names_fixture():
    """What stands in slips and in suggestions."""
    y, p = cs.generators.temperature(2).sample(200, rng=1)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(200, rng=1)
    x = pd.DataFrame({"age": 20.0 + np.arange(200) % 60})
    rows = {"y": y, "p": p, "q": p**2, "two": {"A": p, "B": p**2}, "label": label, "prob": prob, "x": x, "X": x}
    rows |= {"model": LogisticRegression().fit(x, y), "other": GaussianNB().fit(x, y), "units": np.arange(200) // 4}
    rows |= {"percent": pd.Series(p).map("{:.0%}".format), "alpha": 0.1, "significance_level": 0.1}
    made = {
        "test": cs.calibration_test(y, p, rng=1),
        "interval": cs.confidence_interval(y, p, n_resamples=99, rng=1),
        "diagram": cs.reliability(y, p, band=None),
        "chosen_map": cs.recalibration.choose(y, p, cv=2, repeats=2, rng=1),
        "chosen_model": cs.choose(y, rows["two"], subject_to="ece.high <= 0.9", rng=1),
        "map": cs.recalibration.PlattScaling().fit(p, y),
        "calibrated": cs.CalibratedModel(rows["model"], cv=2, random_state=1).fit(x, y),
    }
    return {"cs": cs, "calibstat": cs, "np": np, "numpy": np, "pd": pd} | rows | made


def said(slip, names):
    """The error of a slip, in one line."""
    with pytest.raises((AttributeError, TypeError, ValueError)) as error:
        eval(slip, names)
    message = str(error.value)
    assert "\n" not in message
    return message


def objection(message, meant, run, names):
    """What is wrong with the message of a slip: it suggests nothing, something else, or what has no answer."""
    found = re.search(SAID, message) or re.match(NAMED, message)
    if found is None:
        return "it suggests nothing"
    call = found["call"]
    if call != meant:
        return f"it suggests {call}"
    try:
        return None if eval(run(call), names) is not None else f"{call} has no answer"
    except (AttributeError, NameError, TypeError, ValueError) as error:
        return f"{call} has no answer: {error}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_name_of_a_function_elsewhere_leads_to_the_call(name, names, closed_figures):
    message = said(f"cs.{name}", names)
    assert message.startswith(f"module 'calibstat' has no attribute {name!r}; the call is calibstat.")
    assert objection(message, f"calibstat.{FUNCTIONS[name]}", str, names) is None


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_name_that_stands_in_a_module_is_named_there(name, names):
    meant = f"calibstat.{SYMBOLS[name]}.{name}"
    assert objection(said(f"cs.{name}", names), meant, str, names) is None


def test_every_other_name_of_a_call_is_an_attribute_that_names_it(names):
    identifiers = {name: call for call, own in CALLS.items() for name in own if name.isidentifier()}
    assert len(identifiers) > 80
    for name, call in identifiers.items():
        if name not in cs.__all__:
            assert said(f"cs.{name}", names).endswith(f"; the call is {in_full(call, 'calibstat')}"), name


@pytest.mark.parametrize("name", MEASURES)
def test_another_name_of_a_measure_is_answered_without_the_list_of_all(name, names):
    message = said(f"cs.estimate(y, p, measure={name!r})", names)
    assert message == f"expected a measure, found {name!r}; {name!r} is {MEASURES[name]}"
    assert eval(MEASURES[name], names) is not None


@pytest.mark.parametrize(("call", "wrong", "value"), OPTIONS)
def test_another_name_of_an_argument_names_the_one_that_is_meant(call, wrong, value, names):
    def run(written):
        return call.format(written + value if written.endswith("=") else written)

    message = said(call.format(f"{wrong}={value}"), names)
    assert objection(message, OPTIONS[call, wrong, value], run, names) is None
    assert len(message) < 120


@pytest.mark.parametrize("slip", NOT_HERE)
def test_an_argument_that_a_function_has_under_no_name_is_explained(slip, names):
    message = said(slip, names)
    assert re.match(r"expected an argument of \w+, found '\w+'; ", message)
    assert message.endswith(NOT_HERE[slip])


@pytest.mark.parametrize(("owner", "wrong"), MEMBERS)
def test_another_name_of_an_attribute_is_answered(owner, wrong, names, closed_figures):
    rows = names | {"result": names[owner], "print": str, "model": names["calibrated"]}
    message = said(f"{owner}.{wrong}", names)
    assert f"object has no attribute {wrong!r}; write " in message
    assert objection(message, MEMBERS[owner, wrong], str, rows) is None
    assert not hasattr(names[owner], wrong)


def test_what_an_object_does_not_have_is_not_suggested(names):
    for owner, wrong in (("test", "prob_true"), ("diagram", "p_value"), ("map", "decision_function"), ("test", "_x")):
        assert said(f"{owner}.{wrong}", names).endswith(f"has no attribute {wrong!r}")


@pytest.mark.parametrize("slip", CALLED)
def test_a_way_of_calling_is_answered_by_the_call(slip, names, closed_figures):
    y_prob = names["percent"] if "percent" in slip else names["prob"].T
    functions = {name: getattr(cs, name) for name in ("compare", "summarize", "calibration_test")}

    def run(call):
        return WITHIN.get(call, "{}").replace("{}", call, 1)

    assert objection(said(slip, names), CALLED[slip], run, names | functions | {"y_prob": y_prob}) is None


def test_there_are_many_and_every_argument_of_the_table_is_tried():
    cases = (FUNCTIONS, SYMBOLS, MEASURES, OPTIONS, NOT_HERE, MEMBERS, CALLED)
    assert sum(map(len, cases)) >= 60
    tried = {wrong for _, wrong, _ in OPTIONS}
    rows = [written for written, own in ARGUMENTS.items() if not tried & set(own)]
    assert rows == ["level=1 - {}", "n_datasets="]


def test_an_error_that_says_nothing_or_says_a_wrong_call_is_found(names):
    assert objection("no attribute 'ece'", "cs.estimate(y, p)", str, names) == "it suggests nothing"
    wrong = "no attribute 'ece'; the call is cs.estimate(y)"
    assert objection(wrong, "cs.estimate(y, p)", str, names) == "it suggests cs.estimate(y)"
    assert "has no answer: expected" in objection(wrong, "cs.estimate(y)", str, names)
    assert "has no answer" in objection("expected nrg= of f, found 'seed'", "nrg=", lambda w: f"cs.power({w}1)", names)


def test_a_fault_in_the_table_is_found(monkeypatch, names):
    monkeypatch.setitem(CALLS, "cs.estimat(y, p)", ("some other error",))
    monkeypatch.setattr("calibstat.data.words.names_elsewhere._calls", lambda: {"someothererror": "cs.estimat(y, p)"})
    message = said("cs.some_other_error", names)
    assert "has no answer: module" in objection(message, "calibstat.estimat(y, p)", str, names)
