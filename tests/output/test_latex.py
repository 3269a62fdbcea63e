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
