"""Grids that several studies share: all measures, with their numbers of bins, of small grids too."""

import pytest
from simulation_files import STUDIES

import calibstat as cs
from calibstat.measures.kinds.registry import everyday_measures
from calibstat.papers import bias, consistency, ranking
from calibstat.papers.parts.grid import binned


@pytest.mark.parametrize("study", [bias.study, consistency.study, ranking.study], ids=lambda study: study.question)
def test_every_registered_measure_is_studied(study):
    for grid in study.grids(False):
        names = {name for name, _ in grid["measures"].values()}
        assert names == set(everyday_measures())


def test_binned_measures_come_with_each_number_of_bins():
    chosen = binned({"ece": ("ece", {"norm": "l2"}), "ks": ("ks", {})}, [5, 50])
    assert chosen == {
        "ece, 5 bins": ("ece", {"norm": "l2", "n_bins": 5}),
        "ece, 50 bins": ("ece", {"norm": "l2", "n_bins": 50}),
    }


@pytest.mark.parametrize("name", ["bias", "bins", "consistency", "mixture", "ranking"])
def test_grids_can_be_asked(name):
    study = STUDIES[name]
    full, quick = study.grids(False), study.grids(True)
    some = {name: dict(list(full[0][name].items())[:few]) for name, few in (("generators", 2), ("measures", 6))}
    found = cs.study.run(**{**full[0], **some, "n": [20, 30, 40], "replicates": 2}, seed=study.seed)
    assert set(found["question"]) == {full[0]["question"]}
    assert len(full) == len(quick)
    for large, small in zip(full, quick, strict=True):
        assert large["replicates"] >= 400 > 4 * small["replicates"]
        assert small.keys() == large.keys()
        assert set(small["generators"]) <= set(large["generators"])
        assert set(small["measures"]) <= set(large["measures"])
        assert max(small["n"]) <= max(large["n"])
