"""Which recalibration is best, and by which measure?

What is done and the figures are in calibstat/studies/recalibration.py. With --data PATH, an .npz file of predictions
(prob) and classes (y), it is done to these.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "recalibration", "--out", str(Path(__file__).parent), *sys.argv[1:]])
