"""Sequential p-values of Besag and Clifford: exact, and the same for any blocks and threads."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from class_examples import example
from hypothesis import given
from hypothesis import strategies as st
from posed_problem import pose
from row_strategies import rows
from scipy import stats

import calibstat as cs
from calibstat.inference.sequential_draws import draw_until, judge, stopping_point
from calibstat.resampling import Draws, Labels, Stream

BELOW = 1 + 1e-12  # rounding of p-values that are compared with levels


def slow(statistic, null, tail, stop_after):
    """Count draw by draw; return the p-value and the draws."""
    tolerance = 100 * 2.0**-52 * max(1, abs(statistic)) if np.isfinite(statistic) else 0
    counts, ends, tails = [0, 0], [None, None], 1 if tail == "greater" else 2
    needed = stop_after if tails == 1 else (stop_after + 1) // 2
    for draw, drawn in enumerate(null, start=1):
        for side in range(tails):
            counts[side] += drawn >= statistic - tolerance if side == 0 else drawn <= statistic + tolerance
            if counts[side] == needed and ends[side] is None:
                ends[side] = draw
        if None not in ends[:tails]:
            return min(1, tails * needed / draw), draw
    return min(1, tails * (1 + min(counts[:tails])) / (1 + len(null))), len(null)


def excess(pvalues, weights):
    """The largest P(p <= a) - a over the p-values that occur."""
    pvalues, weights = np.array(pvalues), np.array(weights) / np.sum(weights)
    return max(weights[pvalues <= a * BELOW].sum() - a for a in np.unique(pvalues))


def sequential(stop_after, tail="greater"):
    return lambda values: judge(values[0], values[1:], tail, stop_after).pvalue


def strict(values):
    """Planted fault: ties do not count."""
    return judge(values[0], values[1:] - 1e-9, "greater", 2).pvalue


def block_end(values):
    """Planted fault: the draws to the end of a block of five count too."""
    above = int(np.sum(values[1:] >= values[0]))
    return above / (values.size - 1) if above >= 2 else (above + 1) / values.size


def best_of_tails(values):
    """Planted fault: the smaller of two tails, not doubled."""
    return min(judge(t * values[0], t * values[1:], "greater", 2).pvalue for t in (1, -1))


def over_all_orders(values, pvalue):
    """The p-values of data and five resamples in all orders, which exchangeability makes equally likely."""
    pvalues = [pvalue(np.array(order, float)) for order in permutations(values)]
    return excess(pvalues, np.ones(len(pvalues)))


@pytest.mark.parametrize("stop_after", [1, 2, 3, 5])
def test_exact_in_all_orders(stop_after):
    """Without ties P(p <= a) = a at every a that occurs: the rank is uniform. Ties and two tails make p larger."""
    assert over_all_orders(range(6), sequential(stop_after)) == pytest.approx(0, abs=1e-12)
    for values in ([0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 1, 2], [3] * 6):
        assert over_all_orders(values, sequential(stop_after)) <= 1e-12
        assert over_all_orders(values, sequential(stop_after, "two-sided")) <= 1e-12
    assert over_all_orders(range(6), sequential(stop_after, "two-sided")) <= 1e-12


def test_faults_are_seen_in_all_orders():
    assert over_all_orders([0, 0, 0, 1, 1, 2], strict) > 0.1
    assert over_all_orders(range(6), block_end) > 0.05
    assert over_all_orders(range(6), best_of_tails) > 0.1


@pytest.mark.parametrize(("measure", "tail"), [("ece", "greater"), ("brier", "two-sided")])
@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_exact_for_three_rows(measure, tail, stop_after):
    """All outcomes of three rows, as the data and as each of three draws, with their exact probabilities."""
    p = np.array([0.2, 0.5, 0.7])
    outcomes = [np.array(y) for y in product([0, 1], repeat=3)]
    chance = [np.prod(np.where(y, p, 1 - p)) for y in outcomes]
    value = [cs.estimate(y, p, measure=measure) for y in outcomes]
    pvalues, weights = [], []
    for drawn in product(range(8), repeat=4):
        values = np.array([value[i] for i in drawn])
        pvalues.append(judge(values[0], values[1:], tail, stop_after).pvalue)
        weights.append(np.prod([chance[i] for i in drawn]))
    assert sum(weights) == pytest.approx(1)
    assert excess(pvalues, weights) <= 1e-12


def uniform_ranks(draws, sets=3000):
    """How many draws were needed, and made, if the data are one more draw of the same distribution."""
    generator = np.random.default_rng(3)
    needed, made = np.empty(sets), np.empty(sets)
    for i in range(sets):
        values, parts = generator.random(draws + 1), []

        def resampler(part, values=values, parts=parts):
            begin = sum(parts)
            parts.append(part.n)
            return values[begin : begin + part.n]

        def stops(null, statistic=values[-1]):
            return [stopping_point(statistic, null, "greater", 20)]

        needed[i] = draw_until(stops, resampler, Draws.of(0, draws), Stream.LABELS, 40).size
        made[i] = sum(parts)
    return needed, made


def test_draws_of_a_calibrated_model():
    """More than l draws are needed if the rank of the data among l + 1 is one of the first 20: with 20 / (l + 1)."""
    beyond = np.minimum(1, 20 / np.arange(1, 1000))  # P(more than l draws), l = 0 .. 998
    ends = [0, 40, 80, 160, 320, 640, 999]
    in_blocks = sum(beyond[begin] * (end - begin) for begin, end in pairwise(ends))
    assert (round(beyond.sum()), round(in_blocks)) == (98, 130)
    assert in_blocks < 0.15 * 999
    for found, expected in zip(uniform_ranks(999), (beyond.sum(), in_blocks), strict=True):
        limit = stats.norm.isf(1e-5) * found.std() / np.sqrt(found.size)
        assert abs(found.mean() - expected) < limit < abs(found.mean() - 1.5 * expected)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.5])
def test_monte_carlo_error(p):
    """The standard deviation of 20 / l, l the draws to the 20th success, from the negative binomial distribution."""
    draws = np.arange(20, 20_000)
    pmf = stats.nbinom.pmf(draws - 20, 20, p)
    mean = pmf @ (20 / draws)
    sd = np.sqrt(pmf @ (20 / draws - mean) ** 2)
    end = round(20 / p)
    null = np.append(np.zeros(end - 20), np.ones(20))
    found = judge(1.0, null, "greater", 20)
    assert (found.pvalue, found.n_resamples) == (20 / end, end)
    assert found.error == pytest.approx(sd, rel=0.1)


BINARY = [("omnibus", {}), ("ece", {}), ("ks", {}), ("brier", {}), ("ece", {"n_bins": 1000})]


@pytest.mark.parametrize(("measure", "options"), BINARY)
@pytest.mark.parametrize("resample", ["labels", "both"])
def test_the_first_draws_of_a_fixed_number(measure, options, resample):
    """Whatever stops, neither blocks nor threads show: the resamples are the first of those that a fixed test draws."""
    for n, temperature, seed in ((200, 1.0, 1), (60, 1.0, 2), (200, 1.2, 3), (200, 3.0, 4)):
        long = measure == "omnibus" and resample == "both"  # each resample of the rows is looked at anew
        y, p = cs.generators.temperature(temperature).sample(20 if long else n, rng=seed)
        asked = {"measure": measure, "resample": resample, "rng": seed, "n_resamples": 50 if long else 300, **options}
        fixed, found = cs.calibration_test(y, p, **asked), cs.calibration_test(y, p, **asked, stop_after=15)
        pvalue, end = slow(fixed.statistic, fixed.null_distribution, fixed.tail, 15)
        assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
        assert found.n_resamples == end
        assert found.null_distribution == pytest.approx(fixed.null_distribution[:end], rel=1e-12)
        threads = cs.calibration_test(y, p, **asked, stop_after=15, n_jobs=2)
        assert np.array_equal(threads.null_distribution, found.null_distribution)
        if not found.stopped:
            assert (found.pvalue, found.pvalue_error) == (fixed.pvalue, fixed.pvalue_error)


@given(rows(), st.sampled_from(["ece", "ks", "brier", "log_loss"]), st.integers(1, 30), st.integers(30, 60))
def test_any_rows(data, measure, stop_after, cap):
    """With ties, predictions of 0 and 1, infinite losses, constant predictions and one row, against a plain count."""
    asked = {"measure": measure, "n_resamples": cap, "rng": 3}
    fixed, found = (cs.calibration_test(*data, **asked, stop_after=h) for h in (None, stop_after))
    pvalue, end = slow(fixed.statistic, fixed.null_distribution, fixed.tail, stop_after)
    assert (found.pvalue, found.n_resamples) == (pytest.approx(pvalue), end)
    assert np.allclose(found.null_distribution, fixed.null_distribution[:end], rtol=1e-12)
    assert 0 < found.pvalue <= 1


@pytest.mark.parametrize("first", [1, 7, 64, 999])
def test_blocks_do_not_show(first):
    y, p = cs.generators.calibrated().sample(300, rng=2)
    problem, draws = pose(y, p, "ece", {}), Draws.of(1, 999)
    resampler = problem.resampler(Labels(), Stream.LABELS)

    def stops(null):
        return [stopping_point(problem.statistic(), null, "greater", 20)]

    found = cs.calibration_test(y, p, measure="ece", rng=1, stop_after=20).null_distribution
    assert found.size < 200
    assert draw_until(stops, resampler, draws, Stream.LABELS, first) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize(("measure", "lens"), [("brier", "canonical"), ("canonical_ce", "canonical"), ("gce", None)])
def test_vectors(measure, lens):
    label, prob = example(150, 3, seed=4)
    asked = {"measure": measure, "lens": lens, "rng": 3, "n_resamples": 200}
    fixed, found = (cs.calibration_test(label, prob, **asked, stop_after=h) for h in (None, 5))
    pvalue, end = slow(fixed.statistic, fixed.null_distribution, fixed.tail, 5)
    assert (found.pvalue, found.n_resamples) == (pytest.approx(pvalue), end)
    assert found.null_distribution == pytest.approx(fixed.null_distribution[:end], rel=1e-12)


@pytest.mark.parametrize("measure", ["ece", "ks", "brier"])
def test_each_class_stops_for_itself(measure):
    label, prob = example(150, 4, seed=4)
    prob[:, [2, 3]] = prob[:, [2, 3]] * 0.05 + prob[:, [3, 2]] * 0.95  # two classes of four are wrong
    asked = {"measure": measure, "lens": "class_wise", "rng": 3, "n_resamples": 200}
    fixed, found = (cs.calibration_test(label, prob, **asked, stop_after=h) for h in (None, 10))
    fixed_all, found_all = fixed, found
    fixed, found, ends = fixed.classes, found.classes, []
    for k in range(4):
        pvalue, end = slow(fixed.statistic[k], fixed.null_distribution[:, k], fixed_all.tail, 10)
        assert (found.pvalue[k], found.resamples_used[k]) == (pytest.approx(pvalue), end)
        assert str(end) in str(found.why_stopped[k])
        ends.append(end)
    assert len(set(ends)) > 1
    pvalue, end = slow(fixed_all.statistic, fixed.null_distribution.mean(axis=1), fixed_all.tail, 10)
    assert (found_all.pvalue, found_all.n_resamples) == (pytest.approx(pvalue), end)
    assert found_all.null_distribution.shape == (end,)
    assert found.n_resamples == len(found.null_distribution) == max(*ends, end)
    assert found.null_distribution == pytest.approx(fixed.null_distribution[: found.n_resamples], rel=1e-12)
    assert np.array_equal(fixed.resamples_used, [200] * 4)
    threads = cs.calibration_test(label, prob, **asked, stop_after=10, n_jobs=2)
    assert np.array_equal(threads.classes.null_distribution, found.null_distribution)


def test_a_higher_cap_resolves_small_p_values():
    """Seven events of ten at 0.3: P(|K - 3| >= 4) = P(K >= 7), about .0106, is a binomial sum."""
    exact = stats.binom.sf(6, 10, 0.3)
    found = cs.calibration_test([1] * 7 + [0] * 3, [0.3] * 10, measure="ece", n_resamples=99_999, stop_after=100, rng=3)
    assert found.n_resamples < 99_999
    assert abs(found.pvalue - exact) < 4.5 * found.pvalue_error < 0.5 * found.pvalue


def test_what_is_said():
    y, p = cs.generators.calibrated().sample(500, rng=2)
    said = {
        ("ece", 20): "; stopped after 20 resamples at least as extreme, at draw 52, p accurate to 0.067.",
        ("ece", 1): "stopped after 1 resample at least as extreme, at draw ",
        ("brier", 20): "stopped after 10 resamples at least as large and 10 at least as small, at draw ",
        ("brier", 1): "stopped after 1 resample at least as large and 1 at least as small, at draw ",
        ("ece", None): "; 999 resamples, p accurate to",
    }
    for (measure, stop_after), text in said.items():
        found = cs.calibration_test(y, p, measure=measure, rng=1, stop_after=stop_after)
        assert text in str(found)
        assert found.stopped == (stop_after is not None)
    capped = cs.calibration_test(*cs.generators.temperature(4).sample(500, rng=2), rng=1, stop_after=20)
    assert "; 999 resamples, the cap, p accurate to" in str(capped)
    assert not capped.stopped
    label, prob = example(150, 3, seed=4)
    classes = str(cs.calibration_test(label, prob, lens="class_wise", rng=1, stop_after=20))
    assert "Draws: stopped after 20 resamples at least as extreme" in classes


@pytest.mark.parametrize("stop_after", [0, -1, 2.5, 20.0, True, "20", 1000])
def test_bad_stop_after(stop_after):
    with pytest.raises(
        ValueError, match="expected stop_after to be None or a whole number from 1 to n_resamples = 999"
    ):
        cs.calibration_test([1, 0], [0.4, 0.6], stop_after=stop_after)
    with pytest.raises(ValueError, match="from 1 to n_resamples = 9, found 10"):
        cs.calibration_test([1, 0], [0.4, 0.6], n_resamples=9, stop_after=10)
