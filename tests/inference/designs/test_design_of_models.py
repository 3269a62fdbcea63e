"""The design of several models: one for each way in which their rows came about."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.checked_rows import Samples
from calibstat.inference.designs.counted import Counted
from calibstat.inference.designs.design_of_models import design_of_models
from calibstat.inference.designs.folds.fold_comparison import CrossValidatedModels
from calibstat.inference.designs.judged.rectified_comparison import JudgedModels
from calibstat.inference.designs.paired import Paired, PairedClusters
from calibstat.inference.designs.samples import SeparateSamples

Y, P = cs.generators.temperature(2).sample(240, rng=1)
TWO = {"a": P, "b": P**2}
FEW = np.where(np.arange(240) % 3, np.nan, Y)
ROWS = {
    Paired: lambda: cs.Models(Y, TWO),
    PairedClusters: lambda: cs.Models(Y, TWO, cluster=np.arange(240) // 4),
    CrossValidatedModels: lambda: cs.Models(Y, TWO, folds=np.arange(240) % 4),
    JudgedModels: lambda: cs.Models(FEW, TWO, judge=cs.Judge(0.8 * Y + 0.1)),
    Counted: lambda: cs.Models.from_counts([0, 1, 1], {"a": [0.2, 0.2, 0.9], "b": [0.4, 0.4, 0.4]}, [70, 20, 10]),
    SeparateSamples: lambda: Samples({"here": (Y[:90], P[:90]), "there": (Y[90:], P[90:])}),
}


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_each_kind_of_rows_has_its_design(kind):
    assert type(design_of_models(ROWS[kind]())) is kind


def test_weights_are_of_the_plain_design_and_folds_may_be_in_clusters():
    assert type(design_of_models(cs.Models(Y, TWO, sample_weight=P + 0.1))) is Paired
    both = cs.Models(Y, TWO, folds=np.arange(240) // 4 % 4, cluster=np.arange(240) // 4)
    assert type(design_of_models(both)) is CrossValidatedModels


def test_one_model_is_refused():
    with pytest.raises(ValueError, match=r"expected y_prob, a mapping .* found those of one model"):
        design_of_models(cs.Data(Y, P))
    with pytest.raises(ValueError, match="expected two or more different names, found 'a'"):
        design_of_models(cs.Models(Y, {"a": P}))
