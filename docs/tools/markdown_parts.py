"""Tables and links of pages that are made."""

from __future__ import annotations

import re
from typing import Any


def rows_of(header: list[str], rows: list[list[Any]]) -> str:
    """Write a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def linked(reference: str) -> str:
    """Turn DOI and arXiv numbers into links."""
    reference = re.sub(r"doi:(\S*[^\s.;,])", r"[doi:\1](https://doi.org/\1)", reference)
    return re.sub(r"arXiv:([\d.]+\d)", r"[arXiv:\1](https://arxiv.org/abs/\1)", reference)
