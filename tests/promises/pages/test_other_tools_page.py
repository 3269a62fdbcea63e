"""The page on other tools shows the recipes of conformance/recipes and what they printed, and they still print it.

Here stand-ins take the place of skore, MLflow, evidently, xarray and R: they do of these packages what the recipes use.
"""

import json
import re
import runpy
import sys
import types
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli.app import app

RECIPES = PROJECT / "conformance" / "recipes"
PAGE = (PROJECT / "docs" / "more" / "other-tools.md").read_text(encoding="utf-8")
NAMES = sorted(path.name for path in RECIPES.iterdir() if path.suffix != ".txt")


def stored(name):
    """The versions with which a recipe was run, and what it printed."""
    first, _, printed = (RECIPES / name).with_suffix(".txt").read_text(encoding="utf-8").partition("\n")
    return first, printed


def part_of_page(name):
    """What the page shows of a recipe."""
    first, printed = stored(name)
    code = (RECIPES / name).read_text(encoding="utf-8")
    language = "r" if name.endswith(".R") else "python"
    return f"```{language}\n{code}```\n\nWith {first} it prints\n\n```\n{printed}```\n"


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_each_recipe_and_what_it_printed(name):
    code = (RECIPES / name).read_text(encoding="utf-8")
    assert part_of_page(name) in PAGE
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 15
    assert f"calibstat {cs.__version__}" in stored(name)[0]


def test_every_recipe_is_run_by_the_script():
    made = runpy.run_path(str(PROJECT / "conformance" / "run_recipes.py"))
    assert sorted(made["DISTRIBUTIONS"]) == NAMES
    assert len(re.findall(r"^```(?:python|r)$", PAGE, flags=re.MULTILINE)) == len(NAMES)


class Report:
    """The report of skore, and its checks."""

    def __init__(self, estimator, X_train, y_train, X_test, y_test):
        self.estimator_, self.X_test, self.y_test = estimator.fit(X_train, y_train), X_test, y_test
        self.checks, self.summarize = self, lambda: self

    def add(self, checks):
        self.added = checks

    def frame(self, section):
        assert section == "issue"
        assert all(check.code and check.title and check.report_types == ["estimator"] for check in self.added)
        return pd.DataFrame({"explanation": [check.check_function(self) for check in self.added]})


def evaluate(data, targets, predictions, extra_metrics, custom_artifacts):
    """What MLflow asks metrics and artifacts: first of the first row alone."""
    rows = pd.DataFrame({"prediction": data[predictions], "target": data[targets]})
    for each in (rows[:1], rows):
        metrics = {name: function(each["prediction"], each["target"], {}) for name, function in extra_metrics}
    [made] = [artifact(rows, metrics, "") for artifact in custom_artifacts]
    assert all(callable(figure.savefig) for figure in made.values())
    uris = {name: types.SimpleNamespace(uri=f"folder/{name}.png") for name in made}
    return types.SimpleNamespace(metrics=metrics, artifacts=uris)


class Calculation:
    """The class of evidently that computes a metric."""

    of = None

    def __class_getitem__(cls, metric):
        return type("Bound", (cls,), {"of": metric})

    def __init_subclass__(cls):
        Calculation.last = cls

    def result(self, value):
        return {"value": value}


class Snapshot:
    """A report of evidently, before it is run and after."""

    def __init__(self, metrics):
        assert [type(each) for each in metrics] == [Calculation.last.of]

    def run(self, data):
        calculation = Calculation.last()
        assert calculation.display_name()
        self.found = calculation.calculate(None, types.SimpleNamespace(as_dataframe=lambda: data), None)
        return self

    def dict(self):
        return {"metrics": [self.found]}


STAND_INS = {
    "skore_check.py": {"skore": {"Check": object, "EstimatorReport": Report}},
    "mlflow_evaluate.py": {
        "mlflow": {
            "models": types.SimpleNamespace(
                evaluate=evaluate, make_metric=lambda *, eval_fn, greater_is_better: (eval_fn.__name__, eval_fn)
            )
        }
    },
    "evidently_metric.py": {
        "evidently": {"Dataset": types.SimpleNamespace(from_pandas=lambda rows: rows), "Report": Snapshot},
        "evidently.core": {},
        "evidently.core.metric_types": {"SingleValueCalculation": Calculation, "SingleValueMetric": object},
    },
}


@pytest.mark.parametrize("name", STAND_INS)
def test_a_recipe_prints_what_it_printed_with_the_package(name, monkeypatch, capsys):
    for module, names in STAND_INS[name].items():
        made = types.ModuleType(module)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, module, made)
    runpy.run_path(str(RECIPES / name))
    assert capsys.readouterr().out.strip() == stored(name)[1].strip()


def test_a_grid_of_days_gives_what_its_rows_give():
    """The recipe of xarray, with NumPy's arrays: days are the slowest of three dimensions."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, [200, 6, 8])
    day, cell = rng.normal(size=200), rng.normal(size=p.shape)
    noise = np.sqrt(0.5) * (day[:, None, None] + cell)
    y = 1.0 * (np.vectorize(NormalDist().cdf)(noise) < p)
    clustered = cs.calibration_test(y.ravel(), p.ravel(), cluster=np.repeat(np.arange(200), 48), rng=0)
    alone = cs.calibration_test(y.ravel(), p.ravel(), rng=0)
    assert stored("xarray_stack.py")[1] == f"{clustered.answer}\nAs independent rows: p = {alone.pvalue:.3f}\n"


def test_the_command_that_r_calls_gives_what_it_gave(tmp_path):
    code = (RECIPES / "from_r.R").read_text(encoding="utf-8")
    asked = re.findall(r'"([^"]+)"', re.search(r"asked <- c\((.+)\)", code)[1])
    i = np.arange(1, 2001)
    p = (i - 0.5) / 2000
    rows = pd.DataFrame({"y": (i * 7919 % 2000 < 2000 * p**1.3).astype(int), "p": p})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked[1] = str(tmp_path / "rows.csv")
    test = json.loads(CliRunner().invoke(app, asked).stdout)
    line = f"p = {test['omnibus.pvalue']:.3f}, {test['omnibus.n']} rows"
    assert stored("from_r.R")[1] == f"{test['answer']}\n{line}\n"
