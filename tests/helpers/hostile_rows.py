"""Hostile rows that property tests draw: extreme numbers, ties, one row, no event, many forms, rows with a fault."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

EXTREME = [0.0, 1.0, 5e-324, 1e-308, 1e-16, 1 - 2.0**-53, np.nextafter(0.5, 0), 0.5, 1 / 3, 1 / 15, 0.1, 0.3]
PREDICTION = st.sampled_from(EXTREME) | st.floats(0, 1)
WEIGHT = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5, 3.0, 1e-300, 1e10, 1e300, 5e-324]) | st.floats(0, 10)
FORMS = ["array", "array", "list", "float32", "strided", "read-only", "series", "words", "object"]


@st.composite
def binary_rows(draw, max_size=14):
    """Outcomes and predictions: ties, exact 0 and 1, the least numbers above 0, constants, one row, no event."""
    n = draw(st.integers(1, max_size) | st.just(60))
    entry = draw(st.sampled_from([PREDICTION, st.floats(0.01, 0.99)]))
    some = draw(st.lists(entry, min_size=1, max_size=min(n, max_size)))
    p = np.array([some[i % len(some)] for i in range(n)])
    events = draw(st.sampled_from(["any", "any", "any", "none", "all", "likely"]))
    drawn = np.array(draw(st.lists(st.integers(0, 1), min_size=min(n, max_size), max_size=min(n, max_size))))
    y = {"none": np.zeros(n, int), "all": np.ones(n, int), "likely": (p > 0.5).astype(int)}.get(events)
    return (np.resize(drawn, n) if y is None else y), p


@st.composite
def class_rows(draw, max_size=14):
    """Labels and predicted vectors: ties, exact 0 and 1, tiny parts, absent classes, one row."""
    n, classes = draw(st.integers(1, max_size) | st.just(60)), draw(st.integers(2, 4))
    part = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 1e-300, 1e-17]) | st.floats(0, 1)
    some = [[draw(part) for _ in range(classes)] for _ in range(draw(st.integers(1, min(n, 5))))]
    prob = np.array([some[i % len(some)] for i in range(n)])
    empty = prob.sum(axis=1) < 1e-3
    prob[empty] = np.eye(classes)[draw(st.integers(0, classes - 1))]
    label = draw(st.lists(st.integers(0, classes - 1), min_size=min(n, max_size), max_size=min(n, max_size)))
    return np.resize(label, n), prob / prob.sum(axis=1, keepdims=True)


@st.composite
def forms(draw, y, p):
    """The same rows in another form, the arguments that this needs, and whether numbers may be other ones."""
    several = p.ndim == 2
    form = draw(
        st.sampled_from(["array", "array", "list", "float32", "strided", "read-only", "series", "words", "object"])
    )
    if form == "list":
        return y.tolist(), p.tolist(), {}
    if form == "float32" and not several:
        return y.astype(np.int8), p.astype(np.float32), {}
    if form == "strided":
        return np.repeat(y, 2)[::2], np.repeat(p, 3, axis=0)[::3], {}
    if form == "read-only":
        y, p = y.copy(), p.copy()
        y.flags.writeable = p.flags.writeable = False
        return y, p, {}
    if form == "series":
        index = [f"r{i}" for i in range(len(y))]
        return pd.Series(y, index), (pd.DataFrame(p, index, range(p.shape[1])) if several else pd.Series(p, index)), {}
    if form == "words" and not several:
        return np.array(["no", "yes"])[y], p, {"labels": ["no", "yes"]}
    if form == "object" and not several:
        return y.astype(object), p.astype(object), {}
    return y.copy(), p.copy(), {}


@st.composite
def spoilt(draw, y, p):
    """Rows with one fault."""
    fault = draw(st.sampled_from(["nan", "inf", "low", "high", "none", "short", "empty", "text", "outcome", "shape"]))
    y, p, row = y.copy(), p.copy(), draw(st.integers(0, len(y) - 1))
    if fault in ("nan", "inf", "low", "high"):
        p[row] = {"nan": np.nan, "inf": np.inf, "low": -1e-9, "high": 1.5}[fault]
    if fault == "none":
        p = p.astype(object)
        p[row] = None
    if fault == "short":
        p = p[:-1]
    if fault == "empty":
        y, p = y[:0], p[:0]
    if fault == "text":
        p = p.astype(str)
    if fault == "outcome":
        y[row] = draw(st.sampled_from([-1, 2, 7]))
    return y, (p[None] if fault == "shape" else p)


def vector_of(n, entry):
    """A strategy of arrays of n entries of which up to 14 differ."""
    return st.lists(entry, min_size=min(n, 14), max_size=min(n, 14)).map(lambda some: np.resize(some, n))
