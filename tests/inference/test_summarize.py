"""The summary of several models: every number is that of the verb it stands for, and bad bargains are named."""

import numpy as np
import pytest
from lucky_rows import lucky_rows
from sklearn.metrics import roc_auc_score

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
    assert found.measures == (
        "accuracy", "ece", "average_ce", "adaptive_calibration_error", "smooth_ece", "auc", "log_loss", "brier",
    )  # fmt: skip
    for i, prob in enumerate(p.values()):
        expected = [
            np.mean(prob.argmax(axis=1) == y),
            cs.estimate(y, prob, measure="ece"),
            cs.estimate(y, prob, measure="average_ce"),
            cs.estimate(y, prob, measure="gce", binning="adaptive"),
            cs.estimate(y, prob, measure="smooth_ece"),
            roc_auc_score(prob.argmax(axis=1) == y, prob.max(axis=1)),
            cs.estimate(y, prob, measure="log_loss", lens="canonical"),
            cs.estimate(y, prob, measure="brier", lens="canonical"),
        ]
        assert found.estimate[i] == pytest.approx(expected, abs=1e-12)
    alone = np.isin(found.measures, ("auc", "average_ce"))
    assert np.array_equal(np.isnan(found.low), np.tile(alone, (3, 1)))
    assert np.all(found.low[:, ~alone] <= found.high[:, ~alone])
    frame = found.to_frame()
    assert frame.shape == (24, 6)
    top, whole = "accuracy, ece, average_ce, smooth_ece, auc", "adaptive_calibration_error, log_loss, brier"
    assert f"\nOf the most likely class: {top}. Of all classes jointly: {whole}.\n" in str(found)
    assert str(found).count("No honest interval is known for average_ce, auc,") == 1
    assert "nan" not in str(found)


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
    column = found.measures.index("log_loss")
    assert found.estimate[0, column] == np.inf
    assert found.low[0, column] == found.high[0, column] == np.inf
    assert "nan" not in str(found)
    assert "log_loss, which" not in str(found)
    row = np.flatnonzero(certain[np.arange(y.size), y] == 0)[0]
    assert found.warnings[0] == f"certain: log_loss is infinite: the observed outcome at row {row} had probability 0."
    moved = cs.summarize(y, {"certain": certain, "raw": p["raw"]}, clip=0.01, **SETTINGS)
    observed = np.clip(certain[np.arange(y.size), y], 0.01, 0.99)
    assert moved.estimate[0, column] == pytest.approx(-np.log(observed).mean())
    found = cs.summarize(y, {"rates": p["rates"], "certain": np.eye(3)[y]}, **SETTINGS)
    column = found.measures.index("auc")
    assert found.estimate[0, column] == 0.5  # predictions that are all equal
    assert np.isnan(found.estimate[1, column])  # one outcome alone: always right
    assert "undefined" in str(found)
    assert np.isfinite(np.delete(found.estimate, column, axis=1)).all()


def test_two_outcomes():
    y, v = cs.generators.temperature(1.5).sample(500, rng=1)
    found = cs.summarize(y, {"model": v}, **SETTINGS)
    for name in ("ece", "average_ce", "smooth_ece", "log_loss", "brier"):
        assert found.estimate[0, found.measures.index(name)] == pytest.approx(
            cs.estimate(y, v, measure=name), abs=1e-12
        )
    assert found.estimate[0, -1] == pytest.approx(np.mean((y - v) ** 2), abs=1e-12)  # as in scikit-learn
    text = (
        "\nOf the most likely class: accuracy. Of outcome 1: ece, average_ce, smooth_ece, auc, log_loss, brier. Of all "
    )
    assert f"{text}classes jointly: adaptive_calibration_error.\n" in str(found)
    for other in (v[:, None], np.column_stack((1 - v, v))):
        assert cs.summarize(y, {"model": other}, **SETTINGS).estimate == pytest.approx(found.estimate, abs=1e-12)


def test_errors():
    y, p = models(50)
    with pytest.raises(ValueError, match="expected a reference, one of raw, cooled, rates; found 'x'"):
        cs.summarize(y, p, reference="x")
    with pytest.raises(ValueError, match=r"expected predictions of the same classes from all models, found \[2, 3\]"):
        cs.summarize(np.minimum(y, 1), {"three": p["raw"], "two": p["raw"][:, 0]})
    for bad, message in (({}, "names of one or more models"), (p["raw"], "a mapping from name to predictions")):
        with pytest.raises(ValueError, match=message):
            cs.summarize(y, bad)


def test_why_an_interval_does_not_end_lower():
    y, v = lucky_rows()
    found = cs.summarize(y, {"even": v, "too low": v / 2}, **SETTINGS)
    high = found.high[0, found.measures.index("ece")]
    assert found.remarks[0] == (
        f"even, ece: A calibrated model would show {high:.4f} on these rows; the interval does not end below that."
    )
    assert not any(remark.startswith("too low, ece") for remark in found.remarks)
    assert found.remarks[0] in str(found)
