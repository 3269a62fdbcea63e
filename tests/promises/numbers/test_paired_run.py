"""The comparison of two checkouts by `benchmarks/paired_run.py` finds what differs, were it by the last bit."""

import json
import subprocess
from collections import UserDict
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

import numpy as np
import pytest
from paired import (
    answer,
    calls,
    check_enough,
    combinations,
    difference,
    differences,
    entries,
    exact,
    main,
    new_fields,
    other_words,
    read_line,
    recorded,
    register,
    run,
)
from project_folder import PROJECT

import calibstat as cs
from calibstat.bounds.absolute_norms import AbsoluteSumInterval
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments, Sums
from calibstat.bounds.residual_tables import SummaryTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.inference import honest_ends, p_values

MORE = 1 + 1e-15
ASKED = [
    *product(
        ("test", "honest", "honest .5", "compare"),
        ("ks", "ece", "kernel_ce", "brier"),
        ("tied", "lucky", "rare"),
        ("plain", "weights", "clusters", "both"),
    ),
    *product(("honest", "honest .5"), ("ks", "ece"), ("over-confident class_wise mean",), ("plain",)),
    *product(("honest", "honest .5"), ("ks", "ece"), ("lucky class_wise max",), ("plain",)),
    *product(
        ("honest", "honest .5"), ("canonical_ce distance=l1 min_size=20",), ("over-confident canonical",), ("plain",)
    ),
]


def whole(function):
    """A function whose result is larger by 1e-15 of it."""
    return lambda *given, **options: function(*given, **options) * MORE


def part(k):
    """A method whose sums have one number that is larger by 1e-15 of it."""

    def changed(function):
        def call(*given, **options):
            found = list(function(*given, **options))
            found[k] = found[k] * MORE
            return Sums(*found)

        return call

    return changed


def argument(method):
    """A method that gets its argument larger by 1e-15 of it."""
    return lambda self, theta: method(self, theta * MORE)


FAULTS = {  # what is changed by 1e-15: its owner, its name, and how
    "norm": (cs.MEASURES["ks"], "norm", whole),
    "witness": (cs.MEASURES["kernel_ce"], "witness", whole),
    "variance": (SeparableMoments, "of", part(1)),
    "third moment": (SeparableMoments, "of", part(2)),
    "score bound": (TailBound, "reach", whole),
    "norm of resamples": (SummaryTable, "moved", whole),
    "theta of draws": (AbsoluteSumInterval, "directional", argument),
    "median if calibrated": (honest_ends, "quantiles", whole),
    "p-value": (p_values, "p_value", whole),
    "mean of a loss": (cs.MEASURES["brier"], "evaluate", whole),
    "bound of classes": (JointMoments, "absolute_sum_bound", whole),
}


@pytest.fixture(scope="module")
def some():
    every = combinations()
    return {name: every[name] for name in (" | ".join(words) for words in ASKED)}


@pytest.fixture(scope="module")
def found(some):
    return {name: recorded(call) for name, call in some.items()}


def again(asked):
    return {name: recorded(call) for name, call in asked.items()}


