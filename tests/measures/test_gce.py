"""General calibration errors against their definition, pair by pair."""

import math
from itertools import product

import numpy as np
import pytest
from gce_examples import SWITCHES, gce, gce_batch, many, named
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number

import calibstat as cs
from calibstat.inference.gce_family import gce_family
from calibstat.measures import gce as general
from calibstat.measures.gce import GCE


def even_bin(v, bins):
    return int(bin_number(v, bins))


def single_bin(v, bins):
    """The bin of a prediction of single precision: how many of the rounded edges it is above."""
    return sum(v > float(np.float32(b / bins)) for b in range(1, bins))


def adaptive_bins(values, bins):
    """The bin of each value: cut b after the distinct value whose cumulative count is nearest to b n / B."""
    distinct = sorted(set(values))
    cumulative = [sum(v <= d for v in values) for d in distinct]
    cuts = set()
    for b in range(1, bins):  # of B times both numbers, which are whole
        nearest = min([0, *cumulative], key=lambda c: (abs(c * bins - b * len(values)), c))
        cuts.add(nearest)
    upto = dict(zip(distinct, cumulative, strict=True))
    return [sum(cut < upto[v] for cut in cuts if cut > 0) for v in values]


def by_definition(prob, label, bins, *, binning, max_prob, class_conditional, threshold, norm):
    """The error pair by pair, as the definition has it."""
    n, classes = prob.shape
    pairs = []  # class, probability, hit
    for i in range(n):
        row = [float(v) for v in prob[i]]
        for k in [row.index(max(row))] if max_prob else range(classes):
            if row[k] > (float(np.float32(threshold)) if prob.dtype == np.float32 else threshold):
                pairs.append((k, row[k], float(label[i] == k)))
    groups = [[p for p in pairs if p[0] == k] for k in range(classes)] if class_conditional else [pairs]
    power = {"l1": 1, "l2": 2}[norm]
    even = single_bin if prob.dtype == np.float32 else even_bin
    errors = []
    for group in groups:
        values = [v for _, v, _ in group]
        cells = [even(v, bins) for v in values] if binning == "even" else adaptive_bins(values, bins)
        error = 0.0
        for b in set(cells):
            inside = [pair for pair, cell in zip(group, cells, strict=True) if cell == b]
            confidence = math.fsum(v for _, v, _ in inside) / len(inside)
            accuracy = math.fsum(hit for _, _, hit in inside) / len(inside)
            error += len(inside) / len(group) * abs(accuracy - confidence) ** power
        errors.append(error)
    return (math.fsum(errors) / len(errors)) ** (1 / power)


def check(prob, label, bins, switches=SWITCHES):
    for switch in switches:
        expected = by_definition(prob, label, bins, **switch)
        assert gce(prob, label, n_bins=bins, **switch) == pytest.approx(expected, rel=0, abs=1e-12), switch


@st.composite
def vectors(draw):
    """Up to 12 rows of up to 5 classes: ties, exact 0 and 1, constant predictions, absent classes, one row."""
    n, classes = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    weight = st.one_of(st.integers(0, 3), st.integers(0, 200))
    row = st.lists(weight, min_size=classes, max_size=classes).filter(any)
    rows = draw(st.one_of(st.lists(row, min_size=n, max_size=n), row.map(lambda w: [w] * n)))
    label = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    prob = np.array(rows, float)
    return prob / prob.sum(axis=1, keepdims=True), np.array(label)


@given(vectors(), st.sampled_from([1, 2, 3, 10, 15]))
def test_against_the_definition(data, bins):
    check(*data, bins)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "classes"), [(1, 3), (90, 2), (60, 5), (50, 10), (9, 120)])
def test_more_rows_against_the_definition(n, classes, dtype):
    prob, label = many(n, classes, dtype=dtype)
    for bins in (4, 15) if dtype == np.float32 else (1, 15):
        check(prob, label, bins)


def test_more_rows_than_are_summed_together():
    prob, label = many(2 * general.BLOCK + 7, 3)
    check(prob, label, 15, [switch for switch in SWITCHES if switch["binning"] == "even"])


