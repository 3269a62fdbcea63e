"""Loads installed studies and study files, and finds these again in worker processes.

The folder of a study file becomes a package below this module, whatever its path is. So names of study files clash with
nothing, a study imports helpers beside it with a leading dot (``from .parts.grid import FIVE``), and a worker process,
which gets classes and functions by the names of their modules, finds these by importing this module.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

from calibstat.data.checks import nearest, short
from calibstat.study.study import PAPERS, Study

__path__: list[str] = []  # modules can be below this one


class FolderFinder(MetaPathFinder):
    """Finds the folders of study files, as packages without a file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the package of a folder, from the name that `_package` gives it."""
        above, _, folder = fullname.rpartition(".")
        if above != __name__:
            return None
        spec = ModuleSpec(fullname, loader=None, is_package=True)
        spec.submodule_search_locations = [unquote(folder)]
        return spec


sys.meta_path.append(FolderFinder())


def _package(folder: Path) -> str:
    """Name the package of a folder: its path without dots, which would part names."""
    return f"{__name__}.{str(folder).replace('%', '%25').replace('.', '%2E')}"


def load_module(path: str | Path) -> ModuleType:
    """Run a Python file of studies, once in a process, as a module that other processes find.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    module

    Raises
    ------
    ValueError
        If there is no such file, or it raises; the line is named.
    """
    path = Path(path)
    if not path.is_file():
        names = installed_names()
        raise ValueError(
            f"expected a study file, or an installed study, one of {', '.join(names)}; found "
            f"{'a folder' if path.is_dir() else 'no file'} at {path}{nearest(path.stem, names) or '.'} "
            "Other studies of calibstat are with its sources, in the folder simulations"
        )
    if path.suffix != ".py" or "." in path.stem:
        raise ValueError(f"expected a study file named NAME.py, without other dots, found {path}")
    resolved = path.resolve()
    try:
        return import_module(f"{_package(resolved.parent)}.{resolved.stem}")
    except Exception as error:
        what = f"{type(error).__name__} in {_place(error, resolved)}"
        raise ValueError(f"expected a study file that Python can run, found {what}: {error}") from error


def _place(error: Exception, file: Path) -> str:
    """Say where a file went wrong, which may be in a helper beside it."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"line {error.lineno} of {error.filename}"
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if Path(step.filename).is_relative_to(file.parent)]
    return f"line {own[-1].lineno} of {own[-1].filename}" if own else str(file)


def installed_names() -> list[str]:
    """Return the names of the studies that are installed, whose files are those of one folder."""
    return sorted(path.stem for path in PAPERS.glob("*.py") if path.stem != "__init__")


def load_study(path: str | Path) -> Study:
    """Load an installed study, or the study of a Python file, its variable ``study``.

        >>> import tempfile, calibstat as cs
        >>> lines = '''import calibstat as cs
        ...
        ... def grids(quick):
        ...     models = {"uniform": cs.generators.calibrated()}
        ...     replicates = 20 if quick else 2000
        ...     return [dict(question="size", generators=models, n=50, measures=["ece"], replicates=replicates)]
        ...
        ... study = cs.study.Study(question="Does the test keep its level?", seed=1, grids=grids)
        ... '''
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "level.py").write_text(lines)
        >>> study = cs.study.load_study(folder / "level.py")
        >>> study.name, study.question
        ('level', 'Does the test keep its level?')
        >>> table, written = study.run(folder, quick=True)
        >>> [path.name for path in written]
        ['level-quick.csv', 'level-quick.png']

    A file is run once in a process; after a change to it start another, or give the changed file another name.

    Parameters
    ----------
    path : str or Path
        The name of an installed study, such as "ranking"; ``calibstat study`` lists them. Or a file, whose name without
        ``.py`` is the name of the study. What lies in its folder it imports with a leading dot: ``from .helpers import
        models``.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If there is no such name or file, the file raises (the line is named), or it has no study.
    """
    installed = str(path) in installed_names()
    module = import_module(f"calibstat.papers.{path}") if installed else load_module(path)
    found = getattr(module, "study", None)
    if not isinstance(found, Study):
        what = "no study" if found is None else f"a study of type {type(found).__name__}: {short(found)}"
        raise ValueError(f"expected study = Study(...) in {path}, found {what}")
    return replace(found, file=PAPERS / f"{path}.py" if installed else Path(path))