def test_the_same_code_gives_the_same_numbers(some, found):
    assert differences(found, again(some)) == []
    check_enough(found, len(ASKED) * 3 // 4)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_change_of_1e_15_is_found(fault, some, found, monkeypatch):
    owner, name, changed = FAULTS[fault]
    monkeypatch.setattr(owner, name, changed(getattr(owner, name)))
    assert any(differences({name: found[name]}, {name: recorded(call)}) for name, call in some.items())


# --- results as text --------------------------------------------------------------------------------------------------


@dataclass
class Inner:
    low: float
    text: str = "a\tb"


@dataclass
class Outer:
    inner: Inner
    counts: np.ndarray
    by_name: dict = field(default_factory=dict)
    _kept: int = 3


def test_every_number_has_a_way_to_it():
    outer = Outer(Inner(-0.0), np.array([[1, 2], [3, 4]]), {"a": np.float32(0.5), "b": [None, True]})
    expected = {".inner.low": -0.0, ".inner.text": "a\tb", ".counts[0][0]": 1, ".counts[0][1]": 2, ".counts[1][0]": 3}
    expected |= {".counts[1][1]": 4, ".by_name[a]": 0.5, ".by_name[b][0]": None, ".by_name[b][1]": True}
    expected |= {":class": "Outer", ".inner:class": "Inner"}
    assert dict(entries(outer)) == expected
    assert dict(entries([{1, 2}, np.nan])).keys() == {"[0]", "[1]"}


def test_nothing_is_an_entry_too():
    assert dict(entries({"a": np.array([]), "b": (), "c": {}})).keys() == {"[a]", "[b]", "[c]"}


def test_all_mappings_are_alike():
    inner = {"a": Inner(1.0)}
    assert dict(entries(inner)) == dict(entries(MappingProxyType(inner))) == dict(entries(UserDict(inner)))


def test_different_entries_are_written_differently():
    written = [exact(entry) for entry in (0.0, -0.0, 0, False, None, "0", "null", float("nan"), 1e-320, 1.0, 1)]
    assert len(set(written)) == len(written)
    assert float.fromhex(exact(0.1 * MORE)) == 0.1 * MORE


def test_a_line_is_read_as_it_was_written():
    found = {".low": exact(0.1), ".note": exact('two\nlines\u2028, "quoted"\tand = signs'), "": exact(None)}
    text = f"a | b = c\t{json.dumps(found)}"
    assert len(text.splitlines()) == 1
    assert read_line(text) == ("a | b = c", found)


class OwnError(ValueError):
    pass


@pytest.mark.parametrize("error", [ValueError, OwnError, NotImplementedError, TypeError])
def test_of_an_error_the_built_in_type_and_the_words_are_kept(error):
    def call():
        raise error("some words")

    kind = "ValueError" if error is OwnError else error.__name__
    assert answer(call) == {"refused": kind, "refused:words": "some words"}


# --- differences ------------------------------------------------------------------------------------------------------


def test_differences_are_named():
    old = {"a": {".low": exact(0.5), ".n": "3"}, "b": {".x": "1"}, "c": {"refused": '"ValueError"'}, "d": {}}
    assert differences(old, old) == []
    new = {"a": {".low": exact(0.5 * MORE), ".n": "4"}, "b": {".x": "1", ".y": "2"}, "c": {".x": "1"}, "e": {}}
    assert differences(old, new) == [
        "a: .low 0x1.0000000000000p-1 (0.5) is now 0x1.0000000000005p-1 (0.5); and 1 more",
        "b: only in the new checkout: .y",
        "c: only in the old checkout: refused; only in the new checkout: .x",
        "d: only in the old checkout",
        "e: only in the new checkout",
    ]
    assert difference({"refused": '"ValueError"'}, {"refused": '"TypeError"'}) == (
        'refused "ValueError" is now "TypeError"'
    )


def result(**changed):
    """What is recorded of a result, with some entries changed or, if None, left out."""
    found = {
        ":class": '"Interval"',
        ".low": exact(0.25),
        ".draws[0]": exact(0.5),
        ".n_clusters": "4",
        ".none": exact("<nothing>"),
    }
    found |= {f".{name}": entry for name, entry in changed.items()}
    return {path: entry for path, entry in found.items() if entry is not None}


def refused(kind="ValueError", words="expected a, found b"):
    return {"refused": exact(kind), "refused:words": exact(words)}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            result(low=exact(np.nextafter(0.25, 1))),
            ".low 0x1.0000000000000p-2 (0.25) is now 0x1.0000000000001p-2 (0.25)",
        ),
        (result(n_clusters=exact(4.0)), ".n_clusters 4 is now 0x1.0000000000000p+2 (4)"),
        (result(n_clusters=None), "only in the old checkout: .n_clusters"),
        (result() | {".draws[1]": exact(0.5)}, "only in the new checkout: .draws[1]"),
        (result(none=None) | {".none[0]": "1"}, "only in the old checkout: .none; only in the new checkout: .none[0]"),
        (
            refused(),
            "only in the old checkout: .draws[0], .low, .n_clusters, .none; only in the new checkout: refused; "
            "expected a, found b",
        ),
    ],
)
def test_planted_differences_are_found(new, said):
    assert difference(result(), new) == said
    assert difference(result(), result()) == ""


