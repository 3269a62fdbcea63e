"""Sentences about several models: what is said of each, and once what is said of all."""

from __future__ import annotations

import re
from collections.abc import Mapping

SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])|(?<=\d:)\s+")  # the space between two, or behind "n = 100:"


def said_once(texts: Mapping[str, str]) -> list[str]:
    """Return what is said of each model, a line each, and what is said of all of them once."""
    if len(texts) == 1:
        return [*texts.values()]
    parts = {name: SENTENCE.split(text) for name, text in texts.items()}
    common = [each for each in next(iter(parts.values())) if all(each in others for others in parts.values())]
    models: dict[str, list[str]] = {}
    for name, sentences in parts.items():
        models.setdefault(" ".join(each for each in sentences if each not in common), []).append(name)
    lines = [f"{', '.join(names)}: {own}" for own, names in models.items() if own]
    shared = " ".join(re.sub(":$", ".", each) for each in common)
    return [*([f"All {len(texts)} models: {shared}"] if shared else []), *lines]
