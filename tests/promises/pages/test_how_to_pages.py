"""How-to pages hold steps: proofs and the tables of studies are on the pages behind them."""

import re

import pytest
from project_folder import PROJECT

HOW_TO = [*(PROJECT / "docs" / "guide").glob("*.md"), *(PROJECT / "docs" / "more").glob("*.md")]
NOT_A_STEP = re.compile(r"∎|\*\*(?:Lemma|Theorem|Proof)\b|^<!-- \w+ -->$|SHA-256", flags=re.MULTILINE)


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_how_to_pages_hold_steps(page):
    assert NOT_A_STEP.findall(page.read_text(encoding="utf-8")) == []
    assert len(HOW_TO) >= 20


def test_a_proof_and_a_table_of_a_study_are_found():
    found = NOT_A_STEP.findall("**Lemma.** *So it is.* ∎\n\n<!-- equivalence -->\n")
    assert found == ["**Lemma", "∎", "<!-- equivalence -->"]
