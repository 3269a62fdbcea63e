"""At which rate does each measure converge?

The error of a smooth functional vanishes like n^(-1/2). Where a model is calibrated, a measure that squares the error
converges faster, and one that fits a curve (`mcb`) at the rate of its curve.
"""

from __future__ import annotations

from calibstat import generators
from calibstat.papers.parts.grid import Grid, Measures, binned, every_measure, models
from calibstat.study import Study


def with_truth(measures: Measures) -> Measures:
    """Return the measures whose population value is known: without it there is no error to vanish."""

    def known(name: str, options: dict[str, object]) -> bool:
        try:
            generators.calibrated([0.5]).truth(name, **options)
        except NotImplementedError:
            return False
        return True

    return {label: (name, options) for label, (name, options) in measures.items() if known(name, options)}


def grids(quick: bool) -> list[Grid]:
    """Return one grid of all measures, `ece` also with few and with many bins."""
    chosen = models()
    if quick:
        chosen = {label: chosen[label] for label in ("calibrated", "temperature 1.5")}
    return [
        {
            "question": "consistency",
            "generators": chosen,
            "n": [100, 400, 1600] if quick else [200, 1000, 5000, 25_000],
            "measures": with_truth(every_measure() | binned({"ece": ("ece", {})}, [5, 50])),
            "methods": ["rmse", "sd", "bias"],
            "replicates": 30 if quick else 1000,
        }
    ]


study = Study(
    question="At which rate does each measure converge?",
    seed=20265,
    runtime_hours=0.03,
    grids=grids,
)
