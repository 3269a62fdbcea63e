"""The claims of Chidambaram and Ge, of their own six tables and of tables in which each is false."""

import copy

import numpy as np
import pytest

from calibstat.papers.parts.claims import LOWEST, SAME_ACCURACY, UNBOUNDED, WORSE, claims

MODELS = ("uncalibrated", "temperature", "histogram, by class", "isotonic", "mean replacement")
MEASURES = ("accuracy", "ece", "average_ce", "smooth_ece", "log_loss", "brier")
PAPER = {  # arXiv:2406.04068, tables 1 to 6, in the order of MODELS; their ACE behaves like the average error
    "ViT": """85.14 9.42 9.44 9.44 65.35 22.73
              85.14 2.59 5.46 2.60 56.83 21.95
              82.03 5.06 11.97 4.03 inf 27.17
              83.82 4.53 8.13 4.48 inf 24.13
              85.14 0.18 0.18 0.18 144.66 27.51""",
    "ResNet-50": """80.33 8.68 10.48 8.26 93.98 29.69
                    80.33 4.97 6.00 4.85 88.63 28.69
                    78.70 6.44 15.11 4.77 inf 32.94
                    79.12 7.25 8.81 7.20 inf 30.55
                    80.33 0.28 0.28 0.28 185.48 35.48""",
    "EfficientNet": """81.47 10.66 9.97 10.67 85.50 28.24
                       81.47 3.44 5.85 3.41 75.17 26.94
                       77.63 5.44 12.92 4.58 inf 33.01
                       80.25 4.92 7.80 4.88 inf 28.75
                       81.47 0.07 0.07 0.07 175.92 33.62""",
    "ConvNeXt": """84.13 6.93 6.80 6.94 68.34 23.78
                   84.13 3.00 4.70 2.99 62.01 23.38
                   80.96 3.64 12.60 4.09 inf 28.68
                   82.72 4.93 8.29 4.84 inf 25.57
                   84.13 0.13 0.13 0.13 153.34 29.22""",
    "ResNet-32, CIFAR-10": """93.46 4.15 16.01 3.94 29.21 10.87
                              93.46 0.72 5.79 0.88 21.86 10.00
                              93.12 1.45 15.17 1.46 inf 11.75
                              93.29 1.33 5.11 1.34 inf 10.18
                              93.46 0.34 0.34 0.34 38.52 12.60""",
    "ResNet-32, CIFAR-100": """70.20 13.25 15.71 13.12 132.31 44.08
                               70.20 1.71 2.42 1.53 111.37 40.98
                               65.76 9.56 18.10 6.97 inf 49.84
                               68.70 6.81 7.87 6.80 inf 43.02
                               70.20 0.20 0.20 0.20 197.85 50.63""",
}


def values_of(text):
    numbers = np.array(text.split(), float).reshape(len(MODELS), len(MEASURES))
    return {model: dict(zip(MEASURES, row, strict=True)) for model, row in zip(MODELS, numbers.tolist(), strict=True)}


@pytest.mark.parametrize("name", PAPER)
def test_the_claims_hold_of_the_tables_of_the_paper(name):
    assert claims(values_of(PAPER[name])) == {LOWEST: True, SAME_ACCURACY: True, WORSE: True, UNBOUNDED: True}


@pytest.mark.parametrize(
    ("claim", "model", "measure", "value"),
    [
        (LOWEST, "isotonic", "average_ce", 0.33),
        (LOWEST, "mean replacement", "smooth_ece", 0.88),
        (SAME_ACCURACY, "mean replacement", "accuracy", 93.47),
        (WORSE, "mean replacement", "brier", 10.0),
        (WORSE, "temperature", "log_loss", 38.53),
        (UNBOUNDED, "isotonic", "log_loss", 20.0),
    ],
)
def test_a_table_in_which_a_claim_is_false(claim, model, measure, value):
    values = copy.deepcopy(values_of(PAPER["ResNet-32, CIFAR-10"]))
    values[model][measure] = value
    assert [name for name, holds in claims(values).items() if not holds] == [claim]


def test_claims_of_models_that_are_not_there_are_not_judged():
    values = values_of(PAPER["ViT"])
    assert list(claims({name: values[name] for name in MODELS[:4]})) == [UNBOUNDED]
    assert list(claims({name: values[name] for name in ("uncalibrated", "mean replacement")})) == [
        LOWEST,
        SAME_ACCURACY,
    ]
    assert claims({"uncalibrated": values["uncalibrated"]}) == {}
