"""The study of diagrams of networks for digits: when an order is reversed by p-values."""

import numpy as np
from simulation_files import study_file

STUDY = study_file("digit_diagrams")


def test_an_order_is_reversed_where_the_smaller_estimate_alone_is_rejected():
    ece = np.array([[0.1, 0.2], [0.2, 0.1], [0.1, 0.2], [0.1, 0.2]])
    p = np.array([[0.01, 0.5], [0.5, 0.01], [0.5, 0.01], [0.01, 0.01]])
    assert STUDY._is_reversed(ece, p).tolist() == [True, True, False, False]


def test_groups_hold_each_digit_once():
    assert sorted(digit for group in STUDY.GROUPS for digit in group) == list(range(10))
