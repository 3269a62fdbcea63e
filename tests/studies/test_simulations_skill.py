"""The study of skill scores: its truths, its bootstrap, and its promise."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs

STUDY = study_file("skill")


@pytest.mark.parametrize("name", [*STUDY.LAWS, *STUDY.IN_CLUSTERS])
def test_the_truths_of_the_study(name):
    """The skill of 400,000 rows, each a cluster, is that of the population."""
    law = (STUDY.LAWS | STUDY.IN_CLUSTERS)[name]
    y, p, q, _ = law.draw(np.random.default_rng(1), 400_000, 1)
    brier = cs.estimate(y, p, measure="brier")
    assert law.skill("brier", STUDY.BASE_RATE) == pytest.approx(1 - brier / y.var(), abs=0.02)
    assert law.skill("brier", STUDY.FORECAST) == pytest.approx(1 - brier / np.mean((y - q) ** 2), abs=0.02)
    ratio = cs.estimate(y, p, measure="normalized_log_loss", clip=1e-9)
    assert law.skill("log_loss", STUDY.BASE_RATE) == pytest.approx(1 - ratio, abs=0.02)


def test_even_predictions_lose_a_sixth_beside_a_quarter():
    assert STUDY.LAWS["even"].skill("brier", STUDY.BASE_RATE) == pytest.approx(1 / 3, abs=1e-6)


def test_the_bootstrap_draws_whole_units():
    """Two units that are alike leave nothing to chance; rows of them do."""
    y, p = np.tile([0.0, 1.0, 1.0], 2), np.tile([0.2, 0.4, 0.9], 2)
    skill = cs.skill_score(y, p).skill
    random = np.random.default_rng(1)
    assert STUDY.bootstrap(random, "brier", y, p, None, 2) == pytest.approx((skill, skill))
    low, high = STUDY.bootstrap(random, "brier", y, p, None, 6)
    assert low < skill < high


def test_the_study_can_fail():
    kept = {"question": "rows", "method": "interval", "replicates": 1000, "missed_below": 30, "missed_above": 30}
    faults = [{"missed_below": 60}, {"missed_above": 60}]
    others = [{"question": "clusters", "missed_below": 90}, {"method": "bootstrap", "missed_above": 90}]
    table = pd.DataFrame([kept, *(kept | fault for fault in [*faults, *others])])
    assert list(STUDY.violations(table).index) == [1, 2]
