"""The study of groups that a learner finds: its populations are right or wrong where it says so, and it can fail."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

STUDY = study_file("learned_groups")


@pytest.mark.parametrize("label", STUDY.CALIBRATED)
def test_calibrated_populations_are_right(label):
    rows = STUDY.CALIBRATED[label].draw(np.random.default_rng(1), 2000)
    assert np.allclose(rows.q, rows.p, rtol=1e-12)


@pytest.mark.parametrize(
    ("label", "share", "size"),
    [("box", 0.09, 1.0), ("diagonal", 0.125, 0.8), ("stripe", 0.1, 1.0), ("line", 1.0, None)],
)
def test_wrong_populations_are_wrong_where_it_is_said(label, share, size):
    """The areas: .3 * .3, half of .5 squared, .1, and everywhere."""
    rows = STUDY.WRONG[label].draw(np.random.default_rng(1), 100_000)
    shift = np.log(rows.q / (1 - rows.q)) - np.log(rows.p / (1 - rows.p))
    wrong = np.abs(shift) > 1e-9
    assert wrong.mean() == pytest.approx(share, abs=0.005)
    if size is not None:
        assert shift[wrong] == pytest.approx(size)
    else:  # six uniform features, each of variance 1/12
        assert shift.std() == pytest.approx(0.45 * np.sqrt(6 / 12), rel=0.02)


def test_leaves_part_all_rows():
    rows = STUDY.WRONG["box"].draw(np.random.default_rng(1), 500)
    found = STUDY.leaves(rows, np.arange(500) % 2 == 0, 1)
    assert (sum(found.values()) == 1).all()


def test_the_study_can_fail():
    rows = pd.DataFrame({"question": ["size", "size", "power"], "rejections": [20, 60, 400], "replicates": 400})
    assert STUDY.violations(rows)["rejections"].tolist() == [60]
