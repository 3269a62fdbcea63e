"""The public names, each where it is defined: read by type checkers, by editors and by `__init__.py`."""

from calibstat import classical as classical
from calibstat import generators as generators
from calibstat import measures as measures
from calibstat import readers as readers
from calibstat import recalibration as recalibration
from calibstat import study as study
from calibstat.answers_by_model import Answers as Answers
from calibstat.bounds.curves.curve_shapes import Slope as Slope
from calibstat.bounds.curves.curve_shapes import Variation as Variation
from calibstat.calibrated_model import CalibratedModel as CalibratedModel
from calibstat.classical.validate import validate as validate
from calibstat.data import lenses as lenses
from calibstat.data.checked_rows import Data as Data
from calibstat.data.checked_rows import Models as Models
from calibstat.data.clusters import Clusters as Clusters
from calibstat.data.days.blocks import blocks as blocks
from calibstat.data.engines.sql import sql as sql
from calibstat.data.estimators import predict as predict
from calibstat.data.groups import Groups as Groups
from calibstat.data.judged_rows import Judge as Judge
from calibstat.data.lenses import LENSES as LENSES
from calibstat.data.lenses import Lens as Lens
from calibstat.data.logits import from_logits as from_logits
from calibstat.data.predictions import Predictions as Predictions
from calibstat.data.sample import Sample as Sample
from calibstat.generators import GENERATORS as GENERATORS
from calibstat.inference.answering.risk_coverage import risk_coverage as risk_coverage
from calibstat.inference.auditing.audit import audit as audit
from calibstat.inference.auditing.audit_samples import audit_samples as audit_samples
from calibstat.inference.bands.reliability import reliability as reliability
from calibstat.inference.calibration_tests import calibration_test as calibration_test
from calibstat.inference.choosing.choose import choose as choose
from calibstat.inference.choosing.scorer import scorer as scorer
from calibstat.inference.compare import compare as compare
from calibstat.inference.confidence_interval import confidence_interval as confidence_interval
from calibstat.inference.cross_validation.cross_validate import cross_validate as cross_validate
from calibstat.inference.decision_loss_curve import decision_loss as decision_loss
from calibstat.inference.decomposing.decompose import decompose as decompose
from calibstat.inference.decomposing.grouping_loss import grouping_loss as grouping_loss
from calibstat.inference.decomposing.skill_score import skill_score as skill_score
from calibstat.inference.equivalence import equivalence_test as equivalence_test
from calibstat.inference.estimate import (
    detail as detail,
)
from calibstat.inference.estimate import (
    estimate as estimate,
)
from calibstat.inference.estimate import (
    expected_calibration_error as expected_calibration_error,
)
from calibstat.inference.gce_family import gce_family as gce_family
from calibstat.inference.generalization_gap import generalization_gap as generalization_gap
from calibstat.inference.net_benefit_curve import net_benefit as net_benefit
from calibstat.inference.power.detectable_effect import detectable_effect as detectable_effect
from calibstat.inference.sharpness import sharpness as sharpness
from calibstat.inference.summarize import summarize as summarize
from calibstat.measures import MEASURES as MEASURES
from calibstat.measures import Measure as Measure
from calibstat.measures import measure as measure
from calibstat.measures.bregman import Bregman as Bregman
from calibstat.monitoring.brier_monitor import BrierMonitor as BrierMonitor
from calibstat.monitoring.monitor import Monitor as Monitor
from calibstat.planning.power import power as power
from calibstat.planning.sample_size import sample_size as sample_size
from calibstat.plots.plot import plot as plot
from calibstat.plots.sklearn_display import ReliabilityDisplay as ReliabilityDisplay
from calibstat.reporting.report import report as report

__all__: list[str]
__version__: str
