"""Where tests lie, and what they may import: beside their source in the tree, each by itself.

Every rule is a checker that returns what it objects to, and has a twin test that feeds it a planted fault.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import other_seeds
import pytest
from package_sources import ROOT, import_statements, imported, sources
from project_folder import PROJECT

from calibstat.resampling import streams

TESTS = PROJECT / "tests"
EXTENDING = {  # each adds one from outside
    "test_a_design.py",
    "test_a_kind_of_rows.py",
    "test_a_measure.py",
    "test_a_question.py",
}
PAPERS = {  # each holds what one paper says against slow code written from it
    "test_chidambaram_and_ge.py",
    "test_distance_from_calibration.py",
    "test_distance_from_calibration_lemmas.py",
    "test_nakkiran.py",
    "test_nixon.py",
    "test_vaicenavicius.py",
}
HOSTILE = {
    "test_brute_force.py",
    "test_equal_answers.py",
    "test_hostile_calls.py",
    "test_hostile_files.py",
    "test_kills.py",
    "test_other_processors.py",
    "test_wrong_names.py",
}  # for faults that nobody thought of
STORIES = {"test_stories.py"}  # runs the scripts beside it, what newcomers do
MOST_LINES_OUTSIDE = 80  # of them
MOST_FILES = 30  # of a folder, beside its sub-folders
SHELVES = {  # sub-folders with tests of a folder
    "studies": {"studies/groups", "studies/networks", "studies/series"},
    "bounds": {"bounds/clusters"},
    "data": {"data/labels", "data/null_hypotheses"},
    "inference": {"inference/intervals", "inference/one_side"},
    "measures": {"measures/intervals"},
    "promises": {"promises/numbers", "promises/tests"},
}
ELSEWHERE = {  # source files with nothing to test by themselves, and the test file that runs them
    "__main__.py": "test_app.py",
    "classical/binary_input.py": "test_asymptotic_result.py",
    "classical/by_cluster_result.py": "test_by_cluster.py",
    "cli/options.py": "test_app.py",
    "cli/testing.py": "test_app.py",
    "inference/comparing/ends.py": "test_compare.py",
    "inference/designs/clustered.py": "test_design.py",
    "inference/designs/cross_validated.py": "test_design.py",
    "inference/designs/design_of.py": "test_design.py",
    "inference/designs/independent.py": "test_design.py",
    "inference/designs/judged_labels.py": "test_design.py",
    "inference/problems/class_problems.py": "test_pose.py",
    "inference/problems/clustered_rows.py": "test_confidence_interval_clusters.py",
    "inference/problems/problem.py": "test_pose.py",
    "resampling/rng.py": "test_streams.py",
    "resampling/sources.py": "test_draw.py",
}
ACROSS = {  # test files about a claim that no single source file makes
    "test_architecture.py",
    "test_calls.py",
    "test_ci_page.py",
    "test_coming_from.py",
    "test_conformance.py",
    "test_depth_of_calls.py",
    "test_docs.py",
    "test_docstrings.py",
    "test_durations.py",
    "test_first_call.py",
    "test_first_use.py",
    "test_front.py",
    "test_frozen_numbers.py",
    "test_inequalities_between_measures.py",
    "test_infinite_draws_give_no_nan.py",
    "test_no_sentence_is_read.py",
    "test_level_and_coverage_of_every_measure.py",
    "test_one_name_one_number.py",
    "test_paired_run.py",
    "test_papers_page.py",
    "test_printed_answers.py",
    "test_plain_words.py",
    "test_proofs.py",
    "test_public_names.py",
    "test_site.py",
    "test_questions_of_rows.py",
    "test_simulations.py",
    "test_smoke.py",
    "test_type_counts.py",
    "test_test_files.py",
    "test_types_of_user_code.py",
    "test_user_defined_measure_of_classes.py",
    "test_user_defined_measures.py",
    "test_wrong_input.py",
}
PAGES = {  # each is about a page, or pages of one kind
    "test_changelog.py",
    "test_designs_page.py",
    "test_first_page.py",
    "test_five_papers_page.py",
    "test_how_to_pages.py",
    "test_installing_page.py",
    "test_list_of_studies.py",
    "test_maps_outside_python_page.py",
    "test_other_tools_page.py",
    "test_page_lists.py",
    "test_reference_pages.py",
    "test_repository.py",
    "test_stored_cells.py",
    "test_stored_studies.py",
    "test_study_pages.py",
    "test_ten_pages.py",
    "test_versions_of_pages.py",
}
LONGEST_TEST = 400


def source_of(test, names):
    """Which of these names of source files a test file is of: test_X.py or test_X_<about>.py, the longest X if many."""
    stem = test.removesuffix(".py")
    return max((x for x in names if stem == f"test_{x}" or stem.startswith(f"test_{x}_")), key=len, default=None)


def without_test(files, tests):
    """Source files that have no test file of their name, and entries of ELSEWHERE that are not needed."""
    names = {Path(file).stem for file in files if Path(file).name != "__init__.py"}
    have = {source_of(test, names) for test in tests}
    lacking = {file for file in files if Path(file).stem in names - have}
    return sorted(lacking ^ {file for file, test in ELSEWHERE.items() if file in files and test in tests})


def without_source(files, studies, tests):
    """Test files that are named neither after a source file or a study, test_simulations_X.py, nor in ACROSS."""
    names = {Path(file).stem for file in files} | {f"simulations_{study}" for study in studies}
    of_none = {*ACROSS, *EXTENDING, *PAPERS, *PAGES, *HOSTILE, *STORIES}
    return [test for test in tests if test not in of_none and source_of(test, names) is None]


def between_tests(tests):
    """Test modules that import another one, by the name and source of each."""
    others = {test.removesuffix(".py") for test in tests}
    found = []
    named = re.compile(r"^\s*(?:from|import)\b.*\btest_", flags=re.MULTILINE)  # to parse all files takes seconds
    for test, source in tests.items():
        names = (
            {name for node in import_statements(source) for name in imported(node)} if named.search(source) else set()
        )
        found += [test] * bool(others & {part for name in names for part in name.split(".")})
    return found


def too_long(tests):
    return [test for test, source in tests.items() if source.count("\n") > LONGEST_TEST]


def named_tests():
    return {path.name: path.read_text() for path in sorted(TESTS.rglob("test_*.py"))}


def misplaced(files, tests):
    """Tests, by their path, that lie neither beside their source in the tree nor where their kind of test belongs."""
    folder = {Path(file).stem: str(Path(file).parent) for file in files}
    found = []
    for test in tests:
        name = Path(test).name
        place = "studies" if name.startswith("test_simulations") else "promises" if name in ACROSS else None
        place = "extending" if name in EXTENDING else "papers" if name in PAPERS else place
        place = "promises/pages" if name in PAGES else "hostile" if name in HOSTILE else place
        place = "stories" if name in STORIES else place
        place = place or folder.get(source_of(name, folder))
        here = str(Path(test).parent)
        found += [test] * (here != place and here not in SHELVES.get(place or "", ()))
    return found


def crowded(files):
    """Folders with more source files than MOST_FILES, sub-folders not counted."""
    folders = [str(Path(file).parent) for file in files]
    return sorted({folder for folder in folders if folders.count(folder) > MOST_FILES})


def test_every_source_file_has_a_test_of_its_name():
    assert without_test(sources(), named_tests()) == []


def test_every_test_file_says_what_it_tests():
    studies = [path.stem for path in (ROOT.parent / "simulations").glob("*.py")]
    assert without_source(sources(), studies, named_tests()) == []


def test_tests_mirror_the_tree():
    assert misplaced(sources(), [str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")]) == []


def test_a_misplaced_test_is_found():
    tests = ["data/test_sample.py", "data/test_binned.py", "test_docs.py", "studies/test_simulations_size.py"]
    assert misplaced(["data/sample.py", "measures/binned.py"], tests) == ["data/test_binned.py", "test_docs.py"]
    shelved = ["studies/networks/test_simulations_size.py", "data/networks/test_sample.py"]
    assert misplaced(["data/sample.py"], shelved) == shelved[1:]


def repeated(files):
    """Names that several source files have, so that a name does not tell the file."""
    names = [Path(file).name for file in files if Path(file).name != "__init__.py"]
    return sorted({name for name in names if names.count(name) > 1})


def test_no_two_source_files_have_one_name():
    assert repeated(sources()) == []


def test_a_repeated_name_is_found():
    assert repeated(["bounds/tables.py", "study/tables.py", "a/__init__.py", "b/__init__.py"]) == ["tables.py"]


def test_no_folder_is_crowded():
    tests = [str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py")]
    assert crowded(sources()) == crowded(tests) == []


def test_a_crowded_folder_is_found():
    files = [f"data/{k}.py" for k in range(MOST_FILES)]
    assert crowded([*files, "data/inner/a.py"]) == []
    assert crowded([*files, "data/a.py"]) == ["data"]


def test_a_source_file_without_test_is_found():
    files = ["data/__init__.py", "data/sample.py", "measures/binned.py", "cli/options.py"]
    assert without_test(files, ["test_sample_of_rows.py", "test_app.py"]) == ["measures/binned.py"]
    assert without_test(["study/study.py", "study/study_file.py"], ["test_study_file_run.py"]) == ["study/study.py"]
    assert without_test(["cli/options.py"], ["test_options.py", "test_app.py"]) == ["cli/options.py"]  # not needed
    tests = ["test_docs.py", "test_sample.py", "test_samples.py", "test_simulations_size.py", "test_simulations_of.py"]
    assert without_source(files, ["size"], tests) == ["test_samples.py", "test_simulations_of.py"]


def test_no_test_imports_another():
    assert between_tests(named_tests()) == []


@pytest.mark.parametrize(
    "statement", ["from test_b import x", "from tests.test_b import x", "def f():\n    import test_b as b"]
)
def test_a_test_that_imports_another_is_found(statement):
    assert between_tests({"test_a.py": statement, "test_b.py": "import oracles"}) == ["test_a.py"]


def test_no_test_file_is_long():
    assert too_long(named_tests()) == []


def test_a_long_test_file_is_found():
    assert too_long({"test_a.py": "\n" * 401, "test_b.py": "\n" * 400}) == ["test_a.py"]


def test_what_is_added_from_outside_is_short():
    found = {path.name: path.read_text().count("\n") for path in (TESTS / "extending").glob("*.py")}
    assert found.keys() == EXTENDING
    assert max(found.values()) <= MOST_LINES_OUTSIDE


def test_a_statistical_test_is_told_from_others():
    assert not other_seeds.is_statistical(test_no_test_imports_another)
    assert other_seeds.is_statistical(limited)
    assert other_seeds.is_statistical(names_one_that_is_limited)


def limited():
    return other_seeds.LIMITS and "binom.ppf(1e-5, 100, 0.05)"


def names_one_that_is_limited():
    return limited()


def test_another_seed_is_another_generator():
    sequence = np.random.SeedSequence([5, 6]).spawn(2)[1]
    for given in (5, np.int64(5), [5, 6], (5, np.int64(6)), sequence):
        drawn = [np.random.default_rng(other_seeds.shifted(given, seed)).random() for seed in (1, 2, 2)]
        assert np.random.default_rng(given).random() != drawn[0] != drawn[1] == drawn[2]
    assert streams.key_of(other_seeds.shifted(5, 1)) not in (
        streams.key_of(5),
        streams.key_of(other_seeds.shifted(5, 2)),
    )
    for kept in (np.random.default_rng(5), None, True, -1, "5", [1.5]):
        assert other_seeds.shifted(kept, 1) is kept


PLANTED = """
from pathlib import Path

