"""The demonstration on real models: its verdicts agree with each other, and do not hang on the split."""

import numpy as np
import pytest
from command_line import plain_text, run
from project_folder import PROJECT
from sklearn.naive_bayes import CategoricalNB

from calibstat.cli import demo


@pytest.fixture(scope="module")
def models():
    return demo.judge()


def test_naive_bayes_is_that_of_scikit_learn():
    y, x = demo.survey()
    fit = np.arange(0, y.size, 2)
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in x.T])
    peer = CategoricalNB(alpha=1, min_categories=codes.max(0) + 1).fit(codes[fit], y[fit])
    np.testing.assert_allclose(demo.naive_bayes(y, x, fit), peer.predict_proba(codes)[:, 1], rtol=1e-6)


def test_no_woman_is_in_two_parts():
    y, found = demo.predictions()
    assert y.size == 6366 - demo.N_FIT - demo.N_RECALIBRATE == 1366
    assert all(p.shape == y.shape for p in found.values())
    other, _ = demo.predictions(1)
    assert not np.array_equal(y, other)


def test_test_and_interval_agree_for_each_model(models):
    for model, calibrated in zip(models, (True, False, True), strict=True):
        assert (model.test.pvalue > 0.05) == calibrated
        assert (model.interval.low == 0) == calibrated
    assert models[1].test.deviation.claims == ("too far apart",)
    assert models[1].interval.low > max(models[0].interval.high, models[2].interval.high)


def test_naive_bayes_is_found_out_in_every_split():
    """The others are estimates too, and are rejected now and then: see how often before choosing another split."""
    for split in range(1, 4):
        bayes = demo.judge(split=split)[1]
        assert bayes.test.pvalue <= 0.001
        assert bayes.interval.low > 0


def test_the_demo_is_short_and_saves_its_pictures(tmp_path):
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reliability.png", "null.png", "intervals.png"}
    assert sum(bool(line.strip()) for line in result.stdout.splitlines()) <= 23  # with the seed
    text = plain_text(result.stdout)
    assert text.index("1,366 judge") < text.index("Naive Bayes. There is strong evidence") < text.index("A large p")


def test_the_readme_picture_is_small():
    picture = PROJECT / "docs" / "images" / "demo.png"
    assert picture.stat().st_size < 150_000
