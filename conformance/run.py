"""Check a package against the cases: ``python run.py packages/for_calibstat.py``; the exit code is 1 if one fails."""

import json
import math
import runpy
import sys
from collections import Counter
from pathlib import Path

found = runpy.run_path(sys.argv[1])  # FUNCTIONS, a function (y, p, weights, **options) for each measure; VERSION
counts: dict[str, Counter] = {}
for case in json.loads(Path(__file__).with_name("cases-1.json").read_text(encoding="utf-8"))["cases"]:
    if case["measure"] not in found["FUNCTIONS"]:
        continue
    answer, error, said = float(case["answer"]), 0.0, "passed"
    try:
        got = found["FUNCTIONS"][case["measure"]](case["y"], case["p"], case.get("weights"), **case["options"])
        got, error = got if isinstance(got, tuple) else (got, 0.0)  # a value drawn at random, with its standard error
        if not (got == answer or math.isclose(got, answer, rel_tol=1e-9, abs_tol=1e-9 + 5 * error)):
            said = f"failed: {got!r}"
    except NotImplementedError:
        said = "not offered"
    except ValueError as refusal:
        said = f"refused: {refusal}"
    counts.setdefault(case["measure"], Counter())[said.partition(":")[0]] += 1
    if said.startswith(("failed", "refused")):
        print(f"{case['id']} ({case['kind']}, {case['options']}): expected {answer!r}, {said[:150]}")
print(f"\n{found['VERSION']}", *(f"{name}: {dict(each)}" for name, each in counts.items()), sep="\n")
sys.exit(any("failed" in each for each in counts.values()))
