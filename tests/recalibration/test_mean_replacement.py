"""Mean replacement by hand."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.recalibration import MeanReplacement

Y, P = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(300, rng=7)


def test_mean_replacement_by_hand():
    p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3]]
    fitted = MeanReplacement().fit(p, [0, 1, 0, 0, 2])  # rows 0, 1 and 3 (of equal ones the first) are right
    assert fitted.confidence_ == 0.6
    np.testing.assert_allclose(fitted.predict_proba(p[2:4]), [[0.2, 0.2, 0.6], [0.6, 0.2, 0.2]])
    binary = MeanReplacement().fit([0.2, 0.5, 0.9, 0.6], [0, 0, 1, 0])
    np.testing.assert_allclose(binary.predict_proba([0.4, 0.5, 0.51]), [0.25, 0.25, 0.75])


def test_mean_replacement_that_is_mostly_wrong_turns_round():
    binary = MeanReplacement().fit([0.2, 0.3, 0.9, 0.6], [1, 1, 0, 1])
    np.testing.assert_allclose(binary.predict_proba([0.4, 0.7]), [0.75, 0.25])
    assert binary.predict([0.4, 0.7]).tolist() == [1, 0]


def test_mean_replacement_shows_no_top_label_error_and_keeps_the_accuracy():
    fitted = MeanReplacement().fit(P, Y)
    out = fitted.predict_proba(P)
    assert cs.estimate(Y, out) == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(fitted.predict(P), P.argmax(axis=1))
    # and knows less: its log loss is worse than before, which is worse than that of the right temperature
    new_y, new = cs.generators.dirichlet((0.7, 0.7, 0.7)).sample(2000, rng=9)
    known = MeanReplacement().fit(new, new_y).predict_proba(new)
    assert -np.log(known[np.arange(2000), new_y]).mean() > -np.log(new[np.arange(2000), new_y]).mean()
