"""The summary of several models: every number is that of the verb it stands for, and bad bargains are named."""

import numpy as np
import pytest

import calibstat as cs

SETTINGS = {"n_resamples": 99, "rng": 3}


def models(n=800):
    y, p = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(n, rng=1)
    cooled = np.sqrt(p) / np.sqrt(p).sum(axis=1, keepdims=True)  # undoes the temperature
    rate = np.bincount(y, minlength=3) / n
    return y, {"raw": p, "cooled": cooled, "rates": np.tile(rate, (n, 1))}


def test_every_cell_is_the_verb_it_stands_for():
    y, p = models()
    found = cs.summarize(y, p, **SETTINGS)
    assert found.names == ("raw", "cooled", "rates")
    assert found.measures == ("accuracy", "ece", "ace", "smooth_ece", "log_loss", "brier")
    for i, prob in enumerate(p.values()):
        expected = [
            np.mean(prob.argmax(axis=1) == y),
            cs.estimate(y, prob, measure="ece"),
            cs.estimate(y, prob, measure="ece", strategy="quantile", lens="class_wise", reduce="mean"),
            cs.estimate(y, prob, measure="smooth_ece"),
            cs.estimate(y, prob, measure="log_loss", lens="canonical"),
            cs.estimate(y, prob, measure="brier", lens="canonical"),
        ]
        assert found.estimate[i] == pytest.approx(expected, abs=1e-12)
    assert np.all(found.low <= found.high)
    frame = found.to_frame()
    assert frame.shape == (18, 5)
    assert "raw" in str(found)


def test_only_bad_bargains_are_named():
    y, p = models()
    found = cs.summarize(y, p, **SETTINGS)
    # undoing the distortion lowers the error and both scores; constant rates lower the error and raise both
    assert {text.split(":")[0] for text in found.warnings} == {"rates"}
    assert {text.split("but ")[1].split(" ")[0] for text in found.warnings} == {"log_loss", "brier"}
    assert cs.summarize(y, p, reference="cooled", **SETTINGS).names == found.names
    assert not cs.summarize(y, {"cooled": p["cooled"], "raw": p["raw"]}, **SETTINGS).warnings


def test_an_infinite_loss_is_said():
    y, p = models(100)
    certain = np.eye(3)[p["raw"].argmax(axis=1)]
    found = cs.summarize(y, {"certain": certain, "raw": p["raw"]}, **SETTINGS)
    assert found.estimate[0, 4] == np.inf
    assert found.low[0, 4] == found.high[0, 4] == np.inf
    row = np.flatnonzero(certain[np.arange(y.size), y] == 0)[0]
    assert found.warnings[0] == f"certain: log_loss is infinite: what happened at row {row} had probability 0."
    moved = cs.summarize(y, {"certain": certain, "raw": p["raw"]}, clip=0.01, **SETTINGS)
    assert moved.estimate[0, 4] == pytest.approx(-np.log(np.clip(certain[np.arange(y.size), y], 0.01, 0.99)).mean())
    found = cs.summarize(y, {"rates": p["rates"], "certain": np.eye(3)[y]}, **SETTINGS)
    assert np.isfinite(found.estimate).all()


def test_two_outcomes():
    y, v = cs.generators.temperature(1.5).sample(500, rng=1)
    found = cs.summarize(y, {"model": v}, **SETTINGS)
    assert found.estimate[0, 5] == pytest.approx(2 * cs.estimate(y, v, measure="brier"))


def test_errors():
    y, p = models(50)
    with pytest.raises(ValueError, match="expected a reference, one of raw, cooled, rates; found 'x'"):
        cs.summarize(y, p, reference="x")
    for bad in ({}, p["raw"]):
        with pytest.raises(ValueError, match="a mapping from name to predictions"):
            cs.summarize(y, bad)
