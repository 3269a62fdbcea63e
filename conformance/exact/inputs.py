"""The rows of the cases: small, chosen by a fixed linear congruence, each of a kind that packages get wrong."""

from __future__ import annotations

from collections.abc import Iterator

Case = dict[str, object]


def numbers(seed: int) -> Iterator[int]:
    """Yield the top 31 bits of the states of the congruence of Knuth's MMIX."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def binary(kind: str, seed: int) -> Case:
    """Return outcomes and predictions of a kind."""
    draw = numbers(1000 * seed + sum(kind.encode()))

    def chosen(values: list[float], n: int) -> list[float]:
        return [values[next(draw) % len(values)] for _ in range(n)]

    def observed(p: list[float]) -> list[int]:
        return [int(next(draw) % 4096 < 4096 * v) for v in p]

    def spread(n: int, size: int) -> list[float]:
        return [(1 + next(draw) % (size - 1)) / size for _ in range(n)]

    if kind == "one_row":
        p = spread(1, 16)
        return {"y": [seed % 2], "p": p}
    if kind == "ties":
        p = chosen([0.125, 0.375, 0.625, 0.875], 12)
    elif kind == "few":
        p = chosen([0.125, 0.25, 0.6875], 7)
    elif kind == "zero_and_one":  # and the outcomes that they allow
        p = [0.0, 1.0, *chosen([0.0, 0.25, 0.625, 1.0], 8)]
    elif kind == "certain_and_wrong":
        p = [0.0, 1.0, *chosen([0.25, 0.5], 6)]
        return {"y": [1, *observed(p[1:])], "p": p}
    elif kind == "constant":
        p = chosen([0.375], 9)
    elif kind == "rare":
        p = spread(24, 16)
        return {"y": [0] * 17 + [1] + [0] * 6, "p": [v / 16 for v in p]}
    elif kind == "no_event":
        return {"y": [0] * 6, "p": spread(6, 16)}
    elif kind == "decimals":  # doubles nearest to tenths, many on edges of bins
        p = chosen([0.1, 0.2, 0.3, 0.6, 0.7, 0.9], 11)
    elif kind == "on_edges":  # of four and of eight bins
        p = chosen([0.0, 0.0625, 0.125, 0.1875, 0.5, 0.5625, 0.75, 1.0], 10)
    elif kind == "distinct":
        p = [0.5 + v / 2 for v in spread(8, 512)] + [v / 2 for v in spread(7, 512)]
    elif kind == "many":
        p = spread(40, 4096)
    elif kind == "weights":
        p = chosen([0.0625, 0.25, 0.5, 0.75, 0.9375], 10)
    elif kind == "separated":
        p = spread(8, 16)
        return {"y": [int(v < 0.5) for v in p], "p": p}
    else:
        raise ValueError(f"expected a kind of rows, found {kind!r}")
    y = observed(p)
    if kind != "zero_and_one":  # both outcomes, and a row of outcome 0 above one of outcome 1
        inside = sorted((v, i) for i, v in enumerate(p) if 0 < v < 1)
        y[inside[0][1]], y[inside[-1][1]] = 1, 0
    weights = {"weights": chosen([0.5, 1.0, 2.0, 1.25], 10)} if kind == "weights" else {}
    return {"y": y, "p": p, **weights}


def of_classes(kind: str, seed: int) -> Case:
    """Return observed classes and predicted probabilities of three or four of them, in sixteenths."""
    draw = numbers(7000 * seed + sum(kind.encode()))
    n, classes = {"one_row": (1, 3), "ties": (10, 3), "weights": (8, 3), "four_classes": (9, 4)}.get(kind, (9, 3))
    vectors = []
    while len(vectors) < n:
        cuts = sorted(next(draw) % 17 for _ in range(classes - 1))
        vectors.append([(b - a) / 16 for a, b in zip([0, *cuts], [*cuts, 16], strict=True)])
    if kind == "ties":
        vectors = [vectors[next(draw) % 3] for _ in range(n)]
    elif kind == "constant":
        vectors = [[0.5, 0.25, 0.25]] * n
    elif kind == "zero_and_one":
        vectors[:3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    elif kind == "rare":
        vectors = [[1 - v[0] / 16 - v[1] / 16, v[0] / 16, v[1] / 16] for v in vectors]
    label = []
    for vector in vectors:
        at = next(draw) % 4096 / 4096
        label.append(next(k for k in range(classes) if at < sum(vector[: k + 1])))
    case: Case = {"y": label, "p": vectors}
    if kind == "weights":
        case["weights"] = [[0.5, 1.0, 2.0, 1.25][next(draw) % 4] for _ in range(n)]
    return case
