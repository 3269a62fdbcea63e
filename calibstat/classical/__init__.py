"""Classical tests of calibration, which the literature reports.

``calibstat.classical.spiegelhalter(y, p)``: all but `t_cal` are approximate, beside the exact `calibration_test`.
"""

from calibstat.classical.calibration_belt import calibration_belt
from calibstat.classical.cox import cox
from calibstat.classical.cumulative_tests import kolmogorov_smirnov, kuiper
from calibstat.classical.hosmer_lemeshow import hosmer_lemeshow
from calibstat.classical.skce_tests import kernel_calibration_test
from calibstat.classical.spiegelhalter import spiegelhalter
from calibstat.classical.t_cal import t_cal

__all__ = [
    "calibration_belt",
    "cox",
    "hosmer_lemeshow",
    "kernel_calibration_test",
    "kolmogorov_smirnov",
    "kuiper",
    "spiegelhalter",
    "t_cal",
]
