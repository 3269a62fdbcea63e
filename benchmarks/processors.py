"""Whether the code of NumPy and OpenBLAS for an older processor gives other orders, choices, texts and p-values.

``python benchmarks/processors.py [CHECKOUT]`` asks for 250 audits of complementary, mirrored and symmetric groups, for
60 choices of a calibration map, and for intervals of 40 sets of rows whose residuals add up to 0, at the predictions
and one unit in the last place beside them. It prints how many differ and exits with 1 if any does. Inputs are whole
numbers and draws of the module random, so that they are the same everywhere. About a minute.
"""

import json
import os
import random
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

OLDER = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Prescott"}
LEVELS = [k / 10 for k in range(1, 10)], [k / 7 for k in range(1, 7)], [k / 97 for k in range(1, 97)], [0.05, 0.2, 0.5]
FEW = [0.3, 0.7], [0.2, 0.5, 0.8], [0.5], [0.1, 0.2, 0.3, 0.4], [k / 50 for k in range(1, 50)], [0.25, 0.75]
ZERO = (200, 0.5), (1000, 0.01), (300, 0.01), (100, 0.3), (60, 1 / 30), (400, 0.25), (150, 0.2), (500, 0.7)
MEASURES = "ece", "kernel_ce", "ks", "kernel_ce_squared", "two_bin_ce"
DIGITS = 9
JUMP = 1e-7  # of an end


def rows(source, n, levels):
    """Return outcomes and predictions of a calibrated model."""
    p = [source.choice(levels) for _ in range(n)]
    return np.array([int(source.random() < each) for each in p]), np.array(p)


def audited(seed):
    """Return what an audit says of groups that are equal on paper."""
    import calibstat as cs

    source, n = random.Random(1000 + seed), (200, 400, 800, 1500)[seed % 4]
    y, p = rows(source, n, LEVELS[seed // 5 % 4])
    half, some = n // 2, np.array([source.random() < 0.5 for _ in range(n)])
    first = np.arange(n) < half
    kind = seed % 5
    if kind == 0:  # complementary groups
        other = np.array([source.random() < 0.4 for _ in range(n)])
        groups = {"b": ~some, "a": some, "c": other, "d": ~other}
    elif kind == 1:  # each row twice, in another order
        again = np.array(source.sample(range(half), half))
        y, p = np.r_[y[:half], y[:half][again]], np.r_[p[:half], p[:half][again]]
        part = some[:half]
        groups = {"first": first, "second": ~first, "one": np.r_[part, part & False]}
        groups["other"] = np.r_[part & False, part[again]]
    elif kind == 2:  # each row beside its mirror image
        y, p = np.r_[y[:half], 1 - y[:half]], np.r_[p[:half], 1 - p[:half]]
        groups = {"up": first, "down": ~first}
    else:
        even = np.arange(n) % 2 == 0
        groups = {"a": some, "not a": ~some, "a and even": some & even, "not both": ~(some & even)}
    found = cs.audit(y, p, cs.Groups(groups, min_rows=5), rng=seed, shape=seed % 3 == 0, n_resamples=199)
    return {
        "order": [found.names[g] for g in found.order],
        "order beyond the total": [found.names[g] for g in found.beyond.order],
        "p-values": [found.pvalue.tolist(), found.pvalue_adjusted.tolist()],
        "text": str(found),
    }


def chosen(seed):
    """Return which calibration map is chosen, where several agree on the data."""
    import calibstat as cs

    y, p = rows(random.Random(5000 + seed), (100, 200, 300)[seed % 3], FEW[seed % 6])
    how = {"one_standard_error": bool(seed % 2), "score": ("brier", "log_loss")[seed // 2 % 2]}
    found = cs.recalibration.choose(y, p, rng=seed, repeats=2, **how)
    return {"map": repr(found.recalibrator), "order": found.names, "text": str(found)}


def at_zero(n, v, measure):
    """Return the ends of an interval where residuals add up to 0, and whether one jumps beside these predictions."""
    import calibstat as cs

    y = np.arange(n) < round(n * v)
    ends = []
    for near in (v, np.nextafter(v, 0), np.nextafter(v, 1)):
        found = cs.confidence_interval(y.astype(int), np.full(n, near), measure=measure, n_resamples=99, rng=1)
        ends.append((found.low, found.high))
    return {"ends": [[float(f"{end:.{DIGITS}g}") for end in ends[0]], bool(np.ptp(ends, axis=0).max() > JUMP)]}


def answers():
    """Return all answers by their names."""
    warnings.simplefilter("ignore")
    found = {f"audit {seed}": audited(seed) for seed in range(250)}
    found |= {f"choice {seed}": chosen(seed) for seed in range(60)}
    return found | {f"interval {m} {n} {v:g}": at_zero(n, v, m) for n, v in ZERO for m in MEASURES}


def asked(checkout, settings):
    """Return the answers of a process with these settings."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"} | settings
    command = [sys.executable, __file__, "--answers"]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main():
    """Compare both settings."""
    checkout = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    usual, older = asked(checkout, {}), asked(checkout, OLDER)
    differ = Counter(
        f"{name.split()[0]}: {field}"
        for name in usual
        for field in usual[name]
        if usual[name][field] != older[name][field]
    )
    jumps = sum(each["ends"][1] for each in usual.values() if "ends" in each)
    for what, number in sorted(differ.items()):
        print(f"{what} differs in {number}")
    print(f"{len(usual)} answers, {sum(differ.values())} differences, {jumps} jumps of ends at sums of 0")
    sys.exit(bool(differ or jumps))


if __name__ == "__main__":
    print(json.dumps(answers())) if sys.argv[1:] == ["--answers"] else main()
