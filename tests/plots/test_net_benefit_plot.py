"""The picture of net benefit shows the numbers of its result."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.temperature(2.0).sample(300, rng=1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_one_model_and_several():
    curves = cs.net_benefit(Y, {"first": P, "second": np.sqrt(P)}, [0.2, 0.4, 0.6])
    alone, together = cs.plot(curves["first"]), cs.plot(curves)
    for ax, names in ((alone, ["model"]), (together, ["first", "second"])):
        lines = {line.get_label(): line.get_ydata() for line in ax.lines}
        assert [name for name in lines if not name.startswith("act")] == names
        assert np.array_equal(lines[names[0]], curves["first"].model)
        assert np.array_equal(lines["act on all rows"], curves["first"].everyone)
    assert np.array_equal({line.get_label(): line for line in together.lines}["second"].get_ydata(),
                          curves["second"].model)  # fmt: skip


def test_the_picture_is_drawn_where_asked():
    figure, ax = plt.subplots()
    assert cs.plot(cs.net_benefit(Y, P), ax=ax) is ax
    figure.draw_without_rendering()
