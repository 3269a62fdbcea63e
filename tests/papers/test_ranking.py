"""The study of ranking: its families, and a picture of each."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from estimate_tables import MODELS, table_of
from simulation_files import study_file

from calibstat.papers import ranking

bins = study_file("bins")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("families", [ranking.families(), bins.families()])
def test_families_have_models_of_many_different_truths(families):
    for models in families.values():
        assert len(models) >= 10
        assert len({round(model.truth("ece"), 6) for model in models.values()}) == len(models)


def test_every_family_has_its_picture():
    tables = [
        table_of("ranking", measures=ranking.in_family({"ks": ("ks", {})}, family), generators=MODELS, n=30)
        for family in ("a", "b")
    ]
    assert set(ranking.figures(pd.concat(tables))) == {"a", "b"}
