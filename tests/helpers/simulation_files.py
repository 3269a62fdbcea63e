"""The study files of the folder simulations/ and those that are installed, for tests of them."""

from importlib import import_module

from project_folder import PROJECT

from calibstat.study import load_study
from calibstat.study.study_file import load_module

FOLDER = PROJECT / "simulations"
INSTALLED = ("bias", "consistency", "distances", "mixture", "ranking", "six_points")
FILES = [*sorted(FOLDER.glob("*.py")), *(PROJECT / "calibstat" / "papers" / f"{name}.py" for name in INSTALLED)]
STUDIES = {path.stem: load_study(path) for path in FILES}


def study_file(name):
    """A study file as a module."""
    return load_module(FOLDER / f"{name}.py")


def study_part(name):
    """A module that study files share."""
    return import_module(f"{study_file('size').__package__}.parts.{name}")
