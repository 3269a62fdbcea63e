"""Equivalence: p-values and limits by hand and by SciPy, and what is said of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lucky_rows import lucky_rows
from row_strategies import rows, weighted_rows
from scipy.stats import binom, binomtest

import calibstat as cs
from calibstat.inference import equivalence as module
from calibstat.inference.equivalence import P_FLOOR, equivalence_test

UNIFORM = (np.arange(1000) + 0.5) / 1000


def by_scipy(k, n, v, margin):
    """The p-value as it is usually written, without what unequal probabilities need."""
    above = binom.cdf(k, n, v + margin) if v + margin < 1 else 0
    below = binom.sf(k - 1, n, v - margin) if v - margin > 0 else 0
    return max(above, below)


def test_against_scipy_bin_by_bin():
    y, p = cs.generators.temperature(1.2).sample(2003, rng=1)
    found = equivalence_test(y, p, margin=0.15)  # with an observed error above the margin the p-value is 1, not SciPy's
    table = found.to_frame()
    assert table["count"].tolist() == [401, 400, 401, 400, 401]  # cuts nearest to 400.6, 801.2, 1201.8, 1602.4
    order = np.argsort(p)
    parts = np.split(order, np.cumsum(table["count"].astype(int))[:-1])
    for bin_, part in zip(table.itertuples(), parts, strict=True):
        assert bin_.mean_prediction == pytest.approx(p[part].mean(), abs=1e-12)
        assert bin_.frequency == pytest.approx(y[part].mean(), abs=1e-12)
        assert (bin_.left, bin_.right) == (p[part].min(), p[part].max())
        exact = binomtest(int(y[part].sum()), part.size).proportion_ci(0.9, "exact")
        assert (bin_.low, bin_.high) == pytest.approx(exact, abs=1e-9)
    expected = [by_scipy(y[part].sum(), part.size, p[part].mean(), 0.15) for part in parts]
    assert found.pvalue == pytest.approx(max(expected), rel=1e-9)
    reach = np.maximum(table["high"] - table["mean_prediction"], table["mean_prediction"] - table["low"])
    assert found.limit == pytest.approx(reach.max(), abs=1e-12)
    assert found.worst_bin == reach.argmax()


def test_by_hand():
    """20 rows at .5, 10 positive, margin .25: P(Bin(20, .75) <= 10) = .0139, and the same of the other side."""
    found = equivalence_test(cs.Sample.from_counts([0.5], [20], [10]), margin=0.25)
    assert found.pvalue == pytest.approx(0.013864, abs=1e-6)
    assert found.claimed
    assert found.limit == pytest.approx(binomtest(10, 20).proportion_ci(0.9, "exact").high - 0.5, abs=1e-9)
    # no row of 20 positive at .01: U = 1 - .05^(1/20) = .1391, and .99^20 of the other side is far
    found = equivalence_test(cs.Sample.from_counts([0.01], [20], [0]), margin=0.1)
    assert found.limit == pytest.approx(0.1391 - 0.01, abs=1e-4)
    assert found.pvalue == pytest.approx(0.89**20, abs=1e-12)
    assert not found.claimed


@pytest.mark.parametrize("positives", [0, 1])
def test_one_row_shows_nothing(positives):
    found = equivalence_test([positives], [0.3])
    assert not found.claimed
    assert found.pvalue >= 0.65  # P(Bin(1, .35) <= 0), or of the other side 1 of a mean of at most .25
    assert found.limit >= 0.25


def test_a_margin_that_no_probability_exceeds_is_claimed():
    """Predictions of .02 and .98 are nowhere more than .98 away."""
    found = equivalence_test([0, 1], [0.02, 0.98], margin=0.98)
    assert found.claimed
    assert found.pvalue == 0


@given(data=rows(), margin=st.sampled_from([0.01, 0.05, 0.3, 0.5, 0.9, 0.95]), n_bins=st.sampled_from([1, 2, 5, None]))
def test_claim_p_value_and_limit_agree(data, margin, n_bins):
    found = equivalence_test(*data, margin=margin, n_bins=n_bins)
    if abs(found.limit - margin) > 1e-9:
        assert found.claimed == (found.pvalue <= 0.05)
    assert 0 <= found.pvalue <= 1
    assert 0 <= found.limit <= 1
    assert np.all((found.low <= found.frequency + 1e-12) & (found.frequency <= found.high + 1e-12))
    assert np.all((found.left <= found.mean_prediction) & (found.mean_prediction <= found.right))
    assert found.count.sum() == data[0].size
    assert found.rows_needed >= 1
    assert str(found)
    y, p = data
    mirrored = equivalence_test(1 - y, 1 - p, margin=margin, n_bins=1)
    assert mirrored.pvalue == pytest.approx(equivalence_test(y, p, margin=margin, n_bins=1).pvalue, abs=1e-9)


@given(data=weighted_rows())
def test_whole_weights_are_repeated_rows(data):
    y, p, weight = data
    once = equivalence_test(cs.Sample.from_rows(y, p, weight), margin=0.2)
    again = equivalence_test(np.repeat(y, weight), np.repeat(p, weight), margin=0.2)
    assert once.to_dict() == again.to_dict()


def test_about_half_of_calibrated_data_sets_are_claimed_with_the_rows_needed():
    """400 data sets a case; a share of .35 to .65 is what "about" means, and a third of the rows (100) have less."""
    random = np.random.default_rng(5)
    for power, margin in ((1, 0.1), (4, 0.05)):
        need = equivalence_test(np.zeros(1000), UNIFORM**power, margin=margin).rows_needed
        shares = []
        for n, sets in ((need, 400), (need // 3, 100)):
            p = ((np.arange(n) + 0.5) / n) ** power
            y = random.random((sets, n)) < p
            shares.append(np.mean([equivalence_test(row, p, margin=margin).claimed for row in y]))
        assert 0.35 - 0.1 <= shares[0] <= 0.65 + 0.1  # 4 standard errors
        assert shares[1] < 0.1


def test_words_of_a_claim():
    y = np.arange(1000) % 2
    found = equivalence_test(y, np.full(1000, 0.5) + np.linspace(-1e-4, 1e-4, 1000), margin=0.15)
    first, second, third = str(found).splitlines()
    assert first == (
        "Shown: in every fifth of the predictions the outcomes average within 0.15 of the predictions "
        f"(p = {found.pvalue:.3g}). The smallest margin that these 1,000 rows show is 0.0605."
    )
    # 100 of 200: upper limit .5604, and the mean prediction of the first fifth is 8e-5 below .5: .06044, rounded up
    assert second == "5 quantile bins, event: outcome 1, n = 1000, confidence level 95 %."
    assert third == (
        "Null hypothesis: in some bin the mean outcome probability is more than 0.15 away from the mean prediction."
    )
    ten = str(equivalence_test(y, np.linspace(0.499, 0.501, 1000), margin=0.15, n_bins=10))
    assert ten.startswith("Shown: in every one of the 10 quantile bins the outcomes average within 0.15")
    ties = str(equivalence_test(y, np.repeat([0.48, 0.49, 0.5, 0.51, 0.52], [100, 300, 200, 200, 200]), margin=0.2))
    assert ties.startswith("Shown: in every one of the 5 quantile bins ")
    one = str(equivalence_test(y, np.full(1000, 0.5), margin=0.1))
    assert one.startswith("Shown: in the one bin of all predictions the outcomes average within 0.1 of the predictions")


def test_words_without_a_claim():
    y, p = cs.generators.calibrated().sample(1000, rng=1)
    found = equivalence_test(y, p)
    assert str(found).splitlines()[0] == (
        "Not shown: in every fifth of the predictions the outcomes average within 0.05 of the predictions. The "
        "smallest margin that these 1,000 rows show is 0.0969. Even a calibrated model needs about "
        f"{found.rows_needed:,} rows for a 50 % chance to show 0.05. This is about the worst of them; the mean over "
        'all predictions is another question: measure="ece".'
    )
    assert 0.0968 < found.limit <= 0.0969
    assert "calibrated" not in str(equivalence_test(y, p, margin=0.2))


def test_a_limit_is_printed_rounded_up():
    assert [module._rounded_up(x) for x in (0.050001, 0.05, 0.0, 0.1234)] == pytest.approx([0.0501, 0.05, 0, 0.124])


def test_by_a_measure_the_limit_is_the_upper_end():
    y, p = cs.generators.calibrated().sample(400, rng=2)
    high = cs.confidence_interval(y, p, measure="ks", confidence_level=0.9, n_resamples=199, rng=3).high
    for margin in (high * 1.3, high * 1.0001, high * 0.9999, high * 0.8):
        found = equivalence_test(y, p, measure="ks", margin=margin, n_resamples=199, rng=3)
        assert found.limit == high
        assert found.claimed == (high <= margin) == (found.pvalue <= 0.05)
        inverted = cs.confidence_interval(
            y, p, measure="ks", confidence_level=1 - 2 * found.pvalue, n_resamples=199, rng=3
        )
        assert inverted.high == pytest.approx(margin, rel=1e-3)
    assert found.worst_bin is None
    assert found.rows_needed is None
    assert str(found).startswith(
        f"Not shown: ks is at most {margin:g}. The smallest margin that these 400 rows show is "
        f"{module._rounded_up(high):g}.\nks, event"
    )
    assert len(found.to_frame()) == 1
    same = equivalence_test(y, p, measure=cs.measures.KS(), margin=0.02, n_resamples=199, rng=3)
    assert same.to_dict() == equivalence_test(y, p, measure="ks", margin=0.02, n_resamples=199, rng=3).to_dict()


def test_by_a_measure_the_ends_of_the_search():
    y, p = cs.generators.calibrated().sample(300, rng=2)
    assert equivalence_test(y, p, measure="ks", margin=0.9, n_resamples=49, rng=1).pvalue == 1e-6
    far = equivalence_test(y, p**3, measure="ks", margin=0.01, n_resamples=49, rng=1)
    assert far.pvalue == 1
    assert not far.claimed
    stated = str(equivalence_test(y, p, measure="ks", margin=0.3, n_resamples=49, rng=1))
    assert stated.startswith(
        "Shown: ks is at most 0.3 (p = 1e-06). The smallest margin that these 300 rows show is 0.0"
    )
    for rng in (None, np.random.default_rng(1)):  # one key for every level, so that they agree
        found = equivalence_test(y, p, measure="ece", margin=0.12, n_resamples=49, rng=rng)
        assert found.claimed == (found.pvalue <= 0.05)


def test_lenses_with_a_binary_outcome():
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(500, rng=1)
    top = equivalence_test(label, prob)
    hit, largest = (prob.argmax(axis=1) == label).astype(int), prob.max(axis=1)
    assert str(top.lens) == "lens top_label"
    assert top.pvalue == equivalence_test(hit, largest).pvalue
    one = equivalence_test(label, prob, lens=cs.lenses.one_class(2), margin=0.1)
    assert one.limit == equivalence_test(label == 2, prob[:, 2], margin=0.1).limit
    ks = equivalence_test(label, prob, measure="ks", n_resamples=49, rng=1, lens=cs.lenses.one_class(2))
    assert ks.limit == equivalence_test(label == 2, prob[:, 2], measure="ks", n_resamples=49, rng=1).limit
    for lens in ("class_wise", "canonical"):
        for measure in ("bins", "ece"):
            with pytest.raises(ValueError, match=rf"binary outcome for equivalence_test.*found lens {lens}"):
                equivalence_test(label, prob, lens=lens, measure=measure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, "expected margin between 0 and 1, found 0"),
        ({"margin": 5}, "expected margin between 0 and 1, found 5"),
        ({"confidence_level": 0.05}, "expected confidence_level above 1/2, found 0.05"),
        ({"confidence_level": None}, "expected confidence_level between 0 and 1"),
        ({"measure": "bin"}, "expected a measure, one of"),
        ({"measure": "brier"}, "expected a measure of calibration error, found 'brier', a mean loss"),
        ({"measure": "interval_ce"}, "no honest interval is known for interval_ce"),
        ({"measure": "ece", "bins": 3}, "expected n_bins= of measure 'ece', found 'bins'"),
        ({"n_bins": 0}, "expected n_bins"),
        ({"strategy": "even"}, "expected strategy"),
        ({"bins": 3}, r"expected n_bins= of equivalence_test by bins, found 'bins'"),
        ({"n_jobs": 0}, "expected n_jobs"),
        ({"rng": -1}, "expected rng"),
        ({"n_resamples": 0}, "expected n_resamples"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        equivalence_test([0, 1], [0.2, 0.7], **options)


def test_real_weights_are_refused():
    for measure in ("bins", "ks"):
        with pytest.raises(ValueError, match="equivalence_test needs whole-number counts of independent rows"):
            equivalence_test(cs.Sample.from_rows([0, 1], [0.2, 0.7], [0.5, 1.0]), measure=measure)


# --- by a measure: what a calibrated model would show ----------------------------------------------------------------


@pytest.mark.parametrize("level", [0.001, 0.05, 0.3, 0.49])
def test_no_margin_below_what_a_calibrated_model_would_show_is_shown(level):
    """The bound alone would show far smaller margins on such lucky rows."""
    y, p = lucky_rows()
    settings = {"measure": "ece", "confidence_level": 1 - level, "n_resamples": 99, "rng": 1}
    median = np.median(cs.calibration_test(y, p, measure="ece", n_resamples=99, rng=1).null_distribution)
    below = equivalence_test(y, p, margin=0.999 * median, **settings)
    assert not below.claimed
    assert below.pvalue == 1
    assert below.limit >= below.if_calibrated == median
    assert below.answer.startswith("Not shown")
    assert " A calibrated model would show " in below.answer
    assert "these rows: no smaller margin can be shown." in below.answer
    above = equivalence_test(y, p, margin=1.001 * median, **settings)
    assert above.claimed == (above.limit == median)
    assert (above.pvalue <= level) == above.claimed


def test_a_margin_that_many_rows_show_says_nothing_of_it():
    y, p = cs.generators.temperature(1.5).sample(2000, rng=1)
    found = equivalence_test(y, p, margin=0.2, measure="ks", n_resamples=99, rng=1)
    assert found.claimed
    assert found.if_calibrated is None
    assert "calibrated model" not in found.answer


def test_one_interval_is_drawn_for_all_levels(monkeypatch):
    seen, plain = [], module.confidence_interval
    monkeypatch.setattr(module, "confidence_interval", lambda *a, **k: seen.append(1) or plain(*a, **k))
    found = equivalence_test(*lucky_rows(), margin=0.03, measure="ks", n_resamples=99, rng=1)
    assert P_FLOOR < found.pvalue < 0.05
    assert len(seen) == 1
