"""Write the lists of names of other projects to which the site links: ``python docs/inventories/write_inventories.py``.

Each list holds the names below and the pages on which their projects document them, in the format of Sphinx, so that
the site is built without a request to another host. A name that a page or a gallery script needs is added here.
"""

from __future__ import annotations

import zlib
from pathlib import Path

HERE = Path(__file__).parent
PAGES = {  # where a project documents a name
    "python": "library/{module}.html#{name}",
    "numpy": "reference/generated/{name}.html#{name}",
    "scipy": "reference/generated/{name}.html#{name}",
    "pandas": "reference/api/{name}.html#{name}",
    "matplotlib": "api/_as_gen/{name}.html#{name}",
    "sklearn": "modules/generated/{name}.html#{name}",
}
NAMES = {
    "python": {"class": ["collections.Counter"]},
    "numpy": {
        "function": ["numpy.array", "numpy.arange", "numpy.clip", "numpy.linspace", "numpy.mean", "numpy.repeat"],
        "class": ["numpy.ndarray"],
    },
    "scipy": {"data": ["scipy.special.expit", "scipy.special.logit"]},
    "pandas": {"class": ["pandas.DataFrame", "pandas.Series"], "function": ["pandas.cut", "pandas.read_csv"]},
    "matplotlib": {"function": ["matplotlib.pyplot.subplots", "matplotlib.pyplot.show"]},
    "sklearn": {
        "class": [
            "sklearn.calibration.CalibratedClassifierCV",
            "sklearn.calibration.CalibrationDisplay",
            "sklearn.ensemble.HistGradientBoostingClassifier",
            "sklearn.ensemble.RandomForestClassifier",
            "sklearn.linear_model.LogisticRegression",
            "sklearn.naive_bayes.GaussianNB",
            "sklearn.preprocessing.StandardScaler",
            "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
            "sklearn.neighbors.KNeighborsClassifier",
        ],
        "function": [
            "sklearn.calibration.calibration_curve",
            "sklearn.datasets.load_breast_cancer",
            "sklearn.datasets.load_digits",
            "sklearn.metrics.brier_score_loss",
            "sklearn.metrics.log_loss",
            "sklearn.model_selection.cross_val_predict",
            "sklearn.model_selection.train_test_split",
            "sklearn.pipeline.make_pipeline",
        ],
    },
}


def inventory(project: str, names: dict[str, list[str]]) -> bytes:
    """Return the list of names of a project in version 2 of Sphinx's format."""
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    lines = [
        f"{name} py:{kind} 1 {PAGES[project].format(name=name, module=name.rpartition('.')[0])} -\n"
        for kind, all_of_it in names.items()
        for name in sorted(all_of_it)
    ]
    return head.encode() + zlib.compress("".join(lines).encode(), 9)


def main() -> None:
    """Write all lists."""
    for project, names in NAMES.items():
        (HERE / f"{project}.inv").write_bytes(inventory(project, names))


if __name__ == "__main__":
    main()
