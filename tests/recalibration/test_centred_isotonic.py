"""Centred isotonic regression by hand, and against the authors' algorithm written out as loops."""

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows

import calibstat as cs
from calibstat.recalibration import CentredIsotonic, IsotonicRegression


def slowly(y, p, w):
    """The points of Oron and Flournoy: pool the first pair that does not rise, also of x, until all rise.

    Pairs that are both 0 or both 1 may stay.
    """
    values = np.unique(p[w > 0])
    points = [[v, (w * y)[p == v].sum() / w[p == v].sum(), w[p == v].sum()] for v in values]
    while True:
        for i in range(len(points) - 1):
            (x, level, count), (x_next, level_next, count_next) = points[i : i + 2]
            same = abs(level_next - level) < 1e-9
            edge = same and (level < 1e-9 or level > 1 - 1e-9)
            if (level_next < level or same) and not edge:
                total = count + count_next
                points[i : i + 2] = [
                    [
                        (x * count + x_next * count_next) / total,
                        (level * count + level_next * count_next) / total,
                        total,
                    ]
                ]
                break
        else:
            return np.array(points).T[:2]


def test_centred_by_hand():
    # .2, .4 and .6 hold one event: 1/3, at their mean .4; linear from .1 to .4 and from .4 to .9
    fitted = CentredIsotonic().fit([0.1, 0.2, 0.4, 0.6, 0.9], [0, 1, 0, 0, 1])
    out = fitted.predict_proba([0, 0.1, 0.25, 0.4, 0.65, 0.9, 1])
    np.testing.assert_allclose(out, [0, 0, 1 / 6, 1 / 3, 2 / 3, 1, 1])


def test_pieces_at_0_and_1_keep_their_ends():
    fitted = CentredIsotonic().fit([0.1, 0.3, 0.5, 0.5, 0.7, 0.9], [0, 0, 0, 1, 1, 1])
    knot, level = fitted.knots_[0]
    assert knot.tolist() == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert level.tolist() == [0, 0, 0.5, 1, 1]


def test_a_centre_counts_rows_by_their_weights():
    # .2 with weight 3 and .6 with weight 1 become 3/4 at (3 * .2 + .6) / 4 = .3
    fitted = CentredIsotonic().fit([0.2, 0.6], [1, 0], sample_weight=[3, 1])
    knot, level = fitted.knots_[0]
    np.testing.assert_allclose([knot[0], level[0]], [0.3, 0.75])


@given(weighted_rows())
def test_centred_against_loops(data):
    y, p, w = data
    fitted = CentredIsotonic().fit(p, y, sample_weight=w)
    new = np.concatenate((p, np.linspace(0, 1, 21)))
    expected = np.interp(new, *slowly(y, p, w))
    apart = np.diff(np.sort(np.append(np.unique(p), [-1, 2]))).min() > 1e-6
    if apart:  # between neighbours that differ by next to nothing any slope is lost in rounding
        np.testing.assert_allclose(fitted.predict_proba(new), expected, atol=1e-7)
    assert not (np.diff(fitted.predict_proba(np.sort(new))) < 0).any()


def test_it_has_no_ties_inside_where_isotonic_regression_has_them():
    y, p = cs.generators.temperature(1.5).sample(400, rng=1)
    centred, steps = CentredIsotonic().fit(p, y).predict_proba(p), IsotonicRegression().fit(p, y).predict_proba(p)
    inside = (centred > centred.min()) & (centred < centred.max())
    assert np.unique(centred[inside]).size == inside.sum()
    assert np.unique(steps).size < 40


def test_equal_predictions_become_the_share():
    assert CentredIsotonic().fit([0.3] * 4, [0, 1, 1, 1]).predict_proba([0, 0.3, 1]).tolist() == [0.75] * 3
    assert CentredIsotonic().fit([0.3, 0.6], [1, 1]).predict_proba([0.1, 0.9]).tolist() == [1, 1]


def test_three_classes_are_one_map_each():
    y, p = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(300, rng=1)
    scores = np.stack([CentredIsotonic().fit(p[:, k], y == k).predict_proba(p[:, k]) for k in range(3)], axis=1)
    total = scores.sum(axis=1, keepdims=True)
    assert total.min() > 0
    assert CentredIsotonic().fit(p, y).predict_proba(p) == pytest.approx(scores / total, abs=1e-12)
