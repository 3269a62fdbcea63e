"""Calls of every verb and of a study, and what is no number of jobs."""

import calibstat as cs

Y, P = cs.generators.temperature(1.5).sample(60, rng=1)
NO_JOBS = [float("nan"), 1.5, 2.0, True, None, 0, -2, "2", [1]]
VERBS = {
    "test": lambda **given: cs.calibration_test(Y, P, measure="ks", **{"n_resamples": 9, **given}),
    "interval": lambda **given: cs.confidence_interval(Y, P, **{"measure": "ks", "n_resamples": 9, **given}),
    "compare": lambda **given: cs.compare(Y, {"a": P, "b": P**2}, **{"n_resamples": 9, **given}),
    "decompose": lambda **given: cs.decompose(Y, P, **given),
    "t_cal": lambda **given: cs.classical.t_cal(Y, P, **{"n_resamples": 9, **given}),
    "reliability": lambda **given: cs.reliability(Y, P, **{"n_resamples": 9, **given}),
    "summarize": lambda **given: cs.summarize(Y, {"a": P}, **{"n_resamples": 9, **given}),
    "gap": lambda **given: cs.generalization_gap((Y, P), (Y, P), **{"n_resamples": 9, **given}),
}
RUN = {"question": "bias", "generators": {"a": cs.generators.calibrated()}, "n": 5, "measures": ["ks"],
       "replicates": 2, "seed": 1}  # fmt: skip
