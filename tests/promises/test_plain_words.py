"""The words of the project: plain ones, on pages, in docstrings, in help and in printed results.

A short list of words that readers stumble on is kept out of the prose of README.md, the docs and the pages of studies,
of the first paragraphs of docstrings, of the help of all commands, and of the texts that the package prints. Code on
pages is left out, and so are the decisions, which are history. Numbers on pages and in printed texts have a zero before
their decimals, and levels are printed as percentages. Pages repeat a noun instead of "that of", and their sentences
have at most 25 words on average. Docstrings below their first paragraph may write .05, and comments may say what they
like.
"""

import ast
import re

import pytest
from documentation import PAGES as DOCUMENTATION
from package_sources import nodes_of, sources
from project_folder import PROJECT
from typer.main import get_command

from calibstat.cli.app import app

INSTEAD = {  # what to write in its place
    r"\bspeaks?\b": "is significant, or says",
    r"\bwhoever\b": "if you",
    r"(?<!\bthere )\b(?:is|are) no\b(?! longer\b)": "is not a, or does not",
    r"\bbut for\b": "except",
    r"\bverbs?\b": "function",
    r"\bone (?:looks|acts)\b": "you look, or you act",
}
WORDS = re.compile("|".join(INSTEAD), flags=re.IGNORECASE)
BARE_DECIMAL = re.compile(r"(?<![\w.:)\]}%])\.\d")  # not the :.4f of a text that is filled in
POINTING = re.compile(r"\b(?:that|those) of\b", flags=re.IGNORECASE)  # on pages: repeat the noun
CODE = re.compile(r"```.*?```|\$\$.*?\$\$|`[^`\n]*`", flags=re.DOTALL)
FORMULA_OR_LINK = re.compile(r"\$[^$\n]*\$|\]\([^)]*\)")
COMMENT = re.compile(r"^ *%", flags=re.MULTILINE)  # a line of Markdown that the site leaves out
NOT_A_SENTENCE = re.compile(r"^\s*(?:\||#|!\[|<!--).*$", flags=re.MULTILINE)
MOST_WORDS = 25  # of the sentences of a page, on average
LEVEL = re.compile(r"(?:\w+_)?level")
AS_GIVEN = {  # a level beside the p-values that it is for, and a part of an error about an option
    "cli/monitoring.py",
    "inference/auditing/audit_results.py",
    "plots/audit_plot.py",
}
OF_STUDIES = sorted((PROJECT / "simulations").rglob("*.md"))
BESIDE = [PROJECT / "README.md", PROJECT / "tests" / "papers" / "items.md"]
PAGES = [*BESIDE, *(page for page in DOCUMENTATION if page.parent.name != "decisions"), *OF_STUDIES]
NOT_PRINTED = ("data/engines/sql.py",)  # its texts are SQL
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def stumbles(text, pattern=WORDS):
    """The places of a text with a word of the list, each with what stands around it."""
    flat = " ".join(text.split())
    return [flat[max(0, found.start() - 40) : found.end() + 20] for found in pattern.finditer(flat)]


def prose(page):
    """A page without its code and its displayed formulas."""
    return CODE.sub(" ", page)


def sentences(page):
    """The sentences of a page, without headings, tables and code; an item of a list begins a new one."""
    text = NOT_A_SENTENCE.sub("", FORMULA_OR_LINK.sub("] ", CODE.sub(" x ", page)))
    text = re.sub(r"\n\s*\n|\n\s*[-*] ", ". ", text)
    return [each for each in re.split(r"(?<=[.!?:])\s+", " ".join(text.split())) if len(each.split()) > 2]


def words_of_a_sentence(page):
    """The mean number of words of the sentences of a page."""
    found = [len(each.split()) for each in sentences(page)]
    return sum(found) / max(1, len(found))


def first_paragraphs(source):
    """The first paragraphs of all docstrings of a file."""
    nodes = [node for node in nodes_of(source) if isinstance(node, DOCUMENTED)]
    return [text.partition("\n\n")[0] for node in nodes if (text := ast.get_docstring(node))]


