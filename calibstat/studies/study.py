"""What a named study is, and how it is carried out."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from calibstat.output.whole_folder import whole_folder
from calibstat.studies.grid import Grid
from calibstat.study import plot, run, write_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Study:
    """A published claim, or an open question, as a grid, a call and a figure.

    Attributes
    ----------
    name : str
        Its name on the command line and of its files.
    asks : str
        The question it answers, in one sentence.
    seed : int
        Other than that of any other study, test or tuning.
    hours : float
        How long it takes on two cores.
    grids : callable
        ``grids(quick)``, arguments of `calibstat.study.run`, for one table or several that are put below each other.
        If `quick`, a small grid with few replicates, for a few seconds.
    table : callable or None
        ``table(quick=, n_jobs=)``, what is put below the tables of the grids: for a study that is not made of samples
        one by one, or not of them alone. It is made anew each time, also if the study goes on.
    takes_data : bool
        Whether ``table`` can also be given ``data=``, a file of predictions and what happened.
    figures : callable
        ``figures(table)``, pictures by the ending of their file's name ("" for the only one).
    broken : callable or None
        ``broken(table)``, the rows in which a promise does not hold, for a study of a promise.
    """

    name: str
    asks: str
    seed: int
    hours: float
    grids: Callable[[bool], Sequence[Grid]] = field(default=lambda quick: ())
    table: Callable[..., pd.DataFrame] | None = None
    takes_data: bool = False
    figures: Callable[[pd.DataFrame], Mapping[str, Figure]] = field(default=lambda table: {"": plot(table)})
    broken: Callable[[pd.DataFrame], pd.DataFrame] | None = None

    def carry_out(
        self,
        out: Path,
        *,
        quick: bool = False,
        resume: bool = False,
        n_jobs: int | None = None,
        data: Path | None = None,
    ) -> tuple[pd.DataFrame, list[Path]]:
        """Run every grid, and write the table to ``results`` and the pictures to ``figures`` in the folder `out`.

        Finished data sets are kept in ``stores`` meanwhile, and a study that was stopped goes on with `resume`.
        Return the table and what was written.
        """
        import matplotlib.pyplot as plt
        import pandas as pd

        if data is not None and not self.takes_data:
            raise ValueError(f"expected no data for study {self.name!r}, which makes its own; found {data}")
        name = self.name + "-quick" * quick  # never over the results that count
        store = out / "stores" / name
        if store.exists() and not resume:
            raise ValueError(f"expected no earlier run in {store}: resume it with --resume, or delete it")
        tables = [
            run(**grid, seed=self.seed, store=store / str(i), n_jobs=n_jobs) for i, grid in enumerate(self.grids(quick))
        ]
        if self.table is not None:
            tables.append(self.table(quick=quick, n_jobs=n_jobs, **({"data": data} if self.takes_data else {})))
        table = pd.concat(tables, ignore_index=True)
        command = (
            f"calibstat study {self.name}" + " --quick" * quick + (f" --data {shlex.quote(data.name)}" if data else "")
        )
        facts = {"seed": self.seed, "version": version("calibstat"), "date": datetime.date.today().isoformat()}
        written = [Path("results") / f"{name}.csv"]
        with whole_folder(out) as draft:
            write_table(table, draft / written[0], command=command, **facts)
            for ending, figure in self.figures(table).items():
                written.append(Path("figures") / f"{name}{'_' * bool(ending)}{ending}.png")
                _save(figure, draft / written[-1])
                plt.close(figure)
        return table, [out / path for path in written]


def _save(figure: Figure, path: Path) -> None:
    """Save a picture in 256 colours, in which a large one takes a third of the bytes.

    They are chosen to cover all that occur: by default they follow the most frequent, and rare marks change colour.
    """
    from PIL import Image  # matplotlib's own requirement

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(path, optimize=True)
