"""Fields of results that stand elsewhere than in checkouts of before, for comparisons of the numbers in them."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from recorded import CLASS

Fields = Mapping[str, Mapping[str, str | None]]
MAP = Path(__file__).resolve().parents[1] / "conformance" / "moved-1-to-2.json"
# Of each result class of before: the way to a field, such as ".n_clusters", and the way now, such as ".rows.clusters".
# None stands for a field that is gone on purpose. The file is for programs that read the JSON of results, too.
MOVED: Fields = {
    kind: {f".{before}": None if now is None else f".{now}" for before, now in fields.items()}
    for kind, fields in json.loads(MAP.read_text(encoding="utf-8")).items()
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
        for before, now in fields.get(kind, {}).items()
        if is_now.get(owner) != kind or not any(is_within(path, owner + before) for path in new)
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
