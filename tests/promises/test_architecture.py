"""The shape of the package: which way imports point, what is loaded when, who may draw, what has a test.

Every rule is a checker that returns what it objects to, and has a twin test that feeds it a planted fault.
"""

import ast
import re
import subprocess
import sys
import textwrap
import tomllib

import pytest
from package_sources import LAYERS, ROOT, import_statements, imported, parsed, sources

import calibstat

OPTIONAL = {"sklearn", "pyarrow", "narwhals"}  # imported where they are asked for
BROUGHT = {"PIL": "matplotlib", "markupsafe": "jinja2"}  # by another
LATE = ["numba", "scipy", "statsmodels", "matplotlib", "pandas", "typer", "rich", "jinja2"]
AT_NO_CALL = ["statsmodels", "matplotlib", "pandas", "scipy.stats", "scipy.optimize", "typer", "rich", "jinja2"]
RANDOM = {
    "resampling/streams.py": {"key_of": {"Generator", "SeedSequence"}},  # a seed becomes a key; all drawing is compiled
    "resampling/rng.py": {None: {"Generator", "SeedSequence"}},  # types only
    "generators/distributions.py": {None: {"Generator"}},  # types only
    "generators/simulator.py": {"drawing": {"default_rng"}},  # synthetic data
    "study/": {None: {"SeedSequence"}},
    "papers/": {None: {"SeedSequence"}},
    "simulations/": {None: {"SeedSequence"}},
    "papers/parts/kernel_estimators.py": {None: {"Generator"}},  # random by themselves, for comparison only
    "papers/distances.py": {None: {"SeedSequence"}, "draw_kernel": {"default_rng"}},
    # packages that draw from the global state, for comparison only
    "simulations/parts/peer_answers.py": {
        None: {"SeedSequence"},
        "_scikit_learn": {"default_rng"},
        **{f"_{name}": {"seed"} for name in ("uncertainty_calibration", "relplot", "calzone")},
    },
    "simulations/comparison.py": {None: {"SeedSequence"}, "sample": {"default_rng"}},
    "cli/demo.py": {None: {"default_rng"}},  # the patients
}


def layer_of(parts):
    """The layer of a dotted path inside calibstat; the package itself is `__init__`."""
    return parts[0] if parts and parts[0] in LAYERS else "__init__"


def upward_imports(file, source):
    """Imports of calibstat's own modules, nested ones too, that do not point to a lower layer or stay in their own."""
    own = file.removesuffix(".py").split("/")
    found = []
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        else:
            base = ["calibstat", *own][: -node.level] if node.level else []
            base += node.module.split(".") if node.module else []
            targets = [[*base, alias.name] for alias in node.names]
        for target in targets:
            if target[0] != "calibstat":
                continue
            layer = layer_of(target[1:])
            if layer != layer_of(own) and LAYERS.index(layer) > LAYERS.index(layer_of(own)):
                found.append(f"{file}:{node.lineno} imports {'.'.join(target)}, which is above it")
    return found


def module_imports(files):
    """For each module, by dotted name inside calibstat, the modules that it imports, nested imports too.

    What an import runs on the way, the package of a module, is left out: only what is named counts.
    """
    name = {file: file.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".") for file in files}
    modules = set(name.values())

    def targets(file, node):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            here = ["calibstat", *file.split("/")][: -node.level] if node.level else []
            base = ".".join(here + (node.module.split(".") if node.module else []))
            found = [f"{base}.{alias.name}" for alias in node.names] + [base]
        inside = [target.partition(".")[2] for target in found if target.split(".")[0] == "calibstat"]
        if isinstance(node, ast.ImportFrom) and set(inside[:-1]) <= modules:
            inside = inside[:-1]  # only modules, and nothing of their package
        return {target for target in inside if target in modules}

    return {
        name[file]: {target for node in import_statements(source) for target in targets(file, node)} - {name[file]}
        for file, source in files.items()
    }


def circles(files):
    """Modules that import each other, directly or through others, each with those that it shares a circle with."""
    imports = module_imports(files)

    def reached(module):
        found, left = set(), [module]
        while left:
            new = imports[left.pop()] - found
            found |= new
            left += new
        return found

    below = {module: reached(module) for module in imports}
    return {frozenset(m for m in below[module] if module in below[m]) for module in below if module in below[module]}


