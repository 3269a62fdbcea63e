"""What results keep as objects is words in all that they write."""

from dataclasses import dataclass

from calibstat.in_words import InWords
from calibstat.result import Result


@dataclass(frozen=True)
class Colour(InWords):
    name: str

    def __str__(self):
        return f"the colour {self.name}"


@dataclass(frozen=True, eq=False)
class Painted(Result):
    colour: Colour
    all_colours: tuple[Colour, ...]


def test_words_are_written_and_objects_are_kept():
    found = Painted(Colour("red"), (Colour("red"), Colour("blue")))
    assert found.colour.name == "red"
    assert found.to_dict() == {"colour": "the colour red", "all_colours": ["the colour red", "the colour blue"]}
    assert found.to_frame().to_dict("list") == {"colour": ["the colour red"]}
    assert repr(found).startswith("Painted(colour='the colour red'")
