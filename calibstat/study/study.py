"""A study: the grids, table and pictures of one question."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.data.checks import check_whole, short
from calibstat.output.whole_folder import whole_folder
from calibstat.plots.settings import load_backend, settings
from calibstat.plots.studies.table_plot import STUDY_STYLE, plot
from calibstat.study.checkout import commit
from calibstat.study.runner import run
from calibstat.study.stored_pictures import save_picture
from calibstat.study.study_options import Option, chosen
from calibstat.study.study_tables import write_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PAPERS = Path(__file__).resolve().parents[1] / "papers"  # the folder of the studies that are installed


@dataclass(frozen=True, kw_only=True)
class Study:
    """A claim, or an open question, as grids, a table and pictures.

    Attributes
    ----------
    question : str
        The question it answers, in one sentence.
    seed : int
        Other than the seed of any other study, test or tuning.
    grids : callable
        ``grids(quick)``, arguments of `calibstat.study.run`, for one table or several that are put below each other.
        If `quick`, a small grid with few replicates, for a few seconds.
    table : callable or None
        ``table(quick=, n_jobs=)``, what is put below the tables of the grids: for a study that is not made of samples
        one by one, or not of them alone. It is made anew each time, also if the study is resumed.
    takes_data : bool
        Whether ``table`` can also be given ``data=``, the paths of files of predictions and outcomes.
    takes_store : bool
        Whether ``table`` can also be given ``store=``, the path of a folder in which it keeps what is finished, and
        looks for it.
    options : mapping from name to Option
        What may be set. If there are any, ``table`` is also given ``options=``, the value of each by its name.
    figures : callable
        ``figures(table)``, pictures by the ending of their file's name ("" for the only one), in the look of those by
        `plot`. Default: as by `plot`.
    pages : callable
        ``pages(table, figures)``, texts that are written beside the table, by the ending of their file's name, such as
        ".html". Default: none.
    violations : callable or None
        ``violations(table)``, the rows in which a promise does not hold, for a study of a promise.
    runtime_hours : float or None
        How long it takes on two cores, without `data`.
    file : Path
        The file that it was loaded from, whose name without ``.py`` is its name.

    Raises
    ------
    ValueError
        If a field is of another type.
    """

    question: str
    seed: int
    grids: Callable[[bool], Sequence[Mapping[str, Any]]] = field(default=lambda quick: [])
    table: Callable[..., pd.DataFrame] | None = None
    takes_data: bool = False
    takes_store: bool = False
    options: Mapping[str, Option] = field(default_factory=dict)
    figures: Callable[[pd.DataFrame], Mapping[str, Figure]] = field(default=lambda table: {"": plot(table)})
    pages: Callable[[pd.DataFrame, Mapping[str, Figure]], Mapping[str, str]] = field(default=lambda table, figures: {})
    violations: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    runtime_hours: float | None = None
    file: Path = Path("study.py")

    def __post_init__(self) -> None:
        if not isinstance(self.question, str):
            raise ValueError(f"expected a question in words, found {short(self.question)}")
        check_whole("seed", self.seed, 0)
        for name in ("grids", "figures", "pages", "table", "violations"):
            value, optional = getattr(self, name), name in ("table", "violations")
            if not callable(value) and not (optional and value is None):
                raise ValueError(f"expected {name} to be a function, found {short(value)}")

    @property
    def name(self) -> str:
        """The name of its file, and of what it writes."""
        return self.file.stem

    @property
    def called(self) -> str:
        """The argument of `calibstat study`: the name of an installed study, or a file with its folder."""
        file = self.file.resolve()
        return self.name if file.parent == PAPERS else f"{file.parent.name}/{file.name}"

    @property
    def home(self) -> Path:
        """The default output folder: the folder of its file, or the current folder for an installed study."""
        return Path() if self.called == self.name else self.file.parent

    def run(
        self,
        out: str | Path,
        *,
        quick: bool = False,
        resume: bool = False,
        n_jobs: int | None = None,
        data: Sequence[Path] = (),
        options: Mapping[str, Any] | None = None,
    ) -> tuple[pd.DataFrame, list[Path]]:
        """Run every grid, and write the table to ``results`` and the pictures to ``figures`` in the folder `out`.

        Finished data sets are kept in ``stores`` meanwhile, and a study that was stopped goes on with `resume`. `data`
        are files for a study that takes some, `options` what is set, as values or as text.
        Return the table and what was written.
        """
        import pandas as pd

        if data and not self.takes_data:
            raise ValueError(f"expected no data for study {self.name!r}, which makes its own; found {data[0]}")
        options = options or {}
        values = chosen(self.options, options, self.name)
        out, name = Path(out), self.name + "-quick" * quick  # never over the results that count
        store = out / "stores" / name
        if store.exists() and not resume:
            raise ValueError(f"expected no earlier run in {store}: resume it with --resume, or delete it")
        grids = self._checked_grids(quick, store, n_jobs)
        tables = [run(**grid, seed=self.seed, store=store / str(i), n_jobs=n_jobs) for i, grid in enumerate(grids)]
        if self.table is not None:
            given: dict[str, Any] = {"data": list(data)} if self.takes_data else {}
            given |= {"store": store / "table"} if self.takes_store else {}
            given |= {"options": values} if self.options else {}
            tables.append(self.table(quick=quick, n_jobs=n_jobs, **given))
        table = pd.concat(tables, ignore_index=True)
        command = self._command(quick, data, {each: values[each] for each in options})
        return table, self._write(table, out, name, command)

    def _checked_grids(self, quick: bool, store: Path, n_jobs: int | None) -> Sequence[Mapping[str, Any]]:
        """Return the grids; raise unless there is something to run, and all are arguments of `calibstat.study.run`."""
        grids = self.grids(quick)
        if not isinstance(grids, Sequence) or not all(isinstance(grid, Mapping) for grid in grids):
            raise ValueError(f"expected a list of grids from grids(quick={quick}), found {short(grids)}")
        if not grids and self.table is None:
            raise ValueError(f"expected a grid or a table of study {self.name!r}, found neither")
        for i, grid in enumerate(grids):
            try:
                signature(run).bind(**grid, seed=self.seed, store=store, n_jobs=n_jobs)
            except TypeError as error:
                found = str(error).rpartition("got ")[2]
                raise ValueError(f"expected arguments of calibstat.study.run in grid {i}, found {found}") from error
        return grids

    def _command(self, quick: bool, data: Sequence[Path], options: Mapping[str, Any]) -> str:
        """Return the command that makes the same table."""
        import shlex

        command = f"calibstat study {shlex.quote(self.called)}"
        command += " --quick" * quick + "".join(f" --data {shlex.quote(each.name)}" for each in data)
        return command + "".join(
            f" --set {shlex.quote(f'{name}={_as_text(value)}')}" for name, value in options.items()
        )

    def _write(self, table: pd.DataFrame, out: Path, name: str, command: str) -> list[Path]:
        """Write the table, its pages and its pictures, all of them or none; return their paths."""
        import matplotlib.pyplot as plt

        facts: dict[str, object] = {"seed": self.seed, "version": version("calibstat")}
        facts |= {} if (of_code := commit()) is None else {"commit": of_code}
        facts["date"] = datetime.date.today().isoformat()
        written = [Path("results") / f"{name}.csv"]
        load_backend()
        with whole_folder(out) as draft:
            write_table(table, draft / written[0], command=command, **facts)
            with settings(STUDY_STYLE):
                figures = self.figures(table)
            for ending, text in self.pages(table, figures).items():
                written.append(Path("results") / f"{name}{ending}")
                (draft / written[-1]).write_text(text, encoding="utf-8")
            for ending, figure in figures.items():
                written.append(Path("figures") / f"{name}{'_' * bool(ending)}{ending}.png")
                save_picture(figure, draft / written[-1], draft / written[0])
                plt.close(figure)
        return [out / path for path in written]


def _as_text(value: object) -> str:
    """Write the value of an option as it can be set."""
    return (
        ",".join(value) if isinstance(value, tuple) else str(value).lower() if isinstance(value, bool) else str(value)
    )