def test_the_members_differ():
    # where the threshold can be inert it is; else two members that are equal would hide that a switch does nothing
    prob, label = many(200, 10)
    assert np.unique(gce_family(label, prob).value).size == 24
    assert np.unique(gce_family(label, prob, threshold=0.4).value).size == 32


def first_bin_for_one(v, bins, single):
    return 0.0 if v == 1 else float(even_bin(v, bins))


def closed_on_the_left(v, bins, single):
    return min(math.floor(v * bins), bins - 1.0)


def any_below(v, upper):
    return int(np.sum(upper <= v)) if (upper > v).any() else int(np.isfinite(upper).sum()) - 1


def ties_part(value, count, *, n_bins, strategy):
    return np.minimum(np.arange(value.size), n_bins - 1)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("bin_of", first_bin_for_one),
        ("bin_of", closed_on_the_left),
        ("_bin_below", any_below),
        ("bin_cells", ties_part),
    ],
)
def test_a_fault_is_found(monkeypatch, name, fault):
    prob, label = many(60, 5)
    for compiled in ("_even_sums", "_errors", "_place", "bin_of", "_bin_below"):
        monkeypatch.setattr(general, compiled, getattr(general, compiled).py_func)
    check(prob, label, 4)  # without the fault plain Python passes
    monkeypatch.setattr(general, name, fault)
    with pytest.raises(AssertionError):
        check(prob, label, 4)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_default_is_the_static_calibration_error(norm):
    # SCE of classes whose probabilities are all above 0 is the mean of their binned errors; L2 takes the root last
    prob, label = many(200, 4)
    prob = (prob + 0.1) / 1.4
    errors = [cs.estimate(label == k, prob[:, k], measure="ece", norm=norm) for k in range(4)]
    power = {"l1": 1, "l2": 2}[norm]
    expected = np.mean(np.array(errors) ** power) ** (1 / power)
    assert gce(prob, label, norm=norm) == pytest.approx(expected, abs=1e-12)
    assert norm == "l1" or expected != pytest.approx(np.mean(errors), abs=1e-3)


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize(("binning", "strategy"), [("even", "uniform"), ("adaptive", "quantile")])
def test_pooled_members_are_binned_errors_of_the_pairs(binning, strategy, norm):
    prob, label = many(300, 6)
    options = {"binning": binning, "class_conditional": False, "norm": norm}
    known = {"measure": "ece", "strategy": strategy, "norm": norm}
    top = cs.estimate(label == prob.argmax(axis=1), prob.max(axis=1), **known)
    assert gce(prob, label, max_prob=True, **options) == pytest.approx(top, abs=1e-12)
    hit, kept = label[:, None] == np.arange(6), prob > 0
    assert gce(prob, label, **options) == pytest.approx(cs.estimate(hit[kept], prob[kept], **known), abs=1e-12)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda s: "-".join(map(str, s.values())))
def test_batch_is_one_at_a_time(switch):
    prob, label = many(70, 5)
    labels = np.array([label, (label + 1) % 5, np.zeros(70, int), label[::-1], 4 - label])  # as many as classes
    for bins in (3, "cube_root"):
        one = [gce(prob, row, n_bins=bins, **switch) for row in labels]
        assert gce_batch(prob, labels, n_bins=bins, **switch).tolist() == one


def test_cube_root_counts_rows():
    prob, label = many(28, 3)  # 3**3 < 28 <= 4**3
    for switch in SWITCHES:
        assert gce(prob, label, n_bins="cube_root", **switch) == gce(prob, label, n_bins=4, **switch)


def inert(classes, prob, label):
    family = gce_family(label, prob).value.reshape(2, 2, 2, 2, 2)  # the fourth axis is the threshold
    return np.array_equal(family[:, 0, :, 0], family[:, 0, :, 1])


@pytest.mark.parametrize("classes", [2, 5, 99])
def test_the_threshold_is_inert_below_100_classes(classes):
    # the largest of K probabilities is at least 1 / K > .01
    prob, label = many(40, classes)
    prob[:3] = 1 / classes
    assert inert(classes, prob, label)


