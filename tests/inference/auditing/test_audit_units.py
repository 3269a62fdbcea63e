"""An audit says why it takes neither clusters nor weights, and so does its page."""

from pathlib import Path

import numpy as np
import pytest

import calibstat as cs

Y, P = cs.generators.calibrated().sample(60, rng=1)
GROUPS = {"high": P > 0.5}
WHY = "it draws the label of each row independently, and its limits are for counts of rows, not for sums of weights"


@pytest.mark.parametrize(
    ("name", "given"), [("cluster", np.arange(60) // 2), ("sample_weight", np.arange(60) % 3 + 0.5)]
)
def test_units_are_refused_with_the_reason(name, given):
    with pytest.raises(ValueError, match=f"without {name}= for audit, because {WHY}; found one"):
        cs.audit(Y, P, GROUPS, **{name: given})
    for rows in (cs.Data(Y, P, **{name: given}), cs.Models(Y, {"a": P}, **{name: given})):
        with pytest.raises(ValueError, match=f"without {name}= for audit, because {WHY}; found one"):
            cs.audit(rows, groups=GROUPS)


def test_the_page_says_so():
    page = (Path(__file__).parents[3] / "docs" / "groups.md").read_text(encoding="utf-8")
    assert f"because {WHY}" in " ".join(page.split())
