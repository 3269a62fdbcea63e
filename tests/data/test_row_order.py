"""The order of the rows does not show: at one seed every permutation gives the same numbers, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat import resampling
from calibstat.data import row_order as orders
from calibstat.measures.losses import LogLoss
from calibstat.recalibration import HistogramBinning

GRID = (0.05, 0.3, 0.3, 0.35, 0.5, 0.8, 0.95)
FEW = {"n_resamples": 19, "rng": 1}


def event(seed, n=40, ties=True):
    random = np.random.default_rng(seed)
    p, q = random.choice(GRID, (2, n)) if ties else random.uniform(0.05, 0.95, (2, n))
    return (random.random(n) < p).astype(int), p, q


def vectors(seed, n=40, ties=True):
    random = np.random.default_rng(seed)
    p, q = random.dirichlet((1, 1, 1), (2, n))
    if ties:
        p, q = ((np.round(4 * each) + 1) for each in (p, q))
        p, q = (each / each.sum(axis=1, keepdims=True) for each in (p, q))
    return (random.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1), p, q


CLUSTERS = np.array(["a", "b", 3, None, "", (1, 2)], dtype=object)  # names may be anything that can be told apart


def of_cluster(c):
    return [f"{CLUSTERS[i % 6]} {i // 6}" if i % 2 else ("patient", i) for i in c.tolist()]


def objects(names):
    found = np.empty(len(names), object)
    found[:] = names
    return found


def odd(prob):
    return prob[:, 1::2].sum(axis=1)


OWN = cs.Lens("odd", odd, lambda prob, label: label % 2, "given the predicted chance, it is that of an odd class.")
EVENTS = {
    **{
        f"test {m}": lambda y, p, q, c, m=m: cs.calibration_test(y, p, measure=m, **FEW)
        for m in ("ece", "kernel_ce", "smooth_ece", "mcb", "average_ce")
    },
    **{
        f"interval {m}": lambda y, p, q, c, m=m: cs.confidence_interval(y, p, measure=m, **FEW)
        for m in ("ece", "ks", "smooth_ce", "brier")
    },
    "bca": lambda y, p, q, c: cs.confidence_interval(y, p, method="bca", **FEW),
    **{
        f"clusters {m} {method}": lambda y, p, q, c, m=m, method=method: cs.confidence_interval(
            y, p, measure=m, method=method, cluster=c, **FEW
        )
        for m in ("ece", "kernel_ce", "kuiper", LogLoss(clip=0.01))
        for method in ("honest", "basic")
    },
    **{
        f"compare {m} {method}{' clusters' * with_c}": lambda y, p, q, c, m=m, method=method, with_c=with_c: cs.compare(
            y, {"p": p, "q": q, "r": 1 - q}, measure=m, method=method, cluster=c if with_c else None, **FEW
        )
        for m in ("kernel_ce", "ece", "ks", "smooth_ce", "brier")
        for method in ("bootstrap", "swap")
        for with_c in (False, True)
    },
    "decompose": lambda y, p, q, c: cs.decompose(y, p, n_resamples=19, rng=1),
    "summarize": lambda y, p, q, c: cs.summarize(y, {"p": p, "q": q}, **FEW),
    "t_cal": lambda y, p, q, c: cs.classical.t_cal(y, p, **FEW),
    "reliability": lambda y, p, q, c: cs.reliability(y, p, n_resamples=99, rng=1),
}
VECTORS = {
    **{
        f"test {m} {o}": lambda y, p, q, c, m=m, o=o: cs.calibration_test(y, p, measure=m, **o, **FEW)
        for m, o in (
            ("ece", {}), ("ece", {"lens": "class_wise"}), ("ks", {"lens": "class_wise_max"}),
            ("canonical_ce", {"min_size": 5}), ("canonical_ce", {"min_size": 5, "resample": "both"}),
            ("skce", {}), ("skce", {"statistic": "U"}), ("gce", {}),
            ("gce", {"binning": "adaptive", "resample": "both"}),
            ("brier", {"lens": "canonical"}), ("brier", {"lens": cs.lenses.groups([[0, 2], [1]])}),
            ("ece", {"lens": OWN}),
        )
    },
    **{
        f"interval {m} {o}": lambda y, p, q, c, m=m, o=o: cs.confidence_interval(y, p, measure=m, **o, **FEW)
        for m, o in (
            ("ece", {"lens": "class_wise_mean"}), ("ece", {"lens": "class_wise_max"}),
            ("canonical_ce", {"min_size": 5}), ("brier", {"lens": "canonical"}), ("gce", {"method": "percentile"}),
            ("ks", {"lens": "class_wise_mean", "method": "basic"}),
        )
    },
    "clusters": lambda y, p, q, c: cs.confidence_interval(
        y, p, measure="brier", lens="canonical", cluster=c, **FEW
    ),
    **{
        f"compare {m} {o}": lambda y, p, q, c, m=m, o=o: cs.compare(y, {"p": p, "q": q}, measure=m, **o, **FEW)
        for m, o in (("kernel_ce", {}), ("ece", {"method": "swap"}), ("log_loss", {"lens": "canonical"}))
    },
    "asymptotic": lambda y, p, q, c: cs.classical.kernel_calibration_test(y, p, **FEW),
    "summarize": lambda y, p, q, c: cs.summarize(y, {"p": p, "q": q}, **FEW),
    "gap": lambda y, p, q, c: cs.generalization_gap((y, p), (y[::-1], q[::-1]), **FEW),
    "histogram": lambda y, p, q, c: HistogramBinning(n_bins=3, n_resamples=5, random_state=1).fit(p, y).predict_proba(
        np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    ),
}  # fmt: skip


def said(result):
    return repr(result.tolist() if isinstance(result, np.ndarray) else result.to_dict())


def agrees(verb, rows, seed):
    """Whether a permutation of the rows gives the same numbers, clusters named anew too."""
    permuted = np.random.default_rng(seed).permutation(len(rows[0]))
    y, p, q, c = rows
    one = verb(y, p, q, objects(of_cluster(c)))
    other = verb(y[permuted], p[permuted], q[permuted], 7 - 3 * c[permuted])
    return said(one) == said(other)


@pytest.mark.filterwarnings("ignore:.* clusters are few")
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("verb", EVENTS)
def test_of_one_event(verb, ties):
    for seed in range(2):
        rows = *event(seed, ties=ties), np.random.default_rng(seed).integers(0, 12, 40)
        assert agrees(EVENTS[verb], rows, seed)


@pytest.mark.filterwarnings("ignore:.* clusters are few")
@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("verb", VECTORS)
def test_of_several_classes(verb, ties):
    for seed in range(3):
        rows = *vectors(seed, ties=ties), np.random.default_rng(seed).integers(0, 12, 40)
        assert agrees(VECTORS[verb], rows, seed)


def test_of_samples_of_their_own():
    (y, p, _), (z, q, _) = event(1), event(2, 30)
    one = cs.compare({"a": (y, p), "b": (z, q)}, measure="ece", **FEW)
    assert said(one) == said(cs.compare({"a": (y[::-1], p[::-1]), "b": (z[::-1], q[::-1])}, measure="ece", **FEW))


@pytest.mark.filterwarnings("ignore:.* clusters are few")
def test_an_order_that_shows_would_be_found(monkeypatch):
    """The twin: rows drawn as they come differ."""
    drawn = [("compare brier bootstrap", EVENTS, event), ("clusters kuiper basic", EVENTS, event)]
    drawn += [("compare ks swap", EVENTS, event), ("asymptotic", VECTORS, vectors), ("histogram", VECTORS, vectors)]
    drawn += [("test canonical_ce {'min_size': 5}", VECTORS, vectors)]
    monkeypatch.setattr(orders, "_sorted", lambda columns: as_they_come(next(iter(columns)).size))
    for verb, verbs, made in drawn:
        rows = *made(1, ties=False), np.random.default_rng(1).integers(0, 12, 40)
        assert not agrees(verbs[verb], rows, 1), verb


def as_they_come(n):
    return np.arange(n), np.ones(n, bool)


def test_blocks_go_by_the_order_of_the_rows():
    """By definition: what is excluded says so, and is left as it is."""
    y, p, _ = vectors(1, ties=False)
    shifted = np.roll(np.arange(y.size), 1)
    for statistic in ("block", "linear"):
        asked = {"measure": "skce", "statistic": statistic}
        one, other = (cs.calibration_test(a, b, **asked, **FEW) for a, b in ((y, p), (y[shifted], p[shifted])))
        assert one.statistic == cs.estimate(y, p, **asked)
        assert one.statistic != other.statistic
    assert "depend on the order of the rows" in cs.MEASURES["skce"].__doc__


columns = st.lists(st.tuples(*[st.sampled_from((0.0, 0.5, 1.0))] * 3, st.integers(0, 3)), min_size=1, max_size=12)


@given(columns, st.randoms())
def test_the_order_is_that_of_the_contents(rows, random):
    """Against sorting rows as tuples; clusters by the sorted rows that they hold."""
    table, unit = np.array([row[:3] for row in rows]), np.unique([row[3] for row in rows], return_inverse=True)[1]
    order, none = resampling.canonical_order(table.T)
    assert none is None
    assert table[order].tolist() == sorted(table.tolist())
    order, units = resampling.canonical_order(table.T, unit)
    assert table[order].tolist() == sorted(table.tolist())
    held = [sorted(table[unit == u].tolist()) for u in range(unit.max() + 1)]
    assert [sorted(table[order][units == u].tolist()) for u in range(len(held))] == sorted(held)
    shuffled = random.sample(range(len(rows)), len(rows))
    again, units_again = resampling.canonical_order(table[shuffled].T, unit[shuffled])
    assert table[shuffled][again].tolist() == table[order].tolist()
    assert units_again.tolist() == units.tolist()
