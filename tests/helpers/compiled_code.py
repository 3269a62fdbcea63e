"""The compiled functions of the package."""

import importlib
import pkgutil
from functools import cache

import calibstat
from calibstat.compiled import Kernel


@cache
def modules():
    return [importlib.import_module(m.name) for m in pkgutil.walk_packages(calibstat.__path__, "calibstat.")]


def compiled_functions():
    return {
        f"{module.__name__.removeprefix('calibstat.')}.{name}": function
        for module in modules()
        for name, function in vars(module).items()
        if isinstance(function, Kernel) and function.__module__ == module.__name__
    }
