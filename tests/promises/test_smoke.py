"""The smoke run has a call of every public name and command, and fails if one of them fails or does nothing."""

import lowest_versions
import pytest
import smoke

import calibstat as cs
from calibstat.cli import app


def test_every_name_and_command_has_a_call():
    assert smoke.unasked(cs.__all__, smoke.CALLS) == []
    assert smoke.unasked(smoke.commands(), smoke.COMMANDS) == []


def test_a_name_without_a_call_is_found():
    assert smoke.unasked(["a", "b"], {"b": 1, "c": 2}) == ["a", "c"]


def test_a_call_that_fails_is_found(capsys):
    assert smoke.failures({"a": lambda: 1, "b": lambda: 1 / 0}) == ["b"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_command_is_run():
    smoke.run_command("measures", *smoke.COMMANDS["measures"])
    with pytest.raises(AssertionError, match="expected exit code 1"):
        smoke.run_command("measures", [], 1, "")


def test_a_command_that_prints_the_version_and_leaves_is_found(monkeypatch):
    """As those of typer 0.12.5 with click 8.5.1 did."""
    monkeypatch.setattr(app, "main", lambda: print("calibstat 0.1.0"))
    for name, asked in smoke.COMMANDS.items():
        with pytest.raises(AssertionError, match=r"and:\ncalibstat 0.1.0"):
            smoke.run_command(name, *asked)


def test_every_dependency_has_a_lowest_version():
    required = lowest_versions.dependencies()
    assert [pin.replace("==", ">=") for pin in lowest_versions.pins(required)] == required
    assert {"numpy", "scipy", "typer"} <= {pin.partition("==")[0] for pin in lowest_versions.pins(required)}


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy>=2,<3", "numpy>=2; python_version < '4'"])
def test_a_dependency_without_one_is_found(requirement):
    with pytest.raises(ValueError, match="expected a dependency of the form name>=version"):
        lowest_versions.pins([requirement])
