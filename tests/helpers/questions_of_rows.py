"""Print which questions are answered for which rows: one line for each measure and lens, four signs for each question.

``python tests/helpers/questions_of_rows.py`` prints the table, and with the argument ``store`` stores it. The signs are
of rows as they are, with weights, in clusters, and with both.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import calibstat as cs

STORED = Path(__file__).parents[1] / "promises" / "questions_of_rows.txt"
N = 90
ERRORS = ("omnibus", "mean", "ece", "ks", "kuiper", "smooth_ce", "kernel_ce", "two_bin_ce", "decision_loss")
OTHERS = ("kernel_ce_squared", "smooth_ece", "mcb", "ece_debiased", "average_ce", "normalized_log_loss")
MEANS = ("brier", "log_loss")
LENSES = {
    "event": {"lens": cs.lenses.one_class(1)},
    "class-wise mean": {"lens": "class_wise_mean"},
    "class-wise max": {"lens": "class_wise_max"},
    "canonical": {"lens": "canonical"},
}
QUESTIONS = ("test", "side", "honest", "percentile", "compare", "own")  # own: outcomes of each model


def rows():
    """Rows of three classes with the predictions of two models, their weights and their clusters."""
    random = np.random.default_rng(1)
    prob = random.dirichlet((1, 1, 1), N)
    label = (random.random(N)[:, None] > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return label, prob, prob[:, [0, 2, 1]], random.gamma(2.0, 1.0, N), np.arange(N) // 3


def signs(measure, lens, given):
    """Yield for each question + if it is answered, - if it is refused with a reason."""
    label, prob, other, *_ = rows()
    asked = {"measure": measure, **LENSES[lens], **given, "n_resamples": 4, "rng": 1}
    calls = (
        lambda: cs.calibration_test(label, prob, **asked),
        lambda: cs.calibration_test(label, prob, side="over", **asked),
        lambda: cs.confidence_interval(label, prob, **asked),
        lambda: cs.confidence_interval(label, prob, method="percentile", **asked),
        lambda: cs.compare(label, {"a": prob, "b": other}, **asked),
        lambda: cs.compare({"a": label, "b": np.roll(label, 1)}, {"a": prob, "b": other}, **asked),
    )
    for call in calls:
        try:
            call()
            yield "+"
        except ValueError:
            yield "-"


def table(measures=(*ERRORS, *OTHERS, *MEANS), lenses=tuple(LENSES)):
    """Return the lines of the table."""
    *_, weight, cluster = rows()
    kinds = ({}, {"sample_weight": weight}, {"cluster": cluster}, {"sample_weight": weight, "cluster": cluster})
    lines = []
    for lens in lenses:
        of_lens = measures if lens != "canonical" else ("canonical_ce", "gce", "skce", *MEANS)
        for measure in of_lens:
            found = zip(*(signs(measure, lens, given) for given in kinds), strict=True)
            columns = "  ".join(f"{name} {''.join(each)}" for name, each in zip(QUESTIONS, found, strict=True))
            lines.append(f"{measure:<20}{lens:<17}{columns}")
    return lines


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = "\n".join(table()) + "\n"
    print(text, end="")
    if sys.argv[1:] == ["store"]:
        STORED.write_text(text)
