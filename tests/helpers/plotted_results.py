"""Results for tests of plots, what is found in axes, and what overlaps in a figure."""

import functools
import itertools

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from mpl_toolkits.mplot3d.proj3d import proj_transform

import calibstat as cs
from calibstat.data.named_lens import EVENT, NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.inference.bands.bands import BANDS
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, SimplexReliability
from calibstat.inference.calibration_test_results import CalibrationTestResult, ClassTests
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.measures.kinds.named_measure import NamedMeasure

CANONICAL = NamedLens("canonical", "all classes jointly")
LONG = ("{airplane, automobile, bird}", "{cat, deer, dog}", "{frog, horse, ship, truck}", "everything else")


def over_confident(n_classes, n, seed=0):
    """Labels from Dirichlet vectors, predictions from the squares of these vectors."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), n)
    label = (truth.cumsum(1) < rng.random((n, 1))).sum(1).clip(max=n_classes - 1)
    return label, truth**2 / (truth**2).sum(1, keepdims=True)


@functools.cache
def cells(n_classes, parts=4, n=1500):
    """Over-confident predictions in the cells in which the same classes are in the same of some equal parts."""
    label, prob = over_confident(n_classes, n)
    cell = np.unique(np.ceil(prob * parts), axis=0, return_inverse=True)[1].ravel()
    of_cell = np.eye(cell.max() + 1)[cell]
    count = of_cell.sum(0)
    mean, frequency = ((of_cell.T @ rows) / count[:, None] for rows in (prob, np.eye(n_classes)[label]))
    return SimplexReliability(mean, frequency, count, LONG[:n_classes], "equal parts", CANONICAL, n)


def six_points():
    """Vaicenavicius et al. 2019, Table 1."""
    mean = [[0.1, 0.3, 0.6], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3], [0.6, 0.3, 0.1]]
    law = [[0.2, 0.2, 0.6], [0.0, 0.7, 0.3], [0.2, 0.2, 0.6], [0.4, 0.5, 0.1], [0.7, 0.0, 0.3], [0.5, 0.4, 0.1]]
    count = np.full(6, 100.0)
    return SimplexReliability(np.array(mean), np.array(law), count, ("1", "2", "3"), "distinct", CANONICAL, 600)


def some_cells(n_classes, mean, frequency):
    """Cells of ten rows."""
    count = np.full(len(mean), 10.0)
    names = tuple("abcdefg"[:n_classes])
    return SimplexReliability(np.array(mean), np.array(frequency), count, names, "", CANONICAL, 10 * len(mean))


EDGE_CASES = {
    "one cell": some_cells(3, [[0.2, 0.3, 0.5]], [[0, 0, 1]]),
    "one calibrated cell": some_cells(4, [[0.1, 0.2, 0.3, 0.4]], [[0.1, 0.2, 0.3, 0.4]]),
    "all at corners": some_cells(3, np.eye(3), np.roll(np.eye(3), 1, axis=0)),
    "no displacement": some_cells(4, np.eye(4), np.eye(4)),
    "absent class": some_cells(3, [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], [[0.4, 0.6, 0], [0.9, 0.1, 0]]),
    "absent fourth class": some_cells(4, [[0.2, 0.3, 0.4, 0.1], [0.6, 0.2, 0.2, 0]], [[0.4, 0.6, 0, 0], [1, 0, 0, 0]]),
}


@functools.cache
def per_class(n_classes, n=600, **options):
    label, prob = over_confident(n_classes, n)
    truth = [(label == k).astype(float) for k in range(n_classes)]
    diagrams = tuple(cs.reliability(y, p, rng=1, n_resamples=50, **options) for y, p in zip(truth, prob.T, strict=True))
    error = np.array([cs.estimate(y, p) for y, p in zip(truth, prob.T, strict=True)])
    return ClassWiseReliability(
        diagrams, tuple(f"class {k}" for k in range(n_classes)), error, NamedLens("class-wise", "each class"), n
    )


def made_up_tests(n_classes, n_resamples=99, seed=0):
    """A made-up result: statistics among normal variables, the first far above."""
    rng = np.random.default_rng(seed)
    null, statistic = rng.normal(size=(n_resamples, n_classes)), rng.normal(size=n_classes)
    statistic[0] = 9
    pvalue = (1 + (null >= statistic).sum(0)) / (1 + n_resamples)
    hypothesis, lens = Null("", ("each class is calibrated",)), NamedLens("class-wise", "each class")
    why_stopped = WhyStopped(f"{n_resamples} resamples")
    classes = ClassTests(
        names=tuple(f"class {k}" for k in range(n_classes)),
        statistic=statistic,
        pvalue=pvalue,
        pvalue_holm=np.minimum(1, 2 * pvalue),  # any numbers will do
        pvalue_error=0 * pvalue,
        null_distribution=null,
        null_hypothesis=hypothesis,
        lens=lens,
        n_resamples=n_resamples,
        resamples_used=np.full(n_classes, n_resamples),
        why_stopped=(why_stopped,) * n_classes,
    )
    return CalibrationTestResult(
        statistic=float(statistic.mean()),
        pvalue=float(pvalue.mean()),
        pvalue_error=0.0,
        null_distribution=null.mean(axis=1),
        null_hypothesis=hypothesis,
        measure=NamedMeasure("ks"),
        lens=lens,
        tail="greater",
        resample="labels",
        n=50,
        n_resamples=n_resamples,
        stopped=False,
        why_stopped=why_stopped,
        rows=Rows(50),
        classes=classes,
    )


def panels(figure):
    return [ax for ax in figure.axes if ax.get_title()]


def overlapping(figure):
    """Pairs among legends, colour bars, panels with their labels, and labels of the figure that overlap."""
    figure.draw_without_rendering()
    boxes = {}
    for k, ax in enumerate(figure.axes):
        boxes[f"axes {k}"] = data_box(ax) if not ax.axison else ax.get_tightbbox(for_layout_only=True)
        if ax.get_legend():
            boxes[f"legend {k}"] = ax.get_legend().get_window_extent()
            if ax.axison:
                boxes[f"axes {k}"] = ax.get_window_extent()
    for name, artist in (
        ("x", figure._supxlabel),
        ("y", figure._supylabel),
        *enumerate([*figure.legends, *({*figure.texts} - {figure._supxlabel, figure._supylabel})]),
    ):
        if artist is not None:
            boxes[f"figure {name}"] = artist.get_window_extent()
    return [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes.items(), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def data_box(ax):
    """The box around the lines of axes without a frame, and around the texts beside them."""
    if ax.name == "3d":
        points = np.hstack([line.get_data_3d() for line in ax.lines if np.size(line.get_data_3d()[0])])
        points = np.transpose(proj_transform(*points, ax.get_proj())[:2])
    else:
        points = np.vstack([line.get_xydata() for line in ax.lines])
    points = ax.transData.transform(points)
    boxes = [mpl.transforms.Bbox([points.min(axis=0), points.max(axis=0)])]
    boxes += [text_box(text) for text in ax.texts]
    return mpl.transforms.Bbox.union(boxes)


def text_box(text):
    """The box around a text, which matplotlib itself does not know in three dimensions."""
    if not hasattr(text, "get_position_3d"):
        return text.get_window_extent()
    x, y, _ = proj_transform(*text.get_position_3d(), text.axes.get_proj())
    flat = text.axes.figure.text(x, y, text.get_text(), transform=text.axes.transData)
    flat.update_from(text)
    flat.set_transform(text.axes.transData)
    box = flat.get_window_extent()
    flat.remove()
    return box


def outside(figure):
    """Texts that do not fit in the figure."""
    texts = [text for ax in figure.axes for text in [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    texts += [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    found = []
    for text in [text for text in texts if text.get_text()]:
        box = text_box(text)
        if box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.width or box.y1 > figure.bbox.height:
            found.append(text.get_text())
    return found


DETAILED = ["ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "smooth_ece", "mcb", "brier", "log_loss"]

DETAILED += ["interval_ce", "random_interval_ce", "surrogate_interval_ce", "post_processing_gap"]

DETAILED += ["lower_distance", "upper_distance"]


def rows(n, bad=True, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(float), p**2 / (p**2 + (1 - p) ** 2) if bad else p


def interval(low, high, estimate, measure="ece", method="honest"):
    measure = cs.MEASURES[measure]().named
    return ConfidenceInterval(low, high, estimate, 0.95, method, "what it covers", measure, EVENT, 100, 999, Rows(100))


def asked(verb, **options):
    """A maker of what a verb answers about some rows."""
    return lambda: verb(*rows(300), **options)


RESULTS = {
    **{f"detail of {name}": asked(cs.detail, measure=name) for name in DETAILED},
    **{f"{band}": asked(cs.reliability, band=band, rng=1) for band in (*BANDS, None)},
    "test": asked(cs.calibration_test, rng=1),
    "interval": lambda: interval(0.01, 0.03, 0.02),
    "intervals": lambda: [interval(0.01, 0.03, 0.02), interval(-0.01, 0.03, 0.04, "ks", "basic")],
    "named intervals": lambda: {"A": interval(0.01, 0.03, 0.02), "B": interval(0, 0.02, 0.01)},
}


@functools.cache
def made(name):
    """A result of that name, made when it is first asked for."""
    return RESULTS[name]()


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def segments(ax):
    return {entry.get_label(): entry.get_segments() for entry in ax.collections if hasattr(entry, "get_segments")}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
