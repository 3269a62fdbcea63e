"""The lower distance: the linear programme on grids of several sizes, for few and for many rows."""

from functools import partial

from timing import in_turn

import calibstat as cs

GRIDS = (50, 200, 1000)


def main():
    print(f"{'n':>8}" + "".join(f"{f'grid {grid}, s':>15}" for grid in GRIDS))
    for n in (1000, 10_000, 100_000, 1_000_000):
        sample = cs.Sample.from_rows(*cs.generators.temperature(1.5).sample(n, 2))
        calls = [partial(cs.estimate, sample, measure="lower_distance", grid=grid) for grid in GRIDS]
        print(f"{n:>8}" + "".join(f"{time:>15.3f}" for time in in_turn(*calls, rounds=3)))


if __name__ == "__main__":
    main()
