"""The study of the generalization gap: what it fits, what it counts, and that its promise can be broken."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

generalization_gap = study_file("generalization_gap")
HELD_OUT, WEAK = generalization_gap.HELD_OUT, generalization_gap.WEAK
Setting, digits = generalization_gap.Setting, generalization_gap.digits
SEED = np.random.SeedSequence(5)
SMALL = [
    Setting("10 neurons", 60, 0.2, WEAK),
    Setting("one layer", 60, 0.2, WEAK),
    Setting("100 neurons", 60, 0.2, 3.0),
]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generalization_gap, "settings", lambda quick: SMALL)
        return generalization_gap.table(quick=True)


class Remembering:
    """A network that says class 0 of rows that it was fitted to and class 1 of others; the first pixel is the row."""

    def __init__(self, hidden_layer_sizes, **options):
        self.seen = []

    def partial_fit(self, pixels, label, classes):
        self.seen.append(pixels[:, 0].astype(int))

    def predict_proba(self, pixels):
        return np.eye(10)[1 - np.isin(pixels[:, 0], self.seen[0])]


def test_rows_that_are_judged_as_others_are_not_fitted_to(monkeypatch):
    pixels, label = digits()
    numbered = np.column_stack((np.arange(label.size), pixels))
    monkeypatch.setattr(generalization_gap, "digits", lambda: (numbered, label))
    monkeypatch.setattr("sklearn.neural_network.MLPClassifier", Remembering)
    (first, train, test), (second, *_) = generalization_gap.fits(Setting("2 x 100", 300, 0.2, WEAK), SEED, 2)
    assert (first, second) == (1, 2)
    assert train[1].argmax(axis=1).tolist() == [0] * 300
    assert test[1].argmax(axis=1).tolist() == [1] * HELD_OUT


def test_a_network_is_that_of_scikit_learn():
    from sklearn.neural_network import MLPClassifier

    pixels, label = digits()
    random = np.random.default_rng(SEED)
    order = random.permutation(1797)
    replaced, other = random.random(1797) < 0.2, random.integers(10, size=1797)
    y = np.where(replaced, other, label)
    rows = order[HELD_OUT : HELD_OUT + 100]
    network = MLPClassifier(
        (10,), alpha=WEAK, batch_size=32, learning_rate_init=0.005, random_state=int(random.integers(2**31))
    )
    for _ in range(3):
        network.partial_fit(pixels[rows], y[rows], classes=np.arange(10))
    *_, (done, train, test) = generalization_gap.fits(Setting("10 neurons", 100, 0.2, WEAK), SEED, 3)
    assert done == 3
    assert np.array_equal(train[0], y[rows])
    assert np.array_equal(test[0], y[order[:HELD_OUT]])
    assert test[1] == pytest.approx(network.predict_proba(pixels[order[:HELD_OUT]]), abs=1e-12)


def rows(right, of, confidence):
    """So many of the rows right, all with one confidence."""
    return np.repeat([0, 1], [right, of - right]), np.tile([confidence, 1 - confidence], (of, 1))


def test_gaps_by_hand():
    # one bin: the ECE is confidence minus accuracy, 0 on training rows; both gaps are .8 - .6
    found = generalization_gap.gaps(rows(80, 100, 0.8), rows(60, 100, 0.8), "ece", 19)
    assert found["train"] == pytest.approx(0, abs=1e-12)
    assert (found["test"], found["gap"], found["error_gap"]) == pytest.approx((0.2, 0.2, 0.2))
    assert (found["error_train"], found["error_test"]) == pytest.approx((0.2, 0.4))
    assert found["within"]
    assert found["assumed"]
    assert not found["assumed_not_bounded"]
    assert not found["miscalibrated"]


def test_a_gap_that_is_too_large_by_hand():
    # .9 - .6 on test rows, and nothing by which the classification error grows
    found = generalization_gap.gaps(rows(600, 1000, 0.6), rows(600, 1000, 0.9), "ece", 99)
    assert (found["gap"], found["error_gap"]) == pytest.approx((0.3, 0))
    assert not found["within"]
    assert found["clearly_above"]
    assert not found["less_confident"]
    assert not found["assumed"]


def test_under_confidence_is_noticed():
    found = generalization_gap.gaps(rows(60, 100, 0.8), rows(90, 100, 0.7), "ece", 19)
    assert found["not_overconfident"]
    assert found["clearly_not_overconfident"]
    assert not found["assumed"]
    assert found["miscalibrated"]


def test_means_and_counts_by_hand(table):
    made = pd.DataFrame(
        [
            {"network": "100 neurons", "n": 96, "noise": 0.0, "penalty": p, "passes": k, "measure": "ece"}
            | {"gap": gap, "error_gap": 0.1, "within": gap < 0.1}
            for p, k in ((WEAK, 3), (WEAK, 4), (3.0, 4))
            for gap in (0.0, 0.2)
        ]
    )
    found = generalization_gap.summarised(made)
    assert found["gap"].tolist() == pytest.approx([0.1] * 3)
    assert found["gap_sd"].tolist() == pytest.approx([0.02**0.5] * 3)
    assert found["within"].tolist() == [1] * 3
    assert found["replicates"].tolist() == [2] * 3
    assert found["claimed"].tolist() == [False, True, False]  # 9 steps, 12, and a strong penalty


def test_nothing_is_claimed_of_narrow_or_shallow_networks():
    """The claims are of two layers or more, 100 neurons wide or more."""
    made = pd.DataFrame(
        {"network": list(generalization_gap.LAYERS), "n": 96, "noise": 0.0, "penalty": WEAK, "passes": 64}
        | {"measure": "ece", "gap": 0.0, "error_gap": 0.0, "within": True}
    )
    found = generalization_gap.summarised(made).set_index("network")["claimed"]
    assert found.to_dict() == {"one layer": False, "10 neurons": False, "100 neurons": True, "2 x 100": True}


def test_the_promise_can_be_broken(table):
    assert generalization_gap.violations(table).empty
    changed = table.assign(assumed_not_bounded=(table.index < 2).astype(int))
    assert generalization_gap.violations(changed)["measure"].tolist() == ["ece"]  # nothing is promised of the other


def test_numbers_do_not_depend_on_the_number_of_processes(table, monkeypatch):
    monkeypatch.setattr(generalization_gap, "settings", lambda quick: SMALL[:1])
    again = generalization_gap.table(quick=True, n_jobs=1)
    pd.testing.assert_frame_equal(again, table[: len(again)])


def test_pictures_show_the_table(table):
    found = generalization_gap.figures(table)
    assert set(found) == {"", "training"}
    _, gap, *_ = found[""].axes
    drawn = np.concatenate([line.get_ydata() for line in gap.lines[:6]])
    assert sorted(drawn) == sorted(table[table["measure"] == "ece"]["gap"])
    for figure in found.values():
        figure.draw_without_rendering()


def test_full_and_quick_ask_the_same():
    full, quick = generalization_gap.settings(False), generalization_gap.settings(True)
    assert set(quick) < set(full)
