"""The words of the project: plain ones, on pages, in docstrings, in help and in printed results.

A short list of words that readers stumble on is kept out of the prose of README.md and the docs, of the first
paragraphs of docstrings, of the help of all commands, and of the texts that the package prints. Code on pages is left
out, and so are the decisions, which are history, and the pages in NOT_YET, which were not rewritten yet. Printed
numbers have a zero before their decimals. Pages, and docstrings below their first paragraph, may write .05, and
comments may say what they like.
"""

import ast
import re

import pytest
from package_sources import parsed, sources
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
CODE = re.compile(r"```.*?```|\$\$.*?\$\$|`[^`\n]*`", flags=re.DOTALL)
NOT_YET = {"clinical.md", "command-line.md", "large-data.md", "proofs.md", "speed.md"}
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")), PROJECT / "docs" / "measures" / "index.md"]
PAGES = [page for page in PAGES if page.name not in NOT_YET]
NOT_PRINTED = ("data/engines/sql.py",)  # its texts are SQL
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def stumbles(text, pattern=WORDS):
    """The places of a text with a word of the list, each with what stands around it."""
    flat = " ".join(text.split())
    return [flat[max(0, found.start() - 40) : found.end() + 20] for found in pattern.finditer(flat)]


def prose(page):
    """A page without its code and its displayed formulas."""
    return CODE.sub(" ", page)


def first_paragraphs(source):
    """The first paragraphs of all docstrings of a file."""
    nodes = [node for node in ast.walk(parsed(source)) if isinstance(node, DOCUMENTED)]
    return [text.partition("\n\n")[0] for node in nodes if (text := ast.get_docstring(node))]


def printed(source):
    """The texts in the code of a file that have a space, of f-strings the fixed parts; no docstrings."""
    tree = parsed(source)
    documented = [node for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and ast.get_docstring(node)]
    docstrings = {id(node.body[0].value) for node in documented}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if " " in node.value and id(node) not in docstrings]


def helps():
    """The help of each command and of each of its options, by name."""
    texts = {}
    for name, command in get_command(app).commands.items():
        texts[name] = command.help or ""
        texts |= {f"{name} {each.name}": getattr(each, "help", None) or "" for each in command.params}
    return texts


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_pages_are_plain(page):
    assert stumbles(prose(page.read_text(encoding="utf-8"))) == []


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


def test_bare_decimals_are_found():
    assert [len(stumbles(text, BARE_DECIMAL)) for text in ("found in .71", ".05", "−.01 to (.3, .4)")] == [1, 1, 3]
    assert not stumbles("found in 0.71, from 1.5 to 2.25, in a file a.1, {p:.3f}, or 71 %", BARE_DECIMAL)


@pytest.mark.parametrize("text", ["There is no pilot.", "there are no ties", "it is no longer so", "`verb=`"])
def test_plain_words_are_left_alone(text):
    assert stumbles(prose(text)) == []
