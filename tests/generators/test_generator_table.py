"""Every generator registers itself under its own name."""

import ast
from pathlib import Path

import pytest
from package_sources import sources

import calibstat


def test_every_generator_registers_itself():
    from calibstat.generators import generator_table

    names = {node.name for file, source in sources().items() if file.startswith("generators/")
             for node in ast.parse(source).body if isinstance(node, ast.ClassDef)
             if "register" in map(ast.unparse, node.decorator_list)}  # fmt: skip
    assert names == set(calibstat.GENERATORS)
    assert all(getattr(calibstat.generators, name) is entry for name, entry in calibstat.GENERATORS.items())
    # a file that has the name of a generator would hide it
    assert names.isdisjoint(Path(file).stem for file in sources() if file.startswith("generators/"))
    with pytest.raises(ValueError, match="expected a generator of a new name, found 'shift' again"):
        generator_table.register(calibstat.generators.shift)
