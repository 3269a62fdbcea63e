"""Tables of the documentation that benchmarks write: between two comments of a page."""

from collections.abc import Sequence
from pathlib import Path


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def put_in_page(page: Path, name: str, text: str) -> None:
    """Replace what is between the comments that name a table."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text().split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
