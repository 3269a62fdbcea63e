"""Comparisons of models of several classes, seen through a lens."""

import numpy as np
import pytest
from compared_models import bound, several_classes

import calibstat as cs


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
def test_top_label_has_hits_of_each_model(method):
    y, p, q = several_classes()
    found = cs.compare(y, {"p": p, "q": q}, measure="ks", method=method, n_resamples=39, rng=2)
    assert str(found.lens) == "lens top_label"
    expected = [cs.estimate(y == v.argmax(axis=1), v.max(axis=1), measure="ks") for v in (p, q)]
    assert found.estimates == pytest.approx(expected, abs=1e-12)


def test_canonical_losses():
    y, p, q = several_classes()
    found = cs.compare(y, {"p": p, "q": q}, measure="brier", lens="canonical")
    loss = [((v - np.eye(3)[y]) ** 2).sum(axis=1) for v in (p, q)]
    scale = found.difference[0] / (loss[0] - loss[1]).mean()  # 1, or a half
    most = 2 * scale
    assert scale == pytest.approx(1, abs=1e-12) or scale == pytest.approx(0.5, abs=1e-12)
    assert found.high[0] == pytest.approx(bound(scale * (loss[0] - loss[1]), most), abs=1e-12)
    assert found.low[0] == pytest.approx(-bound(scale * (loss[1] - loss[0]), most), abs=1e-12)
