"""The pages of the study of the choices behind a calibration error, from a table that is written down here."""

import numpy as np
import pandas as pd
import pytest

from calibstat.papers.parts import error_choice_pages
from calibstat.papers.parts.agreement import PROPERTIES
from calibstat.papers.parts.splits import EVERY

pytestmark = pytest.mark.usefixtures("closed_figures")


def made(files):
    """A table of one or several files, every mean .25 but of claims."""
    rows = []
    for name in PROPERTIES:
        rows.append({"question": "bins", "measure": name, "against": "other bins", "way": "ties split"})
        rows.append({"question": "fitted temperature", "measure": name, "against": "ECE", "way": "local"})
    rows.append({"question": "fitted temperature", "measure": "all", "against": "errors with a larger log loss",
                 "way": "local", "mean": 3.0})  # fmt: skip
    rows.append({"question": "histogram", "model": "histogram", "measure": "ECE", "way": "observed"})
    rows += [{"question": "claim", "measure": f"a − {mean}", "against": "other bins", "way": "ties split", "mean": mean}
             for mean in (0.5, -0.5, 0.01)]  # fmt: skip
    rows += [{"question": "each error", "measure": str(k), "against": "temperature", "way": "local", "mean": 1.5}
             for k in range(32)]  # fmt: skip
    rows += [{"question": "each class", "measure": "ACE", "way": way, "at": k}
             for way in ("observed", "if calibrated") for k in range(3)]  # fmt: skip
    defaults = {"classes": 3, "model": "", "against": "", "reason": "", "mean": 0.25, "sd": 0.1, "at": np.nan,
                "splits": 4, "above": 3.0, "files": 1}  # fmt: skip
    parts = [pd.DataFrame([{**defaults, **row, "file": name} for row in rows]) for name in files]
    if len(files) > 1:
        means = parts[0][~parts[0]["question"].str.startswith("each")]
        parts.append(means.assign(file=EVERY, files=len(files)))
    return pd.concat(parts, ignore_index=True)


def test_one_file_has_no_standard_errors():
    table = made(["net"])
    text = error_choice_pages.pages(table, {})[".md"]
    assert "One file: splits share its rows, so that no standard error is given." in text
    assert "| L1 | 0.25 |" in text
    assert "Of the 32 errors 3.0 by a local search have their minimum where" in text
    assert "| other bins | ties split | a − 0.5 | 0.500 | above 0 in 3 of 4 splits |" in text
    assert "±" not in text


def test_several_files_have_standard_errors_and_verdicts():
    text = error_choice_pages.pages(made(["a", "b", "c", "d"]), {})[".md"]
    assert "Means over 4 files, ± their standard errors." in text
    assert "| L1 | 0.25 ± 0.05 |" in text
    assert "| histogram | 25.00 ± 5.00 |" in text
    for claim, verdict in (("a − 0.5", "found"), ("a − -0.5", "reversed"), ("a − 0.01", "not settled")):
        (line,) = [each for each in text.splitlines() if f"| {claim} |" in each]
        assert line.endswith(f"| {verdict} |")


def test_a_difference_that_is_not_a_number_is_undefined():
    assert error_choice_pages.judged({"mean": np.nan, "file": "a"}, 3) == "undefined"


def test_pictures_show_the_table():
    table = made(["a", "b"])
    figures = error_choice_pages.draw(table)
    assert set(figures) == set(error_choice_pages.CAPTIONS)
    (axes,) = figures["temperatures"].axes
    assert list(axes.lines[0].get_ydata()) == [1.5] * 64
    assert error_choice_pages.draw(table.assign(classes=0)) == {}
    page = error_choice_pages.pages(table, figures)[".html"]
    assert page.count("<svg") == 3
