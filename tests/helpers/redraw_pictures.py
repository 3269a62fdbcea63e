"""Draw stored pictures of studies again from their stored tables; no study is run.

``python tests/helpers/redraw_pictures.py`` draws the pictures of every study of which one does not show its table as it
is, and with names of studies after it theirs alone. It prints what it wrote, and deletes what a study no longer draws.

With ``--keep`` and names it draws nothing, and writes into the pictures that they show their tables: for those that a
run wrote together with its table. It drew them from all digits, of which the table keeps six.
"""

import sys

import pandas as pd
from simulation_files import FOLDER, STORED

from calibstat.plots.settings import settings
from calibstat.plots.studies.table_plot import STUDY_STYLE
from calibstat.study.stored_pictures import name_of_table, save_picture, table_shown, write_table_shown

FIGURES, RESULTS = FOLDER / "figures", FOLDER / "results"


def study_of(picture):
    """The study that a picture belongs to, by its name: of several, the one with the longest name."""
    return max((name for name in STORED if f"{picture.stem}_".startswith(f"{name}_")), key=len)


def outdated(figures=FIGURES, results=RESULTS):
    """The pictures that do not show the table of their study as it is, by name, with what they show."""
    tables = {name: name_of_table(results / f"{name}.csv") for name in STORED}
    shown = {picture: table_shown(picture) for picture in sorted(figures.glob("*.png"))}
    return {picture.name: found for picture, found in shown.items() if found != tables[study_of(picture)]}


def redraw(name):
    """Draw the pictures of one study."""
    import matplotlib.pyplot as plt

    results = RESULTS / f"{name}.csv"
    with settings(STUDY_STYLE):
        drawn = STORED[name].figures(pd.read_csv(results, comment="#"))
    written = {FIGURES / f"{name}{'_' * bool(ending)}{ending}.png": figure for ending, figure in drawn.items()}
    for path, figure in written.items():
        save_picture(figure, path, results)
        plt.close(figure)
    for picture in sorted(FIGURES.glob(f"{name}*.png")):
        if study_of(picture) == name and picture not in written:
            picture.unlink()
    return [path.name for path in written]


def keep(name):
    """Write into the pictures of one study that they show its table."""
    pictures = [picture for picture in sorted(FIGURES.glob(f"{name}*.png")) if study_of(picture) == name]
    for picture in pictures:
        write_table_shown(picture, RESULTS / f"{name}.csv")
    return [picture.name for picture in pictures]


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    names = [name for name in sys.argv[1:] if name != "--keep"]
    make = keep if "--keep" in sys.argv else redraw
    if make is keep and not names:
        sys.exit("expected names of studies after --keep, found none")
    for study in names or sorted({study_of(FIGURES / picture) for picture in outdated()}):
        print(*make(study), flush=True)
