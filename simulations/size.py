"""Does every test keep its level? Rejection rates of `calibration_test` on calibrated data.

The promise: with resample="labels", P(p <= 0.05) <= 0.05 for every measure, n and pattern of ties. A cell that breaks
it beyond the exact binomial limit is printed, and the script fails. resample="both" promises nothing; its rates are
here to be seen.

    python simulations/size.py --n-jobs 2
"""

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
from scipy.stats import beta

import calibstat as cs

LEVEL = 0.05
FALSE_ALARM = 1e-3  # of the whole study, if all promises are kept
GENERATORS = {
    "uniform": cs.generators.calibrated(),
    "five scores": cs.generators.calibrated([0.1, 0.3, 0.5, 0.7, 0.9]),
    "near 0 and 1": cs.generators.calibrated(beta(0.1, 0.1)),
}
BINNED = {
    "ece": ("ece", {}),
    "ece, quantile": ("ece", {"strategy": "quantile"}),
    "ece, l2": ("ece", {"norm": "l2"}),
}
EVERY = BINNED | {name: (name, {}) for name in cs.MEASURES}
EVERY |= {"ece, max": ("ece", {"norm": "max"}), "kernel_ce, U": ("kernel_ce", {"statistic": "U"})}
SEVERAL = BINNED | {name: (name, {}) for name in ("ks", "kuiper", "kernel_ce")}


def study(seed: int, n_jobs: int, quick: bool) -> pd.DataFrame:
    effort = {"replicates": 20 if quick else 2000, "n_resamples": 19 if quick else 99}
    shared = {**effort, "level": LEVEL, "seed": seed, "n_jobs": n_jobs}
    labels = cs.study.size(GENERATORS, [20] if quick else [20, 100], EVERY, resample="labels", **shared)
    uniform = {"uniform": GENERATORS["uniform"]}
    both = cs.study.size(uniform, [20, 100] if quick else [20, 100, 1000], SEVERAL, resample="both", **shared)
    return pd.concat([labels, both], ignore_index=True)


def broken(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the labels test that reject more often than their level allows."""
    promised = table[table["method"] == "labels"]
    limit = cs.study.most_rejections(LEVEL, int(table["replicates"].iloc[0]), FALSE_ALARM / len(promised))
    return promised[promised["rejections"] > limit]


def draw(table: pd.DataFrame, path: Path) -> None:
    sns.set_theme(style="whitegrid", palette="colorblind")
    cell = table["generator"] + ", n = " + table["n"].astype(str)
    height = 0.9 + 0.27 * table["measure"].nunique()
    grid = sns.FacetGrid(table.assign(cell=cell), col="cell", col_wrap=3, height=height, aspect=4 / height)

    def rates(data: pd.DataFrame, color: object) -> None:
        error = [data["rate"] - data["low"], data["high"] - data["rate"]]
        plt.errorbar(data["rate"], data["measure"], xerr=error, fmt="o", color=color, markersize=4, elinewidth=1.5)

    grid.map_dataframe(rates)
    grid.refline(x=LEVEL, color="black")
    grid.set_titles("{col_name}")
    grid.set_axis_labels("rate of rejection at 5%", "")
    grid.axes.flat[0].invert_yaxis()
    grid.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    grid.savefig(path, dpi=120)
    plt.close(grid.figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a small grid with few replicates, into a temporary folder"
    )
    parser.add_argument("--n-jobs", type=int, default=1, help="processes; the numbers do not depend on it")
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--out", type=Path, help="folder for results/ and figures/ (default: that of this script)")
    given = parser.parse_args()
    out = given.out or (Path(tempfile.mkdtemp(prefix="size-")) if given.quick else Path(__file__).parent)

    table = study(given.seed, given.n_jobs, given.quick)
    command = f"python simulations/size.py --seed {given.seed}" + " --quick" * given.quick
    facts = {"version": cs.__version__, "date": datetime.date.today().isoformat()}
    cs.study.write_table(table, out / "results/size.csv", command=command, seed=given.seed, **facts)
    for method, part in table.groupby("method"):
        draw(part, out / f"figures/size_{method}.png")
    print(f"written to {out}")
    found = broken(table)
    if len(found):
        print(f"the level is broken in {len(found)} cells:", found.to_string(index=False), sep="\n")
    return int(len(found) > 0)


if __name__ == "__main__":
    sys.exit(main())
