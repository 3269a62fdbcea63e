"""One call of every public name and of every command, in any environment: ``python tests/helpers/smoke.py``.

It needs what calibstat needs and nothing else: neither pytest nor scikit-learn. It prints the versions of what is
installed and ends with exit code 1 if a call fails, if a command prints nothing that answers its question, or if a
name or command has no call here.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("COLUMNS", "120")  # no answer is broken into lines

import numpy as np

import calibstat as cs
from calibstat.study.study_file import installed_names

Y, P = cs.generators.temperature(1.5).sample(120, rng=1)
TWO = {"A": P, "B": P**2}
LABEL, PROB = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(90, rng=1)
COMPILES = find_spec("numba") is not None
STORES = find_spec("pyarrow") is not None  # a study needs it
LEARNS = find_spec("sklearn") is not None  # cross-validation needs it
FEW = {"n_resamples": 19, "rng": 1}
STUDY = """
from pathlib import Path
import calibstat as cs
from calibstat.study import Study
GRID = {"question": "bias", "generators": {"a": cs.generators.calibrated()}, "n": 20, "measures": ["ks"]}
study = Study(question="Is it small?", seed=1, grids=lambda quick: [{**GRID, "replicates": 5}],
              figures=lambda table: {"": cs.study.plot(table)}, file=Path(__file__))
