"""Families of models in one table."""

import pandas as pd
from estimate_tables import MODELS, from_file, table_of

import calibstat as cs
from calibstat.papers.parts.families import by_family, in_family


def test_families_are_told_apart_by_labels():
    measures = {"ece, l2": ("ece", {"norm": "l2"}), "ks": ("ks", {})}
    tables = [
        table_of("ranking", measures=in_family(measures, family), generators=models, n=30)
        for family, models in (("a", MODELS), ("b", {"hidden": cs.generators.hidden(), **MODELS}))
    ]
    parts = by_family(from_file(pd.concat(tables, ignore_index=True)))
    assert list(parts) == ["a", "b"]
    plain = table_of("ranking", measures=measures, n=30)
    pd.testing.assert_frame_equal(parts["a"], plain, check_dtype=False)
