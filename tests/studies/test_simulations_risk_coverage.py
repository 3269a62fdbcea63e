"""The study of risk and coverage: its truths, the other rules, and its promise."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from simulation_files import study_file

STUDY = study_file("risk_coverage")
ALL = {
    **STUDY.SHAPES,
    **{f"edge: {name}": make(0.1) for name, make in STUDY.EDGE.items()},
    **{f"random {k}": STUDY.random_answers(np.random.default_rng(k), 300, 0.1) for k in range(6)},
}


@pytest.mark.parametrize("name", ALL)
def test_the_truths_of_the_study(name):
    """The area and the error from a confidence on, of 200,000 answers; equal confidences are one share."""
    population = ALL[name]
    confidence, wrong, chance = population.draw(np.random.default_rng(1), 200_000)
    order = np.argsort(-confidence)
    rows, errors = np.arange(1, 200_001), np.cumsum(chance[order])
    last = np.searchsorted(-confidence[order], -confidence[order], side="right") - 1
    share = errors[last] / rows[last]
    assert share.mean() == pytest.approx(population.area, rel=0.03, abs=2e-4)
    for place in (2000, 60_000, 199_999):
        at = np.array(1 - confidence[order[place]])
        assert population.error(at) == pytest.approx(share[place], rel=0.1, abs=1e-3)
    assert wrong.mean() == pytest.approx(chance.mean(), abs=0.01)


def test_the_other_rules_by_hand():
    """60 right answers, and then every second one wrong; at 0.05 of so many 59 right ones pass."""
    errors, rows = np.cumsum([0.0] * 60 + [1.0, 0.0] * 20), np.arange(1, 101)
    found = {name: rule(errors, rows, 0.05) + 1 for name, rule in STUDY.RULES.items()}
    passed = [n for n, e in zip(rows, errors, strict=True) if binom.cdf(e, n, 0.05) <= 0.05]
    assert passed == [59, 60]
    assert (found["one start"], found["each by itself"]) == (60, 60)
    assert found["observed error"] == 66  # 3 of 66 are wrong, and 4 of 67
    assert (found["union of 20"], found["search by halves"]) == (0, 0)  # 60 are too few at a twentieth, or a seventh
    many = {name: rule(np.zeros(1000), np.arange(1, 1001), 0.05) + 1 for name, rule in STUDY.RULES.items()}
    assert set(many.values()) == {1000}


def test_the_study_can_fail():
    kept = {"method": "calibstat", "question": "worst", "replicates": 2000, "broken": 100, "broken_given": 100}
    kept |= {"missed_below": 60, "missed_above": 60}
    faults = [{name: 160} for name in ("broken", "broken_given")] + [{"missed_below": 120}, {"missed_above": 120}]
    others = [{"question": "search", "broken": 900}, {"method": "observed error", "broken": 900}]
    table = pd.DataFrame([kept, *(kept | fault for fault in [*faults, *others])])
    assert list(STUDY.violations(table).index) == [1, 2, 3, 4]