"""


class Fitted:
    """A classifier that is fitted from the start."""

    classes_ = (0, 1)

    def predict_proba(self, features):
        return np.column_stack((1 - features, features))


def calibrated():
    """Fit a classifier and its map, or raise what names the extra."""
    if LEARNS:
        from sklearn.linear_model import LogisticRegression

        return repr(cs.CalibratedModel(LogisticRegression(), map="PlattScaling").fit(P[:, None], Y).map_)
    try:
        cs.CalibratedModel(Fitted()).fit(P[:, None], Y)
    except ImportError as error:
        return "calibstat[sklearn]" in str(error) or 1 / 0
    return 1 / 0


def cross_validated():
    """Cross-validate a classifier, or raise what names the extra."""
    if LEARNS:
        from sklearn.linear_model import LogisticRegression

        return str(cs.cross_validate(LogisticRegression(), P[:, None], Y, cv=2, repeats=1, rng=1))
    try:
        cs.cross_validate(Fitted(), P[:, None], Y)
    except ImportError as error:
        return "calibstat[sklearn]" in str(error) or 1 / 0
    return 1 / 0


def grouped():
    """Bound the grouping loss, or raise what names the extra."""
    if LEARNS:
        from sklearn.linear_model import LogisticRegression

        return str(cs.grouping_loss(LogisticRegression(), P[:, None], Y, P, cv=2, rng=1))
    try:
        cs.grouping_loss(Fitted(), P[:, None], Y, P)
    except ImportError as error:
        return "calibstat[sklearn]" in str(error) or 1 / 0
    return 1 / 0


def own_measure():
    """Register a measure, at the call and not before: the registry belongs to the process."""

    @cs.measure("smoke_error")
    def smoke_error(value, residual):
        """The absolute mean residual."""
        return abs(residual.sum())

    return "smoke_error"


def monitored(monitor, *prob):
    """The status of a monitor after one period."""
    monitor.update(Y, *prob, period=1)
    return monitor.status()


def drawn(result):
    """A result as text, as HTML, as a dictionary, as a frame and, where there is one, as a picture."""
    return str(result), result._repr_html_(), result.to_dict(), result.to_frame(), cs.plot(result).figure.canvas.draw()


def recalibrated():
    """Every map of calibstat's own but the one of scikit-learn's network, a prior shift, and a choice among maps."""
    names = set(cs.recalibration.RECALIBRATORS) - {"NeuralScaling", "PriorShift"}
    for name in names:
        fitted = cs.recalibration.RECALIBRATORS[name]().fit(P, Y)
        cs.recalibration.Recalibrator.from_dict(fitted.to_dict()).predict_proba(P)
        assert fitted.to_sql("p").startswith("CASE")
    cs.recalibration.VennAbers().fit(P, Y).predict_pair(P)
    cs.recalibration.PriorShift(train_prevalence=0.4).fit(P).predict_proba(P)
    found = cs.recalibration.choose(Y, P, cv=2, repeats=2, rng=1)
    return str(found), found._repr_html_(), found.to_dict(), found.to_frame()


def read_samples():
    """Outcomes and confidences of samples of lm_eval."""
    with tempfile.TemporaryDirectory() as folder:
        sample = {"filter": "none", "acc": 1.0, "doc_hash": "a", "arguments": {"a": {}, "b": {}}}
        sample["filtered_resps"] = [["-1.0", "False"], ["-2.0", "False"]]
        (Path(folder) / "samples_x_1.jsonl").write_text(json.dumps(sample))
        (Path(folder) / "results_1.json").write_text(json.dumps({"lm_eval_version": "0.4.13"}))
        return cs.readers.lm_eval(Path(folder) / "samples_x_1.jsonl")


def classical():
    """All classical tests."""
    cc = cs.classical
    return [
        drawn(cc.calibration_belt(Y, P, held_out=True)),
        str(cc.cox(Y, P, held_out=True)),
        str(cc.hosmer_lemeshow(Y, P, held_out=True)),
        str(cc.kernel_calibration_test(LABEL, PROB, rng=1)),
        str(cc.kolmogorov_smirnov(Y, P)),
        str(cc.kuiper(Y, P)),
        str(cc.spiegelhalter(Y, P)),
        str(cc.t_cal(Y, P, **FEW)),
    ]


CALLS = {
    "GENERATORS": lambda: [str(generator) for generator in cs.GENERATORS],
    "LENSES": lambda: [cs.estimate(LABEL, PROB, lens=lens) for lens in ("top_label", "class_wise")] + [*cs.LENSES],
    "MEASURES": lambda: [cs.estimate(Y, P, measure=name) for name in cs.MEASURES if name in ("ece", "ks", "brier")],
    "Clusters": lambda: cs.calibration_test(Y, P, cluster=cs.Clusters(np.arange(len(Y)) // 2), **FEW),
    "Data": lambda: cs.Data(Y, P),
    "Groups": lambda: cs.audit(Y, P, cs.Groups({"high": np.asarray(P) > 0.5}), **FEW),
    "Judge": lambda: cs.Judge([0.5, 1.0], blind=True),
    "Models": lambda: cs.Models(Y, TWO),
    "Answers": lambda: cs.Answers({"A": 0.5}),
    "Bregman": lambda: cs.decompose(Y, P, score=cs.Bregman("half", lambda x: x**2 / 2, lambda x: x)),
    "BrierMonitor": lambda: drawn(monitored(cs.BrierMonitor(), P, P**2)),
    "Lens": lambda: isinstance(cs.lenses.top_k(2), cs.Lens) or 1 / 0,
    "Measure": lambda: issubclass(cs.MEASURES["ece"], cs.Measure) or 1 / 0,
    "Monitor": lambda: (drawn(monitored(cs.Monitor(), P)), drawn(monitored(cs.Monitor(), TWO))),
    "Predictions": lambda: cs.Predictions.from_rows(LABEL, PROB),
    "ReliabilityDisplay": lambda: cs.ReliabilityDisplay.from_estimator(Fitted(), P, Y, rng=1),
    "Sample": lambda: cs.Sample.from_counts([0.2, 0.7], [50, 50], [20, 35]),
    "Slope": lambda: cs.confidence_interval(Y, P, measure="l1", shape=cs.Slope(1.0), **FEW),
    "Variation": lambda: cs.confidence_interval(Y, P, measure="l1", shape=cs.Variation(0.5), method="proven", **FEW),
    "sql": lambda: cs.sql("y", "p", dialect="postgres"),
    "audit": lambda: drawn(cs.audit(Y, P, {"a": P > 0.5, "b": P > 0.3}, **FEW)),
    "audit_samples": lambda: str(cs.audit_samples({"a": cs.Sample.from_rows(Y, P)}, **FEW)),
    "calibration_test": lambda: drawn(cs.calibration_test(Y, P, **FEW)),
    "choose": lambda: str(cs.choose(Y, TWO, subject_to="kernel_ce.high <= 0.3", **FEW)),
    "classical": classical,
    "compare": lambda: drawn(cs.compare(Y, TWO, **FEW)),
    "confidence_interval": lambda: drawn(cs.confidence_interval(Y, P, measure="smooth_ce", **FEW)),
    "CalibratedModel": calibrated,
    "cross_validate": cross_validated,
    "grouping_loss": grouped,
    "decompose": lambda: str(cs.decompose(Y, P)),
    "detail": lambda: drawn(cs.detail(Y, P, measure="ece")),
    "detectable_effect": lambda: str(cs.detectable_effect(P)),
    "equivalence_test": lambda: str(cs.equivalence_test(Y, P, margin=0.2)),
    "decision_loss": lambda: drawn(cs.decision_loss(Y, P, gain=9, cost=1, **FEW)),
    "estimate": lambda: cs.estimate(Y, P),
    "expected_calibration_error": lambda: cs.expected_calibration_error(Y, P),
    "blocks": lambda: cs.blocks(range(20)),
    "from_logits": lambda: cs.from_logits([0.1, -2.0]),
    "gce_family": lambda: cs.gce_family(LABEL, PROB),
    "generalization_gap": lambda: str(cs.generalization_gap((Y, P), (Y, P), **FEW)),
    "generators": lambda: cs.generators.shift(0.5).sample(5, rng=1),
    "lenses": lambda: cs.calibration_test(LABEL, PROB, lens=cs.lenses.one_class(1), **FEW),
    "measure": lambda: cs.calibration_test(Y, P, measure=own_measure(), **FEW),
    "measures": lambda: cs.estimate(Y, P, measure=cs.measures.KernelCE()),
    "skill_score": lambda: cs.skill_score(Y, P, 0.4),
    "net_benefit": lambda: drawn(cs.net_benefit(Y, P)),
    "plot": lambda: cs.plot(cs.reliability(LABEL, PROB, lens="canonical", **FEW)).figure.canvas.draw(),
    "power": lambda: drawn(cs.power(P, "shift=1", [40, 80], test="ks", n_datasets=9, n_sets=3, **FEW)),
    "predict": lambda: cs.predict(Fitted(), P),
    "readers": read_samples,
    "recalibration": recalibrated,
    "reliability": lambda: drawn(cs.reliability(Y, P, **FEW)),
    "report": lambda: cs.report(Y, TWO, rng=1)._repr_html_(),
    "risk_coverage": lambda: drawn(cs.risk_coverage(Y, P, max_error=0.3)),
    "sample_size": lambda: str(cs.sample_size(P, width=0.2, of="o/e")),
    "scorer": lambda: cs.scorer("ece")(Fitted(), P, Y),
    "sharpness": lambda: drawn(cs.sharpness(Y, P)),
    "study": lambda: [
        *(cs.study.load_study(name).question for name in installed_names()),
        cs.study.plot(cs.study.run("bias", {"a": cs.generators.calibrated()}, [20, 40], ["ece"], replicates=5, seed=1)),
    ],
    "summarize": lambda: str(cs.summarize(Y, TWO, **FEW)),
    "validate": lambda: str(cs.validate(Y, P)),
}
ROWS = ["rows.csv", "--label", "y", "--prob", "p"]
AGAINST = ["rows.csv", "--label", "y", "--prob", "p", "--prob", "q"]
QUICK = ["--n-resamples", "19"]
COMMANDS = {  # arguments, exit code, and a part of what is printed
    "audit": ([*ROWS, "--by", "g", *QUICK], 0, "groups"),
    "compare": ([*AGAINST, *QUICK], 0, "120 rows, 2 models"),
    "decompose": (ROWS, 0, "120 rows"),
    "demo": (["--out", "demo"], 0, "Written to demo"),
    "equivalence": ([*ROWS, "--margin", "0.2"], 0, "120 rows"),
    "generators": ([], 0, "temperature"),
    "interval": ([*ROWS, *QUICK], 0, "on these rows"),
    "measures": ([], 0, "smooth_ece"),
    "monitor": ([*ROWS, "--when", "d", "--state", "state.json"], 0, "period"),
    "skill": ([*ROWS, "--reference", "0.4"], 0, "120 rows"),
    "net-benefit": (ROWS, 0, "120 rows"),
    "power": (
        ["rows.csv", "--prob", "p", "--alternative", "shift=1", "--test", "ks", "--n-datasets", "20"],
        0,
        "The power against",
    ),
    "recalibrate": ([*ROWS, "--map", "PlattScaling", "--out", "q.csv", "--save", "map.sql"], 0, "q.csv"),
    "report": ([*ROWS, "--out", "r.html", "--fail-if", "test.pvalue < 2"], 1, "test.pvalue"),
    "risk-coverage": ([*ROWS, "--max-error", "0.3"], 0, "120 rows"),
    "sample-size": (["rows.csv", "--prob", "p", "--width", "0.2"], 0, "rows"),
    "sharpness": (ROWS, 0, "Calibration error"),
    "study": (["study.py", "--quick", "--out", "out"], *((0, "Written to out") if STORES else (2, "needs pyarrow"))),
    "summarize": (AGAINST, 0, "120 rows"),
    "test": ([*ROWS, *QUICK], 0, "p = "),
    "validate": (ROWS, 0, "120 rows"),
    "warm": ([], 0, "Compiled" if COMPILES else "Nothing to compile"),
}


def unasked(public, calls):
    """Names without a call, and calls without a name."""
    return sorted(set(public) ^ set(calls))


def commands():
    """The names of all commands."""
    from calibstat.cli.app import COMMANDS, app

    return {*COMMANDS, *(command.name for command in app.registered_commands)}


def run_command(name, arguments, code, part):
    """Run a command as the shell would; raise unless it ends with this code and prints this part."""
    from calibstat.cli.app import main

    printed, before = io.StringIO(), sys.argv
    sys.argv = ["calibstat", name, *arguments]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main()
        found = 0
    except SystemExit as left:
        found = left.code or 0
    finally:
        sys.argv = before
    if found != code or part not in printed.getvalue():
        raise AssertionError(f"expected exit code {code} and {part!r}, found {found} and:\n{printed.getvalue()}")


def failures(calls):
    """Make each call, and return the names of those that fail; their tracebacks are printed."""
    failed = []
    for name, call in calls.items():
        try:
            call()
        except Exception:
            failed.append(name)
            traceback.print_exc()
    return failed


def files():
    """Write what the commands read."""
    rows = np.column_stack((Y, P, P**2, P > 0.5, np.repeat([1, 2], 60)))
    np.savetxt("rows.csv", rows, delimiter=",", header="y,p,q,g,d", comments="", fmt=["%d", "%.6f", "%.6f", "%d", "%d"])
    Path("study.py").write_text(STUDY, encoding="utf-8")


def installed(name):
    """The version of a library; click is in typer itself from 0.29 on, and Numba may be missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "is not installed"


def main():
    """Print the versions, make every call, and return how many failed."""
    for requirement in [
        "calibstat",
        "click",
        *(line for line in distribution("calibstat").requires if ";" not in line),
    ]:
        name = "".join(letter for letter in requirement.split(">")[0] if letter not in " =")
        print(name, installed(name))
    asked = {
        f"command {name}": (lambda name=name, rest=rest: run_command(name, *rest)) for name, rest in COMMANDS.items()
    }
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        files()
        failed = unasked(cs.__all__, CALLS) + unasked(commands(), COMMANDS) + failures(CALLS | asked)
    print(f"{len(CALLS)} names and {len(COMMANDS)} commands were called: {', '.join(failed) or 'none'} failed")
    return len(failed)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
