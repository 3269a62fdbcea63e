"""The study of ranking: its families, and a picture of each."""

import matplotlib.pyplot as plt
import pytest
from estimate_tables import FAMILY, table_of
from simulation_files import study_file

from calibstat.papers import ranking

bins = study_file("bins")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("families", [ranking.families(), bins.families()])
def test_families_have_models_of_many_different_truths(families):
    for family in families.values():
        assert len(family.models) >= 10
        assert len({round(model.truth("ece"), 6) for model in family.models.values()}) == len(family.models)


def test_rankings_are_drawn_by_family():
    table = table_of("ranking", generators={"a": FAMILY["steps"], "b": FAMILY["steps"]}, n=30)
    assert set(ranking.figures(table)) == {"a", "b"}
