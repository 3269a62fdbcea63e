"""The study of the Gaussian mixture: its analytic values, and its pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from estimate_tables import from_file, marks, table_of
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from calibstat.papers import mixture


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("model", ["perfect", "uncalibrated"])
def test_analytic_deviations(model):
    made = mixture.MODELS[model]

    def integrand(x):
        deviation = abs(expit(-2 * x) - expit(made.beta0 + made.beta1 * x))
        return deviation * (norm.pdf(x - 1) + norm.pdf(x + 1)) / 2

    value, _ = quad(integrand, -10, 10, points=[-1 / 3], epsabs=1e-12)  # where the uncalibrated model crosses the truth
    assert mixture.DEVIATION[model] == pytest.approx(value, abs=1e-11)
    assert mixture.DEVIATION["constant"] == mixture.MODELS["constant"].truth("ece")  # its only prediction is right


def test_pictures_of_the_mixture():
    measures = {"1 bins": ("ece", {"n_bins": 1}), "20 bins": ("ece", {"n_bins": 20})}
    table = table_of("bias", generators=mixture.MODELS, measures=measures, n=[30, 60])
    drawn = mixture.figures(from_file(table))
    assert list(drawn) == ["", "rows_in_bins", "deviation"]
    rows = table[(table["generator"] == "uncalibrated") & (table["n"] == 60)]
    axes = drawn[""].axes[5]  # the last model, the larger n
    lines = {line.get_label(): line for line in axes.lines}
    np.testing.assert_allclose(lines["median"].get_ydata(), rows["q50"])
    np.testing.assert_allclose(lines["population value with these bins"].get_ydata(), rows["truth"])
    ends = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    np.testing.assert_allclose(ends, rows[["q05", "q95"]])
    places, _ = marks(drawn["rows_in_bins"].axes[0], "n = 60")
    np.testing.assert_allclose(places, np.column_stack([[60, 3], rows["q50"] - mixture.DEVIATION["uncalibrated"]]))
    for axes, model in zip(drawn["deviation"].axes, mixture.MODELS.values(), strict=True):
        (true,) = [line for line in axes.lines if line.get_label() == "true deviation"]
        v, deviation = true.get_data()
        assert len(v) == (1 if model.beta1 == 0 else 801)
        np.testing.assert_allclose(deviation, model.curve(v) - v)
