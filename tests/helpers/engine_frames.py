"""The same rows as frames of every engine that is installed; Dask's run on threads."""

import importlib
import warnings

import numpy as np
import pandas as pd

from calibstat.data.engines.cell_table import TABLE_CELLS

ENGINES = ["pandas", "polars", "polars lazy", "pyarrow", "duckdb"]  # and Dask, which takes seconds for a query


def frame_of(engine, data):
    """A frame of an engine with the columns of a frame of pandas; raise ImportError if it is not installed."""
    package = engine.partition(" ")[0]
    module = importlib.import_module("dask.dataframe" if package == "dask" else package)
    if package == "pandas":
        return data
    if package == "pyarrow":
        return module.Table.from_pandas(data)
    if package == "duckdb":
        return module.connect().from_df(data)
    if package == "dask":
        return module.from_pandas(data, npartitions=min(3, len(data)))
    frame = module.from_pandas(data)
    return frame.lazy() if engine.endswith("lazy") else frame


def quiet_about_dask():
    """Leave out narwhals' warning that its support of Dask moves to a package of its own."""
    warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)


def rows_of_every_kind(size=3000):
    """Predictions of every kind: on edges of cells, next to them, exact 0 and 1, tiny, tied and spread."""
    rng = np.random.default_rng(3)
    edges = rng.integers(0, TABLE_CELLS + 1, size // 3) / TABLE_CELLS
    near = np.nextafter(edges, rng.choice([0.0, 1.0], edges.size))
    p = np.concatenate([edges, near, [0, 1, 1e-300, 1e-20, 3e-7], rng.beta(1, 3, size - 2 * edges.size - 5)])
    tied = size * 3 // 10
    p[-tied:] = p[-tied:].round(2) + rng.integers(0, 3, tied) * 2.0**-30  # several in one cell
    p = p.clip(0, 1)
    return pd.DataFrame(
        {
            "y": rng.random(p.size) < p,
            "p": p,
            "site": rng.choice(["a", "b", "c"], p.size),
            "w": rng.integers(0, 4, p.size),
        }
    )
