"""Settings of matplotlib for one picture: these change and are put back, and no others."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from package_sources import sources

import calibstat as cs
from calibstat.plots.settings import load_backend, settings

USERS = {"axes.facecolor": "black", "axes.grid": False, "font.family": ["serif"], "font.size": 7.0, "lines.marker": "x"}


@pytest.fixture(autouse=True)
def restored(closed_figures):
    """Leave the settings as they were: those of a user are what is tested."""
    with mpl.rc_context():
        yield


def test_they_hold_within_and_are_put_back_after_an_error():
    before = dict(mpl.rcParams)
    within = []

    def draw():
        with settings({"font.size": 3, "lines.marker": "o"}):
            within.append((mpl.rcParams["font.size"], mpl.rcParams["lines.marker"]))
            raise KeyError

    with pytest.raises(KeyError):
        draw()
    assert within == [(3, "o")]
    assert dict(mpl.rcParams) == before


def test_what_a_backend_sets_as_it_is_loaded_stays(monkeypatch):
    """As that of a notebook does; `rc_context` undoes it."""
    plt.close("all")  # of an open figure the backend is loaded
    monkeypatch.setattr(plt, "draw_if_interactive", lambda: mpl.rcParams.update({"interactive": True, "font.size": 4}))
    mpl.rcParams["interactive"] = False
    cs.plot(cs.reliability([0, 1], [0.2, 0.9], rng=1))
    assert (mpl.rcParams["interactive"], mpl.rcParams["font.size"]) == (True, 4)


def test_the_backend_is_loaded_once_and_draws_nothing(monkeypatch):
    called, number = [], plt.figure().number
    monkeypatch.setattr(plt, "draw_if_interactive", lambda: called.append(plt.get_fignums()))
    load_backend()
    assert called == []  # the backend of an open figure is loaded
    plt.close(number)
    load_backend()
    assert called == [[]]


@pytest.mark.parametrize("interactive", [False, True])
def test_a_result_shown_as_html_leaves_no_figure_and_the_settings_of_the_user(interactive):
    mpl.rcParams.update(USERS | {"interactive": interactive})
    before, backend = dict(mpl.rcParams), mpl.get_backend()
    assert "<svg" in cs.reliability([0, 1], [0.2, 0.9], rng=1)._repr_html_()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before
    assert mpl.get_backend() == backend


def test_pictures_have_no_other_way_to_change_settings():
    others = ("rc_context(", "style.context(", "style.use(", ".ioff(")
    assert [name for name, text in sources().items() if any(other in text for other in others)] == []
