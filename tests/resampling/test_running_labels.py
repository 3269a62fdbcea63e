"""Norms in one pass over drawn labels: the same numbers as of the sums of each resample, to the last bit."""

import numpy as np

import calibstat as cs
from calibstat.bounds.norms import Running, SeminormOn
from calibstat.compiled import jit
from calibstat.resampling import Draws, Stage, running_labels
from calibstat.residuals.summary import SummaryResiduals

SAMPLE = cs.Sample.from_rows(*cs.generators.temperature(2).sample(300, rng=1))
KS = cs.measures.KS()
NORM = KS.norm_on(SAMPLE.value, SAMPLE.count)


def drawn(n_jobs=1):
    return running_labels(SAMPLE, NORM.running, Draws.of(1, 50, n_jobs), Stage.LABELS)


def test_ks_is_the_norm_of_the_sums_of_each_resample():
    class Plain(SeminormOn):
        running = None

    plain = Plain(KS, SAMPLE.value, KS.step)
    of_sums = SummaryResiduals(SAMPLE).relabelled(plain, Draws.of(1, 50))
    assert np.array_equal(drawn(), of_sums)
    assert np.array_equal(SummaryResiduals(SAMPLE).relabelled(NORM, Draws.of(1, 50)), of_sums)
    tested = cs.calibration_test(SAMPLE, measure="ks", n_resamples=50, rng=1)
    assert np.array_equal(drawn(), tested.null_distribution)


def test_threads_do_not_show():
    assert np.array_equal(drawn(2), drawn())


def test_the_state_by_hand():
    state = np.zeros(NORM.running.size)
    for residual in (0.5, -0.75, 0.125):  # partial sums .5, -.25 and -.125
        NORM.running.step(state, 0.0, residual)
    assert state.tolist() == [-0.125, -0.25, 0.5]
    assert NORM.running.result(state) == NORM.value(np.array([0.5, -0.75, 0.125])) == 0.5


def test_tied_predictions_are_drawn_with_their_sums():
    tied = cs.Sample.from_counts([0.2, 0.7], [500, 500], [130, 340])
    norm = KS.norm_on(tied.value, tied.count)
    of_sums = cs.calibration_test(tied, measure="ks", n_resamples=20, rng=1).null_distribution
    assert np.array_equal(SummaryResiduals(tied).relabelled(norm, Draws.of(1, 20)), of_sums)


@jit
def last_only(state, value, residual):
    state[0] = residual


@jit
def first_number(state):
    return state[0]


def test_another_running_form_gives_other_numbers():
    """The planted fault: a pass that forgets what came before."""
    forgets = running_labels(SAMPLE, Running(1, last_only, first_number), Draws.of(1, 50), Stage.LABELS)
    assert not np.array_equal(forgets, drawn())
