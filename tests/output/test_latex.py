"""Tables as LaTeX: what is escaped, how columns are set, and captions."""

from calibstat.output.fragments import Section, Table
from calibstat.output.latex import latex, latex_table, latex_tables


def test_no_text_is_a_command():
    assert latex(r"50% of a_b & $x$ #1 {y} \end ~^") == (
        r"50\% of a\_b \& \$x\$ \#1 \{y\} \textbackslash{}end \textasciitilde{}\textasciicircum{}"
    )
    assert latex("∞ −1 ± 2\n 3") == r"$\infty$ $-$1 $\pm$ 2 3"


def test_a_table_by_hand():
    expected = r"""\begin{table}
\centering
\caption{Two \& three.}
\begin{tabular}{lr}
\hline
model & ECE \\
\hline
a\_b & 1.5 \\
\hline
\end{tabular}
\end{table}
"""
    assert latex_table(Table(["model", ">ECE"], [["a_b", "1.5"]]), "Two & three.") == expected


def test_captions_are_titles_and_notes():
    table = Table(["a"], [["1"]], "A note.")
    found = latex_tables([Section("A title", tables=[table, table]), Section("Words only")])
    assert found.count(r"\caption{A title. A note.}") == 2
    assert "Words only" not in found


def test_no_row_is_an_argument_of_the_row_before():
    """A bracket is the space below a row, and a star forbids a new page there."""
    table = Table(["bin", ">rows"], [["a", "1"], ["[0, 0.1)", "2"], ["* all", "3"], ["b", "[4]"]])
    *_, second, third, last = latex_table(table, "Bins.").split(r" \\")[:-1]
    assert (second, third, last) == ("\n{[}0, 0.1) & 2", "\n{*} all & 3", "\nb & [4]")
