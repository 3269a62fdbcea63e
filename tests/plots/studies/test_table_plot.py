"""`cs.plot` of the table of a study: the same picture as `cs.study.plot`, and what is no such table."""

import io

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from asked_questions import COLUMNS, SHIFTED, ask

import calibstat as cs


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def from_file(table):
    return pd.read_csv(io.StringIO("# facts\n" + table.to_csv(index=False)), comment="#")


def texts(figure):
    """All that a figure says, and how many marks and lines its panels hold."""
    figure.draw_without_rendering()
    words = [text.get_text() for text in figure.findobj(plt.Text) if text.get_visible()]
    return words, [(len(axes.lines), len(axes.collections)) for axes in figure.axes]


@pytest.mark.parametrize("question", COLUMNS)
def test_a_table_is_drawn_as_its_study_draws_it_also_from_a_file(question):
    table = ask(question, n=[20, 40, 80], replicates=9, methods=None, measures=["ece"])
    axes = cs.plot(table)
    assert axes is axes.figure.axes[0]
    expected = texts(cs.study.plot(table))
    assert texts(axes.figure) == texts(cs.plot(from_file(table)).figure) == expected


def test_title_and_legend_are_those_of_any_picture():
    table = ask("bias", n=20, replicates=2, methods=None)
    shown = cs.plot(table, title="Two models").figure
    assert "Two models" in texts(shown)[0]
    assert next(iter(SHIFTED)) in texts(shown)[0]
    assert cs.plot(table, legend=False).figure.legends == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table[["n", "measure"]],
            "expected the table of one question, .* found 4 rows with columns 'n', 'meas",
        ),
        (lambda table: table[:0], "found 0 rows with columns 'question', "),
        (
            lambda table: pd.concat([table, table.assign(question="size")]),
            "expected the table of one.* found the questions 'bias', 's",
        ),
        (lambda table: table.assign(question="level"), "found the questions 'level'"),
        (lambda table: table.drop(columns="rmse"), "table of question 'bias' with column 'rmse', found none"),
        (lambda table: table.drop(columns="measure"), "table of question 'bias' with column 'measure', found none"),
    ],
)
@pytest.mark.parametrize("draw", [cs.plot, cs.study.plot])
def test_another_data_frame_is_refused(draw, change, message):
    table = ask("bias", n=20, replicates=2, methods=None)
    with pytest.raises(ValueError, match=message):
        draw(change(table))


def test_axes_and_deviations_are_refused():
    table = ask("bias", n=20, replicates=2, methods=None)
    with pytest.raises(ValueError, match="expected no axes for the table of a study, which has several panels"):
        cs.plot(table, plt.figure().add_subplot())
    with pytest.raises(ValueError, match="expected a reliability diagram with deviation=True, found DataFrame"):
        cs.plot(table, deviation=True)


def test_what_is_no_result_is_told_of_tables():
    with pytest.raises(TypeError, match="or the table of a study; found int"):
        cs.plot(3)
