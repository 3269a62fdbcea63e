"""The listings of measures and generators: every name of a registry, what it is, and the same in JSON."""

import inspect
import json
from dataclasses import dataclass

import pytest
from command_line import fails_with, plain_text, run

import calibstat as cs
from calibstat.cli.listings import Entry, listing
from calibstat.generators import generator_table

GENERATORS = cs.generators.GENERATORS


def test_measures_lists_the_registry():
    text = run("measures").stdout
    assert all(f"\n{name} " in text for name in cs.MEASURES)
    found = json.loads(run("measures", "--format", "json").stdout)
    assert {name.partition(".")[0] for name in found} == {"answer", "next_step", *cs.MEASURES}
    assert found["ece.bounds"] == [0, 1]
    assert found["ece.options.n_bins"] == 15


def test_generators_lists_the_registry():
    text = run("generators").stdout
    assert all(f"\n{name} " in text for name in GENERATORS)
    found = json.loads(run("generators", "--format", "json").stdout)
    assert {name.partition(".")[0] for name in found} == {"answer", "next_step", *GENERATORS}
    for name, generator in GENERATORS.items():
        assert found[f"{name}.title"] == inspect.getdoc(generator).partition("\n")[0]
        for method in found[f"{name}.truths"]:
            assert hasattr(generator, method)
    assert found["temperature.needs"] == ["beta"]
    assert found["temperature.options.distribution"] == "uniform"


def test_generators_say_of_how_many_outcomes_they_are_and_what_is_known():
    found = json.loads(run("generators", "--format", "json").stdout)
    assert found["temperature.kind"] == "binary"
    assert found["temperature.truths"] == ["truth", "curve", "distance"]
    assert found["dirichlet.kind"] == "several classes"
    assert found["dirichlet.truths"] == ["truth", "conditional"]
    assert found["stream.truths"] == ["generator"]
    binary, classes = run("generators").stdout.partition("Several classes")[::2]
    for name, generator in GENERATORS.items():
        assert (f"\n{name} " in binary) == issubclass(generator, cs.generators.Generator)
        if issubclass(generator, cs.generators.MulticlassGenerator):
            assert f"\n{name} " in classes


def test_a_new_generator_is_listed_without_another_line(monkeypatch):
    @dataclass(frozen=True)
    class coin(cs.generators.Generator):
        """Tosses of one coin."""

        side: str
        edge: float = 0.25

    monkeypatch.setitem(generator_table._REGISTERED, "coin", coin)
    text = plain_text(run("generators").stdout.partition("Several classes")[0])
    assert "coin Tosses of one coin. truth side curve edge=0.25 distance" in text


def test_a_listing_has_a_row_for_each_section_and_entry_and_its_notes():
    entries = {"All": {"a": Entry("A thing.", {"b": 1}, ("k",), {"size": 2})}}
    found = listing("Thing", ("Kind",), entries, "A note.", next_step="Go on.")
    assert found.next_step == "Go on."
    assert found.results == {"a": {"title": "A thing.", "size": 2, "options": {"b": 1}}}
    assert found.said[1] == "A note."
    assert found.said[0].row_count == 2


@pytest.mark.parametrize("command", ["measures", "generators"])
def test_another_format_is_refused(command):
    fails_with(run(command, "--format", "xml"), "expected --format json", "found xml")
