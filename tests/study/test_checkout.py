"""The commit in stored tables: of a checkout that has the package's files, and of no other."""

import re
import subprocess

import pytest
from project_folder import PROJECT

from calibstat.study.checkout import commit


@pytest.fixture
def checkout(tmp_path):
    """A package in a checkout of one commit, and a function that calls git there."""
    package = tmp_path / "code" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")

    def git(*arguments):
        who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
        command = ["git", *who, "-C", str(package.parent), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", "package")
    git("commit", "-q", "-m", "Begin")
    return package, git


def test_a_checkout_names_its_commit_and_says_if_files_have_changed(checkout):
    package, git = checkout
    head = git("rev-parse", "HEAD")
    assert re.fullmatch("[0-9a-f]{7,40}", commit(package))
    assert head.startswith(commit(package))
    (package.parent / "results.csv").write_text("1")  # a new file, as of a run that was stopped, changes no code
    assert head.startswith(commit(package))
    (package / "__init__.py").write_text("changed = True")
    assert re.fullmatch("[0-9a-f]{7,40} with changes", commit(package))


def test_a_package_that_is_only_installed_in_a_checkout_has_no_commit(checkout):
    package, _ = checkout
    installed = package.parent / "environment" / "calibstat"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert commit(installed) is None


def test_outside_a_checkout_or_without_git_there_is_no_commit(tmp_path, checkout, monkeypatch):
    assert commit(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit(checkout[0]) is None


def test_the_commit_is_of_these_sources():
    found = commit()
    assert (found is None) == (not (PROJECT / ".git").exists())
