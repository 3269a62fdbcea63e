"""Does every interval cover what it says? Coverage of `confidence_interval` where the truth is known.

The promise: method="honest" at 95% covers in at least 94% of samples, for every measure that has it, at and away from
calibration. A cell that breaks it beyond the exact binomial limit is printed, and the script fails. The percentile and
the basic bootstrap promise nothing; their rates are here to be seen.

    python simulations/coverage.py --n-jobs 2
"""

if __name__ != "__main__":  # numba looks for the package "coverage" and would find this script instead
    raise ImportError("this is a script, not the package coverage")

import argparse
import datetime
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

import calibstat as cs

LEVEL = 0.95
PROMISE = 0.94
FALSE_ALARM = 1e-3  # of the whole study, if all promises are kept
FIVE = [0.1, 0.3, 0.5, 0.7, 0.9]
GENERATORS = {"calibrated": cs.generators.calibrated()}
GENERATORS |= {f"temperature {beta}": cs.generators.temperature(beta) for beta in (1.05, 1.2, 1.5, 2.0, 0.7)}
GENERATORS |= {f"shift {delta}": cs.generators.shift(delta) for delta in (0.1, 0.3)}
GENERATORS |= {"five scores": cs.generators.calibrated(FIVE), "five, temp. 1.5": cs.generators.temperature(1.5, FIVE)}
MEASURES = {"ece": ("ece", {}), "ece, quantile": ("ece", {"strategy": "quantile"})}
MEASURES |= {name: (name, {}) for name in ("ks", "kuiper", "kernel_ce", "brier", "log_loss")}
METHODS = ["honest", "percentile", "basic"]
MARKERS = dict(zip(METHODS, "oX^", strict=True))


def study(seed: int, n_jobs: int, quick: bool) -> pd.DataFrame:
    few = {label: GENERATORS[label] for label in ("calibrated", "temperature 1.5", "five scores")}
    return cs.study.coverage(
        few if quick else GENERATORS,
        [200] if quick else [200, 1000],
        MEASURES,
        METHODS,
        replicates=20 if quick else 1000,
        seed=seed,
        n_resamples=99 if quick else 299,
        confidence_level=LEVEL,
        n_jobs=n_jobs,
    )


def broken(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of honest intervals that miss the truth more often than the promise allows."""
    promised = table[table["method"] == "honest"]
    limit = cs.study.most_rejections(1 - PROMISE, int(table["replicates"].iloc[0]), FALSE_ALARM / len(promised))
    return promised[promised["replicates"] - promised["covered"] > limit]


def draw(table: pd.DataFrame, path: Path) -> None:
    sns.set_theme(style="whitegrid", palette="colorblind")
    cells = list(table["generator"].unique())
    height = 1 + 0.35 * len(cells)
    grid = sns.FacetGrid(
        table, row="n", col="measure", hue="method", hue_order=METHODS, height=height, aspect=1.9 / height
    )

    def rates(data: pd.DataFrame, color: object, label: str) -> None:
        place = data["generator"].map(cells.index) + 0.22 * (METHODS.index(label) - 1)  # beside each other
        error = [data["rate"] - data["low"], data["high"] - data["rate"]]
        plt.errorbar(data["rate"], place, xerr=error, fmt=MARKERS[label], color=color, label=label, markersize=5)

    grid.map_dataframe(rates)
    grid.refline(x=LEVEL, color="black")
    grid.set_titles("{col_name}\nn = {row_name}")
    grid.set_axis_labels("coverage", "")
    grid.set(
        xlim=(-0.06, 1.06),
        xticks=[0, 0.5, 1],
        ylim=(len(cells) - 0.5, -0.5),
        yticks=range(len(cells)),
        yticklabels=cells,
    )
    grid.tight_layout()
    grid.add_legend(title="")
    path.parent.mkdir(parents=True, exist_ok=True)
    grid.savefig(path, dpi=110)
    plt.close(grid.figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a small grid with few replicates, into a temporary folder"
    )
    parser.add_argument("--n-jobs", type=int, default=1, help="processes; the numbers do not depend on it")
    parser.add_argument("--seed", type=int, default=20262)
    parser.add_argument("--out", type=Path, help="folder for results/ and figures/ (default: that of this script)")
    given = parser.parse_args()
    out = given.out or (Path(tempfile.mkdtemp(prefix="coverage-")) if given.quick else Path(__file__).parent)

    table = study(given.seed, given.n_jobs, given.quick)
    command = f"python simulations/coverage.py --seed {given.seed}" + " --quick" * given.quick
    facts = {"version": cs.__version__, "date": datetime.date.today().isoformat()}
    cs.study.write_table(table, out / "results/coverage.csv", command=command, seed=given.seed, **facts)
    draw(table, out / "figures/coverage.png")
    print(f"written to {out}")
    found = broken(table)
    if len(found):
        print(f"coverage is below the promise in {len(found)} cells:", found.to_string(index=False), sep="\n")
    return int(len(found) > 0)


if __name__ == "__main__":
    sys.exit(main())
