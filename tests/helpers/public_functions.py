"""The public functions of the package, and of its module of classical tests."""

import inspect

import calibstat as cs


def public_functions():
    """Each public function by its name."""
    found = {name: getattr(module, name) for module in (cs, cs.classical) for name in module.__all__}
    return {name: each for name, each in found.items() if inspect.isfunction(each)}
