"""Groups of options: each command takes them as one argument."""

import inspect
from dataclasses import dataclass, field

from calibstat.cli.option_groups import takes_groups
from calibstat.cli.reading import Reading
from calibstat.cli.row_columns import RowColumns

OF_READING = ["positive", "logits", "clip", "divide_by_sums"]


@dataclass(frozen=True)
class Lists:
    """A group with a list."""

    names: list[str] = field(default_factory=list)


def test_a_command_gets_one_argument():
    seen = []

    def command(label: str, reading: Reading, other: int = 3) -> None:
        seen.append((label, reading, other))

    wrapped = takes_groups(command)
    assert list(inspect.signature(wrapped).parameters) == ["label", *OF_READING, "other"]
    wrapped(label="y", positive="yes", logits=True, clip=None, divide_by_sums=False, other=4)
    assert seen == [("y", Reading("yes", True, None), 4)]


def test_several_groups_stand_where_their_parameters_stood():
    seen = []

    def command(reading: Reading, name: str, columns: RowColumns, lists: Lists) -> None:
        seen.append((reading, name, columns, lists))

    options = inspect.signature(takes_groups(command)).parameters
    assert [*options] == [*OF_READING[1:], "name", "cluster", "folds", "weight", "names"]  # no outcomes without a label
    assert [each.default for each in options.values()][-4:] == [None, None, None, []]
    given = {"logits": False, "clip": None, "divide_by_sums": False, "cluster": "who", "folds": None, "weight": None}
    takes_groups(command)(**given, name="n", names=["a"])
    assert seen == [(Reading(), "n", RowColumns(cluster="who"), Lists(["a"]))]


def test_lists_are_not_shared():
    def command(lists: Lists) -> None:
        """Do nothing."""

    first, second = (inspect.signature(takes_groups(command)).parameters["names"].default for _ in range(2))
    assert first == []
    assert first is not second
