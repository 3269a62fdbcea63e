"""The picture of decision loss shows the numbers of its result."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.temperature(2.0).sample(300, rng=1)
FEW = {"n_resamples": 19, "rng": 1}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_one_model_and_several():
    curves = cs.decision_loss(Y, {"first": P, "second": np.sqrt(P)}, [0.2, 0.4, 0.6], **FEW)
    alone, together = cs.plot(curves["first"]), cs.plot(curves)
    for ax, names in ((alone, ["loss"]), (together, ["first", "second"])):
        assert [text.get_text() for text in ax.get_legend().get_texts()] == names
        for k, curve in enumerate([curves["first"], curves["second"]][: len(names)]):
            assert np.array_equal(ax.lines[2 * k].get_ydata(), curve.loss)
            assert ax.lines[2 * k + 1].get_ydata()[0] == curve.largest_high
    assert "95 % bound" in alone.get_title()


def test_the_threshold_of_the_one_who_asks_is_drawn():
    figure, ax = plt.subplots()
    assert cs.plot(cs.decision_loss(Y, P, gain=90, cost=10, **FEW), ax=ax) is ax
    assert ax.lines[-1].get_xdata()[0] == 0.1
    figure.draw_without_rendering()
