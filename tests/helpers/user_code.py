"""Code as users write it, for type checkers: examples of all pages, calls of known types, misspelt arguments.

``python tests/helpers/user_code.py FOLDER`` writes the good ones and the bad ones to folders.
"""

import doctest
import inspect
import sys
from pathlib import Path

from documentation import PAGES
from public_functions import public_functions

import calibstat as cs

ROOT = Path(__file__).parent.parent.parent
TYPED = '''
"""What type checkers have to infer."""

from collections.abc import Mapping
from typing import assert_type

import numpy as np
import numpy.typing as npt

import calibstat as cs
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability
from calibstat.classical.cox import CoxResult

Floats = npt.NDArray[np.float64]


def calls(y: Floats, p: Floats, prob: Floats, models: dict[str, Floats], mapping: Mapping[str, list[float]]) -> None:
    assert_type(cs.estimate(y, p), float)
    assert_type(cs.estimate([0, 1], [0.2, 0.7], measure="ece", n_bins=10), float)
    assert_type(cs.estimate(["no", "yes"], [0.2, 0.7], pos_label="yes"), float)
    assert_type(cs.estimate(y, prob, lens=cs.lenses.one_class(2)), float)
    assert_type(cs.estimate(y, prob, lens="class_wise_max"), float)
    assert_type(cs.estimate(y, models), cs.Answers[float])
    assert_type(cs.estimate(y, mapping)["a"], float)
    assert_type(cs.estimate({"a": y}, mapping)["a"], float)
    assert_type(cs.calibration_test(y, p, rng=1, sample_weight=p), CalibrationTestResult)
    assert_type(cs.calibration_test(y, prob, lens="class_wise"), CalibrationTestResult)
    assert_type(cs.calibration_test(y, models), cs.Answers[CalibrationTestResult])
    assert_type(cs.calibration_test(y, models, lens="class_wise"), cs.Answers[CalibrationTestResult])
    assert_type(cs.confidence_interval(y, p, measure=cs.measures.KS()), ConfidenceInterval)
    assert_type(cs.confidence_interval(y, models)["a"].low, float)
    diagram: Reliability = cs.reliability(y, p)
    diagrams: ClassWiseReliability = cs.reliability(y, prob, lens="class_wise")
    print(diagram.n, diagrams.names)
    assert_type(cs.audit(y, p, {"age": y}), Audit)
    assert_type(cs.audit(y, models, {"age": y}), cs.Answers[Audit])
    assert_type(cs.classical.cox(y, p, held_out=True), CoxResult)
    data, several = cs.Data(y, p, cluster=y), cs.Models(y, models, pos_label=1)
    assert_type(cs.estimate(data), float)
    assert_type(cs.audit(data, groups={"age": y}), Audit)
    assert_type(cs.classical.cox(several, held_out=True), cs.Answers[CoxResult])
    assert_type(cs.confidence_interval(cs.Sample.from_rows(y, p)), ConfidenceInterval)
    cs.compare(several, measure="brier").answer
    cs.report(several, title="Two models").save("report.html")
    for name, found in cs.calibration_test(several).items():
        print(name, found.pvalue)
    monitor, part = cs.Monitor(), cs.Monitor().summarize(y, p)
    print(monitor.update(part + part).onset, monitor.update(y, p).gap, monitor.summary(1).total)
    print(monitor.update(y, models).alarmed, monitor.update(several).models["a"].pvalue)


def kinds_that_an_argument_decides(frame: object, y: Floats, p: Floats) -> tuple[np.ndarray, np.ndarray]:
    assert_type(cs.Sample.from_frame(frame, "y", "p").unit, float)
    assert_type(cs.Sample.from_frame(frame, "y", "p", by="site")["a"], cs.Sample)
    assert_type(cs.Sample.from_cells(frame).unit, float)
    assert_type(cs.Sample.from_cells(frame, ["site"])["a"], cs.Sample)
    cs.audit_samples(cs.Sample.from_frame(frame, "y", "p", by="site"), "site")
    assert_type(cs.power(p, "shift=1").power, float)
    assert_type(cs.power(p, "shift=1", n=[100, 200]).points[0].power, float)
    assert_type(cs.generalization_gap((y, p), (y, p)).gap, float)
    assert_type(cs.generalization_gap({"last": (y, p)}, {"last": (y, p)})["last"].gap, float)
    generator = cs.generators.dirichlet((1, 1, 1))
    number: float = generator.truth("ece")
    of_classes: np.ndarray = generator.truth("ece", lens="class_wise")
    outcome, prob, cluster, weight = generator.sample(9, clusters=3, weights="related")
    assert_type(generator.sample(9).p, np.ndarray)
    print(1 - number, of_classes[0], of_classes.mean(), outcome, prob, cluster, weight)
    return generator.sample(9)
'''
# what pyright says of examples beside calls: what may be None elsewhere, and what pandas' own types lack
BESIDE = ["OptionalMemberAccess", "OptionalSubscript", "OperatorIssue", "AttributeAccessIssue", "UnusedExpression"]
BESIDE += ["IncompatibleMethodOverride", "AssignmentType"]  # a property that a measure of one's own sets
QUIET = f"# pyright: basic, {', '.join(f'report{rule}=false' for rule in BESIDE)}\n"
HEAD = "import numpy as np\nimport calibstat as cs\n\ny, p = np.array([0.0, 1.0]), np.array([0.2, 0.7])\n"
CALLS = {
    "audit": "cs.audit(y, p, y, {})",
    "compare": 'cs.compare(y, {{"a": p, "b": p}}, {})',
    "cross_validate": "cs.cross_validate(None, p, y, {})",
    "generalization_gap": "cs.generalization_gap((y, p), (y, p), {})",
    "power": 'cs.power(p, "shift=1", {})',
    "sample_size": 'cs.sample_size(p, "shift=1", {})',
    "summarize": 'cs.summarize(y, {{"a": p, "b": p}}, {})',
}


def examples(text: str) -> str:
    """The code of the examples of a page, without those that are to fail."""
    return "".join(each.source for each in doctest.DocTestParser().get_examples(text) if each.exc_msg is None)


def pages() -> dict[str, str]:
    """The code of each page with examples, and the calls with known types, by the name of a file."""
    files = [ROOT / "README.md", *PAGES]
    found = {"_".join(path.relative_to(ROOT).with_suffix(".py").parts).replace("-", "_"): path for path in files}
    code = {name: examples(path.read_text(encoding="utf-8")) for name, path in found.items()}
    return {name: QUIET + text for name, text in code.items() if text} | {"typed_calls.py": TYPED}


def misspelt() -> dict[str, str]:
    """For each public function with arguments by name a call in which one that there is not is given, by its name."""
    found = {}
    for name, function in public_functions().items():
        if function.__code__.co_flags & inspect.CO_VARKEYWORDS and name != "measure":
            known = [each for each in inspect.signature(function).parameters.values() if each.default is None]
            wrong = known[-1].name + "x=None"
            home = "cs.classical" if name in cs.classical.__all__ else "cs"
            found[name] = HEAD + CALLS.get(name, f"{home}.{name}(y, p, {{}})").format(wrong) + "\n"
    return found


def write(folder: Path, code: dict[str, str]) -> list[Path]:
    """Write files of code and return their paths."""
    folder.mkdir(parents=True)
    for name, text in code.items():
        (folder / name).with_suffix(".py").write_text(text, encoding="utf-8")
    return sorted(folder.iterdir())


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "good", pages())
    write(Path(sys.argv[1]) / "bad", misspelt())
