"""The rows that `calls` names, by names as short as a user's."""

from typing import Any

import numpy as np
import pandas as pd
from small_rows import N, classes, events, rows_of

import calibstat as cs


def mapped(p: np.ndarray) -> np.ndarray:
    """Map predictions of one event or of several classes to some that are less sure."""
    return 0.1 / (2 if p.ndim == 1 else p.shape[1]) + 0.9 * p


def logistic() -> Any:
    """Return an estimator; scikit-learn is loaded where it is asked for."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def rows() -> dict[str, Any]:
    """Return outcomes, predictions, and what is known of the rows."""
    (y, (sure, less_sure)), (label, (v, u)) = events()["tied"], classes()["over-confident"]
    z, (s, _) = events()["lucky"]
    p, q = sure.clip(0.01, 0.99), less_sure.clip(0.01, 0.99)
    w, c = rows_of("both").values()
    random = np.random.default_rng(6)
    f, place = random.integers(0, 5, N), np.arange(N)
    few = np.where(np.isin(place, random.permutation(place[::2])[:80]), y, np.nan)
    tenths = p.round(1).clip(0.1, 0.9)
    site = np.array(["north", "south", "west"])[place % 3]
    counted = pd.DataFrame({"y": y, "p": tenths, "site": site})
    return {
        "y": y,  # one event, and the predictions of two models or three
        "p": p,
        "q": q,
        "sure": sure,  # with predictions of 0 and 1
        "ab": {"a": p, "b": q},
        "abc": {"a": p, "b": q, "c": (p + q) / 2},
        "table": pd.DataFrame({"a": p, "b": q}),
        "words": np.where(y == 1, "yes", "no"),
        "z": z,  # one event, nearer to the predictions than chance allows
        "s": s,
        "label": label,  # three classes
        "names": np.array(["a", "b", "c"])[label],
        "v": v,
        "vu": {"a": v, "b": u},
        "w": w,  # weights and clusters
        "c": c,
        "f": f,  # folds, of one repeat and of two, and of whole clusters
        "ff": np.column_stack([f, random.permutation(f)]),
        "pp": np.column_stack([p, (p + q) / 2]),
        "fc": c % 5,
        "ffc": np.column_stack([c % 5, c // 12]),
        "few": few,  # few labels, the answers of a judge, and clusters of two rows, of which one may have a label
        "k": place // 2,
        "j": np.clip(y + random.normal(0, 0.3, N), 0, 1),
        "i": np.full(N, 80 / N),
        "counts": cs.Sample.from_rows(y, tenths),
        "real": cs.Sample.from_rows(y, tenths, w),
        "samples": {"early": (y[:100], p[:100]), "late": (y[100:], q[100:])},
        "frame": pd.DataFrame({"site": site, "age": random.integers(20, 80, N)}),
        "masks": {"even": place % 2 == 0, "likely": p > 0.5},
        "by_site": cs.Sample.from_frame(counted, "y", "p", by="site"),
        "x": np.column_stack([p, q, random.normal(size=N)]),
        "logistic": logistic,
        "mapped": mapped,
    }