def test_the_threshold_is_not_inert_from_100_classes_on():
    # a row of 100 equal probabilities has none above .01; nor has one of 120
    for classes in (100, 120):
        prob, label = many(40, classes)
        prob[:3] = 1 / classes
        assert not inert(classes, prob, label)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_prediction_at_the_threshold_is_not_kept_in_any_precision(dtype):
    # .1 rounded to float32 is 1.5e-9 above .1, and to float16 2.4e-5 below it
    prob, label = np.array([[0.8, 0.1, 0.1]], dtype), np.array([0])
    for binning, apart in product(("even", "adaptive"), (True, False)):
        options = {"binning": binning, "class_conditional": apart, "n_bins": 1}
        kept = cs.estimate(label, prob, measure=GCE(threshold=0.09, **options))
        assert kept == cs.estimate(label, prob, measure=GCE(**options))
        without = cs.estimate(label, prob, measure=GCE(threshold=0.1, **options))
        assert without == cs.estimate(label, prob, measure=GCE(threshold=0.11, **options)) != kept


def test_hidden_miscalibration():
    # appendix A of Nixon et al.: 450 rows of .52 all wrong and 550 of .58 all right share the bin (.5, .6] and have
    # confidence .45 * .52 + .55 * .58 = .553 and accuracy .55; apart, their gaps are .52 and .42
    prob = np.repeat([[0.48, 0.52], [0.42, 0.58]], [450, 550], axis=0)
    label = np.repeat([0, 1], [450, 550])
    pooled = {"max_prob": True, "class_conditional": False, "n_bins": 10}
    assert gce(prob, label, **pooled) == pytest.approx(0.003, abs=1e-12)
    apart = 0.45 * 0.52 + 0.55 * 0.42
    assert gce(prob, label, binning="adaptive", **pooled) == pytest.approx(apart, abs=1e-12)
    root = math.sqrt(0.45 * 0.52**2 + 0.55 * 0.42**2)
    assert named("RMSCE", label, prob, n_bins=10) == pytest.approx(root, abs=1e-12)
    # class 1 alone is predicted, so its error is averaged with 0; both classes have the same gaps
    assert named("class-conditional ECE", label, prob, n_bins=10) == pytest.approx(0.0015, abs=1e-12)
    assert named("ACE", label, prob) == pytest.approx(apart, abs=1e-12)


def test_certain_and_wrong():
    # the only probability above 0 belongs to class 0 of three, and is off by 1; a class without any adds 0
    prob, label = np.array([[1.0, 0.0, 0.0]] * 2), np.array([1, 2])
    for i, switch in enumerate(SWITCHES):
        apart, l2 = not i // 4 % 2, i % 2
        expected = (1 / 3) ** (0.5 if l2 else 1) if apart else 1
        assert gce(prob, label, **switch) == pytest.approx(expected, abs=1e-15)


def test_certain_and_right():
    prob = np.eye(4)[[0, 2, 2, 1]]
    assert gce_family([0, 2, 2, 1], prob).value.tolist() == [0] * 32


def test_nothing_above_the_threshold():
    prob, label = np.full((3, 4), 0.25), np.array([0, 1, 1])
    for switch in SWITCHES:
        assert gce(prob, label, **{**switch, "threshold": 0.25}) == 0


def test_equal_largest_probabilities_go_to_the_first_class():
    # class 0 is predicted: right once, with confidence .4
    prob, label = np.array([[0.4, 0.4, 0.2]] * 2), np.array([0, 1])
    assert gce(prob, label, max_prob=True, class_conditional=False) == pytest.approx(0.1, abs=1e-15)
    assert gce(prob, label, max_prob=True) == pytest.approx(0.1 / 3, abs=1e-15)


@given(vectors())
def test_within_bounds(data):
    low, high = GCE.info.bounds
    values = gce_family(data[1], data[0]).value
    assert np.all((values >= low) & (values <= high + 1e-12))


@pytest.mark.parametrize(
    "options",
    [
        {"binning": "uniform"},
        {"norm": "max"},
        {"norm": 2},
        {"threshold": 1},
        {"threshold": -0.1},
        {"threshold": math.nan},
        {"max_prob": "no"},
        {"class_conditional": 1},
        {"n_bins": 0},
        {"n_bins": "sqrt"},
    ],
)
def test_unknown_options(options):
    with pytest.raises(ValueError, match=r"expected .* found"):
        gce(np.array([[0.5, 0.5]]), np.array([0]), **options)
