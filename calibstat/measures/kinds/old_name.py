"""Old names of what a measure defines, which work for one release with a warning."""

from __future__ import annotations

import warnings
from typing import Any


class OldName:
    """An attribute of a class under the name that it had before."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:  # a class has no values of it, and an option of this name no default
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self.old!r}")
        self._warn(owner, stacklevel=3)
        return getattr(instance, self.new)

    def rename_in(self, cls: type) -> None:
        """Give the definition in the body of a class its new name, if it is there under the old one alone."""
        if self.old not in vars(cls) or self.old in cls.__annotations__:
            return
        if self.new not in vars(cls):
            self._warn(cls, stacklevel=5)  # the class statement, past `WithOldNames` and the class of abstract classes
            setattr(cls, self.new, vars(cls)[self.old])
        delattr(cls, self.old)

    def _warn(self, cls: type, stacklevel: int) -> None:
        warnings.warn(
            f"expected `{self.new}` of measure class {cls.__name__}, found `{self.old}`, its name of before",
            DeprecationWarning,
            stacklevel=stacklevel,
        )


class WithOldNames:
    """A base of classes whose attributes may be defined, or asked for, under an `OldName`."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for base in cls.__mro__[1:]:
            for each in vars(base).values():
                if isinstance(each, OldName):
                    each.rename_in(cls)
