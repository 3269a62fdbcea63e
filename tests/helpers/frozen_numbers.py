"""Numbers of combinations that a seed chooses, as they were when this was last run, with so many digits as it takes.

Run ``python tests/helpers/frozen_numbers.py`` where a number has to change, and say why in the changelog.
"""

import json
import math
import random
import re

from paired import REFUSED, answer, combinations, register
from project_folder import PROJECT

FILE = PROJECT / "tests" / "promises" / "frozen_numbers.txt"
HEAD = f"# One line for each combination: its name, a tab, and its numbers. Made by: {__doc__.split('``')[1]}\n"
CHOSEN = 300
SEED = 20
ASIDE = ("estimate", "detail", "other")  # what most others tell too, and what has too many numbers
RELATIVE, ABSOLUTE = 1e-10, 1e-13  # sums of residuals that cancel are rounding alone
PVALUES_OF_RANKS = re.compile(r"^test.*\.(pvalue|pvalue_error)(\[\d+\])?$")


def numbers(found):
    """The numbers of an answer by the way to them, but not each resample."""
    return {
        path: entry
        for path, entry in found.items()
        if isinstance(entry, int | float) and not isinstance(entry, bool) and ".null_distribution" not in path
    }


def disagreements(name, old, new):
    """Where the numbers of a combination are not the same: counts and p-values of tests exactly, others nearly."""

    def agree(path):
        a, b = old[path], new[path]
        if isinstance(a, int) or isinstance(b, int) or PVALUES_OF_RANKS.match(name + path):
            return a == b and type(a) is type(b)
        return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(a) and math.isnan(b))

    return sorted(path for path in old.keys() | new.keys() if path not in old or path not in new or not agree(path))


def chosen(found):
    """The names of combinations that have an answer, chosen by the seed, in their order."""
    answered = [name for name, entries in found.items() if REFUSED not in entries and not name.startswith(ASIDE)]
    names = set(random.Random(SEED).sample(answered, CHOSEN))
    return [name for name in found if name in names]


def stored():
    """The numbers of the file, by the names of combinations."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {name: json.loads(text) for name, _, text in (line.partition("\t") for line in lines[1:])}


def main():
    register()
    found = {name: answer(call) for name, call in combinations().items()}
    lines = [f"{name}\t{json.dumps(numbers(found[name]))}\n" for name in chosen(found)]
    FILE.write_text(HEAD + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
