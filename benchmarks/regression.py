"""Kernel regression beside one np.argsort of the same predictions, and diagrams of a million rows: one thread.

`kernel` is the measure on the sorted summary, `estimate` the whole call on rows, with its own sort. Rounded predictions
are what a database returns; clustered ones and those that crowd near 0 and 1 are hard for moments. A diagram is drawn
and rendered.
"""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from timing import in_turn, seconds

import calibstat as cs

N = 1_000_000


def predictions(rng):
    """Predictions and outcomes of each kind, in random order."""
    v, b = rng.random(N), rng.beta(0.1, 0.1, N)
    cluster = rng.integers(0, 10, N) / 10 + 0.05 + 1e-9 * rng.random(N)
    kinds = {"even": v, "rounded": v.round(3), "clustered": cluster, "beta(.1, .1)": b}
    return {name: (rng.random(N) < p, p) for name, p in kinds.items()}


def beside_argsort():
    print(
        f"{'input':>13} {'kernel':>13} {'argsort s':>10} {'kernel s':>9} {'ratio':>6} {'estimate s':>11} {'ratio':>6}"
    )
    for name, (y, p) in predictions(np.random.default_rng(0)).items():
        sample = cs.Sample.from_rows(y, p)
        for kernel in ("gaussian", "epanechnikov"):
            bound = cs.measures.RegressionCE(kernel=kernel)
            sort, once, whole = in_turn(
                lambda p=p: np.argsort(p),
                lambda b=bound, s=sample: b.estimate(s),
                lambda y=y, p=p, k=kernel: cs.estimate(y, p, measure="regression_ce", kernel=k),
                rounds=3,
            )
            print(
                f"{name:>13} {kernel:>13} {sort:>10.3f} {once:>9.3f} {once / sort:>6.2f} {whole:>11.3f} "
                f"{whole / sort:>6.2f}",
                flush=True,
            )


def diagrams():
    rng = np.random.default_rng(1)
    p = rng.random(N)
    y = rng.random(N) < p
    prob = rng.standard_exponential((N, 10))
    prob /= prob.sum(axis=1, keepdims=True)
    label = (rng.random((N, 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)

    def draw(*data, kernel):
        cs.plot(cs.sharpness(*data, kernel=kernel)).figure.canvas.draw()
        plt.close("all")

    print(f"\n{'diagram':>13} {'kernel':>13} {'seconds':>8}")
    for name, data in (("event", (y, p)), ("10 classes", (label, prob))):
        for kernel in ("gaussian", "epanechnikov"):
            draw(*(part[:100] for part in data), kernel=kernel)
            time = min(seconds(lambda d=data, k=kernel: draw(*d, kernel=k)) for _ in range(3))
            print(f"{name:>13} {kernel:>13} {time:>8.2f}", flush=True)


def resamples():
    y, p = cs.generators.calibrated().sample(10_000, rng=1)
    print(f"\n{'kernel':>13} {'1000 resamples of 10,000 rows, s':>33}")
    for kernel in ("gaussian", "epanechnikov"):
        (time,) = in_turn(
            lambda k=kernel: cs.calibration_test(y, p, measure="regression_ce", kernel=k, n_resamples=1000, rng=1),
            rounds=3,
        )
        print(f"{kernel:>13} {time:>33.2f}", flush=True)


def main():
    beside_argsort()
    diagrams()
    resamples()


if __name__ == "__main__":
    main()
