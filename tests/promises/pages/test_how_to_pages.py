"""How-to pages hold steps: proofs and the tables of studies are on the pages behind them."""

import re

import pytest
from project_folder import PROJECT

HOW_TO = re.findall(r"(?m)^[a-z-]+$", (PROJECT / "docs" / "how-to.md").read_text(encoding="utf-8"))
NOT_A_STEP = re.compile(r"∎|\*\*(?:Lemma|Theorem|Proof)\b|^<!-- \w+ -->$|SHA-256", flags=re.MULTILINE)


@pytest.mark.parametrize("name", HOW_TO)
def test_how_to_pages_hold_steps(name):
    assert NOT_A_STEP.findall((PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8")) == []
    assert len(HOW_TO) >= 20


def test_a_proof_and_a_table_of_a_study_are_found():
    found = NOT_A_STEP.findall("**Lemma.** *So it is.* ∎\n\n<!-- equivalence -->\n")
    assert found == ["**Lemma", "∎", "<!-- equivalence -->"]
