"""The measure of a result."""

import pickle

import calibstat as cs
from calibstat.measures.kinds.named_measure import NamedMeasure


def test_name_options_and_title():
    few = cs.MEASURES["ece"](n_bins=5, norm="l2").named
    assert few == NamedMeasure("ece", "n_bins=5, norm='l2'", "Expected calibration error", has_interval=True)
    assert few.as_argument == "measure='ece', n_bins=5, norm='l2'"
    assert (str(few), few.in_prose) == (
        "ece(n_bins=5, norm='l2')",
        "Expected calibration error (n_bins=5, norm='l2')",
    )
    default = cs.MEASURES["ece"]().named
    assert (str(default), default.in_prose) == ("ece", "Expected calibration error")
    assert default.as_argument == "measure='ece'"
    assert NamedMeasure("mine").in_prose == "mine"
    assert not cs.MEASURES["lower_distance"]().named.has_interval


def test_measures_of_several_classes_have_the_name_of_the_binary_one():
    for name in ("brier", "log_loss", "omnibus"):
        binary = cs.MEASURES[name]()
        assert binary.multiclass().named == binary.named


def test_results_with_a_measure_and_a_lens_made_of_functions_can_be_pickled(registry):
    scale = 0.5

    class Scaled(cs.measures.MeanLoss):
        def loss(self, value):
            return scale * value, scale * (1 - value)

    name = "test_named_measure_scaled"
    measure = cs.measure(name)(Scaled)()
    lens = cs.Lens("last", lambda prob: prob[:, -1], lambda prob, label: label == prob.shape[1] - 1, "it holds.")
    found = cs.calibration_test([0, 1, 2], [[0.2, 0.3, 0.5]] * 3, measure=measure, lens=lens, n_resamples=9, rng=1)
    same = pickle.loads(pickle.dumps(found))
    assert (same.measure, same.lens, same.null_hypothesis) == (found.measure, found.lens, found.null_hypothesis)
    assert (str(same), str(same.measure), str(same.lens)) == (str(found), name, "lens last")