def printed(source):
    """The texts in the code of a file that have a space, of f-strings the fixed parts; no docstrings."""
    documented = [node for node in nodes_of(source) if isinstance(node, DOCUMENTED) and ast.get_docstring(node)]
    docstrings = {id(node.body[0].value) for node in documented}
    texts = [node for node in nodes_of(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if " " in node.value and id(node) not in docstrings]


def bare_levels(source):
    """The levels and confidences that a text of a file is filled in with as they are, and not as percentages."""
    found = []
    for text in (node for node in nodes_of(source) if isinstance(node, ast.JoinedStr)):
        begin = text.values[0].value if isinstance(text.values[0], ast.Constant) else ""
        if begin.startswith(("expected ", "confidence_level=")):  # errors name the argument as it was given
            continue
        values = [part.value for part in text.values if isinstance(part, ast.FormattedValue) and part.format_spec]
        names = [getattr(value, "attr", getattr(value, "id", "")) for value in values]
        found += [name for name in names if LEVEL.fullmatch(name)]
    return found


def helps():
    """The help of each command and of each of its options, by name."""
    texts = {}
    for name, command in get_command(app).commands.items():
        texts[name] = command.help or ""
        texts |= {f"{name} {each.name}": getattr(each, "help", None) or "" for each in command.params}
    return texts


def objections(text):
    """What is not plain on a page."""
    found = stumbles(prose(text)) + stumbles(prose(text), POINTING)
    found += stumbles(FORMULA_OR_LINK.sub(" ", prose(text)), BARE_DECIMAL) + COMMENT.findall(prose(text))
    return found + ["long sentences"] * (words_of_a_sentence(text) > MOST_WORDS)


def test_pages_are_plain():
    found = {str(page.relative_to(PROJECT)): objections(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: places for page, places in found.items() if places} == {}


def test_docstrings_begin_plainly():
    found = {
        path: [place for text in first_paragraphs(code) for place in stumbles(text)] for path, code in sources().items()
    }
    assert {path: places for path, places in found.items() if places} == {}


@pytest.mark.parametrize("pattern", [WORDS, BARE_DECIMAL], ids=["words", "decimals"])
def test_printed_texts_are_plain(pattern):
    texts = {path: printed(code) for path, code in sources().items() if path not in NOT_PRINTED}
    assert sum(map(len, texts.values())) > 1000
    assert {path: places for path, each in texts.items() if (places := stumbles("\n".join(each), pattern))} == {}


def test_levels_are_printed_as_percentages():
    assert {path for path, code in sources().items() if bare_levels(code)} == AS_GIVEN


def test_a_bare_level_is_found():
    assert bare_levels('f"{self.confidence_level:.4g} confidence interval"') == ["confidence_level"]
    assert bare_levels('f"at level {level:g}"') == ["level"]
    assert (
        bare_levels('f"{100 * level:g} %, {level_text(level)}"') == bare_levels('f"expected at most {level:g}"') == []
    )


@pytest.mark.parametrize("pattern", [WORDS, BARE_DECIMAL], ids=["words", "decimals"])
def test_help_is_plain(pattern):
    texts = helps()
    assert len(texts) > 100
    assert {name: places for name, text in texts.items() if (places := stumbles(text, pattern))} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "10 of 55 groups speak against the predictions.",
        "Whoever tries them all has no p-value.",
        "The number is\nno error.",
        "Those are no claims.",
        "the classical tests but for `t_cal`",
        "what the verb says by itself",
        "however often one looks",
    ],
)
def test_each_word_is_found(planted):
    """The twin: the words that these tests keep out are found on a page, in a docstring and in a printed text."""
    assert len(stumbles(prose(planted))) == 1
    assert [len(stumbles(text)) for text in first_paragraphs(f'"""{planted}\n\n{planted}"""')] == [1]
    assert [len(stumbles(text)) for text in printed(f"x = {planted!r}")] == [1]


def test_long_sentences_and_pointing_words_are_found():
    assert words_of_a_sentence("# A heading\n\n| a | table |\n\nOne two three. Four five six seven.\n") == 3.5
    assert words_of_a_sentence("word " * 26 + ".") > MOST_WORDS
    assert len(stumbles("as that of A, and those of B", POINTING)) == 2


def test_a_line_that_the_site_leaves_out_is_found():
    assert COMMENT.findall("It rejects in 5\n% of data sets.\n") == ["%"]
    assert COMMENT.findall("It rejects in 5 %\nof data sets.\n") == []


def test_bare_decimals_are_found():
    assert [len(stumbles(text, BARE_DECIMAL)) for text in ("found in .71", ".05", "−.01 to (.3, .4)")] == [1, 1, 3]
    assert not stumbles("found in 0.71, from 1.5 to 2.25, in a file a.1, {p:.3f}, or 71 %", BARE_DECIMAL)


@pytest.mark.parametrize("text", ["There is no pilot.", "there are no ties", "it is no longer so", "`verb=`"])
def test_plain_words_are_left_alone(text):
    assert stumbles(prose(text)) == []
