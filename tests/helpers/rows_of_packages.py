"""Rows that other packages and calibstat judge, and the tables of ``docs/start/from-*.md`` about these packages.

``python tests/helpers/rows_of_packages.py`` computes what each package that is installed says of them, and stores it
with versions in tests/promises/packages.csv. Rows of packages that are not installed are kept.
"""

import csv
import importlib
import re
from importlib.metadata import version
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).parents[2]
STORED = PROJECT / "tests" / "promises" / "packages.csv"
PACKAGES = {  # page: distributions whose versions are stored, names that its code uses
    "scikit-learn": (
        ["scikit-learn"],
        {
            "sklearn.metrics": ["brier_score_loss", "log_loss", "roc_auc_score"],
            "sklearn.calibration": ["calibration_curve"],
        },
    ),
    "netcal": (["netcal"], {"netcal.metrics": ["ECE", "MCE", "ACE"]}),
    "torchmetrics": (
        ["torchmetrics", "torch"],
        {
            "torch": ["tensor"],
            "torchmetrics.classification": ["BinaryCalibrationError", "MulticlassCalibrationError"],
        },
    ),
    "mapie": (
        ["MAPIE"],
        {
            "mapie.metrics.calibration": [
                "expected_calibration_error",
                "top_label_ece",
                "kolmogorov_smirnov_statistic",
                "kolmogorov_smirnov_p_value",
                "kuiper_p_value",
                "spiegelhalter_statistic",
                "spiegelhalter_p_value",
            ]
        },
    ),
    "relplot": (["relplot"], {"relplot": ["smECE", "metrics"]}),
    "r": (["model-diagnostics"], {"model_diagnostics.scoring": ["decompose", "SquaredError"]}),
    "calibstats": (["calibstats"], {"calibstats": ["ece", "mce", "ace", "debiased_ece", "brier_score", "nll"]}),
    "reliably": (
        ["reliably-metrics"],
        {"reliably.metrics": ["ece", "mce", "adaptive_ece", "classwise_ece", "brier", "nll", "auroc", "smece"]},
    ),
    "uu-sml": (  # from github.com/uu-sml/calibration; the package index has none
        ["calibration"],
        {
            "calibration.stats": ["ece"],
            "calibration.binning": ["DataDependentBinning"],
            "calibration.lenses": ["maximum_lens", "top2_lens", "group_lens"],
            "calibration.scores": ["logarithmic_score", "quadratic_score"],
            "calibration.utils.distances": ["l2distance"],
        },
    ),
}


def rows():
    """Return the rows by name: binary ones, ones of four classes, and predictions on edges of 15 bins, 0 and 1 too."""
    rng = np.random.default_rng(1)
    p = rng.random(500).round(6)
    y = (rng.random(500) < p**1.3).astype(int)
    prob = rng.dirichlet([1, 1, 1, 1], 500)
    label = np.array([rng.choice(4, p=q**0.7 / (q**0.7).sum()) for q in prob])
    p_edge = np.concatenate([np.linspace(0, 1, 16).repeat(12), p[:50]])
    y_edge = (rng.random(p_edge.size) < p_edge**1.5).astype(int)
    return {"y": y, "p": p, "label": label, "prob": prob, "y_edge": y_edge, "p_edge": p_edge, "np": np}


def table(package):
    """The rows of the table of a page: what is called there, what here, and whether the numbers are the same."""
    page = (PROJECT / "docs" / "start" / f"from-{package}.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \| `(cs\.[^`]+)` \| ([^|]+) \|$", page, flags=re.MULTILINE)


def numbers(value):
    """A number or several, as text."""
    return " ".join(f"{each:.12g}" for each in np.atleast_1d(np.asarray(value, dtype=float)))


def asked(package):
    """What the package says of the rows, by the call."""
    distributions, modules = PACKAGES[package]
    names = {name: getattr(importlib.import_module(module), name) for module, all_ in modules.items() for name in all_}
    versions = ", ".join(f"{each} {version(each)}" for each in distributions)
    calls = [there for there, _, _ in table(package) if not there.startswith("val.prob")]
    return {there: (versions, numbers(eval(there, names | rows()))) for there in calls}


def stored():
    """The stored answers: version and numbers, by package and call."""
    with STORED.open(encoding="utf-8", newline="") as file:
        return {(line["package"], line["call"]): (line["versions"], line["numbers"]) for line in csv.DictReader(file)}


def main():
    """Ask the packages that are installed, and store the answers."""
    found = stored() if STORED.exists() else {}
    for package in PACKAGES:
        try:
            answers = asked(package)
        except ModuleNotFoundError as missing:
            print(f"{package}: {missing}; its stored answers are kept")
            continue
        found = {key: answer for key, answer in found.items() if key[0] != package}
        found |= {(package, there): answer for there, answer in answers.items()}
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["package", "versions", "call", "numbers"])
        writer.writerows([package, versions, call, text] for (package, call), (versions, text) in found.items())


if __name__ == "__main__":
    main()
