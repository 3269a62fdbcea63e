"""How far off is the plug-in estimate of each measure, over n and bins?

The grid and the figure are in calibstat/studies/bias.py.
"""

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "bias", "--out", str(Path(__file__).parent), *sys.argv[1:]])