def drawing(file, source):
    """Uses of numpy.random, or of the standard library's random, where RANDOM does not allow them."""
    allowed = RANDOM.get(file, RANDOM.get(file.partition("/")[0] + "/", {}))
    if allowed is None or "random" not in source:  # without the word there is nothing to parse for
        return []
    found = []

    def visit(node, function):
        if isinstance(node, ast.FunctionDef):
            function = node.name
        name = None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute) and node.value.attr == "random":
            name = node.attr
        elif imported(node) & {"random", "numpy.random"}:
            name = "import"
        if name and name not in allowed.get(function, set()) | allowed.get(None, set()):
            found.append(f"{file}:{node.lineno} uses random.{name} in {function}")
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(parsed(source), None)
    return found


def test_imports_point_downwards():
    assert [fault for file, source in sources().items() for fault in upward_imports(file, source)] == []


def test_imports_have_no_circles():
    assert [sorted(circle) for circle in circles(sources())] == []


@pytest.mark.parametrize(
    "back",
    [
        "from calibstat.data.sample import Sample",
        "from calibstat.data import sample",
        "from . import sample",
        "from .sample import Sample",
        "import calibstat.data.sample",
        "def f():\n    from calibstat.data.sample import Sample",
        "if TYPE_CHECKING:\n    from calibstat.data.sample import Sample",
    ],
)
def test_a_circle_is_found(back):
    files = {
        "__init__.py": "",
        "data/__init__.py": "from calibstat.data.sample import Sample",
        "data/clipping.py": back,
    }
    files["data/binning.py"] = "from calibstat.data.clipping import clip"
    assert circles(files | {"data/sample.py": "from calibstat.data.binning import cut"}) == {
        frozenset({"data.sample", "data.binning", "data.clipping"})
    }
    assert circles(files | {"data/sample.py": "import numpy"}) == set()


def test_every_file_has_a_layer():
    assert {file.removesuffix(".py").split("/")[0] for file in sources()} <= set(LAYERS)


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("data/sample.py", "from calibstat.measures import ece"),
        ("measures/binned.py", "def f():\n    import calibstat.inference"),
        ("resampling/streams.py", "from calibstat import plots"),
        ("resampling/draw.py", "from calibstat.bounds.unit_sums import ClassSums"),
        ("resampling/sources.py", "from calibstat.measures.kinds import base"),
        ("inference/calibration_tests.py", "from ..cli import report"),
        ("result.py", "import calibstat as cs"),
        ("plots/style.py", "from calibstat import estimate"),
    ],
)
def test_an_upward_import_is_found(file, source):
    assert len(upward_imports(file, source)) == 1


def test_a_downward_import_is_not_objected_to():
    assert (
        upward_imports("inference/calibration_tests.py", "from calibstat import resampling\nfrom . import estimate")
        == []
    )


def loaded_late(statement, slow=LATE):
    """Which of the slow libraries a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {slow!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_calibstat_leaves_slow_libraries_out():
    assert loaded_late("import calibstat; dir(calibstat)") == []


def test_the_first_question_loads_only_what_it_needs():
    ask = "import calibstat as cs; cs.calibration_test, cs.confidence_interval, cs.compare, cs.reliability, cs.Monitor"
    assert loaded_late(ask, AT_NO_CALL) == []


HELP = """
import contextlib, io
from calibstat.cli.app import app
page = io.StringIO()
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(page):
    app({asked!r})
