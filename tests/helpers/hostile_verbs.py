"""Calls about one model that hostile rows are given to, and their answers, also in another process.

``python tests/helpers/hostile_verbs.py`` reads calls from standard input, as a list in JSON of the name, the outcomes
and the predictions of each, and prints the list of their answers.
"""

import json
import sys

import numpy as np
from smoke_answers import in_json

import calibstat as cs

FEW = {"n_resamples": 39, "rng": 1}
VERBS = {  # answers about one model and one event
    "audit": lambda y, p, **o: cs.audit(y, p, {"high": np.asarray(p) > 0.5, "all": np.asarray(p) >= 0}, **o),
    "belt": lambda y, p, **o: cs.classical.calibration_belt(y, p, held_out=True, clip=0.01),
    "test": lambda y, p, **o: cs.calibration_test(y, p, **o),
    "test of ks": lambda y, p, **o: cs.calibration_test(y, p, measure="ks", **o),
    "interval of ece": lambda y, p, **o: cs.confidence_interval(y, p, measure="ece", **o),
    "interval of smooth_ce": lambda y, p, **o: cs.confidence_interval(y, p, measure="smooth_ce", **o),
    "interval of brier": lambda y, p, **o: cs.confidence_interval(y, p, measure="brier", method="percentile", **o),
    "cox": lambda y, p, **o: cs.classical.cox(y, p, held_out=True, clip=0.01),
    "decompose": lambda y, p, **o: cs.decompose(y, p, **o),
    "equivalence": lambda y, p, **o: cs.equivalence_test(y, p, measure="ks", **o),
    "gains": lambda y, p, **o: cs.decision_loss(y, p, [0.2, 0.5], **o),
    "net benefit": lambda y, p, **o: cs.net_benefit(y, p, [0.2, 0.5]),
    "reliability": lambda y, p, **o: cs.reliability(y, p, **o),
    "risk and coverage": lambda y, p, **o: cs.risk_coverage(y, p, max_error=0.2, **o),
    "skill": lambda y, p, **o: cs.skill_score(y, p),
    "sharpness": lambda y, p, **o: cs.sharpness(y, p),
    "t_cal": lambda y, p, **o: cs.classical.t_cal(y, p, **o),
    "validate": lambda y, p, **o: cs.validate(y, p, clip=0.01),
}
OF_ONE_EVENT = {name: {"measure": name} for name in sorted(cs.MEASURES)}  # estimates
OF_CLASSES = {
    "ece of classes": {"measure": "ece", "lens": "class_wise_mean"},
    "ks of the top class": {"measure": "ks", "lens": "confidence"},
    "brier of vectors": {"measure": "brier", "lens": "canonical"},
    "skce of vectors": {"measure": "skce", "lens": "canonical"},
}


NAMES_A_ROW = ("why_infinite", "impossible.first")


def words(ask):
    """The dictionary of an answer without what names a row, or the message of the ValueError in its place."""
    try:
        return {key: value for key, value in ask().to_dict().items() if key not in NAMES_A_ROW}
    except ValueError as error:
        return {"error": str(error)}


def answer(name, y, p):
    """The answer to one call of `VERBS`, or an estimate."""
    y, p = np.array(y), np.array(p)
    if name in VERBS:
        return words(lambda: VERBS[name](y, p, **FEW))
    try:
        return cs.estimate(y, p, **(OF_ONE_EVENT | OF_CLASSES)[name])
    except ValueError as error:
        return {"error": str(error)}


def answers(calls):
    """The answers to a list of calls, as text."""
    return json.dumps(in_json([answer(*call) for call in calls]))


if __name__ == "__main__":
    print(answers(json.load(sys.stdin)))
