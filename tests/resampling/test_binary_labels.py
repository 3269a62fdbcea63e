"""Labels of a sample, in blocks of resamples and one resample at a time: the same words, and the law of tied rows."""

import numpy as np
import pytest
from binary_draws import KEY
from oracles import follows
from scipy import stats

import calibstat as cs
from calibstat.data.weighted_sample import as_weights, weighted_sample
from calibstat.resampling import Draws, Labels, binary_labels, draw
from calibstat.resampling.binary_labels import BLOCK, FEW_DRAWS, TILE, labels_in_one_pass, labels_of_sample
from calibstat.resampling.one_pass import SumsInCells, WeightedSum
from calibstat.resampling.sources import InOnePass
from calibstat.resampling.streams import binomial, first_state, word

GENERATOR = np.random.default_rng(3)
ROWS = 700  # three tiles, the last one short
P = GENERATOR.random(ROWS)
P[:2] = 0.0, 1.0
Y = (GENERATOR.random(ROWS) < P).astype(float)
SINGLE = cs.Sample.from_rows(Y, P)
TIED = cs.Sample.from_rows(Y, np.round(P, 2))
WEIGHTED = weighted_sample(Y, np.round(P, 2), as_weights(GENERATOR.random(ROWS) + 0.1, ROWS))
MANY = cs.Sample.from_counts([0.0, 0.2, 0.5, 0.7, 1.0], [40, 60, 3, 20, 17], [0, 15, 1, 9, 17])
SAMPLES = {"single": SINGLE, "tied": TIED, "weighted": WEIGHTED, "many": MANY}
MEASURES = [
    cs.measures.KS(),
    cs.measures.Kuiper(),
    cs.measures.KernelCE(),
    cs.measures.KernelCESquared(),
    cs.measures.Brier(),
    cs.measures.LogLoss(),
]
GIVEN = Labels()
EXACT = ("ks", "kuiper")  # added up in the same order by both ways


def in_one_pass(measure, sample, scheme=GIVEN, n=150, n_jobs=1):
    one_pass = measure.one_pass(sample.value, sample.count, scheme.chances(sample.value))
    return draw(InOnePass(sample), scheme, one_pass, Draws(KEY, n, n_jobs), 1)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("measure", [*MEASURES, cs.measures.SmoothECE()], ids=str)
def test_a_block_is_its_resamples_one_at_a_time(measure, name):
    """The plain way holds the positives of each resample and evaluates the measure; blocks are 64, 64 and 22."""
    sample = SAMPLES[name]
    plain = draw(sample, Labels(), measure.evaluate, Draws(KEY, 150), 1)
    found = in_one_pass(measure, sample)
    if measure.name in EXACT and name != "weighted":
        assert np.array_equal(found, plain)
    assert found == pytest.approx(plain, rel=1e-11, abs=1e-15)
    shifted = Labels(np.minimum(sample.value + 0.1, 1.0) * (sample.value > 0))
    other = in_one_pass(measure, sample, shifted)  # the planted fault: labels of other probabilities
    assert other != pytest.approx(plain, rel=1e-3)
    assert other == pytest.approx(draw(sample, shifted, measure.evaluate, Draws(KEY, 150), 1), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("name", SAMPLES)
def test_threads_and_parts_do_not_show(name):
    found = in_one_pass(cs.measures.KS(), SAMPLES[name])
    assert np.array_equal(in_one_pass(cs.measures.KS(), SAMPLES[name], n_jobs=2), found)
    assert np.array_equal(in_one_pass(cs.measures.KS(), SAMPLES[name], n=3), found[:3])
    part = Draws(KEY, 150).part(60, 150, 1)
    one_pass = cs.measures.KS().one_pass(*SAMPLES[name].arrays)
    assert np.array_equal(labels_in_one_pass(InOnePass(SAMPLES[name]), Labels(), one_pass, part, 1), found[60:])


def test_states_are_held_for_some_blocks_at_a_time(monkeypatch):
    """Two blocks of 64 states of one number, then what is left."""
    found = in_one_pass(cs.measures.Brier(), SINGLE)
    held = []
    of_add = WeightedSum.add
    monkeypatch.setattr(WeightedSum, "add", lambda self, state, *rest: held.append(state) or of_add(self, state, *rest))
    monkeypatch.setattr(binary_labels, "LARGEST_STATE", 2 * BLOCK)
    assert np.array_equal(in_one_pass(cs.measures.Brier(), SINGLE), found)
    assert [state.shape[1] for state in held] == [64, 64] * 3 + [22] * 3


def test_the_test_draws_in_one_pass():
    for measure in MEASURES:
        tested = cs.calibration_test(SINGLE, measure=measure, n_resamples=50, rng=1)
        one_pass = measure.one_pass(SINGLE.value, SINGLE.count, SINGLE.value)
        drawn = labels_in_one_pass(InOnePass(SINGLE), Labels(), one_pass, Draws.of(1, 50), 1)
        assert np.array_equal(tested.null_distribution, drawn)


def words_of(replicate, count):
    start = np.uint64(first_state(KEY, 1, replicate))
    return [int(word(start, i)) for i in range(count)]


def test_the_word_of_each_row_by_hand():
    """Rows of 3 and 2 ties take five words; a prediction of more rows than are drawn one by one takes one word."""
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7, 0.9], [3, 20, 2, 1], [1, 9, 1, 1])
    drawn = labels_of_sample(sample, Labels(), lambda value, count, positives: positives.copy(), Draws(KEY, 200), 1)
    for r in range(200):
        words = words_of(r, 7)
        few = [[w >> 1 for w in words[a:b]] for a, b in ((0, 3), (4, 6), (6, 7))]
        expected = [sum(w < int(p * 2.0**63) for w in part) for part, p in zip(few, (0.2, 0.7, 0.9), strict=True)]
        assert drawn[r, [0, 2, 3]].tolist() == expected
        uniform = ((words[3] >> 11) + 0.5) * 2.0**-53
        assert drawn[r, 1] == stats.binom.ppf(uniform, 20, 0.5)


