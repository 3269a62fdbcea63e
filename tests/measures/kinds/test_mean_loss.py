"""Mean losses of canonical predictions, against their definitions."""

import numpy as np
import pytest
from class_examples import vectors
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs


@given(vectors(), st.sampled_from([np.float64, np.float32]))
def test_canonical_scores(data, dtype):
    label, prob = data
    prob = prob.astype(dtype)
    exact, one_hot = prob.astype(float), np.eye(prob.shape[1])[label]
    found = cs.estimate(label, prob, measure="brier", lens="canonical")
    assert found == pytest.approx(((one_hot - exact) ** 2).sum(axis=1).mean(), rel=1e-9, abs=1e-12)
    assert 0 <= found <= 2 + 1e-5
    with np.errstate(divide="ignore"):
        loss = -np.log(exact[np.arange(len(label)), label]).mean()
    assert cs.estimate(label, prob, measure="log_loss", lens="canonical") == pytest.approx(loss, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("away", [0.0, 2.0**-53, 3 * 2.0**-53, 1e-12, 3e-9, 1e-8, 1e-7])
def test_brier_of_what_is_nearly_certain(away):
    """1 + p**2 - 2 p may round, but not to less than 0."""
    found = cs.estimate([0], [[1 - away, away]], measure="brier", lens="canonical")
    assert found >= 0
    assert found == pytest.approx(2 * away**2, rel=0, abs=1e-15)


def test_a_loss_says_what_predictions_it_takes_of_classes_too():
    """Through the canonical lens it was not asked."""

    class Doubtful(cs.measures.Brier):
        name, info = "doubtful", cs.measures.Info("Score of doubt", (0, 2))

        def check_probabilities(self, prob):
            if (prob == 0).any():
                raise ValueError("expected doubt, found none")

    rows = [0, 1], [[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]
    for lens in ("canonical", "class_wise", cs.lenses.one_class(2)):
        with pytest.raises(ValueError, match="expected doubt, found none"):
            cs.estimate(*rows, measure=Doubtful(), lens=lens)
    assert cs.estimate([0], rows[1][:1], measure=Doubtful(), lens="canonical") == 0.5**2 + 2 * 0.25**2
