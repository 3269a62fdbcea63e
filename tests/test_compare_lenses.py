"""Comparisons of models of several classes, seen through a lens."""

import numpy as np
import pytest
from compared_models import drawn_rows, several_classes

import calibstat as cs


@pytest.mark.parametrize("method", ["bootstrap", "swap"])
def test_top_label_has_hits_of_each_model(method):
    y, p, q = several_classes()
    found = cs.compare(y, {"p": p, "q": q}, measure="ks", method=method, n_resamples=39, rng=2)
    assert found.lens == "lens top_label"
    expected = [cs.estimate(y == v.argmax(axis=1), v.max(axis=1), measure="ks") for v in (p, q)]
    assert found.estimates == pytest.approx(expected, abs=1e-12)
    hits = {name: y == v.argmax(axis=1) for name, v in (("p", p), ("q", q))}
    if method == "bootstrap":  # and both have the same confidences, so that hits are all that differs
        arguments = {"measure": "brier", "lens": "top_label", "n_resamples": 39, "rng": 2}
        found, top = cs.compare(y, {"p": p, "q": q}, **arguments), p.max(axis=1)
        order = np.lexsort((top, hits["q"], hits["p"]))
        each = ((hits["p"] - top) ** 2 - (hits["q"] - top) ** 2)[order]
        drawn = [each[i].mean() for i in drawn_rows(y.size, 39, 2)]
        assert [found.low[0], found.high[0]] == pytest.approx([min(drawn), max(drawn)], abs=1e-12)


def test_canonical_losses():
    y, p, q = several_classes()
    found = cs.compare(y, {"p": p, "q": q}, measure="brier", lens="canonical", n_resamples=39, rng=2)
    loss = [((v - np.eye(3)[y]) ** 2).sum(axis=1) for v in (p, q)]
    each = (loss[0] - loss[1])[np.lexsort((loss[1], loss[0]))]
    scale = found.difference[0] / each.mean()
    change = np.sort([each[i].mean() - each.mean() for i in drawn_rows(y.size, 39, 2)])
    ends = scale * (each.mean() + change[[0, -1]])
    assert [found.low[0], found.high[0]] == pytest.approx(ends.tolist(), abs=1e-12)
