"""Tables of studies: what they allow, and how they are written."""

import numpy as np
import pandas as pd
from asked_questions import SHIFTED
from scipy import stats

import calibstat as cs


def test_most_rejections_is_the_exact_limit():
    k = cs.study.most_rejections(0.05, 400, 1e-3)
    assert stats.binom.sf(k, 400, 0.05) <= 1e-3 < stats.binom.sf(k - 1, 400, 0.05)


def test_a_table_is_written_under_a_line_of_facts(tmp_path):
    table = cs.study.run(
        "power", SHIFTED, 20, ["ece", "ks"], methods=["labels", "both"], replicates=3, seed=5, n_resamples=19
    )
    path = tmp_path / "results" / "size.csv"
    cs.study.write_table(table, path, command="calibstat study size", seed=5)
    assert path.read_text().splitlines()[0] == "# command: calibstat study size; seed: 5"
    pd.testing.assert_frame_equal(pd.read_csv(path, comment="#"), table, rtol=1e-5, check_dtype=False)


def test_numbers_have_six_digits_and_no_quotes(tmp_path):
    table = pd.DataFrame({"name": ["a", "b"], "rate": [1 / 3, np.nan], "of": [0.0, 1e-5], "n": [20, 1_000_000]})
    cs.study.write_table(table, tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()[1:]
    assert lines == [
        '"name","rate","of","n"',
        '"a",0.333333,0,20',
        '"b","",1e-05,1000000',
    ]
