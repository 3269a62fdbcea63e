"""Predictions of single and half precision are in the bins, and on the sides of thresholds, of the same decimals."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.cli.large.rows_in_cells import CellSums
from calibstat.data.single_precision import edges_for, is_single
from calibstat.data.validation import decimals_of_half
from calibstat.measures import NetBenefit
from calibstat.recalibration import HistogramBinning

NINE = np.arange(1, 10) / 10
Q = np.repeat(NINE, 20)
Y = (np.random.default_rng(1).random(Q.size) < Q).astype(int)
THIRDS = np.round(np.stack([1 - Q, Q / 2, Q / 2], axis=1), 12)


def test_single_precision_is_known_by_the_values():
    single = NINE.astype(np.float32)
    assert is_single(single)
    assert is_single(single.astype(float))
    assert is_single(np.array([0.25, 0.5]))
    assert not is_single(NINE)
    assert not is_single(np.append(np.full(100, 0.5), 0.1))
    assert edges_for(single.astype(float), NINE).tolist() == single.astype(float).tolist()
    assert edges_for(NINE, NINE) is NINE


def test_half_precision_is_read_as_it_is_printed():
    """All numbers of half precision from 0 to 1, against what Python prints of them."""
    every = np.arange(0x3C01, dtype=np.uint16).view(np.float16)
    assert decimals_of_half(every).tolist() == [float(str(each)) for each in every]


def answers():
    def of_classes(q, **asked):
        prob = np.stack([THIRDS[:, 0].astype(q.dtype), *[(Q / 2).astype(q.dtype)] * 2], axis=1)
        return cs.estimate(Y, prob, **asked)

    return {
        "equal width": lambda q: cs.estimate(Y, q, n_bins=10),
        "largest gap": lambda q: cs.estimate(Y, q, n_bins=10, norm="max"),
        "five": lambda q: cs.estimate(Y, q, n_bins=5),
        "cuts": lambda q: cs.estimate(Y, q, strategy=NINE),
        "two cuts": lambda q: cs.estimate(Y, q, strategy=(0.3, 0.7)),
        "debiased": lambda q: cs.estimate(Y, q, measure="ece_debiased", n_bins=10),
        "width": lambda q: cs.estimate(Y, q, measure="ece_width", n_bins=10),
        "counts": lambda q: cs.reliability(Y, q, n_bins=10, band=None).count,
        "decomposed": lambda q: list(cs.decompose(Y, q, method="murphy", n_bins=10).parts.values()),
        "test": lambda q: cs.calibration_test(Y, q, measure="ece", n_bins=10, n_resamples=1, rng=1).statistic,
        "summary": lambda q: cs.estimate(cs.Sample.from_rows(Y, q), n_bins=10),
        "list": lambda q: cs.estimate(Y, q.tolist() if q.dtype == np.float32 else q, n_bins=10),
        "benefit": lambda q: [cs.estimate(Y, q, measure=NetBenefit(threshold=t)) for t in NINE],
        "benefits": lambda q: cs.net_benefit(Y, q, NINE).model,
        "losses": lambda q: cs.decision_loss(Y, q, NINE, rng=1).loss,
        "answered": lambda q: cs.risk_coverage(Y, q, decide_at=0.3).error,
        "binning": lambda q: HistogramBinning(n_bins=10).fit(q, Y).predict_proba(q),
        "fitted in double precision": lambda q: HistogramBinning(n_bins=10).fit(Q, Y).predict_proba(q),
        "quantiles": lambda q: HistogramBinning(n_bins=9, strategy="quantile").fit(Q, Y).predict_proba(q),
        "top label": lambda q: of_classes(q, lens="top_label", n_bins=10),
        "class by class": lambda q: of_classes(q, lens="class_wise", n_bins=10),
        "threshold of classes": lambda q: of_classes(q, measure="gce", threshold=0.1, n_bins=10),
        "grid": lambda q: of_classes(q, measure="canonical_ce", strategy="uniform", n_bins=10),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", answers())
def test_the_same_decimals_have_the_same_bins(name, dtype):
    ask = answers()[name]
    assert ask(Q.astype(dtype)) == pytest.approx(ask(Q), abs=1e-6)


@pytest.mark.parametrize("name", ["equal width", "counts", "benefit"])
def test_bins_by_the_double_value_are_found(name, monkeypatch):
    """The fault: predictions of single precision compared with edges of double precision."""
    expected = answers()[name](Q)
    for place in ("bins.is_single", "bins.edges_for", "net_benefit.edges_for"):
        fault = (lambda value: False) if place.endswith("is_single") else (lambda value, edges: edges)
        monkeypatch.setattr(f"calibstat.measures.{place}", fault)
    assert answers()[name](Q.astype(np.float32)) != pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("bins", [3, 7, 10, 15, 100])
def test_no_prediction_up_to_an_edge_is_moved_above_it(bins):
    """Rounding is monotone: what is up to an edge stays so when both are rounded."""
    edge = np.arange(1, bins + 1) / bins
    rows = {"p": edge, "y": np.arange(bins) % 2}
    shown = cs.reliability(rows["y"], edge.astype(np.float32), n_bins=bins, band=None)
    assert shown.count.tolist() == [1] * bins


def cells_of(q):
    sums = CellSums()
    sums.add(Y == 1, q.astype(float))
    return sums.sample()


NEAR = np.repeat(NINE + 1e-6, 20)  # in the cells of the frames above each edge


@pytest.mark.parametrize("make", [lambda q: cs.Sample.from_frame(pd.DataFrame({"y": Y, "p": q}), "y", "p"), cells_of])
@pytest.mark.parametrize("beside", [Q, np.where(np.arange(Q.size) % 2, Q, NEAR)])
def test_cells_of_many_rows_have_the_same_bins(make, beside):
    found = cs.reliability(make(beside.astype(np.float32)), n_bins=10, band=None)
    assert found.count.tolist() == cs.reliability(Y, beside, n_bins=10, band=None).count.tolist()
