"""The study of label noise: its generator does what it says, and its pictures show its table."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulation_files import study_file, study_part

import calibstat as cs

label_noise, digits = study_file("label_noise"), study_part("digits")
CALIBRATED, CLEAN, Seen = label_noise.CALIBRATED, label_noise.CLEAN, label_noise.Seen
IfCalibrated, NoisyDigits = label_noise.IfCalibrated, label_noise.NoisyDigits
# of digits nobody knows the true values
pytestmark = pytest.mark.filterwarnings("ignore:the true value of .* is not known:RuntimeWarning")
MANY = 1500  # held out, so that fitting to the rest is fast


@pytest.fixture(scope="module", autouse=True)
def fit_once():
    """Fits to the same rows are made once: most tests look at the same models in several ways."""
    from sklearn.linear_model import LogisticRegression

    fitted = {}

    def fit(self, pixels, label):
        key = (self.C, self.max_iter, pixels.tobytes(), label.tobytes())
        if key not in fitted:
            fitted[key] = original(self, pixels, label)
        vars(self).update(vars(fitted[key]))
        return self

    original = LogisticRegression.fit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LogisticRegression, "fit", fit)
        yield


@pytest.fixture(scope="module")
def table(fit_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_noise, "HELD_OUT", MANY)
        tables = [cs.study.run(**grid, seed=label_noise.study.seed) for grid in label_noise.grids(quick=True)]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


class Remembering:
    """A model that says class 0 of rows that it has seen and class 1 of others; the first pixel is the row's number."""

    def __init__(self, **options):
        pass

    def fit(self, pixels, label):
        self.seen, self.label = pixels[:, 0], label
        return self

    def predict_proba(self, pixels):
        return np.eye(10)[1 - np.isin(pixels[:, 0], self.seen)]


def test_rows_that_are_held_out_are_not_fitted_to(monkeypatch):
    pixels, label = digits.digits()
    rows = np.arange(label.size)
    numbered = np.column_stack((rows, pixels))
    monkeypatch.setattr(digits, "digits", lambda: (numbered, label))
    monkeypatch.setattr("sklearn.linear_model.LogisticRegression", Remembering)
    y, p = NoisyDigits(0.3).sample(900, 1)
    assert y.shape == (900,)
    assert np.array_equal(p, np.eye(10)[np.ones(900, int)])


def test_a_model_without_noise_is_that_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    pixels, label = digits.digits()
    order = np.random.default_rng(3).permutation(1797)
    y, p = NoisyDigits(0.0).sample(MANY, 3)
    fitted = LogisticRegression(C=10, max_iter=10_000).fit(pixels[order[MANY:]], label[order[MANY:]])
    assert np.array_equal(y, label[order[:MANY]])
    assert p == pytest.approx(fitted.predict_proba(pixels[order[:MANY]]), abs=1e-12)


def changed(fraction):
    """How many of many held-out labels are not what they were, after predictions are found the same."""
    found = 0
    for seed in range(6):
        (noisy, p), (clean, same) = (NoisyDigits(fraction, clean=c).sample(MANY, seed) for c in (False, True))
        assert np.array_equal(p, same)
        found += np.count_nonzero(noisy != clean)
    return found


def test_the_share_of_changed_labels():
    # a label is replaced with probability 1/2, and then by another with 9/10
    assert min(stats.binom(6 * MANY, 0.45).cdf(found := changed(0.5)), stats.binom(6 * MANY, 0.45).sf(found - 1)) > 5e-5


def test_a_share_of_labels_always_changed_is_told_apart():
    assert stats.binom(6 * MANY, 0.5).cdf(changed(0.5)) < 5e-5


def test_labels_to_fit_to_are_noisy_too():
    accuracy = {f: np.mean(Seen(NoisyDigits(f, clean=True), "accuracy").sample(897, 1)[1]) for f in (0, 0.5)}
    assert accuracy[0] > 0.94
    assert accuracy[0.5] < 0.85


def test_what_cannot_be():
    with pytest.raises(ValueError, match="expected rows of all 10 classes to fit to, found fewer: hold out less than"):
        NoisyDigits(0.0).sample(1790, 1)
    with pytest.raises(NotImplementedError, match="not known for real digits"):
        NoisyDigits(0.0).truth("ece")
    with pytest.raises(NotImplementedError):
        Seen(NoisyDigits(0.0), "accuracy").truth("ece", n_bins=1)


def test_without_scikit_learn_one_is_told_what_to_install(monkeypatch):
    digits.digits.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs scikit-learn: python -m pip install 'calibstat\[simulations"):
        NoisyDigits(0.0).sample(897, 1)


