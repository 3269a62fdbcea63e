"""The columns of a file that say how its rows came about, and the rows with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.cli.options import ClusterColumn, FoldsColumn, UnseenClusters, WeightColumn
from calibstat.cli.reading import Reading

if TYPE_CHECKING:
    import numpy as np

    from calibstat.data.checked_rows import Data, Models
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample


@dataclass(frozen=True)
class RowColumns:
    """The columns of a file that say how its rows came about.

    Attributes
    ----------
    cluster, folds, weight : str or None
        The column of the cluster, of the fold and of the weight of each row.
    unseen : str or None
        What is supposed of clusters that are absent, a word of `Clusters`.
    """

    cluster: ClusterColumn = None
    folds: FoldsColumn = None
    weight: WeightColumn = None
    unseen: UnseenClusters = field(default=None, metadata={"needs": "level"})

    def __bool__(self) -> bool:
        return self != RowColumns()

    def words(self, file: Path) -> dict[str, Any]:
        """Read the columns, as the words about rows of `Data`."""
        from calibstat.cli.input_files import as_numbers, read_column
        from calibstat.data.clusters import Clusters

        columns = {"cluster": self.cluster, "folds": self.folds}
        words: dict[str, Any] = {
            name: read_column(file, at).to_numpy() for name, at in columns.items() if at is not None
        }
        if self.unseen is not None:
            if self.cluster is None:
                raise ValueError(f"expected --cluster beside --unseen, found --unseen {self.unseen} alone")
            words["cluster"] = Clusters(words["cluster"], unseen=self.unseen)
        if self.weight is not None:
            words["sample_weight"] = as_numbers(read_column(file, self.weight), self.weight)
        return words


AS_THEY_ARE = RowColumns()


def read_with_columns(
    file: Path, label: str, prob: Sequence[str], reading: Reading, columns: RowColumns
) -> tuple[Sample | Predictions, Data, str]:
    """Return the data, the rows for any number of questions, and how outcomes were understood.

    Rows of which columns say more are kept; others are summarised.
    """
    from calibstat.cli.input_files import read_data, read_rows
    from calibstat.data.checked_rows import Data
    from calibstat.data.predictions import Predictions
    from calibstat.data.sample import Sample

    if not columns:
        data, how = read_data(file, label, prob, reading)
        return data, Data(data), how
    rows, how = read_rows(file, label, prob, reading)
    words = columns.words(file)
    if isinstance(rows, Predictions):
        return rows, Data(rows, **words), how + in_words(words)
    return Sample.from_rows(*rows), Data(*rows, **words), how + in_words(words)


def read_models_with_columns(
    file: Path, label: str | Sequence[str], prob: Sequence[str], reading: Reading, columns: RowColumns = AS_THEY_ARE
) -> tuple[Models, str]:
    """Return models on the same rows, and how outcomes were understood and rows came about.

    Several labels are the columns of outcomes of each model, in the order of `prob`.
    """
    from calibstat.cli.input_files import read_models
    from calibstat.data.checked_rows import Models

    labels, how = [label] if isinstance(label, str) else label, ""
    y: Any
    if len(labels) == 1:
        y, models, how = read_models(file, labels[0], prob, reading)
    else:
        y, models = _read_own_outcomes(file, labels, prob, reading)
    words = columns.words(file)
    return Models(y, models, **words), how + in_words(words)


def _read_own_outcomes(
    file: Path, labels: Sequence[str], prob: Sequence[str], reading: Reading
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Read a column of outcomes and one of predictions for each model."""
    from calibstat.cli.input_files import read_rows
    from calibstat.data.predictions import Predictions

    if len(labels) != len(prob):
        raise ValueError(
            f"expected one --label, or one for each --prob, found {len(labels)} beside {len(prob)}; the outcomes of a "
            "model stand at the place of its predictions"
        )
    outcomes, models = {}, {}
    for label, entry in zip(labels, prob, strict=True):
        rows, _ = read_rows(file, label, [entry], reading)
        if isinstance(rows, Predictions):
            raise ValueError(f"expected one column for each --prob beside several --label, found {entry!r} for classes")
        if entry in models:
            raise ValueError(f"expected models of different names, found {entry!r} twice for --prob")
        outcomes[entry], models[entry] = rows
    return outcomes, models


def in_words(words: dict[str, Any]) -> str:
    """Say in a sentence how many clusters or folds rows are in, of words about rows; "" without both."""
    if not words.keys() & {"folds", "cluster"}:
        return ""
    import numpy as np
    import pandas as pd

    from calibstat.data.clusters import Clusters, clusters_in_words
    from calibstat.data.folds_of_rows import folds_in_words

    if "folds" in words:
        return f" Rows were predicted out of {folds_in_words(pd.factorize(words['folds'])[0], 1)}."
    given = words["cluster"]
    unit = pd.factorize(np.asarray(given.labels if isinstance(given, Clusters) else given))[0]
    return f" Rows are in {clusters_in_words(unit, words.get('sample_weight'))}."
