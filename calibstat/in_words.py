"""The base of what results keep as objects and give as words: lenses, measures and null hypotheses."""

from __future__ import annotations


class InWords:
    """A part of a result with fields for programs and, as its `str`, words for readers.

    Printed results, dictionaries and data frames have its words. It holds no rows and no function, so that every result
    can be pickled, also the result of a lens or a measure that a user defined by functions.
    """
