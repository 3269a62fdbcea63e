"""Tables of the documentation that benchmarks write: between two comments of a page."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import calibstat as cs
from calibstat.study.checkout import commit


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def made_by() -> str:
    """Say which command, version and commit make a table."""
    command = shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    of_code = commit()
    return f"Made by `{command}` with calibstat {cs.__version__}{f', commit {of_code}' if of_code else ''}."


def put_in_page(page: Path, name: str, text: str) -> None:
    """Replace what is between the comments that name a table, and say above it what made it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text().split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{made_by()}\n\n{text}\n\n{end}{after}")
