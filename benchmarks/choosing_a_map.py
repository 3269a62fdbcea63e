"""How much of what the best map gains does `choose` lose? Regret on fresh rows whose probabilities are known.

``python benchmarks/choosing_a_map.py 40 --n 300 2000`` takes 40 data sets a task. The gain of a map is by how much it
lowers the Brier score of 100,000 fresh rows, in expectation over their outcomes; the best map is the one with the
largest mean gain over the data sets. Regret is the gain of the best map less the gain of what was chosen.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.special import expit, logit
from tables import markdown

from calibstat.recalibration import RECALIBRATORS, choose
from calibstat.recalibration.choose_map import CHOICE_SCORES

FRESH = 100_000
SEED = 20703
RULES = tuple(f"{score}{rule}" for score in CHOICE_SCORES for rule in ("", ", one s.e."))
STEPS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
TASKS = {  # the probability of the outcome, given a prediction
    "temperature 1.5": lambda p: expit(logit(p) / 1.5),
    "shift .5": lambda p: expit(logit(p) - 0.5),
    "S-shape": lambda p: p + 0.12 * np.sin(2 * np.pi * p),
    "isotonic steps": lambda p: STEPS[np.minimum((p * 5).astype(int), 4)],
    "calibrated": lambda p: p,
    "rare .02": lambda p: p / 2,
}


def predictions(task: str, n: int, random: np.random.Generator) -> np.ndarray:
    """Draw predictions: normal log-odds around 0, or of a rare outcome twice as large as they should be."""
    if task == "rare .02":
        return random.beta(1, 24, n)
    return expit(random.normal(0, 1.5, n))


def one_data_set(task: str, n: int, seed: int) -> dict[str, float]:
    """Return the gain of each map, and of what each rule chooses."""
    random = np.random.default_rng((SEED, seed, n, sorted(TASKS).index(task)))
    p, fresh = predictions(task, n, random), predictions(task, FRESH, np.random.default_rng(SEED))
    y, truth = (random.random(n) < TASKS[task](p)).astype(int), TASKS[task](fresh)
    before = ((fresh - truth) ** 2).mean()
    gain = {
        kind.__name__: before - ((kind().fit(p, y).predict_proba(fresh) - truth) ** 2).mean()
        for kind in RECALIBRATORS.values()
        if kind.tried_from == 2
    }
    chosen = {}
    for score in CHOICE_SCORES:
        found = choose(y, p, score=score, rng=seed)
        near = {
            name for name, d, se in zip(found.names, found.difference, found.standard_error, strict=True) if d <= se
        }
        chosen[score] = found.names[0]
        chosen[f"{score}, one s.e."] = next(name for name in gain if f"{name}()" in near)
    return gain | {rule: gain[name.removesuffix("()")] for rule, name in chosen.items()}


def table(n_sets: int, sizes: list[int], keep: Path | None) -> list[list[str]]:
    """Return a row for each task and number of rows, gains and regrets in units of 1e-5."""
    rows = []
    for n in sizes:
        for task in TASKS:
            started = time.process_time()
            gains = [one_data_set(task, n, seed) for seed in range(n_sets)]
            seconds = time.process_time() - started
            if keep is not None:
                with keep.open("a") as file:
                    file.write(json.dumps({"task": task, "n": n, "gains": gains}) + "\n")
            gain = {name: 1e5 * np.array([each[name] for each in gains]) for name in gains[0]}
            best = max((name for name in gain if name not in RULES), key=lambda name: gain[name].mean())
            compared = [gain[best] - gain[rule] for rule in RULES] + [gain["PlattScaling"] - gain[RULES[0]]]
            cells = [f"{each.mean():.1f} ± {each.std(ddof=1) / n_sets**0.5:.1f}" for each in compared]
            rows.append([task, f"{n:,}", str(n_sets), best, f"{gain[best].mean():.1f}", *cells, f"{seconds:.0f}"])
            print("|".join(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_sets", type=int)
    parser.add_argument("--n", type=int, nargs="+", default=[300, 2000, 20_000])
    parser.add_argument("--keep", type=Path, help="file of JSON lines, to which the gains of all data sets are added")
    given = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # fits without an optimum
    head = ["task", "n", "data sets", "best map", "its gain", *(f"regret, {rule}" for rule in RULES)]
    print(markdown([*head, f"Platt's gain less {RULES[0]}", "CPU s"], table(given.n_sets, given.n, given.keep)))


if __name__ == "__main__":
    main()
