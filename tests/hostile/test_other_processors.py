"""Texts, orders, choices and p-values are the same where statistics are rounded otherwise, as other processors do.

The answers are those of rows in which groups, cells, classes and calibration maps are equal on paper.
`.ci/run` asks for the same answers with other code of NumPy and OpenBLAS.
"""

import numpy as np
import pytest
from other_processor import moved, use_another_processor
from printed_answers import TIES, names, printed, ties

import calibstat as cs
from calibstat.inference.auditing import audit_results

pytestmark = pytest.mark.filterwarnings("ignore")
TIED = [(function, case) for function, case in names() if function in TIES and case in ties()]
ORDERED = ("audit", "audit with slopes", "recalibration", "calibration_test")


def asked_twice(monkeypatch, asked, seed):
    before = [printed(*each) for each in asked]
    with monkeypatch.context() as patch:
        use_another_processor(patch, seed)
        return before, [printed(*each) for each in asked]


@pytest.mark.parametrize("case", ties())
def test_what_is_printed_of_groups_maps_and_cells(monkeypatch, case):
    before, after = asked_twice(monkeypatch, [(function, case) for function in ORDERED], 1)
    assert before == after


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize("asked", TIED, ids=", ".join)
def test_what_else_is_printed(monkeypatch, asked, seed):
    before, after = asked_twice(monkeypatch, [asked], seed)
    assert before == after


def test_an_order_by_bare_numbers_is_found(monkeypatch):
    """Planted: groups with the same rows are sorted by their last bits."""
    monkeypatch.setattr(audit_results, "smallest_first", lambda *keys: np.lexsort(keys[::-1]))
    asked = [("audit with slopes", case) for case in ties()]
    found = [asked_twice(monkeypatch, asked, seed) for seed in range(3)]
    assert any(before != after for before, after in found)


def class_wise(p):
    """Classes that are permutations of each other."""
    y = np.arange(p.size) % 3
    prob = np.column_stack([p, p[::-1], np.full(p.size, 1.0)])
    return y, prob / prob.sum(axis=1, keepdims=True)


def test_classes(monkeypatch):
    y, prob = class_wise(np.tile([0.2, 0.5, 0.5, 0.2], 30))

    def answers():
        test = cs.calibration_test(y, prob, lens="class_wise", measure="ece", n_resamples=99, rng=1)
        diagrams = cs.reliability(y, prob, lens="class_wise", n_resamples=19, rng=1)
        return (
            str(test),
            test.classes.pvalue.tolist(),
            diagrams.largest_errors(3).tolist(),
            str(cs.calibration_test(y, prob, n_resamples=99, rng=1)),
        )

    before = answers()
    use_another_processor(monkeypatch, 1)
    assert answers() == before


def test_orders_of_groups_do_not_change_draws(monkeypatch):
    """Groups in another order get the same p-values."""
    y, p, _, x = ties()["each row twice"]
    masks = {"large": x >= 14, "low": p < 0.4, "small": x < 14}
    one, other = (
        cs.audit(y, p, {name: masks[name] for name in order}, rng=1) for order in (masks, sorted(masks)[::-1])
    )
    assert dict(zip(one.names, one.pvalue, strict=True)) == dict(zip(other.names, other.pvalue, strict=True))


def test_what_moves():
    given = np.array([0.1, 3.7, 2.0, np.inf, 0.1])
    value = moved(given, 1)
    assert (value != given).tolist() == [True, True, False, False, True]
    assert value[0] == value[4] != moved(given, 2)[0]
    assert value == pytest.approx(given, rel=2e-13)
    assert moved((1, "a", np.arange(3)), 1)[2].tolist() == [0, 1, 2]
    spread = moved(np.full(1000, 0.3) * (1 + 1e-6 * np.arange(1000)), 1) / (1 + 1e-6 * np.arange(1000)) / 0.3 - 1
    assert np.std(spread) == pytest.approx(1e-13 / 3**0.5, rel=0.1)  # of a uniform number
