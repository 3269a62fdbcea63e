"""The demonstration: its verdicts agree with each other, do not hang on the draw, and are those of the first pages."""

import re

import numpy as np
import pytest
from command_line import plain_text, run
from project_folder import PROJECT
from sklearn.naive_bayes import GaussianNB

from calibstat.cli import demo

FIRST_PAGES = ("README.md", "docs/examples/plot_classifier_to_report.py")


@pytest.fixture(scope="module")
def models():
    return demo.judge()


def test_naive_bayes_is_that_of_scikit_learn():
    y, x = demo.patients()
    fit = slice(demo.N_FIT)
    peer = GaussianNB().fit(x[fit], y[fit])
    np.testing.assert_allclose(demo.naive_bayes(y, x, fit), peer.predict_proba(x)[:, 1], rtol=1e-6)


def test_no_patient_is_in_two_parts():
    y, found = demo.predictions()
    assert y.size == demo.N_JUDGE == 20_000
    np.testing.assert_array_equal(y, demo.patients()[0][-demo.N_JUDGE :])
    assert all(p.shape == y.shape for p in found.values())
    other, _ = demo.predictions(1)
    assert not np.array_equal(y, other)


def truth(x):
    """The probability of the illness: both tests are normal, with covariance 1 and variance 2, and means 0 or 1.5."""
    return 1 / (1 + np.exp(-1.5 * (x.sum(1) - 1.5) / 3))


def test_the_outcomes_follow_the_known_truth():
    y, x = demo.patients(2)

    def errors(p):
        """Sums of residuals, plain and by the tests, in standard errors."""
        return [(y - p) @ by / np.sqrt(p * (1 - p) @ by**2) for by in (np.ones(y.size), x.sum(1) - 1.5)]

    assert np.abs(errors(truth(x))).max() < 3.5  # in less than 1 of 1000 seeds not
    assert np.abs(errors(truth(1.1 * x))).max() > 3.5


def test_test_and_interval_agree_for_each_model(models):
    before, after = models
    assert before.test.pvalue <= 0.001
    assert before.test.deviation.claims == ("too far apart",)
    assert not before.test.size.is_small
    assert after.test.pvalue > 0.05
    assert after.test.size.is_small
    assert after.interval.low == 0
    assert before.interval.low > after.interval.high
    assert not before.diagram.inside.all()
    assert after.diagram.inside.all()


def test_the_story_holds_in_every_draw():
    """A test may find a trace of an error after recalibration, but it is small, and much smaller than before."""
    for seed in range(1, 4):
        before, after = demo.judge(seed=seed)
        assert before.test.pvalue <= 0.001
        assert before.interval.low > 2 * after.interval.high
        assert after.test.size.is_small


def test_the_demo_is_short_and_saves_its_pictures(tmp_path):
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reliability.png", "null.png", "intervals.png"}
    assert sum(bool(line.strip()) for line in result.stdout.splitlines()) <= 23  # with the seed
    text = plain_text(result.stdout)
    story = "20,000 judge", "Naive Bayes. Not calibrated", "recalibrate on other rows", "error is small", "A large p"
    where = [text.index(words) for words in story]
    assert where == sorted(where)


def test_sentences_and_table_round_alike(models):
    """The estimate, the low end if it is above 0, and the high end of a sentence stand in the row of the table."""
    rows = zip(*(column.cells for column in demo.table_of_models(models).columns), strict=True)
    for model, row in zip(models, rows, strict=True):
        said = re.search(r"ECE ([\d.]+) points, (?:between ([\d.]+) and|at most) ([\d.]*\d)", model.test.answer)
        assert row[:3] == (model.name, said[1], f"{said[2] or 0} to {said[3]}")


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_the_first_pages_draw_the_patients_of_the_demo(page):
    text = (PROJECT / page).read_text(encoding="utf-8")
    lines = re.findall(r"^(?:>>> )?((?:rng|y|X) = .+)$", text, flags=re.MULTILINE)
    names = {"np": np}
    exec("\n".join(lines[:3]), names)
    y, x = demo.patients()
    np.testing.assert_array_equal(names["y"], y)
    np.testing.assert_array_equal(names["X"], x)


def test_the_first_page_says_what_the_demo_says(models):
    text = (PROJECT / FIRST_PAGES[0]).read_text(encoding="utf-8")
    assert all(f"\n{model.test.answer}\n" in text for model in models)


def test_the_readme_picture_is_small():
    picture = PROJECT / "docs" / "images" / "demo.png"
    assert picture.stat().st_size < 150_000
