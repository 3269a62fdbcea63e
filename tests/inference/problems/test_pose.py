"""Which questions fit which data, and how the others are refused."""

import numpy as np
import pytest
from class_examples import LABEL, PROB

import calibstat as cs
from calibstat.data import lenses

from_rows = cs.Predictions.from_rows
VERBS = [cs.estimate, cs.calibration_test, cs.confidence_interval]


@pytest.mark.parametrize("verb", VERBS)
def test_questions_that_do_not_fit(verb):
    sample = cs.Sample.from_rows([0, 1], [0.25, 0.75])
    for data, asked, message in (
        ((LABEL, PROB), {"lens": "class_wise_sum"}, "expected a lens, .*; found 'class_wise_sum'"),
        ((LABEL, PROB), {"lens": "class_wise_max", "measure": "canonical_ce"}, "a lens that shows whole vectors"),
        ((LABEL, PROB), {"measure": "canonical_ce", "lens": "top_label"}, "a lens that shows whole vectors"),
        ((LABEL, PROB), {"measure": "canonical_ce", "lens": "class_wise"}, "a lens that shows whole vectors"),
        ((LABEL, PROB), {"lens": "canonical", "measure": "ece"}, "which shows 3 classes"),
        ((LABEL, PROB), {"lens": lenses.groups([[0], [1, 2]]), "measure": "ks"}, "which shows 2 classes"),
        ((sample,), {"lens": "top_label"}, "found a Sample, which is binary"),
        ((sample,), {"measure": "gce"}, "found a Sample, which is binary"),
        ((sample,), {"lens": "class_wise_mean"}, "found a Sample, which is binary"),
        ((from_rows(LABEL, PROB), PROB), {}, "expected Predictions alone"),
        ((LABEL,), {}, "found one ndarray of shape"),
        ((LABEL,), {"lens": "canonical"}, "found one ndarray"),
        ((LABEL, PROB), {"lens": "canonical", "measure": "brier", "n_bins": 3}, "found 'n_bins'"),
        ((LABEL, PROB), {"lens": "nothing"}, "expected a lens"),
        (([0, 1, 2, 3], PROB), {}, "expected a class from 0 to 2, found 3 in y_true at row 3"),
    ):
        with pytest.raises(ValueError, match=message):
            verb(*data, **asked)


def test_weights_of_canonical_predictions_that_are_refused():
    for measure, why in (("gce", "count rows"), ("skce", "pairs of rows"), ("omnibus", "counts of rows")):
        with pytest.raises(ValueError, match=rf"no sample_weight for multiclass data by {measure}, .* lens.*: .*{why}"):
            cs.estimate(LABEL, PROB, sample_weight=np.ones(4), measure=measure, lens="canonical")
    for measure in ("brier", "canonical_ce"):
        with pytest.raises(
            ValueError, match=r"no sample_weight for multiclass data by detail, .*its tables count rows"
        ):
            cs.detail(LABEL, PROB, sample_weight=np.ones(4), measure=measure, lens="canonical")


def test_intervals_that_are_not_there():
    with pytest.raises(ValueError, match="expected lens 'class_wise_mean' or 'class_wise_max' for an interval"):
        cs.confidence_interval(LABEL, PROB, lens="class_wise")
    for asked in ({"lens": "class_wise_mean"}, {"measure": "canonical_ce"}):
        with pytest.raises(ValueError, match=r"no bca interval is known .* the methods honest, percentile, basic"):
            cs.confidence_interval(LABEL, PROB, method="bca", **asked)
    for asked in (
        {"lens": "class_wise_mean", "measure": "mcb"},
        {"lens": "class_wise_max", "measure": "brier"},
        {"lens": "class_wise_mean", "norm": "l2"},
        {"measure": "canonical_ce", "distance": "squared_euclidean"},
        {"measure": "gce", "norm": "l2"},
    ):
        with pytest.raises(ValueError, match="no honest interval is known for"):
            cs.confidence_interval(LABEL, PROB, **asked)
