"""The page on CI and logs: the steps of its action run, and its recipes log what results have."""

import json
import math
import os
import re
import subprocess
import sys
import types
from contextlib import nullcontext

import numpy as np
import pytest
import yaml
from project_folder import PROJECT

import calibstat as cs

PAGE = (PROJECT / "docs" / "start" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load(re.search(r"```yaml\n(name: .*?)```", PAGE, flags=re.DOTALL)[1])
STEPS = ACTION["runs"]["steps"]
USE = yaml.safe_load(re.search(r"```yaml\n(- uses: .*?)```", PAGE, flags=re.DOTALL)[1])[0]
RECIPES = {
    name: f"import {name}\n{rest}" for name, rest in re.findall(r"```python\nimport (\w+)\n(.*?)```", PAGE, re.S)
}
SCALARS = re.compile(r"^(?:metrics/|wandb: +)ece\.([\w.]+) (-?[\d.]+)$", flags=re.MULTILINE)


@pytest.fixture(scope="module")
def interval():
    y, p = cs.generators.temperature(1.5).sample(2000, rng=1)
    return cs.confidence_interval(y, p, measure="ece", rng=1)


@pytest.fixture
def folder(tmp_path):
    """A folder with rows of a calibrated model and of a wrong one, and a python that only notes what it is asked."""
    random = np.random.default_rng(1)
    p = random.random(2000)
    y = random.random(2000) < p
    for name, predicted in (("good", p), ("bad", p**3), ("few", p[:30])):
        lines = [f"{int(a)},{b}" for a, b in zip(y, predicted, strict=False)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["y,p", *lines]), encoding="utf-8")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$@" >> asked.txt\n', encoding="utf-8")
    python.chmod(0o755)
    calibstat = tmp_path / "bin" / "calibstat"
    calibstat.write_text(f"#!{sys.executable}\nfrom calibstat.cli.app import main\n\nmain()\n", encoding="utf-8")
    calibstat.chmod(0o755)
    return tmp_path


def run_action(folder, given):
    """Run the steps as GitHub does, in a shell that stops at errors; return the exit codes of those that ran."""
    inputs = {name: each.get("default") for name, each in ACTION["inputs"].items()} | given
    assert all(each.get("default") or each["required"] is True for each in ACTION["inputs"].values())
    codes = []
    for step in STEPS:
        if any(codes) and step.get("if") != "always()":
            continue
        env = {
            k: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], v) for k, v in step.get("env", {}).items()
        }
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        env = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": "summary.md", **env}
        codes.append(subprocess.run(command, cwd=folder, env=env, capture_output=True).returncode)
    return codes


@pytest.mark.parametrize(("rows", "code"), [("good", 0), ("bad", 1), pytest.param("few", 3, marks=pytest.mark.slow)])
def test_the_action_fails_unless_rows_show_the_condition(folder, rows, code):
    assert run_action(folder, {"rows": f"{rows}.csv"}) == [0, code, 0]
    assert (folder / "asked.txt").read_text() == "-m pip install calibstat\n"
    assert (folder / "summary.md").read_text() == (folder / "calibration.md").read_text()
    assert "calibration error" in (folder / "summary.md").read_text()


def test_the_action_runs_nothing_that_inputs_say(folder):
    planted = "$(touch planted)"
    for inputs in ({"rows": "good.csv", "condition": planted}, dict.fromkeys(ACTION["inputs"], planted)):
        assert run_action(folder, inputs)[:2] == [0, 2]
    assert not (folder / "planted").exists()
    assert all("${{" not in step["run"] for step in STEPS)
    subprocess.run(["bash", "-c", f'echo "{planted}"'], cwd=folder, check=True)  # as text of the step it would be run
    assert (folder / "planted").exists()


def test_the_action_is_short_and_used_with_its_inputs():
    text = re.search(r"```yaml\n(name: .*?)```", PAGE, flags=re.DOTALL)[1]
    assert len(text.splitlines()) <= 16
    assert set(USE["with"]) <= set(ACTION["inputs"])


class FakeMlflow(types.ModuleType):
    """What the recipe calls, with MLflow's rules for names and values."""

    def __init__(self):
        super().__init__("mlflow")
        self.metrics, self.files = {}, {}

    def start_run(self):
        return nullcontext()

    def log_metrics(self, metrics):
        assert all(re.fullmatch(r"[\w\-./: ]+", name) for name in metrics)
        self.metrics |= {name: float(number) for name, number in metrics.items()}

    def log_dict(self, values, name):
        self.files[name] = json.dumps(values, allow_nan=False)

    def log_text(self, text, name):
        assert isinstance(text, str)
        self.files[name] = text


class FakeWandb(types.ModuleType):
    def __init__(self):
        super().__init__("wandb")
        self.logged, self.summary = {}, {}

    def init(self, project, mode):
        assert mode == "offline"
        return nullcontext(self)

    def log(self, values):
        self.logged |= values


def test_the_recipe_of_mlflow_logs_all_numbers(interval, monkeypatch):
    fake = FakeMlflow()
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    exec(RECIPES["mlflow"], {"interval": interval})
    assert fake.metrics == {f"ece.{name}": number for name, number in interval.scalars().items()}
    assert json.loads(fake.files["ece.json"]) == interval.to_dict()
    assert fake.files["ece.txt"] == str(interval)


def test_the_recipe_of_wandb_logs_all_numbers(interval, monkeypatch):
    fake = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    exec(RECIPES["wandb"], {"interval": interval})
    assert fake.logged == {f"ece.{name}": number for name, number in interval.scalars().items()}
    assert fake.summary == {"ece.words": str(interval)}


@pytest.mark.parametrize(("tracker", "digits"), [("mlflow-skinny 3.17.2", 1e-9), ("wandb 0.31.0", 1e-3)])
def test_the_page_shows_what_the_trackers_stored(interval, tracker, digits):
    shown = PAGE.partition(f"by {tracker}")[2].split("```")[1]
    found = {name: float(number) for name, number in SCALARS.findall(shown)}
    assert list(found) == sorted(interval.scalars())
    assert all(math.isclose(found[name], number, rel_tol=digits) for name, number in interval.scalars().items())
