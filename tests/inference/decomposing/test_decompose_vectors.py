"""Decompositions of scores of several classes jointly: slow formulas cell by cell, and parts that add up."""

import math

import numpy as np
import pytest

import calibstat as cs

SCORES = {  # the divergence of frequencies x from predictions v, its tangent at v, and the loss of class k
    "brier": (lambda x, v: ((x - v) ** 2).sum(), lambda v: 2 * v, lambda v, k: ((np.eye(v.size)[k] - v) ** 2).sum()),
    "log_loss": (
        lambda x, v: sum(a * math.log(a / b) for a, b in zip(x, v, strict=True) if a > 0),
        lambda v: np.log(np.maximum(v, 1e-300)) + 1,
        lambda v, k: -math.log(v[k]),
    ),
}


def rows(kind):
    """Predictions of three classes: all different, in twentieths and none of them 0, or in single precision."""
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(120, rng=1)
    if kind == "single precision":
        return label, prob.astype(np.float32)
    if kind == "tied":
        random = np.random.default_rng(2)
        return random.integers(0, 3, 120), (random.multinomial(5, [0.3, 0.3, 0.4], 120) + 5) / 20
    return label, prob


KINDS = ("all different", "tied", "single precision")
CELLS = {
    "level sets": ({"strategy": "uniform", "n_bins": None}, lambda v: tuple(v)),
    "grid": ({"strategy": "uniform", "n_bins": 3}, lambda v: tuple(np.ceil(np.float64(v) * 3).clip(1))),
    "one cell": ({"min_size": 1000}, lambda v: 0),
}


def slow(score, label, prob, cell_of, weight):
    """The parts of both methods, each row and cell by itself."""
    divergence, slope, loss = SCORES[score]
    v = np.float64(prob)
    total = weight.sum()
    cells = [cell_of(row) for row in prob]
    one_hot = np.eye(v.shape[1])[label]
    frequency, mean = {}, {}
    for cell in set(cells):
        inside = np.array([each == cell for each in cells])
        frequency[cell] = weight[inside] @ one_hot[inside] / weight[inside].sum()
        mean[cell] = weight[inside] @ v[inside] / weight[inside].sum()
    overall = weight @ one_hot / total

    def average(of_row):
        return sum(w * of_row(i) for i, w in enumerate(weight)) / total

    given = average(lambda i: loss(v[i], label[i]))
    return given, {
        "calibration_error": average(lambda i: divergence(frequency[cells[i]], v[i])),
        "sharpness_gap": average(lambda i: loss(frequency[cells[i]], label[i])),
        "smoothing": average(
            lambda i: np.dot(slope(frequency[cells[i]]) - slope(v[i]), one_hot[i] - frequency[cells[i]])
        ),
        "reliability": average(lambda i: divergence(frequency[cells[i]], mean[cells[i]])),
        "resolution": average(lambda i: divergence(frequency[cells[i]], overall)),
        "uncertainty": average(lambda i: loss(overall, label[i])),
        "within_bins": given - average(lambda i: loss(mean[cells[i]], label[i])),
    }


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("weighted", [False, True])
def test_against_formulas_cell_by_cell(score, kind, cells, weighted):
    label, prob = rows(kind)
    near = 1e-6 if kind == "single precision" else 1e-12  # its rows sum to 1 so far
    options, cell_of = CELLS[cells]
    weight = np.random.default_rng(3).exponential(size=120) if weighted else None
    given, parts = slow(score, label, prob, cell_of, np.ones(120) if weight is None else weight)
    for method in ("sharpness", "murphy"):
        found = cs.decompose(label, prob, lens="canonical", method=method, score=score, sample_weight=weight, **options)
        assert found.score == pytest.approx(given, abs=near)
        for name, part in found.parts.items():
            assert part == pytest.approx(parts[name], abs=near)
        total = sum(found.signs[name] * part for name, part in found.parts.items())
        assert total == pytest.approx(found.score, abs=near)


