"""All studies: each has a name and a seed of its own, grids that can be run, and a table."""

import inspect

import pytest
from simulation_files import FOLDER, INSTALLED, OWN, STORED, STUDIES

import calibstat as cs
from calibstat.study.question import Question
from calibstat.study.study import PAPERS, Study

WITH_GRIDS = [name for name, study in STUDIES.items() if study.grids is not Study.grids]


def test_every_study_has_a_name_and_a_seed_of_its_own():
    assert not OWN.keys() & INSTALLED.keys()
    for studies in (STORED, INSTALLED):  # of these two sets alone: `tables` has had the seed of `power`
        assert len({study.seed for study in studies.values()}) == len(studies)


def ask(name, quick, monkeypatch):
    """Check every argument of the grids of a study, without a data set of theirs."""
    asked = []
    monkeypatch.setattr("calibstat.study.runner.compute", lambda *given: asked.append(given) or 1 / 0)
    grids = STUDIES[name].grids(quick)
    for grid in grids:
        with pytest.raises(ZeroDivisionError):
            cs.study.run(**grid, seed=1)
    assert len(asked) == len(grids) >= 1


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", WITH_GRIDS)
def test_every_grid_can_be_asked(name, quick, monkeypatch):
    """True values are asked for and not computed, which takes long: each run of a study does that first."""
    truth_of = Question.truth_of

    def stand_in(self, label, model):
        signature = inspect.signature(truth_of(self, label, model))  # raises if the generator has no true values

        def truth(*given, **options):
            signature.bind(*given, **options)  # raises if it does not take these arguments
            return 0.1

        return truth

    monkeypatch.setattr(Question, "truth_of", stand_in)
    ask(name, quick, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the true value of:RuntimeWarning")  # of real digits, which have none
@pytest.mark.parametrize("name", WITH_GRIDS)
def test_every_full_grid_has_its_true_values(name, monkeypatch):
    ask(name, False, monkeypatch)


def test_every_study_makes_a_table():
    assert all(study.grids(True) or study.table for study in STUDIES.values())


@pytest.mark.parametrize("name", OWN)
def test_a_study_begins_with_its_question_or_claim(name):
    first = OWN[name].file.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith('"""')
    assert "? " in f"{first} "


def test_what_studies_share_is_no_study():
    for path in sorted((FOLDER / "parts").glob("*.py")) + sorted(PAPERS.glob("parts/*.py")):
        with pytest.raises(ValueError, match=r"expected study = Study\(\.\.\.\) in .*, found no study"):
            cs.study.load_study(path)