import numpy as np

AT_IMPORT = np.random.default_rng(1).random()


def test_fails():
    assert not AT_IMPORT


def test_holds():
    with Path("drawn").open("a") as file:
        file.write(f"{AT_IMPORT} {np.random.default_rng([1, 2]).random()}\\n")
"""


def test_failures_under_many_seeds_are_counted(tmp_path):
    """A planted failure in each of three seeds, of which one was run before; data are other ones, also at import."""
    (tmp_path / "conftest.py").write_text("import other_seeds\n\nother_seeds.use_other_seeds()\n")
    (tmp_path / "test_planted.py").write_text(PLANTED)
    before = {"seed": 2, "arguments": ["test_planted.py"], "tests": 2, "failures": ["test_planted.py::test_fails"]}
    (tmp_path / "lines").write_text(json.dumps(before) + "\n")
    command = [sys.executable, TESTS / "helpers" / "many_seeds.py", "1", "3", "lines", "test_planted.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (PROJECT, TESTS / "helpers")))}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert found.returncode == 1, found.stderr
    assert found.stdout.endswith("2 tests, 3 seeds: each may fail 1 times\n       3 test_planted.py::test_fails\n")
    assert [json.loads(line)["seed"] for line in (tmp_path / "lines").read_text().splitlines()] == [2, 1, 3]
    assert np.unique(np.loadtxt(tmp_path / "drawn"), axis=0).shape == (2, 2)