def test_the_law_of_eight_rows_by_enumeration():
    """Every outcome of 8 rows at four predictions has its probability: products of binomial ones."""
    sample = cs.Sample.from_counts([0.1, 0.4, 0.75, 1.0], [2, 3, 2, 1], [0, 1, 1, 1])
    drawn = labels_of_sample(sample, Labels(), lambda value, count, positives: positives.copy(), Draws(KEY, 100_000), 1)
    which = (drawn @ np.array([1, 3, 12, 36])).astype(int)

    def pmf(chance):
        place, mass = np.zeros(1), np.ones(1)
        for unit, c, p in zip((1, 3, 12, 36), sample.count, chance, strict=True):
            place = (place[:, None] + unit * np.arange(c + 1)).ravel()
            mass = (mass[:, None] * stats.binom.pmf(np.arange(c + 1), c, p)).ravel()
        return np.bincount(place.astype(int), mass)

    assert follows(which, pmf(sample.value))
    assert not follows(which, pmf(np.array([0.12, 0.4, 0.75, 1.0])))


def test_the_law_of_tied_rows_is_the_law_of_rejection():
    """100,000 Kolmogorov-Smirnov errors of rows drawn from tables, and of numbers of positives drawn by rejection."""
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7], [60, 30, 40], [15, 14, 30])
    value, count, _ = sample.arrays
    n = 100_000
    tables = in_one_pass(cs.measures.KS(), sample, n=n)
    state = np.array([np.uint64(11)])
    positives = np.array([[binomial(state, c, p) for c, p in zip(count, value, strict=True)] for _ in range(n)])

    def errors(expected):
        return np.abs(np.cumsum((positives - expected) / 130, axis=1)).max(axis=1)

    assert stats.ks_2samp(tables, errors(count * value)).pvalue > 1e-5
    assert stats.ks_2samp(tables, errors(count * value + [0.2, 0, 0])).pvalue < 1e-5


@pytest.mark.parametrize("n", [FEW_DRAWS, FEW_DRAWS + 1, 1000.0, 1e9])
def test_numbers_of_positives_are_binomial(n):
    """Row by row, from tables, and by rejection of more rows than a table holds."""
    sample = cs.Sample.from_counts([0.25], [n], [n // 4])
    sums = labels_in_one_pass(InOnePass(sample), Labels(), SumsInCells(np.zeros(1, np.int64), 1), Draws(KEY, 4000), 1)
    uniform = stats.binom.cdf(np.rint((sums[:, 0] + 0.25) * n), n, 0.25)
    below = stats.binom.cdf(np.rint((sums[:, 0] + 0.25) * n) - 1, n, 0.25)
    jitter = below + (uniform - below) * np.random.default_rng(1).random(4000)
    assert stats.kstest(jitter, "uniform").pvalue > 1e-5
    assert stats.kstest(jitter**1.2, "uniform").pvalue < 1e-5


def test_what_is_held_fits_in_the_cache():
    """The residuals of a tile take 128 KB, the state of a statistic at most 16 KB: no array of all rows is walked."""
    assert TILE * BLOCK * 8 == 2**17
    for measure in MEASURES:
        assert measure.one_pass(*SINGLE.arrays).size * BLOCK * 8 <= 2**14


@pytest.mark.parametrize(("name", "tiles"), [("single", 3), ("tied", 1), ("many", 1)])
def test_each_row_is_drawn_once(monkeypatch, name, tiles):
    """150 resamples of 700 rows in three tiles and three blocks: nine draws, and as many steps of the statistic."""
    drawn = []
    for kernel in ("_fill_rows", "_fill_tied"):
        plain = getattr(binary_labels, kernel)
        monkeypatch.setattr(
            binary_labels, kernel, lambda *args, plain=plain: drawn.append(args[-1].shape) or plain(*args)
        )
    sample = SAMPLES[name]
    labels_in_one_pass(InOnePass(sample), Labels(), WeightedSum(sample.value, 0.0), Draws(KEY, 150), 1)
    assert sum(rows * resamples for rows, resamples in drawn) == 150 * sample.value.size
    assert len(drawn) == 3 * tiles
