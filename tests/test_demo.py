"""The demonstration on a real model."""

from pathlib import Path

import numpy as np
from command_line import plain_text, run

from calibstat.cli import demo


def test_demo_splits_as_it_says():
    y, p = demo.held_out()
    assert y.size == 10_190
    assert np.unique(p).size == 2_514
    sharper = demo.over_confident(p)
    assert np.allclose(np.log(sharper / (1 - sharper)), np.log(p / (1 - p)) / demo.SHARPENING)


def test_demo_finds_the_over_confident_model(tmp_path):
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reliability.png", "null.png", "intervals.png"}
    text = plain_text(result.stdout)
    assert "10,190" in text
    assert "lies entirely above" in text


def test_the_readme_picture_is_small():
    picture = Path(__file__).parent.parent / "docs" / "images" / "demo.png"
    assert picture.stat().st_size < 150_000
