"""Settings of matplotlib for the time of one picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def settings(values: Mapping[str, Any] | Path) -> Iterator[None]:
    """Give matplotlib these settings, or the ones in a style file, for a while, and put back these alone.

    `matplotlib.rc_context` and `matplotlib.style.context` put back all settings. If the first figure of a session is
    made within them, they undo what the backend set for good as it was loaded: a notebook's makes it interactive.
    """
    import matplotlib as mpl

    new = dict(mpl.rc_params_from_file(values, use_default_template=False) if isinstance(values, Path) else values)
    current: Any = mpl.rcParams
    before = {name: current[name] for name in new}
    try:
        current.update(new)
        yield
    finally:
        current.update(before)


def load_backend() -> None:
    """Load the backend that the user chose, as the first figure would, so that what it sets is there before it."""
    import matplotlib.pyplot as plt

    if not plt.get_fignums():  # the backend of an open figure is loaded
        plt.draw_if_interactive()  # without a figure this draws nothing
