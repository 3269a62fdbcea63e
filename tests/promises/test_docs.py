"""The documentation: a page for each measure, examples that run, and a README that keeps its promises."""

import doctest
import re
import shlex
import sys
import zlib
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from documentation import PAGES, load, measure_pages
from package_sources import LAYERS
from project_folder import PROJECT
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli.app import app

ROOT = PROJECT
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages():
    """The module that makes pages."""
    return measure_pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page, registry):
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    plt.close("all")
    assert found.failed == 0


TEXTS = [README, *(path.read_text(encoding="utf-8") for path in [*PAGES, *sorted(ROOT.glob("calibstat/**/*.py"))])]
SAID_OF_A_SAMPLE = re.compile(r"(cs\.generators\..+\.sample\(.+?\))  # .*too (low|high)")


def sides(texts):
    """The generators of which a comment says that predictions are too low or too high, and whether they are."""
    found = [match for text in texts for match in SAID_OF_A_SAMPLE.findall(text)]
    drawn = [(call, side, eval(call, {"cs": cs})) for call, side in found]
    return {call: (p.mean() > y.mean()) == (side == "high") for call, side, (y, p) in drawn}


def test_predictions_are_too_high_where_examples_say_so():
    assert any(sides(TEXTS))
    assert all(sides(TEXTS).values())
    assert not sides(["y, p = cs.generators.shift(0.5).sample(99, rng=1)  # too low"]).popitem()[1]


def test_ties_count_as_at_least_as_extreme_everywhere():
    """They make p larger, so they do not count against the null hypothesis."""
    wrong = re.compile(r"\bties\s[^.;]*\bcount(ed)?\s+against")
    assert wrong.search("with ties counted against\nthe model")
    assert [text[:80] for text in TEXTS if wrong.search(text.lower())] == []
    assert sum("as at least as extreme, which is conservative" in " ".join(text.split()) for text in TEXTS) >= 5


def test_the_guide_has_examples():
    assert sum(len(doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8"))) for page in PAGES) >= 10


@pytest.mark.parametrize("name", cs.MEASURES)
def test_every_measure_has_a_page(pages, name):
    entry, page = cs.MEASURES[name], pages.measure_page(name)
    assert page.startswith(f"# {entry.info.title}\n")
    for section in ("Options and defaults", "Range", "Claims", "Confidence intervals", "Reference"):
        assert f"## {section}\n\n" in page
    assert all(f"| `{option}` | `{default!r}` |" in page for option, default in entry.defaults().items())
    assert ("No honest interval" in page) == (not entry().has_form)
    assert f"[{entry.info.title}]({name}.md)" in pages.measures_table()
    assert page.count("**When to use it:** ") == page.count("**When not:** ") == 1


REFERENCE = [page for page in sorted((ROOT / "docs" / "reference").glob("*.md")) if page.stem != "index"]


def in_reference(page):
    """The names to which a page of the reference gives a page, by their modules."""
    found = []
    for block in page.split("```{eval-rst}")[1:]:
        module, _, listed = block.partition("```")[0].partition(":nosignatures:")
        found += [(module.split()[2], name) for name in listed.split()]
    return found


def test_the_reference_names_everything_once():
    named = [each for page in REFERENCE for each in in_reference(page.read_text(encoding="utf-8"))]
    assert len(named) == len(set(named))
    public = {
        "calibstat": [name for name in cs.__all__ if callable(getattr(cs, name))],
        "calibstat.classical": cs.classical.__all__,
        "calibstat.study": cs.study.__all__,
        "calibstat.recalibration": ["choose", *(each.__name__ for each in cs.recalibration.RECALIBRATORS.values())],
        "calibstat.generators": list(cs.GENERATORS),
    }
    for module, names in public.items():
        assert set(names) <= {name for home, name in named if home == module}
    assert all(hasattr(sys.modules[home], name) for home, name in named)
    assert {name for home, name in named if home == "calibstat"} == set(public["calibstat"])
    index = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    assert {index.count(f"\n{page.stem}\n") for page in REFERENCE} == {1}


NAMES = (ROOT / "docs" / "start" / "other-packages.md").read_text(encoding="utf-8")
ROWS = [line for line in NAMES.splitlines() if line.startswith("| ")]
WHICH = (ROOT / "docs" / "guide" / "which-measure.md").read_text(encoding="utf-8").partition("\n## Variants\n")[2]
ELSEWHERE = (ROOT / "docs" / "more" / "what-calibstat-does-not-do.md").read_text(encoding="utf-8")
CALLS = sorted(set(re.findall(r"`((?:1 - |list\()?cs\.[^`]+)`", NAMES + WHICH + ELSEWHERE)))


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_the_three_tables_run(call):
    y, p = cs.generators.temperature(2).sample(200, rng=1)
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3), temperature=2).sample(200, rng=1)
    x = pd.DataFrame({"age": 20 + np.arange(200) % 60})
    model = LogisticRegression().fit(x, y)
    plt.switch_backend("Agg")
    rows = {
        "np": np,
        "y": y,
        "p": p,
        "q": p**2,
        "label": label,
        "prob": prob,
        "x": x,
        "model": model,
        "row": np.arange(200) // 2,
        "image": np.arange(200) // 4,
    }
    found = eval(call, {"cs": cs} | rows)
    plt.close("all")
    assert found is not None
    if call.startswith("cs.estimate"):
        assert np.isfinite(found)


