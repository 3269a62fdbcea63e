"""No program reads a sentence that another one wrote: what it needs to know is in fields.

Texts are taken apart where users, files or other programs wrote them, and nowhere else.
"""

import ast

import pytest
from package_sources import nodes_of, sources

SENTENCES = {"lens", "measure", "null", "null_hypothesis", "why_stopped", "estimand", "title"}
READING = {
    "partition", "rpartition", "split", "rsplit", "startswith", "endswith", "replace", "removeprefix", "removesuffix",
    "find", "index",
}  # fmt: skip
TAKES_APART = {"partition", "rpartition", "removeprefix", "removesuffix"}
READERS = {  # whose texts are taken apart there
    "answers_by_model.py": "names of fields, with dots",
    "cli/formats/chosen_columns.py": "patterns of columns",
    "cli/formats/array_files.py": "names of arrays in a file",
    "cli/features_and_periods.py": "dates in a file",
    "cli/formats/cell_format.py": "how a file begins",
    "cli/standard_input.py": "how a file begins",
    "cli/input_files.py": "patterns of columns, and outcomes in a file",
    "cli/lens_syntax.py": "a lens on the command line",
    "cli/option_names.py": "arguments in errors, which options of commands stand for",
    "readers/lm_eval_samples.py": "the time in the name of a file",
    "recalibration/parameters.py": "names of parameters within others, as scikit-learn writes them",
    "data/words/names_elsewhere.py": "names, as users of other packages write them",
    "data/null_hypothesis.py": "the null hypothesis that a user wrote for a lens",
    "inference/auditing/shares_in_words.py": "numbers as they are written",
    "inference/choosing/choose.py": "a condition, as a user writes it",
    "inference/choosing/condition.py": "a condition, as a user writes it",
    "inference/decomposing/decompose.py": "the sign before the first of several numbers",
    "inference/deviation.py": "numbers as they are written",
    "inference/power/alternatives.py": "an alternative, as a user writes it",
    "measures/bins.py": "the number of rows of a bin, as a user writes it",
    "monitoring/period_labels.py": "months and weeks, as a user writes them",
    "cli/terminal.py": "words of a line that is too long for a terminal",
    "output/fragments.py": "the mark of columns that are set to the right",
    "output/said_once.py": "sentences that are said of each of several models",
    "output/html.py": "characters that HTML and Markdown read",
    "output/latex.py": "the mark of columns that are set to the right",
    "output/visible_text.py": "characters that terminals read",
    "output/whole_folder.py": "names of folders",
    "papers/checkpoints.py": "names of files",
    "papers/distances.py": "labels of this study",
    "papers/mixture.py": "labels of this study",
    "papers/parts/recalibrations.py": "names, as options have them",
    "papers/parts/table_pages.py": "names of files, as pictures have them",
    "plots/audit_plot.py": "a label without what is empty in front of it",
    "plots/inline_svg.py": "what matplotlib draws",
    "reporting/conditions.py": "a condition on the command line",
    "reporting/fields_of_any_report.py": "a condition on the command line",
    "reporting/formats.py": "the ending of a file",
    "plots/studies/estimates.py": "names of columns, with a number of rows in them",
    "plots/studies/rates.py": "numbers as they are written",
    "study/store.py": "names of files",
    "study/study.py": "what another package raises",
    "study/study_options.py": "an option on the command line",
    "study/study_file.py": "names of modules",
}


def name_of(node):
    """The last name of an expression, also within `str(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return name_of(node.args[0])
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def sentences_read(code):
    """The lines in which the words of a result are taken apart or compared with a text."""
    lines = set()
    for node in nodes_of(code):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
            texts = bool(node.args) and is_text(node.args[0])
            lines |= {node.lineno} if texts and name_of(node.func.value) in SENTENCES else set()
        if isinstance(node, ast.Compare):
            both = [node.left, *node.comparators]
            of_result = any(isinstance(each, ast.Attribute) and name_of(each) in SENTENCES for each in both)
            lines |= {node.lineno} if of_result and any(map(is_text, both)) else set()
    return sorted(lines)


def takes_apart(code):
    """Whether a file takes texts apart, by methods of texts or by regular expressions."""
    calls = (node for node in nodes_of(code) if isinstance(node, ast.Attribute))
    imports = (node for node in nodes_of(code) if isinstance(node, ast.Import))
    return any(each.attr in TAKES_APART for each in calls) or any(
        alias.name == "re" for each in imports for alias in each.names
    )


def test_no_sentence_is_read():
    found = {name: sentences_read(code) for name, code in sources().items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_texts_are_taken_apart_where_others_wrote_them():
    found = {name for name, code in sources().items() if takes_apart(code)}
    assert found == set(READERS)


@pytest.mark.parametrize(
    "planted",
    [
        'lens.startswith("event")',
        'self.ece.lens.startswith("event")',
        'str(found.lens).startswith("event")',
        'name = measure.partition("(")[0]',
        'null.replace("given ", "given the weights and ", 1)',
        'null.removesuffix(".") + " (exact)."',
        'if found.lens == "event: outcome 1": pass',
        'if data.lens == f"lens {name}": pass',
        'if "top_label" not in found.lens: pass',
        'even and self.measure.endswith("quantile bins")',
    ],
)
def test_a_planted_reader_is_found(planted):
    assert sentences_read(planted) == [1]


@pytest.mark.parametrize("planted", ["import re", 'why.partition(", at draw")[0]', 'said.removesuffix(".")'])
def test_a_planted_file_that_takes_texts_apart_is_found(planted):
    assert takes_apart(planted)


@pytest.mark.parametrize(
    "harmless", ["found.lens == EVENT", 'print(f"{found.lens}")', 'reduce == "mean"', "lens is None"]
)
def test_what_is_harmless_is_not_found(harmless):
    assert sentences_read(harmless) == []
    assert not takes_apart(harmless)
