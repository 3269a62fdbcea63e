"""The tables that the command line prints."""

import numpy as np
import pytest
from command_line import COLUMNS, FAST, PATTERN, plain_text, run

import calibstat as cs
from calibstat.output import wording

pytestmark = pytest.mark.usefixtures("quick_draws")


def test_class_wise_prints_every_class_and_all_together(zoo, predictions):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", "class_wise", "--measure", "ks", "--verbose").stdout)
    found = cs.calibration_test(predictions, measure="ks", lens="class_wise", n_resamples=99, rng=0)
    each = found.classes
    for k, (name, observed) in enumerate(zip(each.names, np.bincount(predictions.label, minlength=3), strict=True)):
        p, holm = wording.p_text(each.pvalue[k]), wording.p_text(each.pvalue_holm[k])
        expected = f"{predictions.prob[:, k].sum():.1f}"
        assert f"{name} {observed} {expected} {wording.number(each.statistic[k])} {p} {holm}" in text
    assert f"Null hypothesis for each class: {each.null_hypothesis}" in text
    assert plain_text(found.details) in text
    assert f"p = {wording.p_text(found.pvalue)}" in text


def test_p_of_classes_is_not_taken_for_that_of_the_size_beside_it(zoo):
    def said(*options):
        return plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", "class_wise", *options).stdout)

    remark = "p belongs to the test by omnibus, and not to the expected calibration error beside it."
    assert remark in said()
    assert "p (omnibus)" in said()
    same = said("--measure", "ece")
    assert "p belongs to" not in same
    assert "p (ece)" not in same


def test_equivalence_prints_every_bin(csv, rows):
    text = plain_text(run("equivalence", csv, *COLUMNS, "--level", 0.9).stdout)
    found = cs.equivalence_test(rows["y"], rows["p"], confidence_level=0.9)
    assert "90 % limits, each" in text
    for row in found.to_frame().itertuples():
        numbers = [wording.number(x) for x in (row.mean_prediction, row.frequency, row.low, row.high)]
        assert f"{row.left:.3g} to {row.right:.3g} 80 {' '.join(numbers[:3])} and {numbers[3]}" in text
