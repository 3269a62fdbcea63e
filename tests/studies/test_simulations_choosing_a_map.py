"""The study of what choosing a map loses: by hand, and with a choice that is as bad as it can be."""

import numpy as np
import pytest
from simulation_files import study_file

from calibstat.recalibration import InterceptUpdate, choose

choosing = study_file("choosing_a_map")
SHIFTED = choosing.Task("shift .5")


def test_predictions_are_wrong_as_told():
    y, columns = SHIFTED.sample(40_000, 1)
    odds = columns["prediction"] / (1 - columns["prediction"])
    chance = odds / (odds + np.exp(0.5))
    assert (y - chance).mean() == pytest.approx(0, abs=4 * 0.5 / 200)
    assert choosing.population(SHIFTED)[0].mean() == pytest.approx(columns["prediction"].mean(), abs=4 * 0.3 / 200)


def test_gains_are_expected_brier_scores_on_the_population():
    y, columns = SHIFTED.sample(300, 1)
    p, seed = columns["prediction"], np.random.SeedSequence(3)
    found = dict(zip([*choosing.MAPS, *choosing.RULES], choosing.Gains(SHIFTED)((y, columns), seed), strict=True))
    fresh, truth = choosing.population(SHIFTED)
    after = InterceptUpdate().fit(p, y).predict_proba(fresh)
    brier = [(truth * (1 - v) ** 2 + (1 - truth) * v**2).mean() for v in (fresh, after)]
    assert found["InterceptUpdate"] == pytest.approx(brier[0] - brier[1])
    assert found["Unchanged"] == 0
    names = choosing.chosen(p, y, seed)
    assert all(found[rule] == found[name] for rule, name in names.items())
    for rule in choosing.RULES:
        given = {"score": rule.split(",")[0], "one_standard_error": "one s.e." in rule}
        assert names[rule] == type(choose(y, p, rng=seed, **given).recalibrator).__name__


def test_the_worst_choice_loses_more(monkeypatch):
    lost = {row["method"]: row["lost"] for row in choosing.averaged(SHIFTED, 300, 4, 1)}
    assert min(lost[name] for name in choosing.MAPS) == 0
    monkeypatch.setattr(choosing, "chosen", lambda *given: dict.fromkeys(choosing.RULES, "HistogramBinning"))
    worse = {row["method"]: row["lost"] for row in choosing.averaged(SHIFTED, 300, 4, 1)}
    assert worse["brier"] == lost["HistogramBinning"] > lost["brier"]