def test_another_type_of_error_is_a_difference_and_other_words_are_listed_apart():
    old = {"call": refused()}
    assert differences(old, {"call": refused("TypeError")}) == [
        'call: refused "ValueError" is now "TypeError"; expected a, found b'
    ]
    assert differences(old, {"call": result()})
    new = {"call": refused(words="expected c")}
    assert differences(old, new) == []
    assert other_words(old, new) == ['call: "expected a, found b" is now "expected c"']
    assert other_words(old, old) == other_words(old, {"call": refused("TypeError", "expected c")}) == []


def test_a_new_field_and_another_class_are_no_differences():
    new = result() | {":class": exact("Other"), ".rows:class": exact("Rows"), ".rows.clusters[0]": "4"}
    assert difference(result(), new) == ""
    assert new_fields({"call": result()}, {"call": new}) == ["Interval.rows"]
    assert new_fields({"call": result()}, {"call": result() | {".draws[1]": exact(0.5)}}) == []


def test_a_field_that_moved_is_compared_where_it_is():
    fields = {"Interval": {".n_clusters": ".rows.n", ".draws": ".null", ".none": None}}
    new = result(
        n_clusters=None, none=None, **{"rows:class": exact("Rows"), "rows.n": "4", "rows.kind": exact("clusters")}
    )
    within = {f"[a]{path}": entry for path, entry in result().items()}
    assert difference(result(), new) == "only in the old checkout: .n_clusters, .none"
    for before, now in ((result(), new), (within, {f"[a]{path}": entry for path, entry in new.items()})):
        assert difference(before, now, fields) == ""
        assert difference(before, before, fields) == ""
    assert difference(result(), new | {".rows.n": "5"}, fields) == ".rows.n 4 is now 5"
    none = {path: entry for path, entry in new.items() if path != ".rows.n"}
    assert difference(result(), none, fields) == "only in the old checkout: .rows.n"


@pytest.mark.parametrize(
    ("new", "code", "printed"),
    [
        ({"call": result()}, 0, ""),
        ({"call": result() | {".more": "1"}}, 0, "New fields, which are no differences:\nInterval.more"),
        (
            {"call": result(low=exact(0.5))},
            1,
            "call: .low 0x1.0000000000000p-2 (0.25) is now 0x1.0000000000000p-1 (0.5)",
        ),
        ({"other": result()}, 1, "call: only in the old checkout\nother: only in the new checkout"),
    ],
)
def test_the_exit_code_is_1_if_anything_differs(new, code, printed, capsys, monkeypatch):
    monkeypatch.setattr("paired_run.answers", lambda *_: [{"call": result()}, new])
    monkeypatch.setattr("sys.argv", ["calls.py", "old"])
    assert main("calls", 1) == code
    said = capsys.readouterr()
    assert said.out.strip() == printed
    assert said.err.count("1 calls are answered, and 0 refused") == 2


def test_few_answers_are_not_enough():
    found = {"a": {".low": "1"}, "b": {"refused": '"ValueError"'}}
    check_enough(found, 1)
    with pytest.raises(SystemExit, match="at least 2 combinations, found 1"):
        check_enough(found, 2)


@pytest.mark.parametrize(("asked", "every", "parts"), [("combinations", combinations, 2000), ("calls", calls, 700)])
def test_a_checkout_is_recorded_in_a_process_of_its_own(asked, every, parts, registry):
    register()
    lines = dict(read_line(text) for text in run(PROJECT, asked, 3, parts).splitlines())
    known = every()
    assert lines == {name: recorded(known[name]) for name in list(known)[3::parts]}


def test_another_checkout_is_refused(tmp_path, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path, "calls", 3, 2000)
    assert f"expected calibstat of {tmp_path}" in capfd.readouterr().err
