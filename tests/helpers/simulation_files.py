"""The study files of the folder simulations/ and the installed studies, for tests of them."""

from importlib import import_module

from project_folder import PROJECT

from calibstat.study import load_study
from calibstat.study.study_file import installed_names, load_module

FOLDER = PROJECT / "simulations"
OWN = {path.stem: load_study(path) for path in sorted(FOLDER.glob("*.py"))}
INSTALLED = {name: load_study(name) for name in installed_names()}
STUDIES = OWN | INSTALLED
STORED = OWN | {name: study for name, study in INSTALLED.items() if not study.takes_data}  # others take a user's files


def study_file(name):
    """A study file as a module."""
    return load_module(FOLDER / f"{name}.py")


def study_part(name):
    """A module that study files share."""
    return import_module(f"{study_file('size').__package__}.parts.{name}")
