"""CPU time of fits and predictions of calibration maps at 100,000 rows, over the one of scikit-learn's isotonic fit."""

import time
from collections.abc import Callable

from sklearn.isotonic import IsotonicRegression
from tables import markdown

import calibstat as cs
from calibstat.recalibration import RECALIBRATORS, PriorShift

ROUNDS = 5
SLOW = {"NeuralScaling", "MatrixScaling", "VectorScaling", "MeanReplacement"}  # not made for two classes


def seconds(call: Callable[[], object]) -> float:
    """Return the least CPU time of some calls, after one that compiles."""
    call()
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def main() -> None:
    """Print the table."""
    rows = []
    for family in ("temperature=1.5", "shift=0.5"):
        name, size = family.split("=")
        y, p = getattr(cs.generators, name)(float(size)).sample(100_000, rng=1)
        unit = seconds(lambda y=y, p=p: IsotonicRegression(out_of_bounds="clip").fit(p, y))
        for kind in RECALIBRATORS.values():
            if kind.__name__ in SLOW:
                continue
            map_ = kind(train_prevalence=0.4) if kind is PriorShift else kind()
            fit = seconds(lambda map_=map_, y=y, p=p: map_.fit(p, y))
            predict = seconds(lambda map_=map_, p=p: map_.predict_proba(p))
            rows.append([family, kind.__name__, f"{fit / unit:.2f}", f"{predict / unit:.2f}"])
    print(markdown(["family", "map", "fit", "predict"], rows))


if __name__ == "__main__":
    main()
