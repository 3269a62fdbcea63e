"""Fields of results that stand elsewhere than in checkouts of before, for comparisons of the numbers in them."""

import json
import re
from collections.abc import Mapping

from recorded import CLASS

Fields = Mapping[str, Mapping[str, str | None]]
# Of each result class of before: the way to a field, such as ".n_clusters", and the way now, such as ".rows.clusters".
# None stands for a field that is gone on purpose.
CLASS_WISE = ("names", "statistic", "pvalue", "pvalue_holm", "pvalue_error", "null_distribution", "null_hypothesis")
MOVED: Fields = {
    "ClassWiseTestResult": {
        **{f".overall.{name}": f".{name}" for name in ("statistic", "pvalue", "pvalue_error", "null_distribution")},
        **{f".overall.{name}": f".{name}" for name in ("null_hypothesis", "lens", "n_resamples", "why_stopped")},
        **{f".overall.{name}": f".{name}" for name in ("measure", "tail", "resample", "n", "stopped", "why_infinite")},
        **{f".overall.{name}": f".{name}" for name in ("deviation", "calibration_map")},
        **dict.fromkeys((".overall.note", ".overall.effective_n"), None),  # which the result itself has
        **{f".{name}": f".classes.{name}" for name in (*CLASS_WISE, "lens", "n_resamples", "resamples_used")},
        **{f".{name}": f".classes.{name}" for name in ("why_stopped", "deviations")},
    },
    "CrossValidatedTestResult": {
        f".{name}": f".rows.{name}"
        for name in ("pvalue_by_theorem", "pvalue_of_rows", "pvalue_of_folds", "folds", "repeats")
    },
    "CrossValidatedInterval": {f".{name}": f".rows.{name}" for name in ("folds", "repeats")},
    "GuidedTestResult": {
        **{f".{name}": f".rows.{name}" for name in ("use", "pvalue_labels_only", "pvalue_direction", "labelled")},
        **{f".{name}": f".rows.{name}" for name in ("left_out", "design_pvalue")},
        ".premises": ".rows.rests_on",
        ".unseen": ".rows.not_seen",
    },
    "RectifiedInterval": {
        **{f".{name}": f".rows.{name}" for name in ("labelled", "share", "equivalent_labels", "slopes", "worth")},
        **{f".{name}": f".rows.{name}" for name in ("is_judge_used", "labels_only", "design_pvalue")},
        ".unseen": ".rows.not_seen",
    },
    "JudgedComparison": {
        **{f".{name}": f".rows.{name}" for name in ("labelled", "labels_only", "design_pvalue")},
        ".unseen": ".rows.not_seen",
    },
}


def is_within(path: str, field: str) -> bool:
    """Whether an entry is a field or within it."""
    return path == field or path.startswith((f"{field}.", f"{field}[", f"{field}:"))


def classes(found: Mapping[str, str]) -> dict[str, str]:
    """Return the class of each result within an answer, by the way to it, the inmost first."""
    of = {path.removesuffix(CLASS): json.loads(entry) for path, entry in found.items() if path.endswith(CLASS)}
    return {path: of[path] for path in sorted(of, key=len, reverse=True)}


def moved(old: Mapping[str, str], new: Mapping[str, str], fields: Fields) -> dict[str, str]:
    """Return an answer of before with its fields where the new answer has them, whose class is another there."""
    is_now = classes(new)
    ways = {
        owner + before: None if now is None else owner + now
        for owner, kind in classes(old).items()
        if is_now.get(owner) != kind
        for before, now in fields.get(kind, {}).items()
    }
    found = {}
    for path, entry in old.items():
        before = next((way for way in ways if is_within(path, way)), None)
        now = "" if before is None else ways[before]
        if now is not None:
            found[path if before is None else now + path[len(before) :]] = entry
    return found


def new_field(path: str, old: Mapping[str, str]) -> str:
    """Return the class and field of an entry that a result did not have before; nothing if it is part of one it had."""
    for owner, kind in classes(old).items():
        if path.startswith(f"{owner}."):
            name = re.findall(r"\.\w+", path[len(owner) :])[0]
            return "" if any(is_within(each, owner + name) for each in old) else kind + name
    return ""
