"""Neural scaling: the same with the same seed, and what it says of fits that need longer."""

import sys

import numpy as np
import pytest

import calibstat as cs
from calibstat.recalibration import NeuralScaling

Y, P = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(300, rng=7)


def test_neural_scaling_is_reproducible_and_helps():
    pytest.importorskip("sklearn")

    def fitted(seed):
        return NeuralScaling(hidden_layer_sizes=(6,), random_state=seed).fit(P, Y)

    one = fitted(1)
    assert one.converged_
    np.testing.assert_array_equal(one.predict_proba(P), fitted(1).predict_proba(P))
    assert np.any(one.predict_proba(P) != fitted(2).predict_proba(P))
    new_y, new = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(2000, rng=10)
    before, after = new[np.arange(2000), new_y], one.predict_proba(new)[np.arange(2000), new_y]
    assert -np.log(after).mean() < -np.log(before).mean()


def test_neural_scaling_reports_that_it_needs_longer():
    pytest.importorskip("sklearn")
    recalibrator = NeuralScaling(hidden_layer_sizes=(3,), max_iter=2, random_state=1)
    with pytest.warns(RuntimeWarning, match="NeuralScaling has not converged: .*max_iter=2"):
        recalibrator.fit(P, Y)
    assert not recalibrator.converged_


@pytest.mark.parametrize("kept", [(0,), (0, 2)])
def test_neural_scaling_gives_a_class_that_never_happened_no_probability(kept):
    pytest.importorskip("sklearn")
    never = ", ".join(str(k) for k in range(3) if k not in kept)
    fitted = NeuralScaling(hidden_layer_sizes=(3,), random_state=1, max_iter=20)
    with pytest.warns(RuntimeWarning, match=f"no row of class {never}, which is given probability 0"):
        fitted.fit(P, np.where(np.isin(Y, kept), Y, 0))
    found = fitted.predict_proba(P)
    assert [k for k in range(3) if found[:, k].any()] == list(kept)
    assert found.sum(axis=1) == pytest.approx(1)


def test_neural_scaling_takes_constant_predictions():
    pytest.importorskip("sklearn")
    fitted = NeuralScaling(hidden_layer_sizes=(3,), random_state=1, max_iter=5000).fit([0.3] * 40, [0, 1, 1, 1] * 10)
    # whose spread is 0: it stops long before the share of .75, but on the right side
    assert 0.5 < fitted.predict_proba([0.3])[0] < 0.8


def test_scikit_learn_is_imported_only_when_needed():
    assert "sklearn" not in vars(sys.modules["calibstat.recalibration.neural_scaling"])
