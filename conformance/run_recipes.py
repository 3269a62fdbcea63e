"""Run the recipes of docs/more/other-tools.md, each with the real package, and store what it prints.

``python conformance/run_recipes.py`` runs each file of ``conformance/recipes`` whose packages are installed, in a
folder of its own, and writes a text file beside it: versions in the first line, then what the recipe printed. Recipes
whose packages are not installed keep the stored text.
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).parent / "recipes"
OF_R = 'cat(R.version.string, ", jsonlite ", as.character(packageVersion("jsonlite")), sep = "")'
DISTRIBUTIONS = {  # by recipe, the packages whose versions are stored
    "skore_check.py": ["skore", "scikit-learn"],
    "mlflow_evaluate.py": ["mlflow", "pandas"],
    "evidently_metric.py": ["evidently", "pandas"],
    "xarray_stack.py": ["xarray"],
    "from_r.R": [],
}


def run(command: list[str], folder: str = ".") -> str:
    """Return what a program prints on its standard output, with the commands of this environment before others."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "MPLBACKEND": "agg"}
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    ).stdout.strip()


def versions(recipe: str) -> str:
    """Return the versions with which a recipe runs here; an error if a package is not installed."""
    named = [f"{name} {version(name)}" for name in DISTRIBUTIONS[recipe]]
    named += [run(["Rscript", "-e", OF_R])] if recipe.endswith(".R") else []
    return ", ".join([*named, f"calibstat {version('calibstat')}"])


def main() -> None:
    """Run what can be run here."""
    for recipe in DISTRIBUTIONS:
        program = "Rscript" if recipe.endswith(".R") else sys.executable
        try:
            first = versions(recipe)
            with tempfile.TemporaryDirectory() as folder:
                printed = run([program, str(FOLDER / recipe)], folder)
        except (PackageNotFoundError, FileNotFoundError, subprocess.CalledProcessError) as missing:
            print(f"{recipe}: {missing}; the stored text is kept")
            continue
        (FOLDER / recipe).with_suffix(".txt").write_text(f"{first}\n{printed}\n", encoding="utf-8")
        print(f"{recipe}: {first}\n{printed}\n")


if __name__ == "__main__":
    main()
