"""What --lens means, and which measures go with which lens."""

from dataclasses import replace

import numpy as np
import pytest
from command_line import COLUMNS, PATTERN, fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.lens_syntax import read_lens
from calibstat.data import lenses
from calibstat.measures.kinds.registry import multiclass_measures


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            ["--lens", "top"],
            (
                "top_label, class_wise, class_wise_mean, class_wise_max, canonical, one_class:NAME, top_k:2 or groups",
                "'top'",
            ),
        ),
        (["--lens", "one_class:cow"], ("(cat, dog, hen)", "from 0 to 2", "'cow'")),
        (["--lens", "top_k:two"], ("top_k:2", "'top_k:two'")),
        (["--lens", "top_k:²"], ("top_k:2", "'top_k:²'")),
        (["--lens", "top_k:3", "--measure", "gce"], ("more than 3 classes",)),
        (["--lens", "groups:cat+dog"], ("class hen in none",)),
        (["--lens", "groups:cat+dog,dog+hen"], ("class dog in 2",)),
        (["--lens", "groups:cat+dog+hen"], ("two or more groups",)),
        (
            ["--lens", "canonical", "--measure", "ece"],
            ("'ece', which is a binary measure", "canonical", "canonical_ce"),
        ),
        (["--lens", "class_wise", "--measure", "gce"], ("'gce', which is a multiclass measure", "class_wise")),
        (["--reduce", "mean"], ("expected --lens class_wise_mean, found --reduce mean, which is gone",)),
        (["--lens", "class_wise", "--reduce", "max"], ("expected --lens class_wise_max, found --reduce max",)),
        (["--reduce", "sum"], ("expected --lens class_wise_mean or --lens class_wise_max, found --reduce sum",)),
    ],
)
def test_wrong_lens(zoo, options, parts):
    fails_with(run("test", zoo, *PATTERN, *options), *parts)


def test_one_column_has_no_lens(csv):
    fails_with(run("test", csv, *COLUMNS, "--lens", "top_label"), "several columns", "top_label", "found one")
    fails_with(run("test", csv, *COLUMNS, "--measure", "gce"), "several columns", "'gce'", "found one")


@pytest.mark.parametrize(
    ("text", "lens"),
    [
        ("one_class:dog", cs.lenses.one_class(1)),
        ("one_class:2", cs.lenses.one_class(2)),
        ("top_k:1", cs.lenses.top_k(1)),
        ("groups:cat+hen,1", cs.lenses.groups([[0, 2], [1]])),
        ("canonical", cs.LENSES["canonical"]),
        ("top_label", cs.LENSES["top_label"]),
    ],
)
def test_lens_from_text(predictions, text, lens):
    found = read_lens(text, predictions.names)
    for a, b in zip(found.rows(predictions), lens.rows(predictions), strict=True):
        assert np.array_equal(a, b)


def test_names_win_over_numbers_in_a_lens():
    predictions = cs.Predictions.from_rows([0, 1, 2], np.eye(3), labels=None)
    outcomes, _ = read_lens("one_class:2", ["1", "10", "2"]).rows(predictions)
    assert outcomes.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"names of classes \(1, 10, 2\) in --lens, found '0'"):
        read_lens("one_class:0", ["1", "10", "2"])


def test_a_lens_speaks_of_classes_by_name():
    assert "class hen is observed" in read_lens("one_class:hen", ["cat", "dog", "hen"]).hypothesis.outcome[1]
    assert str(read_lens("groups:0+2,dog", ["cat", "dog", "hen"])) == "groups:cat+hen,dog"


def test_measures_of_whole_vectors_are_told_apart():
    text = plain_text(run("measures").stdout)
    before, after = text.split("Multiclass measures", 1)
    names = {name for name, entry in cs.MEASURES.items() if issubclass(entry, cs.measures.MulticlassMeasure)}
    assert all(f" {name} " in after and f" {name} " not in before for name in names)
    assert {"brier", "log_loss", "gce", "canonical_ce", "skce"} <= set(multiclass_measures())


def test_a_lens_is_added_in_one_place(monkeypatch):
    """A family in `calibstat.data.lenses` is read, listed and sorted by what it shows without another line."""

    def read(argument, names, number):
        return replace(lenses.one_class(number(argument)), name=f"just:{argument}")

    family = lenses.LensFamily("NAME", read, False)
    monkeypatch.setattr(lenses, "LENS_FAMILIES", {**lenses.LENS_FAMILIES, "just": family})
    predictions = cs.Predictions.from_rows([0, 1, 2], np.eye(3), labels=None)
    assert str(read_lens("just:1", [str(name) for name in predictions.names])) == "just:1"
    assert "groups:NAME+NAME,NAME" in lenses.spellings(shows_classes=True)
    assert "just:NAME" in lenses.spellings(shows_classes=False)
    with pytest.raises(ValueError, match=r"groups:NAME\+NAME,NAME or just:NAME; found 'other:1'"):
        read_lens("other:1", ["a", "b"])
    with pytest.raises(ValueError, match=r"made by calibstat\.lenses .*, just"):
        lenses.find_lens("other")


def test_lenses_are_sorted_by_what_they_show():
    assert lenses.spellings() == [
        "top_label", "class_wise", "class_wise_mean", "class_wise_max", "canonical",
        "one_class:NAME", "top_k:2", "groups:NAME+NAME,NAME",
    ]  # fmt: skip
    assert lenses.spellings(shows_classes=True) == ["canonical", "top_k:2", "groups:NAME+NAME,NAME"]
    assert lenses.spellings(shows_classes=False) == [
        "top_label", "class_wise", "class_wise_mean", "class_wise_max", "one_class:NAME"
    ]  # fmt: skip
