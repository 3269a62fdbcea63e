"""Fields and grids of a study that are wrong, and how they are refused."""

import dataclasses

import pytest
from tiny_study import GRID, TINY


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"question": None}, "expected a question in words, found None"),
        ({"seed": 1.0}, "expected seed to be a whole number of at least 0, found 1.0"),
        ({"grids": [GRID]}, "expected grids to be a function, found"),
        ({"figures": None}, "expected figures to be a function, found None"),
        ({"pages": None}, "expected pages to be a function, found None"),
        ({"table": 1}, "expected table to be a function, found 1"),
        ({"violations": 1}, "expected violations to be a function, found 1"),
    ],
)
def test_a_wrong_field_of_a_study_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TINY, **fields)


@pytest.mark.parametrize(
    ("grids", "message"),
    [
        (lambda quick: GRID, r"expected a list of grids from grids\(quick=True\), found {"),
        (lambda quick: [], "expected a grid or a table of study 'tiny', found neither"),
        (lambda quick: [GRID], "arguments of calibstat.study.run in grid 0, found missing .* argument: 'replicates'"),
        (lambda quick: [{**GRID, "replicates": 1, "measure": 1}], "found an unexpected keyword argument 'measure'"),
        (lambda quick: [{**GRID, "replicates": 1, "seed": 1}], "found multiple values for keyword argument 'seed'"),
    ],
)
def test_wrong_grids_are_refused(grids, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TINY, grids=grids).run(tmp_path, quick=True)
    assert not list(tmp_path.iterdir())
