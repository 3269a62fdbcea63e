"""The same rows as frames of every engine that is installed; Dask's run on threads."""

import importlib
import warnings

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
