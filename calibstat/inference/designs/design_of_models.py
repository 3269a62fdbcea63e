"""The design of several models: the only place that asks how the rows of models came about."""

from __future__ import annotations

from calibstat.data.checked_rows import Data, Models, Samples, need_models
from calibstat.data.checks import quoted
from calibstat.inference.designs.counted import Counted
from calibstat.inference.designs.folds.fold_comparison import CrossValidatedModels
from calibstat.inference.designs.judged.rectified_comparison import JudgedModels
from calibstat.inference.designs.own_outcomes import OwnOutcomes, OwnOutcomesInClusters
from calibstat.inference.designs.paired import Paired, PairedClusters
from calibstat.inference.designs.samples import SeparateSamples
from calibstat.inference.designs.several_models import SeveralModels


def design_of_models(rows: Data | Models | Samples) -> SeveralModels:
    """Return the design of two models or more on the same rows, or of samples of different rows."""
    if isinstance(rows, Samples):
        return SeparateSamples(rows)
    models = need_models(rows)
    if len(models) < 2:
        raise ValueError(f"expected two or more different names, found {quoted(models)}")
    if models.counted is not None:
        return Counted(models, models.counted)
    if models.own_outcomes:
        return OwnOutcomes(models) if models.first.cluster is None else OwnOutcomesInClusters(models)
    if models.first.judged is not None:
        return JudgedModels(models)
    if models.first.fold is not None:
        return CrossValidatedModels(models)
    return Paired(models) if models.first.cluster is None else PairedClusters(models)
