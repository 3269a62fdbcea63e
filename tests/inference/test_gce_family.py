"""The family of general calibration errors: its order, its named members, its result."""

import math
from functools import partial

import pytest
from gce_examples import SWITCHES, gce, many, named

import calibstat as cs
from calibstat.data.predictions import Predictions
from calibstat.inference.gce_family import PAPERS, PLAIN, gce_family


@pytest.mark.parametrize("threshold", [0.01, 0.2])
def test_family_in_order_of_its_index(threshold):
    prob, label = many(50, 5)
    family = gce_family(label, prob, n_bins=6, threshold=threshold)
    for i, switch in enumerate(SWITCHES):
        switch = {**switch, "threshold": threshold if switch["threshold"] else 0.0}
        assert {name: getattr(family, name)[i] for name in switch} == switch
        index = (
            16 * (switch["binning"] == "adaptive")
            + 8 * (not switch["max_prob"])
            + 4 * (not switch["class_conditional"])
            + 2 * (switch["threshold"] > 0)
            + (switch["norm"] == "l2")
        )
        assert family.index[i] == i == index
        assert family.value[i] == gce(prob, label, n_bins=6, **switch)


def test_plain_members_have_the_defaults_of_the_measure():
    assert {name: value for name, value in cs.MEASURES["gce"].defaults().items() if name != "n_bins"} == PLAIN


def test_named_members():
    prob, label = many(50, 5)
    family = gce_family(label, prob, n_bins=6)
    assert {name: i for i, name in enumerate(family.name.tolist()) if name} == {
        "class-conditional ECE": 0,
        "ECE": 4,
        "SCE": 8,
        "RMSCE": 21,
        "ACE": 24,
        "TACE": 26,
    }
    assert len({family[name] for name in family.name if name}) == 6
    assert set(PAPERS) == set(filter(None, family.name))
    for name in PAPERS:
        assert named(name, label, prob, n_bins=6) == family[name]
    least = gce(prob, label, binning="adaptive", threshold=0.2)
    assert named("TACE", label, prob, threshold=0.2) == least == gce_family(label, prob, threshold=0.2)["TACE"]
    for name in ("NLL", ""):
        with pytest.raises(KeyError, match="expected one of class-conditional ECE, ECE, SCE, RMSCE, ACE, TACE; found"):
            family[name]


def test_named_classes_and_checked_predictions():
    prob, label = many(30, 3)
    names = ["hen", "cat", "dog"]
    words = [names[k] for k in label]
    family = gce_family(label, prob)
    assert gce_family(words, prob, labels=names).value.tolist() == family.value.tolist()
    assert named("SCE", words, prob, labels=names) == family["SCE"]
    checked = Predictions.from_rows(label, prob)
    assert gce_family(checked).value.tolist() == family.value.tolist()
    assert named("SCE", checked) == family["SCE"]
    for refused in (gce_family, partial(named, "SCE")):
        with pytest.raises(ValueError, match="row 1"):
            refused([0, 3], [[0.5, 0.5], [0.5, 0.5]])


def test_family_as_a_result():
    prob, label = many(50, 5)
    family = gce_family(label, prob)
    frame = family.to_frame()
    assert frame.shape == (32, 8)
    assert frame.set_index("name").loc["SCE", "value"] == family["SCE"]
    assert family.to_dict()["value"] == family.value.tolist()
    text = str(family).splitlines()
    assert text[0] == "General calibration error, 5 classes, n_bins = 15, n = 50"
    assert len(text) == 11
    assert text[4].split() == ["even", "all", "apart", *(f"{v:.4g}" for v in family.value[[8, 9, 10, 11]])]
    assert text[1].split()[3:] == ["L1", "L2", "L1", "above", "0.01", "L2", "above", "0.01"]
    assert f"SCE = {family['SCE']:.4g}" in text[-1]
    with pytest.raises(ValueError, match="read-only"):
        family.value[0] = 1
    with pytest.raises(AttributeError):
        family.value = family.value


@pytest.mark.parametrize("threshold", [0, 1, -0.5, math.nan])
def test_the_family_needs_a_threshold(threshold):
    with pytest.raises(ValueError, match="expected a threshold above 0 and below 1"):
        gce_family([0], [[0.5, 0.5]], threshold=threshold)