def test_a_part_that_is_left_out_is_missed():
    """The planted fault of the above: without the terms within cells the sum is off."""
    found = cs.decompose(*rows("all different"), lens="canonical", method="murphy", min_size=20)
    total = sum(found.signs[name] * part for name, part in found.parts.items())
    assert abs(total - found["within_bins"] - found.score) > 1e-4


@pytest.mark.parametrize("score", SCORES)
def test_lemma_4_1_without_smoothing_error_and_gap_add_up(score):
    options = {"lens": "canonical", "strategy": "uniform", "n_bins": None, "score": score}
    found = cs.decompose(*rows("tied"), method="sharpness", **options)
    assert found["smoothing"] == pytest.approx(0, abs=1e-12)
    assert found["calibration_error"] > 0.01


def test_two_classes_are_one_event():
    """The sum over both classes of squares is twice the binary score; the log loss is the same."""
    y, p = np.arange(60) % 3 == 0, np.random.default_rng(1).integers(1, 10, 60) / 10
    for score, times in (("brier", 2), ("log_loss", 1)):
        options = {"method": "murphy", "score": score, "n_bins": None, "strategy": "uniform"}
        both = cs.decompose(y.astype(int), np.stack([1 - p, p], axis=1), lens="canonical", **options)
        one = cs.decompose(y, p, **options)
        assert both.score == pytest.approx(times * one.score, abs=1e-14)
        for name in ("reliability", "resolution", "uncertainty", "within_bins"):
            assert both[name] == pytest.approx(times * one[name], abs=1e-14)


def test_whole_weights_are_repeated_rows():
    label, prob = rows("tied")
    weight = np.arange(120) % 4
    options = {"lens": "canonical", "method": "murphy", "strategy": "uniform", "n_bins": None}
    found = cs.decompose(label, prob, sample_weight=weight, **options)
    repeated = cs.decompose(np.repeat(label, weight), np.repeat(prob, weight, axis=0), **options)
    for name, part in repeated.parts.items():
        assert found[name] == pytest.approx(part, abs=1e-13)


def test_groups_of_classes_and_what_is_printed():
    label, prob = rows("all different")
    found = cs.decompose(label, prob, lens=cs.lenses.groups([[0, 1], [2]]), method="murphy")
    assert found["uncertainty"] == pytest.approx(1 - sum(np.mean(np.isin(label, g)) ** 2 for g in ([0, 1], [2])))
    text = str(cs.decompose(label, prob, lens="canonical", method="sharpness"))
    assert text.startswith("brier score 0.")
    assert "(sharpness, strategy='tree', n_bins=15, threshold='mean', min_size=100), lens canonical, n = 120." in text


def test_what_is_not_taken():
    label, prob = rows("all different")
    given = {"lens": "canonical", "method": "murphy"}
    with pytest.raises(ValueError, match="expected n_resamples 0 for several classes jointly, found 19"):
        cs.decompose(label, prob, n_resamples=19, **given)
    for score in ("spherical", cs.Bregman("brier", np.square, lambda x: 2 * x)):
        with pytest.raises(ValueError, match="expected a score of several classes"):
            cs.decompose(label, prob, score=score, **given)
    with pytest.raises(ValueError, match="found 'bandwidth'"):
        cs.decompose(label, prob, lens="canonical", method="sharpness", bandwidth=0.1)
    with pytest.raises(ValueError, match="expected a lens that shows a binary outcome for method 'corp'"):
        cs.decompose(label, prob, lens="canonical")
    with pytest.raises(ValueError, match="expected strategy 'tree' or 'uniform'"):
        cs.decompose(label, prob, strategy="quantile", **given)
    sure = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match=r"probabilities above 0 for the log_loss .*; found 0 for row 0, class 2"):
        cs.decompose([0, 1], sure, score="log_loss", **given)
    assert cs.decompose([0, 1], sure, **given).score == pytest.approx((0.5 + 0.04 + 0.49 + 0.25) / 2)
