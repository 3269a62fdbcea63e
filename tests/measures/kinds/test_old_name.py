"""Old names of measures: defined or asked for, they work with a warning, and options of that name are left alone."""

from abc import ABC

import pytest

from calibstat.measures.kinds.old_name import OldName, WithOldNames


class Base(WithOldNames, ABC):
    old = OldName("new")

    def new(self):
        return "base"


def test_a_definition_under_the_old_name_works_with_a_warning():
    """It is raised at the class statement, so that its author sees it, and not for classes that are derived from it."""
    with pytest.warns(DeprecationWarning, match="expected `new` of measure class Own, found `old`") as raised:

        class Own(Base):
            def old(self):
                return "own"

    assert [warning.filename for warning in raised] == [__file__]

    class Derived(Own):
        pass

    assert Own().new() == Derived().new() == "own"


def test_the_old_name_can_be_asked_for_with_a_warning():
    with pytest.warns(DeprecationWarning, match="expected `new` of measure class Base, found `old`") as raised:
        assert Base().old() == "base"
    assert [warning.filename for warning in raised] == [__file__]


def test_of_both_names_the_new_one_counts():
    class Both(Base):
        def new(self):
            return "both"

        def old(self):
            raise AssertionError

    assert Both().new() == "both"


def test_an_option_may_have_an_old_name():
    class Option(Base):
        old: int = 3

    assert Option().old == 3


def test_a_class_has_no_value_under_the_old_name():
    assert not hasattr(Base, "old")
