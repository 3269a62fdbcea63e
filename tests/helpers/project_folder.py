"""The folder of the project, for tests of its pages, studies and settings."""

from pathlib import Path

PROJECT = Path(__file__).parents[2]
