"""Public names: what dir() lists, none that looks like a test, and each with a docstring."""

import ast
import inspect
import pickle
import pkgutil
import subprocess
import sys

import pytest
from package_sources import parsed, sources
from public_functions import public_functions

import calibstat


def test_named(source):
    """Public functions and classes of a module, and names it exports, that pytest would take for tests."""
    tree = parsed(source)
    names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    names += [e for n in tree.body if isinstance(n, ast.Assign) and "__all__" in map(ast.unparse, n.targets)
              and isinstance(n.value, ast.List) for e in ast.literal_eval(n.value)]  # fmt: skip
    return [name for name in names if name.lower().startswith("test")]


test_named.__test__ = False


def missing_sections(name, entry):
    """What the docstring of a public callable lacks of the sections that every one must have, and an example."""
    text = inspect.getdoc(entry) or ""
    if inspect.isclass(entry):
        return [] if "Attributes\n---" in text or "Parameters\n---" in text else [f"{name}: Attributes"]
    needed = ["Returns"] + (["Parameters"] if inspect.signature(entry).parameters else [])
    lacking = [section for section in needed if f"{section}\n---" not in text]
    return [f"{name}: {section}" for section in ["Examples"] * (">>>" not in text) + lacking]


def public_callables():
    found = {name: getattr(calibstat, name) for name in calibstat.__all__} | public_functions()
    for cls in [entry for entry in found.values() if inspect.isclass(entry)]:
        for name, entry in vars(cls).items():
            if isinstance(entry, classmethod) and not name.startswith("_"):
                found[f"{cls.__name__}.{name}"] = getattr(cls, name)
    return {name: entry for name, entry in found.items() if callable(entry)}


def test_dir_is_what_is_public():
    assert dir(calibstat) == sorted(calibstat.__all__)
    assert {"estimate", "reliability"} <= set(dir(calibstat))
    everything = {}
    exec("from calibstat import *", everything)
    assert set(calibstat.__all__) <= set(everything)


def test_a_public_name_is_what_its_home_defines():
    """Also by `pickle`, which asks the module that an entry names."""
    for name, home in calibstat._HOMES.items():
        entry = getattr(calibstat, name)
        assert entry is vars(calibstat)[name]
        assert entry is (sys.modules[f"{home}.{name}"] if inspect.ismodule(entry) else vars(sys.modules[home])[name])
        if inspect.isfunction(entry) or inspect.isclass(entry):
            assert (entry.__module__, entry.__name__) == (home, name) or home == "calibstat.measures"
            assert pickle.loads(pickle.dumps(entry)) is entry


def test_a_folder_is_found_as_an_attribute():
    for folder in [module.name for module in pkgutil.iter_modules(calibstat.__path__) if module.ispkg]:
        assert getattr(calibstat, folder) is sys.modules[f"calibstat.{folder}"]


@pytest.mark.parametrize("wrong", ["estimat", "data.sample", "_estimate", ""])
def test_a_wrong_name_is_no_attribute(wrong):
    with pytest.raises(AttributeError, match=f"'calibstat' has no attribute '{wrong}'") as raised:
        getattr(calibstat, wrong)
    assert (raised.value.name, raised.value.obj) == (wrong, calibstat)  # from which Python finds "Did you mean"


REVERSED = """
import calibstat.recalibration.platt_scaling, calibstat.generators.finite, calibstat.measures.smooth_ce
print(*calibstat.MEASURES, *calibstat.GENERATORS, *calibstat.recalibration.RECALIBRATORS)
"""


def test_registries_do_not_depend_on_what_is_loaded_first():
    found = subprocess.run([sys.executable, "-c", REVERSED], capture_output=True, text=True, check=True).stdout
    known = (calibstat.MEASURES, calibstat.GENERATORS, calibstat.recalibration.RECALIBRATORS)
    assert found.split() == [name for registry in known for name in registry]


def test_there_are_few_public_names():
    """What a reader of the reference meets: tests, generators, measures and maps stand in modules of their own."""
    assert len(calibstat.__all__) <= 61, ", ".join(calibstat.__all__)


def test_no_public_name_looks_like_a_test():
    assert [name for source in sources().values() for name in test_named(source)] == []
    assert [name for name in calibstat.__all__ if name.lower().startswith("test")] == []


def test_a_public_name_like_a_test_is_found():
    assert test_named("def test_it(): ...\nclass Testing: ...\n__all__ = ['tested', 'fine']") == [
        "test_it",
        "Testing",
        "tested",
    ]


def test_public_callables_are_documented():
    assert [fault for name, entry in public_callables().items() for fault in missing_sections(name, entry)] == []


def test_a_poor_docstring_is_found():
    def poor(x):
        """Return x.

        Returns
        -------
        float
        """

    class Bare:
        """Say nothing of its attributes."""

    assert missing_sections("poor", poor) == ["poor: Examples", "poor: Parameters"]
    assert missing_sections("Bare", Bare) == ["Bare: Attributes"]
