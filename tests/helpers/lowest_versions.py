"""The lowest version of each dependency that pyproject.toml allows, for pip.

Run ``python tests/helpers/lowest_versions.py``.
"""

import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def pins(requirements):
    """Return name==version for each name>=version; a ValueError names what has no lower bound, or another one."""
    found = []
    for requirement in requirements:
        name, sign, version = requirement.partition(">=")
        if not (name.isidentifier() and sign and version.replace(".", "").isdigit()):
            raise ValueError(f"expected a dependency of the form name>=version, found {requirement!r}")
        found.append(f"{name}=={version}")
    return found


def dependencies():
    """What pyproject.toml requires, without extras."""
    return tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]


if __name__ == "__main__":
    print("\n".join(pins(dependencies())))
