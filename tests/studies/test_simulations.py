"""The studies of the folder simulations/: each has a seed of its own, grids that can be run, and a table."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import FOLDER, STUDIES

import calibstat as cs
from simulations import size

FITTED = {"label_noise"}  # its data sets are models fitted anew, which takes long
LARGE = {"classes", "coverage", "consistency", "comparison"}  # the population values of its full grid take long
ASKED = [
    pytest.param(name, quick, marks=[pytest.mark.slow] * (name in FITTED or (name in LARGE and not quick)))
    for name, study in STUDIES.items()
    if study.grids(True)
    for quick in (True, False)
]


def test_every_study_has_a_seed_of_its_own():
    assert len({study.seed for study in STUDIES.values()}) == len(STUDIES)


@pytest.mark.parametrize(("name", "quick"), ASKED)
def test_every_grid_can_be_asked(name, quick, monkeypatch):
    """Checks every argument of the grid, with nothing computed."""
    asked = []
    monkeypatch.setattr("calibstat.study.runner.compute", lambda *given: asked.append(given) or 1 / 0)
    grids = STUDIES[name].grids(quick)
    for grid in grids:
        with pytest.raises(ZeroDivisionError):
            cs.study.run(**grid, seed=1)
    assert len(asked) == len(grids) >= 1


def test_every_study_makes_a_table():
    assert all(study.grids(True) or study.table for study in STUDIES.values())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_study_begins_with_its_question_or_claim(path):
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith('"""')
    assert "? " in f"{first} "


def test_what_studies_share_is_no_study():
    for path in sorted((FOLDER / "parts").glob("*.py")):
        with pytest.raises(ValueError, match=r"expected study = Study\(\.\.\.\) in .*, found no study"):
            cs.study.load_study(path)


def test_size_counts_what_results_say():
    """Predictions that are the frequencies of these very rows have residuals that add up to 0; drawn ones do not."""
    value = np.repeat([0.2, 0.5, 0.8], 200)
    fitted = cs.Sample.from_rows(np.tile([1, 0, 0, 0, 0], 40).tolist() + [0, 1] * 100 + [1, 1, 1, 1, 0] * 40, value)
    drawn = cs.Sample.from_rows(np.random.default_rng(1).random(600) < value, value)
    asks = size.Asks(("omnibus", "ece"), 999)
    assert asks(fitted, np.random.SeedSequence(1)) == [1, 1]
    assert asks(drawn, np.random.SeedSequence(1)) == [0, 0]


def test_each_promise_of_size_is_judged_by_its_own_level():
    found = size.table(quick=True, n_jobs=1)
    assert set(found["question"]) == {size.TOO_SMALL}
    assert set(found["level"]) == {0.01}
    level = pd.DataFrame({**found, "question": "size", "level": size.LEVEL})
    both = pd.concat([level, found], ignore_index=True).assign(replicates=2000, rejections=90)
    assert set(size.study.violations(both)["question"]) == {size.TOO_SMALL}  # .045 is within .05, and not within .01
    assert size.study.violations(both.assign(rejections=20)).empty