assert "Usage" in page.getvalue()
"""


@pytest.mark.parametrize("asked", [["--help"], ["test", "--help"]])
def test_help_leaves_slow_libraries_out(asked):
    assert loaded_late(HELP.format(asked=asked)) == ["typer", "rich"]


def test_a_slow_library_is_noticed():
    assert loaded_late("import jinja2") == ["jinja2"]


def test_only_the_named_places_draw():
    simulations = ROOT.parent / "simulations"
    studies = {str(path.relative_to(ROOT.parent)): path.read_text() for path in sorted(simulations.rglob("*.py"))}
    assert [fault for file, source in (sources() | studies).items() for fault in drawing(file, source)] == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("data/sample.py", "import numpy as np\nnp.random.default_rng(0)"),
        ("inference/calibration_tests.py", "from numpy.random import default_rng"),
        ("inference/calibration_tests.py", "from numpy import random"),
        ("measures/binned.py", "import random"),
        ("resampling/streams.py", "def other(rng):\n    return np.random.SeedSequence(rng)"),
        ("study/engine.py", "rng = np.random.default_rng(0)"),
        ("simulations/size.py", "rng = np.random.default_rng(0)"),
    ],
)
def test_a_draw_elsewhere_is_found(file, source):
    assert len(drawing(file, source)) == 1


def libraries(files):
    """Libraries that source files import, by the name of the one that brings them."""
    nodes = [node for source in files.values() for node in import_statements(source)]
    names = {name.partition(".")[0] for node in nodes for name in imported(node) if not getattr(node, "level", 0)}
    return {BROUGHT.get(name, name) for name in names - sys.stdlib_module_names - OPTIONAL - {"calibstat"}}


def test_hard_dependencies_are_those_imported():
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    assert libraries(sources()) == {each.partition(">")[0] for each in project["dependencies"]}


def test_an_import_is_seen_as_a_library():
    source = "import os, scipy.stats\nfrom . import numba\nfrom calibstat import x\ndef f():\n    from PIL import Image"
    assert libraries({"a.py": source, "b.py": "import pyarrow"}) == {"scipy", "matplotlib"}


def beside_the_package(files):
    """What files import that an installed package does not have: extras, what draws in a checkout, and by a dot."""
    nodes = [node for source in files.values() for node in import_statements(source)]
    names = {name.partition(".")[0] for node in nodes for name in imported(node)}
    by_a_dot = {"." for node in nodes if getattr(node, "level", 0)}
    return names & {*OPTIONAL, "seaborn", "simulations"} | by_a_dot


def test_installed_studies_need_nothing_beside_the_package():
    papers = {file: source for file, source in sources().items() if file.startswith("papers/")}
    assert len(papers) > 9
    assert beside_the_package(papers) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f():\n    import seaborn as sns", "seaborn"),
        ("from simulations.parts import cases", "simulations"),
        ("from .parts.cases import x", "."),
    ],
)
def test_an_import_from_beside_the_package_is_found(source, found):
    assert beside_the_package({"papers/a.py": source}) == {found}


def test_the_first_functions_need_numpy_and_scipy_alone():
    """As docs/start/installing.md says of an install without the other libraries."""
    others = sorted(libraries(sources()) - {"numpy", "scipy"})
    code = f"""
        import sys
        sys.modules |= dict.fromkeys({others})
        import calibstat as cs
        rows = cs.generators.shift(0.5).sample(60, rng=1)
        for ask in (cs.calibration_test, cs.confidence_interval, cs.reliability):
            print(ask(*rows, n_resamples=19, rng=1))
        print(cs.estimate(*rows), cs.compare(rows[0], {{"A": rows[1], "B": rows[1] ** 2}}))
        try:
            cs.plot(cs.reliability(*rows, n_resamples=19, rng=1))
        except ImportError as error:
            print("needs", error.name)
    """
    asked = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    found = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1].startswith("needs matplotlib")


def test_the_version_is_in_one_place():
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    place = project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{calibstat.__version__}"' in (ROOT.parent / place).read_text()


def test_the_citation_is_of_this_version_and_is_released():
    """It names no address, because none is known yet."""
    text = (ROOT.parent / "CITATION.cff").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^([\w-]+): (.+)$", text, flags=re.MULTILINE))
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())
    assert entries["version"] == calibstat.__version__
    assert entries["license"] == project["project"]["license"]
    assert {"cff-version", "message", "title"} <= set(entries)
    assert re.findall(r"^  - name: (.+)$", text, flags=re.MULTILINE) == [
        author["name"] for author in project["project"]["authors"]
    ]
    assert "://" not in text
    landing = (ROOT.parent / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"Version {calibstat.__version__}." in landing
    assert "CITATION.cff" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
