"""Are errors of calibration made on training rows, or on others?

What is done and the figures are in calibstat/studies/generalization_gap.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "generalization_gap", "--out", str(Path(__file__).parent), *sys.argv[1:]])