def test_the_gallery_has_its_scripts_in_order():
    order = load(ROOT / "docs" / "extensions" / "gallery_order.py").FIRST
    assert sorted(order) == sorted(path.name for path in (ROOT / "docs" / "examples").glob("*.py"))
    assert len(order) >= 14


def test_the_lists_of_names_of_other_projects_are_as_written():
    made = load(ROOT / "docs" / "inventories" / "write_inventories.py")
    for project, names in made.NAMES.items():
        stored = (ROOT / "docs" / "inventories" / f"{project}.inv").read_bytes()
        _, stored_lines = stored.rsplit(b"zlib.\n", 1)
        _, lines = made.inventory(project, names).rsplit(b"zlib.\n", 1)
        assert zlib.decompress(stored_lines) == zlib.decompress(lines), project


def test_every_row_of_the_names_has_one_call():
    rows = [row for row in ROWS if not row.startswith(("| name |", "| package |", "| guess", "| command |"))]
    assert len(rows) >= 30
    assert all(len(re.findall(r"`(?:cs\.|list\(cs\.|1 - cs\.)", row)) == 1 for row in rows)


ARCHITECTURE = (ROOT / "docs" / "evidence" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = ARCHITECTURE.partition("```\n")[2].partition("```")[0]


def named_paths(text):
    """The files and folders that a page names in code, from the root of the repository."""
    found = re.findall(r"`((?:\.?\w[\w.-]*/)+[\w.-]*|[A-Z]+\.md|\.pre-commit-config\.yaml)`", text)
    return [path for path in found if not path.startswith("site/")]


def in_tree(tree):
    """The paths of a drawn tree: a name's depth is how far it is indented."""
    above = []
    for line in tree.splitlines():
        indent, name = re.match(r"([\s│├└─]*)(\S+)", line).groups()
        depth = len(indent) // 4
        above[depth:] = [name]
        yield "".join(above)


def missing_folders(tree):
    """The folders of the package that a drawn tree leaves out."""
    folders = {str(path.parent.relative_to(ROOT)) + "/" for path in (ROOT / "calibstat").rglob("*.py")}
    return sorted(folders - set(in_tree(tree)))


def test_every_path_on_the_page_of_the_architecture_exists():
    paths = [*named_paths(ARCHITECTURE), *named_paths(CONTRIBUTING), *in_tree(TREE)]
    assert len(paths) >= 50
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_folder_is_on_the_page_of_the_architecture():
    assert missing_folders(TREE) == []
    without = "\n".join(line for line in TREE.splitlines() if "the tables of studies" not in line)
    assert missing_folders(without) == ["calibstat/plots/studies/"]


def test_the_page_of_the_architecture_has_every_layer_in_order():
    (line,) = [text for text in ARCHITECTURE.split("\n\n") if text.startswith("`papers` →")]
    named = re.findall(r"`(\w+)`", line)
    assert ["__init__" if name == "calibstat" else name for name in named] == LAYERS[::-1]


def test_a_path_that_is_not_there_is_found():
    assert named_paths("see `calibstat/no/such.py`, `docs/` and `a / b`, `README.md`") == [
        "calibstat/no/such.py",
        "docs/",
        "README.md",
    ]


def test_the_measures_of_the_page_for_contributors_work(registry):
    """They are run as they stand there, from the first import to the last line."""
    blocks = re.findall(r"```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    code = "\n".join(block for block in blocks if "@cs.measure" in block)
    exec(code, {"__name__": "contributing"})
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    found = cs.confidence_interval(y, p, measure="tail_error", start=0.8, rng=1)
    assert found.method == "honest"
    assert found.low <= cs.generators.temperature(2).truth("tail_error", start=0.8) <= found.high
    assert cs.calibration_test(y, p, measure="tail_error", start=0.8, rng=1).pvalue < 0.05
    assert cs.estimate([1, 0], [0.5, 0.9], measure="tail_error") == pytest.approx(0.45)  # |0 - .9| / 2
    assert cs.estimate([1, 0], [0.5, 0.9], measure="mean_error") == pytest.approx(0.2)  # |.5 - .9| / 2
    with pytest.raises(ValueError, match="expected a start between 0 and 1, found 2"):
        cs.estimate(y, p, measure="tail_error", start=2)


def test_the_recalibrator_of_the_page_for_contributors_works():
    [code] = [block for block in re.findall(r"```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL) if "_map" in block]
    names = {"__name__": "contributing"}
    exec(code, names)
    fitted = names["TowardsMean"]().fit([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [0, 2])  # shares 1/2, 0 and 1/2
    np.testing.assert_allclose(fitted.predict_proba([[0.5, 0.3, 0.2]]), [[0.5, 0.15, 0.35]])
    np.testing.assert_allclose(names["TowardsMean"]().fit([0.2, 0.6], [0, 1]).predict_proba([0.1, 0.9]), [0.3, 0.7])


def test_every_marker_is_known(pages):
    used = {name for page in PAGES for name in re.findall(r"^<!-- (\w+) -->$", page.read_text(), flags=re.MULTILINE)}
    assert used == set(pages.MARKERS)
    for name in used:
        assert f"<!-- {name} -->" not in pages.filled_in(f"<!-- {name} -->")


def test_results_are_shown_where_they_are_stored(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    assert "calibstat study simulations/size.py" in pages.sizes_table()
    assert "calibstat study simulations/coverage.py" in pages.coverage_table()
    assert "calibstat study simulations/coverage.py" in pages.widths_table()
    assert "calibstat study simulations/equivalence.py" in pages.equivalence_table()
    assert "calibstat study simulations/planning.py" in pages.planning_table()
    assert "calibstat study simulations/worst_case.py" in pages.worst_case_table()
    assert "calibstat study distances" in pages.distances_table()
    generators = {"calibrated": cs.generators.calibrated()}
    sizes = cs.study.run("size", generators, 50, ["ks", "ece"], replicates=4, seed=1, n_resamples=19)
    cs.study.write_table(sizes, tmp_path / "size.csv", command="made up", seed=1)
    cover = cs.study.run("coverage", generators, 50, ["ks"], replicates=4, seed=1, n_resamples=19)
    cs.study.write_table(cover, tmp_path / "coverage.csv", command="made up", seed=1)
    assert "| measure | n = 50 |" in pages.sizes_table()
    assert "made up" in pages.sizes_table()
    assert "| ks | honest | 0.95 | 1.000 (0.398 to 1.000) | 1.000 ± 0.000 |" in pages.coverage_table()
    cs.study.write_table(cover.assign(truth=1.0, sd_estimate=0.1, mean_width=0.784), tmp_path / "coverage.csv")
    assert "| ks | honest | 0.95 | 2.00 | 2.00 | 1 |" in pages.widths_table()  # 2 (1.96 .1) is .392
    case = {"kind": "Rows", "measure": "ks", "level": 0.95, "replicates": 200, "rate": 0.95, "low": 0.91, "high": 0.98}
    case = pd.DataFrame([case | {"missed_below": 6, "missed_above": 4}])
    cs.study.write_table(case, tmp_path / "worst_case.csv", command="made up", seed=1)
    assert "| rows | ks | 0.95 | 0.950 (0.910 to 0.980) | 0.030 | 0.020 | 200 | 1 |" in pages.worst_case_table()
    claims = {"measure": "bins", "generator": "uniform", "n": 50}
    claims = pd.DataFrame([{"question": question, **claims, "rate": 0.25} for question in ("size", "power")])
    cs.study.write_table(claims, tmp_path / "equivalence.csv", command="made up", seed=1)
    assert pages.equivalence_table().count("| bins | uniform | 0.250 |") == 2
    power = pd.DataFrame(
        {"question": "effect", "generator": "ends", "n": 50, "family": ["a", "b"], "replicates": [9, 0]}
    )
    cs.study.write_table(power.assign(rate=[0.8, 0.1]), tmp_path / "planning.csv", command="made up", seed=1)
    assert f"| detectable effect | 50 | 1 |{' 0.800 |' * 5}" in pages.planning_table()
    assert pages.planning_table().endswith("however large: b of ends (n = 50).")


def test_bars_in_cells_are_escaped(pages):
    assert pages.rows_of(["a"], [["|x|"]]) == "| a |\n| --- |\n| \\|x\\| |"


def test_references_become_links(pages):
    assert pages.linked("A 2020, doi:10.1/x; arXiv:1234.5678.") == (
        "A 2020, [doi:10.1/x](https://doi.org/10.1/x); [arXiv:1234.5678](https://arxiv.org/abs/1234.5678)."
    )


def test_every_reference_of_a_page_is_a_link():
    plain = re.compile(r"(?<![\[/])\b(doi:10|arXiv:\d)")
    assert plain.search("Source: Satterthwaite 1946, doi:10.2307/3002019.")
    assert [page.name for page in PAGES if plain.search(page.read_text(encoding="utf-8"))] == []


def test_readme_has_its_two_commands_on_lines_of_their_own():
    lines = README.splitlines()
    assert lines.count("python -m pip install . && calibstat demo") == 1
    assert lines.count('python -m pip install ".[test]" && python -m pytest') == 1


def test_readme_uses_public_names_that_exist():
    for name in set(re.findall(r"\bcs\.(\w+)", README)):
        assert hasattr(cs, name), name


def test_readme_shows_pictures_and_files_that_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_commands_in_readme_and_docs_exist():
    texts = [README, *(page.read_text(encoding="utf-8") for page in PAGES)]
    plain = [block for text in texts for block in text.split("```")[1::2] if block.startswith("\n")]
    lines = {
        line for block in plain for line in re.findall(r"\b(calibstat .+?)(?=  | &&|$)", block, flags=re.MULTILINE)
    }
    assert len(lines) >= 5
    asked = cache(lambda command: CliRunner().invoke(app, [command, "--help"], terminal_width=200))
    for line in lines:
        words = shlex.split(line)[1:]
        found = asked(words[0])
        assert found.exit_code == 0, line
        assert all(option in found.stdout for option in words if option.startswith("--")), line


def years_of_papers(texts):
    """The years that stand before the arXiv number of each paper."""
    years = {}
    for text in texts:
        flat = " ".join(re.sub(r'"\s*\n\s*"', "", text).split())
        year = r"\b(?:19|20)\d\d\b"
        pattern = rf"({year})(?:(?!{year}|;).){{0,160}}?arXiv[:.](?:org/abs/)?(\d{{4}}\.\d{{5}})"
        for found, number in re.findall(pattern, flat):
            years.setdefault(number, set()).add(found)
    return years


def test_a_paper_has_one_year():
    files = [*PAGES, *ROOT.glob("calibstat/**/*.py")]
    years = years_of_papers(file.read_text(encoding="utf-8") for file in files)
    assert len(years) > 10
    assert {number: found for number, found in years.items() if len(found) > 1} == {}
    planted = years_of_papers(
        ["A, B 2024, arXiv:2406.04068", "A, B 2025, A Title With\n    Two Lines, arXiv:2406.04068."]
    )
    assert planted == {"2406.04068": {"2024", "2025"}}