def test_a_generator_says_all():
    assert repr(NoisyDigits(0.05)) == "NoisyDigits(fraction=0.05, clean=False, strength=10.0)"
    assert "NoisyDigits(fraction=0.05" in repr(IfCalibrated(NoisyDigits(0.05)))
    assert "accuracy" in repr(Seen(NoisyDigits(0.05), "accuracy"))


def test_classes_drawn_from_predictions_are_calibrated():
    model = NoisyDigits(0.2, clean=True, strength=0.1)  # a penalty that makes it far too cautious
    (y, p), (drawn, same) = model.sample(MANY, 5), IfCalibrated(model).sample(MANY, 5)
    assert np.array_equal(p, same)
    tests = [cs.calibration_test(each, p, measure="brier", n_resamples=9999, rng=1).pvalue for each in (drawn, y)]
    assert tests[0] > 1e-4
    assert tests[1] <= 2e-4  # the twin: the model itself is not


def test_omitted_predictions_by_hand():
    p = np.array([[0.6, 0.3, 0.1], [0.5, 0.5, 0.0], [0.02, 0.03, 0.95]])
    assert label_noise.omitted(p, 0.1).tolist() == [False, True, False, True, False]
    assert label_noise.omitted(p, 0.02).mean() == 4 / 7


def test_the_error_in_one_bin_is_the_mean():
    model = NoisyDigits(0.05)
    y, p = model.sample(MANY, 2)
    expected = {
        "accuracy": np.mean(p.argmax(axis=1) == y),
        "mean confidence": p.max(axis=1).mean(),
        "omitted above 0.01": 1 - MANY / np.count_nonzero(p > 0.01),
        "omitted above 0.1": 1 - MANY / np.count_nonzero(p > 0.1),
    }
    name, options = label_noise.MEAN
    for what, mean in expected.items():
        assert cs.estimate(*Seen(model, what).sample(MANY, 2), measure=name, **options) == pytest.approx(
            mean, abs=1e-12
        )
    assert set(expected) == set(label_noise.SEEN)


@pytest.mark.slow
def test_grids_share_their_data_sets():
    model = NoisyDigits(0.1)
    name, options = label_noise.MEAN

    def mean(generator):
        measures = {"gap": (name, options)}
        (row,) = cs.study.run("bias", {"0.1": generator}, MANY, measures, replicates=1, seed=7)["mean"]
        return row

    gap = abs(mean(Seen(model, "accuracy")) - mean(Seen(model, "mean confidence")))
    assert mean(model) == pytest.approx(gap, abs=1e-6)  # the top label in one bin


@pytest.mark.slow
def test_the_paper_s_claims_show(table):
    found = table.set_index(["generator", "measure"])["mean"]
    for what, rises in {"accuracy": False, "mean confidence": False, "omitted above 0.1": True}.items():
        levels = [found[level, what] for level in ("0", "0.05", "0.5")]
        assert levels == sorted(levels, reverse=not rises)
    assert table["truth"].isna().tolist() == [not label.endswith(CALIBRATED) for label in table["measure"]]


def test_errors_above_those_if_calibrated_by_hand():
    rows = [("0.1", "ECE", 0.05, 0.003), ("0.1", f"ECE{CALIBRATED}", 0.02, 0.004), (f"0.1{CLEAN}", "ECE", 0.9, 1)]
    made = label_noise.with_levels(pd.DataFrame(rows, columns=["generator", "measure", "mean", "mean_se"]))
    assert made["clean"].tolist() == [False, False, True]
    (row,) = label_noise.above_calibrated(made[~made["clean"]], "ECE").to_dict("records")
    assert row["noise"] == 0.1
    assert row["mean"] == pytest.approx(0.03)
    assert row["mean_se"] == pytest.approx(0.005)


def test_pictures_show_the_table(table):
    found = label_noise.figures(table)
    assert set(found) == {"", "far"}
    errors, clean, *_, shares, _ = found["far"].axes
    rows = table[table["measure"] == "ECE"]
    for axes, those in ((errors, rows[:3]), (clean, rows[3:])):
        assert axes.containers[0].lines[0].get_ydata().tolist() == those["mean"].tolist()
    omitted = table[table["measure"] == "omitted above 0.01"]["mean"]
    assert shares.containers[0].lines[0].get_ydata().tolist() == omitted.tolist()
    assert found[""].axes[0].containers[0].lines[0].get_xdata().max() == label_noise.PAPER
    for figure in found.values():
        figure.draw_without_rendering()


def test_full_and_quick_ask_the_same():
    full, quick = label_noise.grids(False), label_noise.grids(True)
    for large, small in zip(full, quick, strict=True):
        assert set(small["generators"]) < set(large["generators"])
        assert small["measures"] == large["measures"]
        assert small["replicates"] < large["replicates"]
