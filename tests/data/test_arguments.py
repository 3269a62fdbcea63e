"""Arguments of verbs: a misspelt one is named with those that there are."""

import inspect

import pytest

import calibstat as cs
from calibstat.data.arguments import checks_arguments

Y, P = [0, 1, 1, 0], [0.2, 0.6, 0.7, 0.4]
TWO = {"a": P, "b": P}


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda: cs.calibration_test(Y, P, methd="x"), "'methd'; did you mean 'method'?"),
        (lambda: cs.calibration_test(Y, P, n_resample=9), "'n_resample'; did you mean 'n_resamples'?"),
        (lambda: cs.estimate(Y, P, n_bin=9), "'n_bin'; use n_bins="),
        (lambda: cs.estimate(Y, P, nbins=9), "'nbins'; did you mean 'n_bins'?"),
        (lambda: cs.estimate(Y, TWO, lense=9), "'lense'; did you mean 'lens'?"),
        (lambda: cs.detail(Y, P, wieght=1), "'wieght'"),
        (lambda: cs.confidence_interval(Y, P, confidence_levl=0.9), "did you mean 'confidence_level'?"),
        (lambda: cs.compare(Y, TWO, metod="swap"), "'metod'; did you mean 'method'?"),
        (lambda: cs.generalization_gap(train=(Y, P), test=(Y, P), n_resample=9), "did you mean 'n_resamples'?"),
        (lambda: cs.power(P, "shift=1", lvel=0.1), "'lvel'; did you mean 'level'?"),
        (lambda: cs.sample_size(P, "shift=1", lvel=0.1), "'lvel'; did you mean 'level'?"),
        (lambda: cs.detectable_effect(P, n_dataset=9), "'n_dataset'; did you mean 'n_datasets'?"),
    ],
)
def test_a_misspelt_argument_is_named_beside_those_of_the_function(ask, found):
    with pytest.raises(
        ValueError, match=r"^expected arguments of \w+ \(.*\), or expected options of measure '\w+' "
    ) as error:
        ask()
    assert found in str(error.value)


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda: cs.validate(Y, P, lense="top_label"), "arguments of validate .*did you mean 'lens'"),
        (lambda: cs.validate(Y, P, sample_weight=P), "arguments of validate .*'sample_weight'; estimate, calib"),
        (lambda: cs.summarize(Y, TWO, refrence="a"), "arguments of summarize .*did you mean 'reference'"),
        (lambda: cs.report(Y, P, titel="a"), "arguments of report .*did you mean 'title'"),
    ],
)
def test_a_function_without_options_says_so_too(ask, found):
    with pytest.raises(TypeError, match=found):
        ask()


def test_the_signature_is_kept():
    assert "pos_label" in inspect.signature(cs.estimate).parameters
    assert "n_bins" in inspect.signature(cs.expected_calibration_error).parameters


def test_an_option_unknown_further_down_is_not_blamed_on_the_function():
    @checks_arguments
    def ask(**options):
        return cs.estimate(Y, P, nbins=3)

    with pytest.raises(ValueError, match="arguments of estimate"):
        ask(other=1)


@pytest.mark.parametrize("several", [["ece", "brier"], ("ece",), {"ece"}])
def test_several_measures_are_sent_to_summarize(several):
    with pytest.raises(ValueError, match=r"expected one measure, found \w+ of length \d; .*calibstat\.summarize"):
        cs.estimate(Y, P, measure=several)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("expected_calibration_error", "ece"), ("brier_score", "brier"), ("Smooth calibration error", "smooth_ce")],
)
def test_a_title_of_a_measure_leads_to_its_name(name, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        cs.estimate(Y, P, measure=name)
