"""Tables as LaTeX: text from data is escaped, and nothing but the standard classes is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from calibstat.output.fragments import Section, Table
from calibstat.output.visible_text import visible

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "∞": r"$\infty$",
    "−": r"$-$",
    "±": r"$\pm$",
    "–": "--",
}
TO_ESCAPE = re.compile("|".join(map(re.escape, SPECIAL)))


def latex(text: object) -> str:
    """Return text in which nothing is a command."""
    return TO_ESCAPE.sub(lambda found: SPECIAL[found[0]], " ".join(visible(str(text)).split()))


def latex_table(table: Table, caption: str) -> str:
    """Return one table with a caption."""
    marks = "".join("r" if name[:1] == ">" else "l" for name in table.header)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{latex(caption)}}}", rf"\begin{{tabular}}{{{marks}}}"]
    lines += [r"\hline", _line([name.removeprefix(">") for name in table.header]), r"\hline"]
    lines += [_line(row) for row in table.rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table}", ""])


def latex_tables(sections: Iterable[Section]) -> str:
    """Return the tables of all sections, each with the section's title and the table's note as its caption."""
    found = []
    for section in sections:
        for table in section.tables:
            caption = ". ".join(part.removesuffix(".") for part in (section.title, table.note) if part)
            found.append(latex_table(table, f"{caption}."))
    return "\n".join(found)


def _line(cells: Sequence[str]) -> str:
    """Return a row; what begins with a bracket or a star would be an argument of the end of the row before."""
    return re.sub(r"^[\[*]", r"{\g<0>}", " & ".join(latex(each) for each in cells)) + r" \\"
