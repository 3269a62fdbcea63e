"""The studies of the folder simulations/: each has a seed of its own, grids that can be run, and a table."""

import pytest
from simulation_files import FOLDER, STUDIES

import calibstat as cs

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
