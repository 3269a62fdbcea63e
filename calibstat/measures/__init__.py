"""Measures of calibration: kinds, registry, and a file for each family."""

# isort: off
from importlib import import_module
from pathlib import Path

from calibstat.measures.kinds.binary_kinds import Binned, Seminorm
from calibstat.measures.kinds.base import Info, Measure, MulticlassMeasure
from calibstat.measures.kinds.mean_loss import MeanLoss, MulticlassMeanLoss
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.multiclass_kinds import VectorBinned, VectorStatistic
from calibstat.bounds.cell_norms import AbsoluteSum, CellNorm, Euclidean, Largest
from calibstat.measures.kinds.registry import MEASURES, measure

# the registry lists measures in this order
from calibstat.measures.binned import ECE, ECEDebiased, ECEWidth
from calibstat.measures.mean import Mean
from calibstat.measures.curve_errors import L1
from calibstat.measures.cumulative import KS, Kuiper
from calibstat.measures.decision_loss import DecisionLoss
from calibstat.measures.lower_and_upper_distance import LowerDistance, UpperDistance
from calibstat.measures.interval_ce import IntervalCE, RandomIntervalCE, SurrogateIntervalCE
from calibstat.measures.net_benefit import NetBenefit
from calibstat.measures.losses import Brier, LogLoss, NormalizedLogLoss
from calibstat.measures.corp import MCB
from calibstat.measures.kernel_ce import KernelCE, KernelCESquared
from calibstat.measures.two_bin_ce import TwoBinCE
from calibstat.measures.average_ce import AverageCE
from calibstat.measures.sweep_ce import SweepCE
from calibstat.measures.weighted_ce import WeightedCE
from calibstat.measures.smooth_ce import SmoothCE
from calibstat.measures.post_processing_gap import PostProcessingGap
from calibstat.measures.smooth_ece import SmoothECE
from calibstat.measures.gce import GCE
from calibstat.measures.skce import SKCE
from calibstat.measures.regression_ce import RegressionCE
from calibstat.measures.canonical_ce import CanonicalCE
from calibstat.measures.omnibus import Omnibus
# isort: on

for _file in sorted(Path(__file__).parent.glob("[!_]*.py")):  # and after them all others of the folder
    import_module(f"{__name__}.{_file.stem}")
globals().update({entry.__name__: entry for entry in MEASURES.values()})

__all__ = [
    "ECE",
    "GCE",
    "KS",
    "L1",
    "MCB",
    "MEASURES",
    "SKCE",
    "AbsoluteSum",
    "AverageCE",
    "Binned",
    "Brier",
    "CanonicalCE",
    "CellNorm",
    "DecisionLoss",
    "ECEDebiased",
    "ECEWidth",
    "Euclidean",
    "Info",
    "IntervalCE",
    "KernelCE",
    "KernelCESquared",
    "Kuiper",
    "Largest",
    "LogLoss",
    "LowerDistance",
    "Mean",
    "MeanLoss",
    "Measure",
    "MulticlassMeanLoss",
    "MulticlassMeasure",
    "NetBenefit",
    "NormalizedLogLoss",
    "Omnibus",
    "PostProcessingGap",
    "RandomIntervalCE",
    "RegressionCE",
    "Seminorm",
    "SmoothCE",
    "SmoothECE",
    "Statistic",
    "SurrogateIntervalCE",
    "SweepCE",
    "TwoBinCE",
    "UpperDistance",
    "VectorBinned",
    "VectorStatistic",
    "WeightedCE",
    "measure",
]
